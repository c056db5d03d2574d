"""Gradients of dropouts whose random numbers are eager PyTorch's, as Inductor's `fallback_random` has
them, within a budget: each draw waits for the one before, and has a tuple for its result."""

import sys
import warnings

import torch
from torch import nn

import fad.torch.compile  # noqa: F401, registers the backend


def differentiate(model, call, x):
    model.zero_grad()
    torch.manual_seed(1)
    call(x).square().sum().backward()
    return [parameter.grad.clone() for parameter in model.parameters()]


def main():
    warnings.simplefilter("error", RuntimeWarning)
    torch._inductor.config.fallback_random = True
    torch.manual_seed(0)
    parts = (nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Tanh()) for _ in range(2))
    model, x = nn.Sequential(*parts), torch.randn(4, 8)
    call = torch.compile(model, backend="fad", options={"fad.budget": "1GB"})
    gradients = differentiate(model, call, x)
    for found, expected in zip(gradients, differentiate(model, model, x), strict=True):
        torch.testing.assert_close(found, expected)
    print("right")


if __name__ == "__main__":
    sys.exit(main())
