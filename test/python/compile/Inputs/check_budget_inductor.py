"""Trains a module within budgets for the peak of memory with Inductor: the allocator's
peak is within each budget, of whatever form it is, and gradients are PyTorch's."""

import sys
import warnings

import torch
from torch import nn

import fad.torch
from fad.torch.compile import Partitioner
from fad.torch.compile._explain import measure_peak


def make_model():
    torch.manual_seed(0)
    layers = [nn.Sequential(nn.Linear(64, 64), nn.GELU()) for _ in range(4)]
    return nn.Sequential(*layers, nn.Linear(64, 1), nn.Flatten(0))


def train(model, call, x):
    """The gradients of a step."""
    model.zero_grad(set_to_none=True)
    call(x).square().mean().backward()
    return [parameter.grad for parameter in model.parameters()]


def check(model, x, name, budget, bound, expected):
    """The error of `budget`, which allows `bound` bytes."""
    torch._dynamo.reset()
    call = torch.compile(model, backend="fad", options={"fad.budget": budget})
    train(model, call, x)
    model.zero_grad(set_to_none=True)
    peak = measure_peak(lambda: train(model, call, x))
    print(f"{name}: budget {budget}, {bound} bytes, measured {peak}")
    if peak > bound:
        yield f"{name}: the budget is not kept"
    gradients = train(model, call, x)
    for gradient, right in zip(gradients, expected, strict=True):
        if (gradient - right).abs().max() > 1e-5 * right.abs().max():
            yield f"{name}: gradients differ"


def main():
    warnings.simplefilter("ignore")
    model, x = make_model(), torch.randn(512, 64)
    expected = train(model, model, x)
    ends = []
    for budget in (1.0, 1):
        explanation = fad.torch.explain(model, x, options={"fad.budget": budget})
        ends.append(explanation.graphs[0].fad.peak)
    most, least = ends
    gradients = sum(each.nbytes for each in model.parameters())
    # The reserve belongs to a number of bytes.
    lowest = Partitioner(budget=1).find_budget(least, gradients)
    # A budget that is not kept warns.
    warnings.filterwarnings("error", "no selection|fad leaves", RuntimeWarning)
    middle = (most + least) // 2
    wrong = [
        message
        for name, budget, bound in (
            ("lowest", lowest, lowest),
            ("text", f"{middle / 1e3}KB", middle),
            ("fraction", 0.9, 0.9 * most),
        )
        for message in check(model, x, name, budget, bound, expected)
    ]
    if least > 0.9 * most:
        wrong.append(f"the lowest peak is {least} of {most}")
    print("\n".join(wrong))
    print(f"3 budgets, {len(wrong)} wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
