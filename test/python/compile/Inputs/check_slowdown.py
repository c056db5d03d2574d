"""Trains a module with the lowest peaks that steps of so many times the least time have: the
peak falls as the factor grows, and gradients are those without a factor, bit for bit."""

import fad.torch
import torch
from torch import nn

ENGINE = {"fad.engine": "eager"}


def make():
    torch.manual_seed(0)
    layers = [nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.LayerNorm(64)) for _ in range(12)]
    return nn.Sequential(*layers, nn.Flatten(0)), torch.randn(256, 64)


def train(options):
    model, x = make()
    torch._dynamo.reset()
    torch.compile(model, backend="fad", options={**ENGINE, **options})(x).square().mean().backward()
    return [parameter.grad for parameter in model.parameters()]


def measure(options):
    model, x = make()
    return fad.torch.explain(model, x, options={**ENGINE, **options}).graphs[0].fad.peak


peaks = {factor: measure({"fad.slowdown": factor}) for factor in (1, 1.05, 1.3, 3.0)}
fastest, lowest = measure({"fad.budget": 1.0}), measure({"fad.budget": 0.01})
falls = list(peaks.values()) == sorted(peaks.values(), reverse=True)
print(f"the peak falls: {falls}")
print(f"it is that of the fastest at 1: {peaks[1] == fastest}")
print(f"it is below at 1.3: {peaks[1.3] < fastest}")
print(f"it is the lowest in the end: {peaks[3.0] == lowest}")
expected = train({})
for factor in peaks:
    same = all(map(torch.equal, train({"fad.slowdown": factor}), expected))
    print(f"gradients at {factor}: {'the same' if same else 'others'}")
