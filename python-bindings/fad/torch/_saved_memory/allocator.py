"""Bytes that PyTorch's allocator gives while a function runs."""

import contextlib
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from torch.profiler import ProfilerActivity, profile

from .._requirements import torch


@dataclass(frozen=True)
class Allocated:
    """Bytes beyond those of before: `resident` at the end, and `peak` at most."""

    resident: int
    peak: int


def watch_allocator(call: Callable[[], Any], on_gpu: bool) -> tuple[Any, Allocated]:
    """The result of `call`, and what the allocator of the GPU, or that of the CPU, gives
    meanwhile. The result is alive at the end."""
    return _watch_gpu(call) if on_gpu else _watch_cpu(call)


def _watch_gpu(call: Callable[[], Any]) -> tuple[Any, Allocated]:
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    result = call()
    torch.cuda.synchronize()
    peak = torch.cuda.max_memory_allocated() - before
    return result, Allocated(torch.cuda.memory_allocated() - before, peak)


def _watch_cpu(call: Callable[[], Any]) -> tuple[Any, Allocated]:
    profiler = profile(activities=[ProfilerActivity.CPU], profile_memory=True)
    with _without_log():
        profiler.start()
    try:
        result = call()
    finally:
        with _without_log():
            profiler.stop()
    events = [e for e in profiler.profiler.kineto_results.events() if e.name() == "[memory]"]
    alive = most = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        alive += event.nbytes()
        most = max(most, alive)
    return result, Allocated(alive, most)


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
