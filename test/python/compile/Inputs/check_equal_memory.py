"""Searches for the largest batch whose peak is within a memory, of peaks that are lines.

usage: check_equal_memory.py MODULES"""

import sys

sys.path.insert(0, sys.argv[1])
from batches import guess_batch

# The peak without a sample, that of a sample, the memory, the batch to begin with, and
# the largest batch.
CASES = [
    (100, 10, 200, 4, 10),
    (100, 10, 209, 4, 10),
    (0, 7, 700, 8, 100),
    (150, 50, 210, 8, 1),
    (500, 1, 520, 20, 20),
]
for constant, slope, memory, batch, largest in CASES:
    peaks = {}
    while batch not in peaks:
        peaks[batch] = constant + slope * batch
        batch = guess_batch(peaks, memory)
    found = max(batch for batch, peak in peaks.items() if peak <= memory)
    assert found == largest, (found, largest, peaks)
    assert len(peaks) <= 5, peaks
print(f"{len(CASES)} searches end with the largest batch")
