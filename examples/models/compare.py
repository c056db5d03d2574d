"""Gradients of an exported module against PyTorch's.

The reference is PyTorch in f64. The error of a parameter's gradient is the norm
of the difference over the norm of the reference. Some gradients are zero but for
rounding, such as that of a bias before a normalization; so the norm that divides
is at least 1e-3 of the value that it would have if all parameters' gradients were equally
large."""

import contextlib
import copy
from collections.abc import Mapping

import fad
import fad.torch
import numpy as np
import torch
from saved import call
from torch_mlir import fx

POLICIES = ("bp", "recompute", "fad", "auto")
BOUND = 1e-5


class Draws(torch.nn.Module):
    """Dropout of ones, several times."""

    def __init__(self, probabilities):
        super().__init__()
        self.probabilities = probabilities

    def forward(self, *ones):
        return tuple(torch.nn.functional.dropout(x, p) for x, p in zip(ones, self.probabilities))


@contextlib.contextmanager
def dropout_as(function):
    """Calls `function(x, p)` where a module in training calls dropout."""
    original = torch.nn.functional.dropout

    def call(x, p=0.5, training=True, inplace=False):
        return function(x, p) if training and p > 0 else x

    torch.nn.functional.dropout = call
    try:
        yield
    finally:
        torch.nn.functional.dropout = original


def draw_factors(module, inputs):
    """Returns the factors that the exported program multiplies by in the dropouts of its first
    call: its own generator and its own seed, which PyTorch's masks have nothing to do with."""
    calls = []
    with dropout_as(lambda x, p: calls.append((torch.ones_like(x), p)) or x):
        call(module, inputs)
    if not calls:
        return []
    ones, probabilities = zip(*calls)
    ones = [x.detach().float() for x in ones]
    program = fx.export_and_import(
        Draws(probabilities), *ones, output_type="linalg-on-tensors", func_name="draw"
    )
    drawn = fad.run(fad.parse(str(program)), "draw", *(x.numpy() for x in ones))
    return [torch.from_numpy(factor) for factor in drawn]


def as_type(inputs, kind):
    """`inputs` with their floats of the type `kind`."""
    if isinstance(inputs, Mapping):
        return {name: as_type([value], kind)[0] for name, value in inputs.items()}
    return [value.to(kind) if value.is_floating_point() else value for value in inputs]


def run_torch(module, inputs, factors, kind):
    """Returns the loss and the gradient of every parameter, by name, of PyTorch in floats of the
    type `kind`."""
    module = copy.deepcopy(module).to(kind)
    remaining = iter(factors)
    with dropout_as(lambda x, p: x * next(remaining).to(kind)):
        loss = call(module, as_type(inputs, kind))
    loss.backward()
    gradients = {
        name: np.zeros(tuple(parameter.shape))
        if parameter.grad is None
        else parameter.grad.double().numpy()
        for name, parameter in module.named_parameters()
    }
    return loss.item(), gradients


def run_fad(exported, values, policy):
    """Returns the same of the exported program, differentiated with `policy`."""
    nested = fad.nest(
        exported.module,
        wrt=exported.wrt,
        policy=policy,
        results=exported.differentiated,
    )
    program = fad.compile(nested)
    out = program.call(nested.forward, *values)
    results, residuals = out[: len(nested.results)], out[len(nested.results) :]
    gradients = program.call(nested.backward, *residuals, np.ones((), np.float32))
    return results[0].item(), {
        exported.arguments[gradient.argument].name: value
        for gradient, value in zip(nested.gradients, gradients)
    }


def norm(value):
    return float(np.linalg.norm(np.asarray(value, np.float64)))


def worst_error(gradients, reference):
    """Returns the greatest error and the parameter that has it. Raises ValueError where one lacks a
    gradient, or has one that is not finite."""
    for name in reference.keys() - gradients.keys():
        if reference[name].any():
            raise ValueError(f"{name} has no gradient")
    square = sum(norm(value) ** 2 for value in reference.values())
    count = sum(value.size for value in reference.values())
    worst = (0.0, "")
    for name, value in gradients.items():
        if value.shape != reference[name].shape or not np.isfinite(value).all():
            raise ValueError(f"the gradient of {name} has another shape or no numbers")
        floor = 1e-3 * (square / count * value.size) ** 0.5
        scale = max(norm(reference[name]), floor)
        error = norm(value - reference[name]) / scale if scale else norm(value)
        worst = max(worst, (error, name))
    return worst


def compare(module, inputs, policies=POLICIES):
    """Returns the greatest error of the loss and of any parameter's gradient, and whose it is, for
    PyTorch in f32 under the name "torch" and for each policy."""
    exported = fad.torch.export(module, inputs)
    state = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    given = iter(inputs.values() if isinstance(inputs, Mapping) else inputs)
    values = [
        (next(given) if argument.kind == "input" else state[argument.name]).detach().numpy().copy()
        for argument in exported.arguments
    ]
    factors = draw_factors(copy.deepcopy(module), inputs)
    loss, reference = run_torch(module, inputs, factors, torch.float64)
    runs = {"torch": lambda: run_torch(module, inputs, factors, torch.float32)}
    for policy in policies:
        runs[policy] = lambda policy=policy: run_fad(exported, values, policy)
    errors = {}
    for name, run in runs.items():
        its_loss, gradients = run()
        error = abs(its_loss - loss) / max(abs(loss), 1.0)
        errors[name] = max((error, "the loss"), worst_error(gradients, reference))
    return errors
