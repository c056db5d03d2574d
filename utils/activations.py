"""Activations, by name: the operation, formulas of the value and the derivative that
do not cancel, and how PyTorch and models spell them.

Formulas take an array of f64 and the module that computes with it: numpy, or PyTorch,
on any device. Neither has to be there until then."""

import functools
import math
from typing import Callable, NamedTuple


def erfc(x, xp):
    if xp.__name__ == "torch":
        return xp.special.erfc(x)
    return xp.vectorize(math.erfc, otypes=[float])(x)


def sigmoid(x, xp):
    e = xp.exp(-abs(x))
    return xp.where(x < 0, e, 1) / (1 + e)


def slope_of_gate(value, x, slope, xp):
    """value + x * slope, where an infinite x has no slope."""
    return value + xp.where(slope == 0, 0, x * slope)


def value_and_slope_of_sigmoid(x, xp):
    s = sigmoid(x, xp)
    return s, s * sigmoid(-x, xp)


def silu(x, xp):
    s, slope = value_and_slope_of_sigmoid(x, xp)
    return x * s, slope_of_gate(s, x, slope, xp)


def gelu(x, xp):
    value = erfc(-x / math.sqrt(2), xp) / 2
    density = xp.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    return x * value, slope_of_gate(value, x, density, xp)


def gelu_tanh(x, xp):
    factor, cubic = 2 * math.sqrt(2 / math.pi), 0.044715
    s, slope = value_and_slope_of_sigmoid(factor * (x + cubic * x**3), xp)
    inner = xp.where(slope == 0, 0, factor * (1 + 3 * cubic * x * x))
    return x * s, slope_of_gate(s, x, slope * inner, xp)


def mish(x, xp):
    e = xp.exp(-abs(x))
    n = xp.where(x < 0, e * (e + 2), 1 + 2 * e)
    m = n + xp.where(x < 0, 2, 2 * e * e)
    slope = 4 * xp.where(x < 0, e, e * e) * (1 + e) / m**2
    return x * (n / m), slope_of_gate(n / m, x, slope, xp)


def softplus(x, xp):
    """With the threshold that PyTorch has unless told otherwise."""
    value = xp.where(x < 0, 0, x) + xp.log1p(xp.exp(-abs(x)))
    return xp.where(x > 20, x, value), xp.where(x > 20, 1, sigmoid(x, xp))


def elu(x, xp):
    return xp.where(x <= 0, xp.expm1(x), x), xp.where(x <= 0, xp.exp(x), 1)


def tanh(x, xp):
    return xp.tanh(x), 4 * sigmoid(2 * x, xp) * sigmoid(-2 * x, xp)


def relu(x, xp):
    return xp.where(x <= 0, 0, x), xp.where(x > 0, xp.ones_like(x), 0)


def leaky_relu(x, xp):
    return xp.where(x > 0, x, 0.01 * x), xp.where(x > 0, xp.ones_like(x), 0.01)


def hardsigmoid(x, xp):
    value = xp.where(x <= -3, 0, xp.where(x >= 3, 1, x / 6 + 0.5))
    return value, xp.where(abs(x) < 3, xp.ones_like(x) / 6, 0)


def hardswish(x, xp):
    value = xp.where(x <= -3, 0, xp.where(x >= 3, x, x * (x + 3) / 6))
    return value, xp.where(x <= -3, 0, xp.where(x >= 3, 1, x / 3 + 0.5))


class Activation(NamedTuple):
    operation: str
    attributes: str
    """Takes an array and a module; returns value and derivative."""
    reference: Callable
    """The name of PyTorch's function, and its arguments."""
    torch_name: str
    torch_arguments: dict


ACTIVATIONS = {
    "sigmoid": Activation("fad.sigmoid", "", value_and_slope_of_sigmoid, "sigmoid", {}),
    "tanh": Activation("math.tanh", "", tanh, "tanh", {}),
    "softplus": Activation("fad.softplus", " threshold 20.0", softplus, "softplus", {}),
    "elu": Activation("fad.elu", "", elu, "elu", {}),
    "silu": Activation("fad.silu", "", silu, "silu", {}),
    "gelu": Activation("fad.gelu", "", gelu, "gelu", {}),
    "gelu_tanh": Activation(
        "fad.gelu", " approximate <tanh>", gelu_tanh, "gelu", {"approximate": "tanh"}
    ),
    "mish": Activation("fad.mish", "", mish, "mish", {}),
    "relu": Activation("fad.relu", "", relu, "relu", {}),
    "leaky_relu": Activation("fad.leaky_relu", " slope 0.01", leaky_relu, "leaky_relu", {}),
    "hardsigmoid": Activation("fad.hardsigmoid", "", hardsigmoid, "hardsigmoid", {}),
    "hardswish": Activation("fad.hardswish", "", hardswish, "hardswish", {}),
}

# The same composed of PyTorch's primitives, as models spell it.
COMPOSED = {
    "silu": lambda torch, x: x * torch.sigmoid(x),
    "gelu": lambda torch, x: x * 0.5 * (1 + torch.erf(x / 2**0.5)),
    "gelu_tanh": lambda torch, x: 0.5
    * x
    * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3))),
    "mish": lambda torch, x: x * torch.tanh(torch.nn.functional.softplus(x)),
}


def spell(name, kind, function="f"):
    """A function in MLIR that computes the activation."""
    operation, attributes, *_ = ACTIVATIONS[name]
    tensor = f"tensor<?x{kind}>"
    return (
        f"func.func @{function}(%x: {tensor}) -> {tensor} {{\n"
        f"  %y = {operation} %x{attributes} : {tensor}\n"
        f"  return %y : {tensor}\n}}\n"
    )


def get_torch_function(name):
    """PyTorch's own function for the activation."""
    import torch

    *_, function, arguments = ACTIVATIONS[name]
    where = torch if function in ("tanh", "sigmoid") else torch.nn.functional
    return functools.partial(getattr(where, function), **arguments)
