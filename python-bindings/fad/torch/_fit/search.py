"""The largest size of a batch, or of its rows, whose step is within a memory."""

import math
from collections.abc import Callable

# So many sizes are tried at most beside the first one.
_MOST = 6
# No batch is larger.
_LARGEST = 2**24


def find_largest(
    size: int, bytes_: int, count: Callable[[int], int], fixed: int, memory: int
) -> tuple[int, int]:
    """Returns the largest size of which a step takes at most `memory`, and its bytes; where none is
    found, 0 and the bytes of the smallest one that was tried. The step of `size` takes `bytes_`,
    and that of others as many as `count` says. Of these, `fixed` do not depend on the size.

    Bytes are nearly linear in the size, so each size that is tried is where the line through the
    two nearest known ones reaches the memory. The result is one that was tried."""
    known = {size: bytes_}
    for _ in range(_MOST):
        low = max((each for each, found in known.items() if found <= memory), default=0)
        high = min((each for each, found in known.items() if found > memory), default=_LARGEST)
        guess = min(max(_guess(known, fixed, memory), low), high - 1)
        if guess == low and (low or 1 in known):
            break
        guess = max(guess, 1)
        known[guess] = count(guess)
    best = max((each for each, found in known.items() if found <= memory), default=0)
    return (best, known[best]) if best else (0, known[min(known)])


def _guess(known: dict[int, int], fixed: int, memory: int) -> int:
    """Returns the size at which the line through the known ones that are nearest to the memory
    reaches it."""
    nearest = sorted(known, key=lambda each: abs(known[each] - memory))[:2]
    one, *others = nearest
    slope = (known[one] - fixed) / one
    if others and known[others[0]] != known[one]:
        slope = (known[one] - known[others[0]]) / (one - others[0])
    if slope <= 0:
        return _LARGEST
    return min(_LARGEST, one + math.floor((memory - known[one]) / slope))
