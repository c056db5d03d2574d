#!/usr/bin/env python3
"""Writes the .mlir files of this folder: the feed-forward block of a
transformer, once for each activation, as torch-mlir exports it to linalg on
tensors. Weights are function arguments and the number of rows is dynamic.

Needs torch and torch-mlir. The files are kept in the repository, so that
nothing else does."""

import argparse
import pathlib
import warnings

import torch
import torch.nn.functional as F
from torch_mlir import fx


def new_gelu(x):
    """GELU as GPT-2 spells it."""
    cubic = x + 0.044715 * torch.pow(x, 3.0)
    return 0.5 * x * (1.0 + torch.tanh(0.7978845608028654 * cubic))


def erf_gelu(x):
    """GELU as BERT spells it."""
    return x * 0.5 * (1.0 + torch.erf(x / 1.4142135623730951))


def quick_gelu(x):
    """GELU as CLIP approximates it."""
    return x * torch.sigmoid(1.702 * x)


def unnamed(x):
    """Returns a chain that no library has a name for."""
    return x * torch.tanh(torch.exp(torch.sigmoid(x)) - 1.0) + 0.1 * torch.sin(x)


ACTIVATIONS = {
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "new_gelu": new_gelu,
    "erf_gelu": erf_gelu,
    "quick_gelu": quick_gelu,
    "silu": F.silu,
    "mish": F.mish,
    "softplus": F.softplus,
    "elu": F.elu,
    "relu": F.relu,
    "relu6": F.relu6,
    "leaky_relu": F.leaky_relu,
    "hardswish": F.hardswish,
    "squared_relu": lambda x: torch.square(F.relu(x)),
    "unnamed": unnamed,
}


class FeedForward(torch.nn.Module):
    def __init__(self, activation):
        super().__init__()
        self.activation = activation

    def forward(self, x, w1, b1, w2, b2):
        return F.linear(self.activation(F.linear(x, w1, b1)), w2, b2)


def export(activation, width, inner):
    """Returns the text of the block with `activation`: width -> inner -> width."""
    arguments = (
        torch.randn(8, width),
        torch.randn(inner, width),
        torch.randn(inner),
        torch.randn(width, inner),
        torch.randn(width),
    )
    rows = torch.export.Dim("rows", min=2)
    module = fx.export_and_import(
        FeedForward(activation),
        *arguments,
        output_type="linalg-on-tensors",
        func_name="ffn",
        dynamic_shapes=({0: rows}, None, None, None, None),
    )
    return str(module)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--inner", type=int, default=3072)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    for name, activation in ACTIVATIONS.items():
        text = export(activation, options.width, options.inner)
        (options.out / f"{name}.mlir").write_text(text)


if __name__ == "__main__":
    main()
