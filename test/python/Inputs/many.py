"""Many functions in one model, so that one export checks them all."""

import copy

import numpy as np
import torch
from torch import nn

import fad
import fad.torch
from exported_step import _to_numpy, _to_torch


def weigh(y):
    """A scalar to which each element of `y` contributes in another proportion."""
    steps = torch.linspace(0.5, 1.5, y.numel(), dtype=y.dtype)
    return (y.reshape(-1) * steps).sum()


class Many(nn.Module):
    """The sum of functions, each of a parameter of its own. `cases` has, by names,
    a function and the tensor that it is computed at."""

    def __init__(self, cases):
        super().__init__()
        self.functions = {name: function for name, (function, _) in cases.items()}
        self.values = nn.ParameterDict(
            {name: nn.Parameter(x.clone()) for name, (_, x) in cases.items()}
        )

    def forward(self):
        terms = [weigh(function(self.values[name])) for name, function in self.functions.items()]
        return torch.stack([each.to(terms[0].dtype) for each in terms]).sum()


def compute(function, x):
    """The gradient that PyTorch gives `function` at `x`; zeros where it has none."""
    x = x.clone().requires_grad_()
    y = weigh(function(x))
    if not y.requires_grad:
        return torch.zeros_like(x)
    (gradient,) = torch.autograd.grad(y, x, allow_unused=True)
    return torch.zeros_like(x) if gradient is None else gradient


def run(exported, model, policy):
    """The loss and the gradients, by names, of the exported model."""
    nested = fad.nest(
        exported.module,
        wrt=exported.wrt,
        results=exported.differentiated,
        policy=policy,
    )
    program = fad.compile(nested)
    state = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    values = [_to_numpy(state[each.name]) for each in exported.arguments]
    (loss, *residuals) = program.call(nested.forward, *values)
    one = np.ones((), nested.cotangents[0].dtype)
    gradients = program.call(nested.backward, *residuals, one)
    names = [exported.arguments[each].name for each in exported.wrt]
    return _to_torch(loss), dict(zip(names, map(_to_torch, gradients)))


def check(test, cases, tolerance=1e-5, policies=("auto",)):
    """Compares the gradients of fad with PyTorch's, for all of `cases`."""
    model = Many(cases)
    expected = copy.deepcopy(model)()
    exported = fad.torch.export(model, ())
    for policy in policies:
        loss, gradients = run(exported, model, policy)
        error = abs(loss - expected).item()
        test.assertLessEqual(error, tolerance * max(1, abs(expected.item())))
        for name, (function, x) in cases.items():
            with test.subTest(name, policy=policy):
                got = gradients.get(f"values.{name}", torch.zeros_like(x))
                torch.testing.assert_close(
                    got,
                    compute(function, x),
                    rtol=tolerance,
                    atol=tolerance,
                    equal_nan=True,
                )
