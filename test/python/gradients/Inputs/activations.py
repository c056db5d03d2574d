"""Activations as PyTorch has them, and compositions of their parts."""

import torch
import torch.nn.functional as F
from operator_rows import FUNCTIONS as NO_ACTIVATIONS, check_rows
from torch import linspace, randn

FUNCTIONS = {
    "celu": F.celu,
    "elu": F.elu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "hardshrink": F.hardshrink,
    "hardsigmoid": F.hardsigmoid,
    "hardswish": F.hardswish,
    "hardtanh": F.hardtanh,
    "leaky_relu": F.leaky_relu,
    "logsigmoid": F.logsigmoid,
    "mish": F.mish,
    "quick_gelu": lambda x: x * torch.sigmoid(1.702 * x),
    "relu": F.relu,
    "relu6": F.relu6,
    "selu": F.selu,
    "sigmoid": torch.sigmoid,
    "silu": F.silu,
    "softplus": F.softplus,
    "softplus_scaled": lambda x: F.softplus(x, beta=2.0, threshold=10.0),
    "softshrink": F.softshrink,
    "softsign": F.softsign,
    "squared_relu": lambda x: F.relu(x).square(),
    "tanh": torch.tanh,
    "tanhshrink": F.tanhshrink,
    "threshold": lambda x: F.threshold(x, 0.3, -2.0),
}
check_rows(FUNCTIONS, NO_ACTIVATIONS)


def make_case(function):
    """`function` at ordinary points and in its tails. Each point has a weight of
    its own, which is differentiated too."""
    x = torch.cat([randn(200), linspace(-40.0, 40.0, 97)])
    return lambda x, weights: (function(x) * weights).sum(), x, randn(x.shape)


CASES = {
    name: lambda function=function: make_case(function) for name, function in FUNCTIONS.items()
}
CASES["prelu"] = lambda: (lambda x, w: F.prelu(x, w).sum(), randn(4, 3, 5), randn(3))
