"""Bytes that PyTorch's allocator gives while a function runs."""

import contextlib
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from torch.profiler import ProfilerActivity, profile

from .._pytorch import read_memory_events
from .._requirements import torch


@dataclass(frozen=True)
class Allocated:
    """Bytes beyond those of before: `resident` at the end, and `peak` at most."""

    resident: int
    peak: int


def watch_allocator(call: Callable[[], Any], on_gpu: bool) -> tuple[Any, Allocated]:
    """Returns the result of `call`, and what the allocator of the GPU, or that of the CPU, gives
    meanwhile. The result is alive at the end."""
    with AllocatorWatch(on_gpu) as watch:
        result = call()
    return result, watch.allocated


class AllocatorWatch:
    """The bytes that the allocator of the GPU, or that of the CPU, gives from here to the
    end of the context, in `allocated`."""

    allocated: Allocated

    def __init__(self, on_gpu: bool) -> None:
        self._on_gpu = on_gpu

    def __enter__(self) -> "AllocatorWatch":
        if self._on_gpu:
            torch.cuda.synchronize()
            torch.cuda.reset_peak_memory_stats()
            self._before = torch.cuda.memory_allocated()
        else:
            self._profiler = profile(activities=[ProfilerActivity.CPU], profile_memory=True)
            with _without_log():
                self._profiler.start()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._on_gpu:
            torch.cuda.synchronize()
            most = torch.cuda.max_memory_allocated() - self._before
            self.allocated = Allocated(torch.cuda.memory_allocated() - self._before, most)
            return
        with _without_log():
            self._profiler.stop()
        alive = most = 0
        for count in read_memory_events(self._profiler):
            alive += count
            most = max(most, alive)
        self.allocated = Allocated(alive, most)


# Messages of PyTorch's profiler that it begins and ends.
_STAGE = re.compile(rb"(?:STAGE|USDT):\S+ \S+ \d+:\d+ \w+\.cpp:\d+\] .*")


@contextlib.contextmanager
def _without_log() -> Iterator[None]:
    """Keeps the profiler's messages off stderr, whose descriptor the library writes to itself.
    All else that is written meanwhile follows afterwards."""
    try:
        stderr = os.dup(2)
    except OSError:
        # A process without one has no messages.
        yield
        return
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
            file.seek(0)
            for line in file:
                if not _STAGE.match(line):
                    os.write(2, line)


def is_on_gpu(tensors: Iterable[torch.Tensor]) -> bool:
    return any(tensor.is_cuda for tensor in tensors)
