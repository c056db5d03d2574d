"""The largest size of a batch, or of its rows, whose step is within a memory."""

import math
from collections.abc import Callable

# So many sizes are tried at most beside the first one.
_MOST = 24
# No batch is larger.
_LARGEST = 2**24
# Powers that are so near 1 are those of lines, and those near 0 do not grow.
_NEAR = 0.1


def find_largest(
    size: int, bytes_: int, count: Callable[[int], float], fixed: int, memory: int
) -> tuple[int, int]:
    """Returns the largest size of which a step takes at most `memory`, and its bytes; where none is
    found, 0 and the bytes of the smallest one that was tried. The step of `size`, at least 1, takes
    `bytes_`, and that of others as many as `count` says: infinitely many, where the model does not
    run. Of these, `fixed` do not depend on the size.

    Bytes grow with a power of the size, which two known sizes tell; that of a batch is 1. The result
    is one that was tried."""
    known: dict[int, float] = {size: bytes_}
    for number in range(_MOST):
        low = max((each for each, found in known.items() if found <= memory), default=0)
        high = min((each for each, found in known.items() if found > memory), default=None)
        end = _LARGEST + 1 if high is None else high
        if end - low <= 1:
            break
        guess = _guess(known, low, high, fixed, memory)
        # Where that leads nowhere, as bytes bend, halves of the way do.
        is_lost = number > 3 and number % 2 == 0
        is_outside = not low < guess < end and 2 * low < end
        if high is not None and (is_lost or is_outside):
            guess = math.isqrt(max(low, 1) * high)
        guess = min(max(guess, low + 1), end - 1)
        known[guess] = count(guess)
    best = max((each for each, found in known.items() if found <= memory), default=0)
    return (best, int(known[best])) if best else (0, int(known[min(known)]))


def _guess(known: dict[int, float], low: int, high: int | None, fixed: int, memory: int) -> int:
    """Returns the size at which the power of the size through two known ones, `low` and `high` where
    both are, reaches the memory."""
    nearest = sorted(known, key=lambda each: abs(known[each] - memory))
    one, other = (low, high) if low and high else (nearest[0], nearest[:2][-1])
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
        guess = one + (memory - known[one]) / slope
    else:
        guess = one * (max(memory - fixed, 1) / max(known[one] - fixed, 1)) ** (1 / power)
    return math.floor(min(guess, _LARGEST))
