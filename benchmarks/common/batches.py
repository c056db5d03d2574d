"""The search for the largest batch whose peak is within a memory."""

from typing import Mapping


def guess_batch(peaks: Mapping[int, int], memory: int) -> int:
    """Returns the batch to try next, which is one that was tried at the end of the search. Peaks
    are a line in the batch but for a few bytes, so no larger batch is tried where the line through
    the nearest two is above the memory."""
    low = max((batch for batch in peaks if peaks[batch] <= memory), default=0)
    high = min((batch for batch in peaks if peaks[batch] > memory), default=None)
    if high is not None and high - low <= 1:
        return low or high
    if len(peaks) == 1:
        batch = next(iter(peaks))
        guess = int(batch * memory / peaks[batch])
        return max(guess, low + 1) if low else max(min(guess, high - 1), 1)
    one, other = sorted(peaks, key=lambda batch: abs(peaks[batch] - memory))[:2]
    slope = (peaks[one] - peaks[other]) / (one - other)
    guess = int(one + (memory - peaks[one]) / slope) if slope > 0 else 2 * low
    if high is not None:
        guess = min(guess, high - 1)
    return max(guess, low, 1)
