"""Bytes that PyTorch's allocator gives while a function runs."""

from collections.abc import Callable, Iterable
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
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        result = call()
    events = [e for e in profiler.profiler.kineto_results.events() if e.name() == "[memory]"]
    alive = most = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        alive += event.nbytes()
        most = max(most, alive)
    return result, Allocated(alive, most)


def is_on_gpu(tensors: Iterable[torch.Tensor]) -> bool:
    return any(tensor.is_cuda for tensor in tensors)
