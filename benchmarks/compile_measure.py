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

from fad.torch.compile import _measure

from compile_models import Model


class Failed(Exception):
    """A configuration that has no figures. Its message is the reason."""


def forget() -> None:
    """Forgets all that is compiled, and lets one model be compiled often."""
    torch._dynamo.reset()
    torch._dynamo.config.recompile_limit = 100


def seed() -> None:
    torch.manual_seed(1)


def compile_model(
    model: Model, name: str, stock: "Reference | None", engine: str = "inductor"
) -> Callable:
    """A function that returns the loss of `model` as the configuration `name` has it,
    one of fad's with `engine`. Budgets of fad are shares of what `stock` takes: of the
    bytes that it saves, or of its peak beyond the gradients."""
    if name == "eager":
        return model.module
    patch: dict[str, Any] = {}
    options: dict[str, Any] = {}
    inner = "inductor"
    if name == "aggressive":
        patch["aggressive_recomputation"] = True
    elif name.startswith("budget-"):
        patch["activation_memory_budget"] = float(name.removeprefix("budget-"))
    elif name != "inductor":
        inner = "fad"
        policy, _, rest = name.partition("-")
        options["fad.policy"], options["fad.engine"] = policy, engine
        kind, _, share = rest.partition("-")
        if kind == "residuals":
            options["fad.residual_budget"] = int(float(share) * stock.bytes)
        elif kind == "peak":
            beyond = stock.peak - stock.gradient_bytes
            options["fad.budget"] = stock.gradient_bytes + int(float(share) * beyond)
        elif rest:
            options["fad.recompute"] = rest

    # A function of its own: what has an equal backend is compiled once, so that two
    # configurations of Inductor would be one.
    def backend(graph: torch.fx.GraphModule, inputs: Any) -> Callable:
        keywords = {"options": options} if options else {}
        return torch._dynamo.lookup_backend(inner)(graph, inputs, **keywords)

    compiled = torch.compile(model.module, backend=backend, fullgraph=True, dynamic=False)
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
    return _measure.measure_peak(lambda: step(*model.inputs).backward())


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
    one: tuple[Model, Callable], other: tuple[Model, Callable], repetitions: int
) -> dict[str, Any]:
    """Seconds of a step of `one`, and their ratio to those of `other`, in turns: medians."""
    own, ratios = [], []
    for _ in range(2):
        _time_step(*other), _time_step(*one)
    for number in range(repetitions):
        pair = [(one, 0), (other, 1)]
        times = [0.0, 0.0]
        # What runs first may find other caches.
        for each, place in pair if number % 2 else pair[::-1]:
            times[place] = _time_step(*each)
        own.append(times[0])
        ratios.append(times[0] / times[1])
    low, middle, high = statistics.quantiles(ratios, n=4)
    return {"seconds": statistics.median(own), "ratio": middle, "quartiles": [low, high]}


class Reference:
    """Stock Inductor on a model, which all others are measured against."""

    def __init__(self, model: Model) -> None:
        self.model = model
        forget()
        self.step = compile_model(model, "inductor", None)
        self.bytes = count_saved(model, self.step, False)
        self.peak = measure_peak(model, self.step)
        self.gradients = get_gradients(model, self.step)
        sizes = (value.untyped_storage().nbytes() for value in self.gradients.values())
        # What each step has at its end.
        self.gradient_bytes = sum(sizes)


def measure(reference: Reference, name: str, repetitions: int) -> dict[str, Any]:
    """The figures of the configuration `name`."""
    model = reference.model
    try:
        if name == "inductor":
            step = reference.step
        else:
            step = compile_model(model, name, reference)
        # A step that is compiled anew is another's.
        with torch.compiler.set_stance("fail_on_recompile"):
            return _measure_compiled(reference, step, name == "eager", repetitions)
    except (Failed, RuntimeError, RuntimeWarning) as error:
        lines = f"{type(error).__name__}: {error}".splitlines()
        reason = next((line for line in lines if "fad leaves" in line), lines[0])
        return {"failed": reason[:300]}
    finally:
        clear(model)
        with contextlib.suppress(NameError):
            del step
        gc.collect()


def _measure_compiled(
    reference: Reference, step: Callable, is_eager: bool, repetitions: int
) -> dict[str, Any]:
    model = reference.model
    figures = {
        "saved": count_saved(model, step, is_eager),
        "peak": measure_peak(model, step),
        **measure_times((model, step), (model, reference.step), repetitions),
    }
    # Eager dropout has other masks.
    if not is_eager or not any(
        isinstance(module, torch.nn.Dropout) and module.p for module in model.module.modules()
    ):
        figures["error"] = compare(get_gradients(model, step), reference.gradients)
    return figures
