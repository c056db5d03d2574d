"""A step of training: a model, and what is measured of a step of it."""

import dataclasses
import gc
import time
from typing import Callable

import torch
from torch import nn

from fad.torch._saved_memory.allocator import watch_allocator


@dataclasses.dataclass
class Model:
    """A module that returns a loss, and its inputs."""

    module: nn.Module
    inputs: tuple[torch.Tensor, ...]


class WrongGradients(Exception):
    """Gradients that cannot be compared. Its message is the reason."""


def seed() -> None:
    torch.manual_seed(1)


def clear(model: Model) -> None:
    for parameter in model.module.parameters():
        parameter.grad = None


def measure_memory(model: Model, step: Callable) -> tuple[int, int]:
    """Returns the bytes of the allocator that are kept after forward, and the most of a step,
    beside those that are there before: gradients of parameters count."""
    on_gpu = model.inputs[0].is_cuda
    clear(model)
    gc.collect()
    seed()
    loss, forward = watch_allocator(lambda: step(*model.inputs), on_gpu)
    backward = watch_allocator(loss.backward, on_gpu)[1]
    return forward.resident, max(forward.peak, forward.resident + backward.peak)


def measure_peak(model: Model, step: Callable) -> int:
    return measure_memory(model, step)[1]


def get_gradients(model: Model, step: Callable) -> dict[str, torch.Tensor]:
    clear(model)
    seed()
    step(*model.inputs).backward()
    return {
        name: parameter.grad.detach().clone()
        for name, parameter in model.module.named_parameters()
        if parameter.grad is not None
    }


def compare(gradients: dict[str, torch.Tensor], reference: dict[str, torch.Tensor]) -> float:
    """Returns the largest error of a gradient, relative to the largest element of all: some
    gradients, such as that of a bias before a normalization, are zero but for rounding."""
    if gradients.keys() != reference.keys():
        raise WrongGradients("other parameters have gradients")
    largest = max(value.abs().max().item() for value in reference.values())
    errors = (
        (gradients[name] - value).abs().max().item() / max(value.abs().max().item(), 1e-3 * largest)
        for name, value in reference.items()
    )
    # NaN where one is that.
    return max(errors, key=lambda error: (error != error, error))


def time_step(model: Model, step: Callable) -> float:
    """Seconds of a step: by the events of a GPU, or of CPU time."""
    clear(model)
    seed()
    if model.inputs[0].is_cuda:
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        step(*model.inputs).backward()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / 1e3
    # Other processes wait on other clocks.
    begin = time.process_time()
    step(*model.inputs).backward()
    return time.process_time() - begin
