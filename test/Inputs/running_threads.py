"""The threads of the process that take part in a computation."""

from pathlib import Path
from typing import Callable


def read_seconds() -> dict[str, float]:
    """Returns the processor's time of each thread, by its number."""
    tasks = Path("/proc/self/task").iterdir()
    return {each.name: int((each / "schedstat").read_text().split()[0]) / 1e9 for each in tasks}


def count_running(call: Callable[[], object]) -> int:
    """Returns how many threads run in `call` for a tenth or more of the time of the one that runs
    longest."""
    before = read_seconds()
    call()
    after = read_seconds()
    taken = [after[name] - before.get(name, 0.0) for name in after]
    return sum(each > max(taken) / 10 for each in taken)
