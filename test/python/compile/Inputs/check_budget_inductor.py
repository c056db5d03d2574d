"""Trains a module within budgets for the peak of memory with Inductor: the allocator's
peak is within each budget, of whatever form it is, and gradients are PyTorch's."""

import re
import sys
import warnings

import torch
from torch import nn

import fad.torch
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


def measure(model, x, options):
    """The peak of a step."""
    torch._dynamo.reset()
    call = torch.compile(model, backend="fad", options=options)
    train(model, call, x)
    model.zero_grad(set_to_none=True)
    return measure_peak(lambda: train(model, call, x))


def check(model, x, name, budget, bound, expected):
    """The error of `budget`, which allows `bound` bytes."""
    peak = measure(model, x, {"fad.budget": budget})
    print(f"{name}: budget {budget}, {bound} bytes, measured {peak}")
    if peak > bound:
        yield f"{name}: the budget is not kept"
    for parameter, right in zip(model.parameters(), expected, strict=True):
        gradient = parameter.grad
        if (gradient - right).abs().max() > 1e-5 * right.abs().max():
            yield f"{name}: gradients differ"


def main():
    warnings.simplefilter("ignore")
    model, x = make_model(), torch.randn(512, 64)
    expected = train(model, model, x)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fad.torch.explain(model, x, options={"fad.budget": 1})
    said = "\n".join(str(each.message) for each in caught)
    least = int(re.search("give a budget of ([0-9,]+)", said)[1].replace(",", ""))
    most = measure(model, x, {"fad.budget": 2**40})
    # A budget that is not kept warns.
    warnings.filterwarnings("error", "no selection|fad leaves", RuntimeWarning)
    middle = (most + least) // 2
    wrong = [
        message
        for name, budget, bound in (
            ("lowest", least, least),
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
