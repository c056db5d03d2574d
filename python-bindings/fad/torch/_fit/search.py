"""The largest size of a batch, or of its rows, whose step is within a memory."""

import bisect
import math
from collections.abc import Callable, Collection
from dataclasses import replace

from ..compile._step_memory import StepMemory, make_step_memory
from .layers import get_structure

# So many sizes are tried at most beside the first one.
_MOST = 24
# No batch is larger.
_LARGEST = 2**24
# Powers that are so near 1 are those of lines, and those near 0 do not grow.
_NEAR = 0.1


class Sizes:
    """The bytes of a step by the size of its inputs. Where only the bytes of the storages differ, each
    is a polynomial of the size, of a `degree`, and the step of another size follows. `fixed` are the
    bytes of each parameter."""

    def __init__(self, degree: int, fixed: Collection[int]) -> None:
        self.degree, self.fixed = degree, fixed
        self.known: dict[int, tuple[StepMemory, object]] = {}

    def add(self, size: int, memory: StepMemory) -> None:
        """Adds the step of a size."""
        self.known[size] = memory, get_structure(memory)

    def predict(self, size: int) -> int | None:
        """Returns the bytes of the step of a size by those of others; None where too few are equal
        to that of the nearest one."""
        near = sorted(self.known, key=lambda each: abs(each - size))
        equal = [each for each in near if self.known[each][1] == self.known[near[0]][1]]
        if len(equal) <= self.degree:
            return None
        chosen = equal[: self.degree + 1]
        weights = [
            math.prod((size - other) / (one - other) for other in chosen if other != one)
            for one in chosen
        ]
        memories = [self.known[each][0] for each in chosen]
        allocations = [
            replace(
                each[0],
                bytes=max(round(sum(w * one.bytes for w, one in zip(weights, each))), 0),
            )
            for each in zip(*(memory.allocations for memory in memories))
        ]
        first = memories[0]
        return make_step_memory(allocations, first.operations, first.backward).bytes

    def scale(self, known: int, size: int) -> int:
        """Returns about the bytes of the step of a size by those of a `known` one: all but gradients,
        and what is as large as a parameter, grow as it does."""
        memory, _ = self.known[known]
        allocations = [
            each
            if each.kind == "gradient" or each.bytes in self.fixed
            else replace(each, bytes=each.bytes * size // known)
            for each in memory.allocations
        ]
        return make_step_memory(allocations, memory.operations, memory.backward).bytes


def find_largest(
    size: int,
    bytes_: int,
    count: Callable[[int], float],
    fixed: int,
    memory: int,
    predict: Callable[[int], float | None] = lambda _: None,
    scale: Callable[[int], float] | None = None,
    slack: float = 0.0,
    is_linear: bool = False,
) -> tuple[int, int]:
    """Returns the largest size of which a step takes at most `memory`, and its bytes; where none is
    found, 0 and the bytes of the smallest one that was tried. The step of `size`, at least 1, takes
    `bytes_`, and that of others as many as `count` says: infinitely many, where the model does not
    run. Of these, `fixed` do not depend on the size.

    Bytes grow with a power of the size, which two known sizes tell; that of a batch is 1. Where
    `predict` says what a size takes, that is tried which is the largest by it, and first, where `scale`
    tells about what it takes by `size` alone, the largest by that. The result is one that was tried:
    the first of which the step leaves at most the part `slack` of the memory."""
    known: dict[int, float] = {size: bytes_}
    for number in range(_MOST):
        low = max((each for each, found in known.items() if found <= memory), default=0)
        high = min((each for each, found in known.items() if found > memory), default=None)
        end = _LARGEST + 1 if high is None else high
        if end - low <= 1:
            break
        if low and (known[low] >= (1 - slack) * memory or (predict(low + 1) or 0) > memory):
            break
        guess = _guess(known, low, high, fixed, memory)
        # No prediction knows where a model does not run.
        is_bounded = high is None or math.isfinite(known[high])
        sizes = range(low + 1, end)
        if is_bounded and predict(guess) is not None:
            # The last size that is predicted to fit.
            guess = low + bisect.bisect(
                sizes, False, key=lambda each: (predict(each) or 0) > memory
            )
        elif is_bounded and scale is not None:
            # By two sizes, or by one, the middle of the slack.
            most = math.floor((1 - slack / 2) * memory)
            if len(known) > 1:
                guess = _guess(known, low, high, fixed, most, is_linear)
            else:
                guess = low + bisect.bisect(sizes, False, key=lambda each: scale(each) > most)
        # Where that leads nowhere, as bytes bend, halves of the way do.
        is_lost = number > 3 and number % 2 == 0
        is_outside = not low < guess < end and 2 * low < end
        if high is not None and (is_lost or is_outside):
            guess = math.isqrt(max(low, 1) * high)
        guess = min(max(guess, low + 1), end - 1)
        known[guess] = count(guess)
    best = max((each for each, found in known.items() if found <= memory), default=0)
    smallest = min(each for each, found in known.items() if math.isfinite(found))
    return (best, int(known[best])) if best else (0, int(known[smallest]))


def _guess(
    known: dict[int, float],
    low: int,
    high: int | None,
    fixed: int,
    memory: int,
    is_linear: bool = False,
) -> int:
    """Returns the size at which the power of the size through two known ones, `low` and `high` where
    both are, reaches the memory; or where it `is_linear`, the line."""
    nearest = sorted(known, key=lambda each: abs(known[each] - memory))
    one, other = (low, high) if low and high else (nearest[0], nearest[:2][-1])
    if math.isinf(max(known[one], known[other])):
        return math.isqrt(max(low, 1) * (high or _LARGEST))
    power = 1.0
    if one != other and not is_linear:
        power = math.log(max(known[one] - fixed, 1) / max(known[other] - fixed, 1))
        power /= math.log(one / other)
    if power <= _NEAR:
        return _LARGEST
    if one != other and abs(power - 1) < _NEAR:
        slope = (known[one] - known[other]) / (one - other)
        if slope <= 0:
            return _LARGEST
        guess = one + (memory - known[one]) / slope
    else:
        guess = one * (max(memory - fixed, 1) / max(known[one] - fixed, 1)) ** (1 / power)
    return math.floor(min(guess, _LARGEST))
