"""The time of training steps, and the bytes that they take."""

import statistics
import time
from typing import Any, Callable, Sequence

import torch

from .._saved_memory.allocator import watch_allocator
from ._pytorch import tree_leaves

# How often each step runs for its time, after once for its compilation and its peak.
_REPETITIONS = 9


def make_step(call: Callable[[], Any], trained: Sequence[torch.Tensor]) -> Callable[[], Any]:
    """A step forward and backward, with ones for the gradients of all results of `call`.
    The step leaves `.grad` of the `trained` tensors as they are."""

    def step() -> Any:
        results = [leaf for leaf in tree_leaves(call()) if _is_differentiable(leaf)]
        ones = [torch.ones_like(result) for result in results]
        return torch.autograd.grad(results, trained, ones, allow_unused=True)

    return step


def _is_differentiable(leaf: Any) -> bool:
    return isinstance(leaf, torch.Tensor) and leaf.requires_grad


def measure_peak(step: Callable[[], Any]) -> int:
    """The most bytes that PyTorch's allocator gives during `step`, beyond those of
    before."""
    if torch.cuda.is_available():
        most = watch_allocator(step, on_gpu=True)[1].peak
        if most:
            return most
    return watch_allocator(step, on_gpu=False)[1].peak


def measure_times(steps: Sequence[Callable[[], Any]]) -> list[float]:
    """The medians of the seconds that each step takes, in turn with the others: those of
    all threads of the processor, or with a GPU, those until it is done."""
    clock = _read_gpu_clock if torch.cuda.is_available() else time.process_time
    times: list[list[float]] = [[] for _ in steps]
    for _ in range(_REPETITIONS):
        for step, taken in zip(steps, times):
            start = clock()
            step()
            taken.append(clock() - start)
    return [statistics.median(taken) for taken in times]


def _read_gpu_clock() -> float:
    torch.cuda.synchronize()
    return time.perf_counter()
