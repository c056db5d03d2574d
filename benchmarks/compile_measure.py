"""What torch_compile.py measures of a step of training: the bytes that forward saves
for backward, the peak of memory, the time, and the gradients."""

import contextlib
import gc
import statistics
import time
import warnings
from typing import Any, Callable

import torch
from torch._functorch import config as functorch_config

from compile_models import Model

class Failed(Exception):
    """A configuration that has no figures. Its message is the reason."""


def seed() -> None:
    torch.manual_seed(1)


def compile_model(model: Model, name: str, stock: "Reference | None") -> Callable:
    """A function that returns the loss of `model` as the configuration `name` has it;
    budgets of fad are shares of what `stock` takes."""
    if name == "eager":
        return model.module
    # Each configuration is compiled anew.
    torch._dynamo.reset()
    patch: dict[str, Any] = {}
    options: dict[str, Any] = {}
    backend = "inductor"
    if name == "aggressive":
        patch["aggressive_recomputation"] = True
    elif name.startswith("budget-"):
        patch["activation_memory_budget"] = float(name.removeprefix("budget-"))
    elif name != "inductor":
        import fad.torch.compile  # noqa: F401, registers the backend

        backend = "fad"
        policy, _, rest = name.partition("-")
        options["fad.policy"] = policy
        if rest.startswith("budget-"):
            share = float(rest.removeprefix("budget-"))
            options["fad.residual_budget"] = int(share * stock.bytes)
        elif rest.startswith("peak-"):
            share = float(rest.removeprefix("peak-"))
            options["fad.budget"] = int(share * measure_peak(model, stock.step))
        elif rest:
            options["fad.recompute"] = rest
    compiled = torch.compile(
        model.module, backend=backend, options=options, fullgraph=True, dynamic=False
    )
    # Compilation is by the first call and its backward part.
    with functorch_config.patch(patch), warnings.catch_warnings():
        warnings.filterwarnings("error", message="fad leaves this graph")
        seed()
        compiled(*model.inputs).backward()
    return compiled


def get_alive(model: Model) -> set[int]:
    """The storages that are alive anyway."""
    tensors = (*model.module.parameters(), *model.module.buffers(), *model.inputs)
    return {tensor.untyped_storage()._cdata for tensor in tensors}


def count_saved(model: Model, step: Callable, is_eager: bool) -> int:
    """Bytes of the storages that forward saves for backward, beside those of
    parameters, buffers and inputs."""
    kept = []

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        kept.append(tensor)
        return tensor

    seed()
    if is_eager:
        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            loss = step(*model.inputs)
    else:
        loss = step(*model.inputs)
        node = loss.grad_fn
        kept += (*node.saved_tensors, *getattr(node, "_tensors_no_vc_check", ()))
    alive = get_alive(model)
    sizes = {
        tensor.untyped_storage()._cdata: tensor.untyped_storage().nbytes() for tensor in kept
    }
    return sum(size for storage, size in sizes.items() if storage not in alive)


def clear(model: Model) -> None:
    for parameter in model.module.parameters():
        parameter.grad = None


def run_step(model: Model, step: Callable) -> None:
    clear(model)
    seed()
    step(*model.inputs).backward()


def measure_peak(model: Model, step: Callable) -> int:
    """Bytes that a step has at most, beside what is there before: gradients of
    parameters count. Of the allocator, which Inductor's buffers come from, too."""
    clear(model)
    gc.collect()
    seed()
    if model.inputs[0].is_cuda:
        torch.cuda.synchronize()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        step(*model.inputs).backward()
        torch.cuda.synchronize()
        return torch.cuda.max_memory_allocated() - before
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, profile_memory=True) as profile:
        step(*model.inputs).backward()
    events = [
        event
        for event in profile.profiler.kineto_results.events()
        if event.name() == "[memory]"
    ]
    if not events:
        raise Failed("the profiler has no events of the allocator")
    now = peak = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        now += event.nbytes()
        peak = max(peak, now)
    return peak


def get_gradients(model: Model, step: Callable) -> dict[str, torch.Tensor]:
    run_step(model, step)
    return {
        name: parameter.grad.detach().clone()
        for name, parameter in model.module.named_parameters()
        if parameter.grad is not None
    }


def compare(
    gradients: dict[str, torch.Tensor], reference: dict[str, torch.Tensor]
) -> float:
    """The largest error of a gradient, relative to the largest element of all: some
    gradients, such as that of a bias before a normalization, are zero but for
    rounding."""
    if gradients.keys() != reference.keys():
        raise Failed("other parameters have gradients")
    largest = max(value.abs().max().item() for value in reference.values())
    errors = (
        (gradients[name] - value).abs().max().item() / max(value.abs().max().item(), 1e-3 * largest)
        for name, value in reference.items()
    )
    return max(errors)


def _time_step(model: Model, step: Callable) -> float:
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


def measure_times(
    model: Model, step: Callable, reference: Callable, repetitions: int
) -> dict[str, float]:
    """Seconds of a step, and their ratio to those of `reference`, in turns: medians."""
    own, ratios = [], []
    for _ in range(2):
        _time_step(model, reference), _time_step(model, step)
    for number in range(repetitions):
        pair = [(step, 0), (reference, 1)]
        times = [0.0, 0.0]
        # What runs first may find other caches.
        for function, place in pair if number % 2 else pair[::-1]:
            times[place] = _time_step(model, function)
        own.append(times[0])
        ratios.append(times[0] / times[1])
    low, middle, high = statistics.quantiles(ratios, n=4)
    return {"seconds": statistics.median(own), "ratio": middle, "quartiles": [low, high]}


class Reference:
    """Stock Inductor on a model, which all others are measured against."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.step = compile_model(model, "inductor", None)
        self.bytes = count_saved(model, self.step, False)
        self.gradients = get_gradients(model, self.step)


def measure(reference: Reference, name: str, repetitions: int) -> dict[str, Any]:
    """The figures of the configuration `name`."""
    model = reference.model
    begin = time.process_time()
    try:
        if name == "inductor":
            step = reference.step
        else:
            step = compile_model(model, name, reference)
        seconds = time.process_time() - begin
        figures = {
            "saved": count_saved(model, step, name == "eager"),
            "peak": measure_peak(model, step),
            **measure_times(model, step, reference.step, repetitions),
            "compile_seconds": seconds,
        }
        # Eager dropout has other masks.
        if name != "eager" or not any(
            isinstance(module, torch.nn.Dropout) and module.p
            for module in model.module.modules()
        ):
            figures["error"] = compare(get_gradients(model, step), reference.gradients)
        return figures
    except (Failed, RuntimeError, RuntimeWarning) as error:
        lines = f"{type(error).__name__}: {error}".splitlines()
        reason = next((line for line in lines if "fad leaves" in line), lines[0])
        return {"failed": reason[:300]}
    finally:
        clear(model)
        with contextlib.suppress(NameError):
            del step
        gc.collect()
