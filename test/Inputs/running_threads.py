"""The threads of the process that take part in a computation."""

import contextlib
import time
from pathlib import Path
from typing import Callable


def read_seconds() -> dict[str, float]:
    """Returns the processor's time of each thread, by its number, when all have come to rest: the
    time of one that runs is not that of now."""
    time.sleep(0.05)
    found = {}
    for task in Path("/proc/self/task").iterdir():
        # A thread may end meanwhile.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            found[task.name] = int((task / "schedstat").read_text().split()[0]) / 1e9
    return found


def count_running(call: Callable[[], object], times: int = 1) -> int:
    """Returns how many threads run in so many calls for a tenth or more of the time of the one that
    runs longest."""
    before = read_seconds()
    for _ in range(times):
        call()
    after = read_seconds()
    taken = [after[name] - before.get(name, 0.0) for name in after]
    return sum(each > max(taken) / 10 for each in taken)
