"""Compares a training step of an exported model with PyTorch's own."""

import contextlib
from typing import List, NamedTuple, Sequence

import torch
from fad._diagnostics import Diagnostic, Error
from fad.torch._export.eager_step import Step, run_eagerly
from fad.torch._export.errors import make_error
from fad.torch._export.program import CallPattern


class _Difference(NamedTuple):
    what: str
    # The norm of the difference over that of PyTorch's.
    error: float


def _measure(got, expected, floor: float) -> float:
    """How far `got` is off, where `expected` is finite."""
    got, expected = got.detach().cpu().double(), expected.detach().cpu().double()
    known = expected.isfinite()
    difference = torch.where(known, got - expected, 0).norm().item()
    scale = max(torch.where(known, expected, 0).norm().item(), floor)
    return difference / scale if scale and difference else difference


def _norm(tensors) -> float:
    return sum(each.detach().double().norm().item() ** 2 for each in tensors) ** 0.5


def _find_differences(got: Step, expected: Step, with_gradients: bool):
    """All that differs, the most first. NaN differs most."""
    loss = _measure(got.loss, expected.loss, 1.0)
    found = [_Difference("the loss", loss)]
    for name, value in got.buffers.items():
        reference = expected.buffers[name]
        if reference.is_floating_point():
            error = _measure(value, reference, 1.0)
        else:
            error = float(not torch.equal(value.cpu(), reference.cpu()))
        found.append(_Difference(f"the new value of {name!r}", error))
    # Some gradients are zero but for rounding.
    floor = 1e-3 * _norm(expected.gradients.values())
    names = {*got.gradients, *expected.gradients} if with_gradients else ()
    for name in names:
        pair = [each.gradients.get(name) for each in (got, expected)]
        other = pair[0] if pair[1] is None else pair[1]
        values = [torch.zeros_like(other) if each is None else each for each in pair]
        error = _measure(*values, floor or 1.0)
        found.append(_Difference(f"the gradient of {name!r}", error))
    return sorted(found, key=lambda each: (each.error == each.error, -each.error))


@contextlib.contextmanager
def _rounded_otherwise(model, epsilon: float):
    """Moves each parameter of `model` by a rounding."""
    parameters = list(model.parameters())
    saved = [each.detach().clone() for each in parameters]
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        try:
            for each in parameters:
                if each.is_floating_point():
                    sign = torch.randint(0, 2, each.shape, generator=generator)
                    each.mul_((1 + epsilon * (2 * sign - 1)).to(each))
            yield
        finally:
            for each, value in zip(parameters, saved):
                each.copy_(value)


def check_step(
    got: Step,
    model,
    pattern: CallPattern,
    tensors: Sequence,
    dtype: torch.dtype,
    with_gradients: bool,
) -> None:
    """Raises fad.Error where `got` is not what PyTorch computes of `model`, but for
    rounding of `dtype`, the least precise type on the way, and where it cannot be
    compared. Without `with_gradients`, which may be approximations, they are not."""
    try:
        wrong = _find_wrong(got, model, pattern, tensors, dtype, with_gradients)
    # PyTorch runs the model, which may raise anything.
    except Exception as error:
        raise make_error(
            error,
            "the step cannot be compared with PyTorch's, which check=False leaves out: "
            f"{type(error).__name__}: ",
        ) from error
    if wrong:
        raise Error(tuple(wrong))


def _find_wrong(
    got: Step, model, pattern, tensors, dtype, with_gradients: bool
) -> List[Diagnostic]:
    """A message about `got` where it differs from PyTorch's."""
    expected = run_eagerly(model, pattern, tensors)
    epsilon = torch.finfo(dtype).eps
    bounds = {each.what: epsilon**0.5 for each in _find_differences(got, expected, True)}

    def find_wrong() -> List[_Difference]:
        differences = _find_differences(got, expected, with_gradients)
        return [each for each in differences if not each.error <= bounds[each.what]]

    if not find_wrong():
        return []
    # A rounding of the parameters may change fad's gradients as much as PyTorch's.
    with _rounded_otherwise(model, epsilon):
        other = run_eagerly(model, pattern, tensors)
    for each in _find_differences(other, expected, True):
        # PyTorch's step has buffers that do not change as well.
        if each.what in bounds:
            bounds[each.what] = max(bounds[each.what], 10 * each.error)
    return [_describe(each, bounds[each.what], dtype) for each in find_wrong()[:8]]


def _describe(difference: _Difference, bound: float, dtype) -> Diagnostic:
    return Diagnostic(
        "error",
        f"{difference.what} differs from PyTorch's by {difference.error:.1%}, and "
        f"rounding of {dtype} explains {bound:.1%}",
    )
