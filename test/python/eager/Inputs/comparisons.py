"""Compares a model with nested sequences with eager PyTorch."""

import torch
from activations import Model

import fad.torch


def nest(target=None, policy="auto"):
    return fad.torch.nest(target, policy=policy, min_numel=0)


torch.manual_seed(0)
MODEL = Model().double()
X = torch.randn(4, 8, dtype=torch.double)


def gradients(run, model=MODEL):
    model.zero_grad()
    run(model, X.clone().requires_grad_()).square().sum().backward()
    return [parameter.grad.clone() for parameter in model.parameters()]


def agrees(run, reference=lambda model, x: model(x), tolerance=1e-12, model=MODEL):
    """Whether a run in nest() and one of a nested model have eager's gradients."""
    expected = gradients(reference, model)
    for policy in ("auto", "fad"):

        def inside(model, x):
            with nest(policy=policy):
                return run(model, x)

        def outside(model, x):
            return run(nest(model, policy), x)

        for call in (inside, outside):
            for one, other in zip(gradients(call, model), expected, strict=True):
                torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance)
