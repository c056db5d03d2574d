"""The levels of derivatives in few bits, for sequences as they arrive.

They are those of fad's compiler (docs/Residuals.md): the derivative is evaluated at
arguments that follow the standard logistic distribution, and beyond."""

import warnings
from collections.abc import Callable

import torch

from ... import _fad
from ._pytorch import outside_function_modes

_COUNT = 16384
# The largest difference, as a fraction of the range, of two values that are one limit.
_TOLERANCE = 1e-3

_Evaluate = Callable[[torch.Tensor], torch.Tensor]


def _grow(first: float, last: float, factor: float) -> torch.Tensor:
    values = []
    while first < last:
        values.append(first)
        first *= factor
    return torch.tensor(values, dtype=torch.float64)


def _until_nan(values: torch.Tensor) -> torch.Tensor:
    """Returns a formula may overflow where its value is at its limit."""
    is_nan = values.isnan().nonzero()
    return values[: int(is_nan[0])] if len(is_nan) else values


def _has_pole(evaluate: _Evaluate, low: float, high: float, size: float) -> bool:
    """Tells whether a function leaves `size` between neighboring arguments with rather different
    values: it does at a pole, but not at a step."""
    ends = torch.tensor([low, high], dtype=torch.float64)
    values = evaluate(ends)
    while True:
        middle = ends.mean()
        if middle <= ends[0] or middle >= ends[1]:
            return False
        value = evaluate(middle.reshape(1))[0]
        if not abs(value) <= size:
            return True
        place = int(abs(value - values[0]) > abs(values[1] - value))
        ends[place], values[place] = middle, value


def _find_limit(evaluate: _Evaluate, sign: int, tolerance: float) -> float | None:
    last = _until_nan(evaluate(sign * _grow(32, 1e30, 2)))[-2:]
    if len(last) < 2 or not abs(last[1] - last[0]) <= tolerance:
        return None
    return float(last[1])


def find_levels(evaluate: _Evaluate, bits: int) -> list[float]:
    """Returns the levels of a function that is bounded and has a limit on either side; none for
    others."""
    below = (torch.arange(_COUNT, dtype=torch.float64) + 0.5) / _COUNT
    arguments = (below / (1 - below)).log()
    samples = evaluate(arguments)
    # The arguments lie about zero evenly, and would not show a pole there.
    if not samples.isfinite().all() or not evaluate(torch.zeros(1).double()).isfinite():
        return []
    size, largest = samples.max() - samples.min(), 2 * samples.abs().max()
    for place in (samples.diff().abs() > size / 16).nonzero().flatten().tolist():
        ends = arguments[place : place + 2].tolist()
        if _has_pole(evaluate, *ends, float(largest)):
            return []
    tails = [_until_nan(evaluate(sign * _grow(4, 1e6, 1.01))) for sign in (-1, 1)]
    known = torch.cat([samples, *tails])
    size = known.max() - known.min()
    limits = [_find_limit(evaluate, sign, float(_TOLERANCE * size)) for sign in (-1, 1)]
    if None in limits or not size.isfinite():
        return []
    limits.sort()
    if limits[1] - limits[0] <= _TOLERANCE * size:
        limits.pop()
    # Two levels are too few to spend them on limits.
    fixed = limits if bits > 1 else []
    return _fad.place_levels(samples.sort().values.tolist(), 2**bits, fixed)


# Registrations with PyTorch go with this.
_kernels = torch.library.Library("fad", "FRAGMENT")
_warned: set[str] = set()


def _warn(error: Exception) -> None:
    message = (
        "fad.torch.nest: a derivative stays exact, as the search for its levels failed: "
        f"{type(error).__name__}: {error}"
    )
    if message not in _warned:
        _warned.add(message)
        warnings.warn(message, stacklevel=1)


def _evaluate(arguments: torch.Tensor) -> torch.Tensor:
    found = torch.ops.fad._derivatives(arguments)
    if found is None:
        raise ArithmeticError("the derivative cannot be evaluated")
    return found


def _place(bits: int) -> list[float]:
    try:
        # Modes of others, such as that of a default device, make other tensors.
        with outside_function_modes():
            return find_levels(_evaluate, bits)
    except ArithmeticError:
        # The derivative stays exact.
        return []
    except Exception as error:
        _warn(error)
        return []


def register() -> None:
    """Gives the extension what it calls for a sequence of operators that it has not met."""
    _kernels.impl("_place_levels", _place, "CompositeExplicitAutograd")
