"""The largest size of a batch, or of its rows, whose step is within a memory."""

import bisect
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

from ..compile._step_memory import StepMemory, make_step_memory
from .layers import get_structure

# So many sizes are tried at most beside the first one.
_MOST = 24
# No batch is larger.
_LARGEST = 2**24
# Between sizes of so many and one more, steps differ little.
_SMOOTH = 16
# Powers that are so near 1 are those of lines, and those near 0 do not grow.
_NEAR = 0.1


class Fixed:
    """The bytes of storages that are the same at each size: those of the `parameters`, and of storages
    of a step with as many at two sizes; but those of storages that grow are none."""

    def __init__(self, parameters: Collection[int]) -> None:
        self.fixed = {*parameters}
        # By bytes at a size, those at twice the size.
        self.growing: set[tuple[int, int]] = set()
        self.size = 1

    def compare(self, size: int, one: StepMemory, double: StepMemory) -> None:
        """Adds a step of a `size`, and one of twice the size."""
        made: tuple[dict[Any, list[int]], ...] = {}, {}
        for step, found in zip((one, double), made):
            for each in step.allocations:
                key = each.kind, each.operation, each.module, each.line
                found.setdefault(key, []).append(each.bytes)
        # Some operations make no copies of one row, for example.
        equal = [key for key, found in made[0].items() if len(found) == len(made[1].get(key, ()))]
        pairs = {pair for key in equal for pair in zip(made[0][key], made[1][key])}
        self.growing = {(before, after) for before, after in pairs if before < after}
        self.fixed |= {before for before, after in pairs if before == after}
        self.size = size

    def find(self, size: int) -> set[int]:
        """Returns the bytes at a size."""
        growth = size / self.size - 1
        return self.fixed - {round(a + (b - a) * growth) for a, b in self.growing}


class Sizes:
    """The bytes of a step by the size of its inputs. Where only the bytes of the storages differ, each
    is a polynomial of the size, of a `degree`, and the step of another size follows, or by what is
    `fixed`, about that."""

    def __init__(self, degree: int, fixed: Fixed) -> None:
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

    def scale(self, near: Sequence[int], size: int) -> float:
        """Returns about the bytes of the step of a size by those of one or two known ones `near` it: of
        two, on the line through them; of one, where all but gradients, and what is fixed, grow as
        it does."""
        known, *others = near
        memory, _ = self.known[known]
        for other in others:
            slope = (self.known[other][0].bytes - memory.bytes) / (other - known)
            return memory.bytes + max(slope, 0) * (size - known)
        fixed = self.fixed.find(known)
        allocations = [
            each
            if each.kind == "gradient" or each.bytes in fixed
            else replace(each, bytes=each.bytes * size // known)
            for each in memory.allocations
        ]
        return make_step_memory(allocations, memory.operations, memory.backward).bytes


def find_largest(
    known: dict[int, float],
    count: Callable[[int], float],
    fixed: int,
    memory: int,
    predict: Callable[[int], float | None] = lambda _: None,
    scale: Callable[[Sequence[int], int], float] | None = None,
    slack: float = 0.0,
    is_linear: bool = False,
) -> tuple[int, int]:
    """Returns the largest size of which a step takes at most `memory`, and its bytes; where none is
    found, 0 and the bytes of the smallest one that was tried. Steps of sizes, at least 1, take the bytes
    that are `known`, one or more, which others join, and that `count` says: infinitely many, where the
    model does not run. Of these, `fixed` do not depend on the size.

    Bytes grow with a power of the size, which two known sizes tell. Where `predict` says what a size
    takes, that is tried which is the largest by it, and else, where `scale` tells about what it takes
    by one known size, or where it `is_linear`, by the nearest two, the largest by that. The result is
    one that was tried: the first of which the step leaves at most the part `slack` of the memory, or
    the first of at least `_SMOOTH` of which one more exceeds it by what `scale` tells. What is known
    of other sizes may change with each that is tried."""
    width = math.inf
    for number in range(_MOST):
        low = max((each for each, found in known.items() if found <= memory), default=0)
        high = min((each for each, found in known.items() if found > memory), default=None)
        end = _LARGEST + 1 if high is None else high
        if end - low <= 1:
            break
        if low and (known[low] >= (1 - slack) * memory or (predict(low + 1) or 0) > memory):
            break
        if low >= _SMOOTH and scale is not None and is_linear and scale((low,), low + 1) > memory:
            break
        guess = _guess(known, low, high, fixed, memory)
        # No prediction knows where a model does not run.
        is_bounded = high is None or math.isfinite(known[high])
        sizes = range(low + 1, end)
        # The middle of the slack.
        most = math.floor((1 - slack / 2) * memory)
        near = _find_nearest(known, low, high, memory)
        if is_bounded and scale is not None and len(near) > 1 and not (low and high):
            near = _leave_level(known, near, low or high or 1, scale)
        if is_bounded and predict(guess) is not None:

            def exceeds(size: int) -> bool:
                """Tells whether a size is not predicted to fit, or, as others, not said to."""
                found = predict(size)
                if found is None and scale is not None:
                    return scale(near, size) > most
                return (found or 0) > memory

            guess = low + bisect.bisect(sizes, False, key=exceeds)
        elif is_bounded and scale is not None:
            if len(near) > 1 and not is_linear:
                guess = _guess(known, low, high, fixed, most)
            else:
                guess = low + bisect.bisect(sizes, False, key=lambda each: scale(near, each) > most)
            # Of few sizes, none may be below the middle.
            is_short = low < guess < end - 1 and scale(near, guess) < (1 - slack) * memory
            guess += is_short and scale(near, guess + 1) <= memory
        # Where that leads nowhere, as bytes bend, halves of the way do.
        before, width = width, math.log(end / max(low, 1))
        is_lost = number > 3 and number % 2 == 0 and width > before / 2
        is_outside = not low < guess < end and 2 * low < end
        if high is not None and (is_lost or is_outside):
            guess = math.isqrt(max(low, 1) * high)
        guess = min(max(guess, low + 1), end - 1)
        known[guess] = count(guess)
    best = max((each for each, found in known.items() if found <= memory), default=0)
    smallest = min(each for each, found in known.items() if math.isfinite(found))
    return (best, int(known[best])) if best else (0, int(known[smallest]))


def _find_nearest(
    known: dict[int, float], low: int, high: int | None, memory: int
) -> tuple[int, ...]:
    """Returns the sizes that tell what others take, one or two: those on both sides of the memory, or
    those with the bytes that are the nearest to it."""
    finite = [each for each, found in known.items() if math.isfinite(found) or each == high]
    nearest = sorted(finite, key=lambda each: abs(known[each] - memory))
    return tuple(sorted((low, high), key=nearest.index) if low and high else nearest[:2])


def _leave_level(
    known: dict[int, float],
    near: tuple[int, ...],
    last: int,
    scale: Callable[[Sequence[int], int], float],
) -> tuple[int, ...]:
    """Returns the sizes by which others follow, of two that are `near` the memory, both below or both
    above it: the `last` one before it alone, where bytes grow by far more by what `scale` tells of that
    than between both. A plan may take less from some size on, such as with more chunks."""
    one, other = near
    alone = (scale((last,), 2 * last) - scale((last,), last)) / last
    both = (known[one] - known[other]) / (one - other)
    return near if both >= alone / 2 else (last,)


def _guess(
    known: dict[int, float],
    low: int,
    high: int | None,
    fixed: int,
    memory: int,
) -> int:
    """Returns the size at which the power of the size through two known ones, `low` and `high` where
    both are, reaches the memory."""
    nearest = _find_nearest(known, low, high, memory)
    one, other = nearest[0], nearest[-1]
    if math.isinf(max(known[one], known[other])):
        return math.isqrt(max(low, 1) * (high or _LARGEST))
    power = 1.0
    if one != other:
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
