"""Measurements by torch_compile.py of a step of training: the bytes that forward saves
for backward, the peak of memory, the time, and the gradients."""

import contextlib
import gc
import statistics
import warnings
from typing import Any, Callable

import torch
from torch._functorch import config as functorch_config

from fad.torch.compile._backend import compile_inductor

from compile_budgets import Choice, InRange
from compile_tables import PEAKS
from steps import (
    Model,
    WrongGradients,
    clear,
    compare,
    get_gradients,
    measure_peak,
    seed,
    time_step,
)


def forget() -> None:
    """Forgets all that is compiled, and lets one model be compiled often."""
    torch._dynamo.reset()
    torch._dynamo.config.recompile_limit = 100


def read_share(name: str) -> float | None:
    """Returns the share of the configuration `name`, where that is a budget for the peak."""
    prefix = "auto-peak-"
    return float(name.removeprefix(prefix)) if name.startswith(prefix) else None


def compile_model(
    model: Model,
    name: str,
    stock: "Reference | None",
    engine: str = "inductor",
    budget: InRange | None = None,
) -> Callable:
    """Returns a function that returns the loss of `model` as the configuration `name` has it, one
    of fad's with `engine`. Budgets of fad for what is saved are shares of the bytes that `stock`
    saves; those for the peak are `budget`."""
    if name == "eager":
        return model.module
    patch: dict[str, Any] = {}
    options: dict[str, Any] = {}
    inner = "inductor"
    if name == "aggressive":
        patch["aggressive_recomputation"] = True
    elif name.startswith("budget-"):
        patch["activation_memory_budget"] = float(name.removeprefix("budget-"))
    elif budget:
        # The plan in a cache has neither its budget nor its estimate.
        patch["enable_autograd_cache"] = False
    elif name != "inductor":
        inner = "fad"
        policy, _, rest = name.partition("-")
        options["fad.policy"], options["fad.engine"] = policy, engine
        kind, _, share = rest.partition("-")
        if kind == "residuals":
            options["fad.residual_budget"] = int(float(share) * stock.bytes)
        elif rest:
            options["fad.recompute"] = rest

    # A function of its own: what has an equal backend is compiled once, so that two
    # configurations of Inductor would be one.
    def backend(graph: torch.fx.GraphModule, inputs: Any) -> Callable:
        if budget:
            return compile_inductor(graph, inputs, budget, {})
        keywords = {"options": options} if options else {}
        return torch._dynamo.lookup_backend(inner)(graph, inputs, **keywords)

    compiled = torch.compile(model.module, backend=backend, fullgraph=True, dynamic=False)
    # Compilation is by the first call and its backward part.
    with functorch_config.patch(patch), warnings.catch_warnings():
        warnings.filterwarnings("error", message="fad leaves this graph")
        if budget:
            # It asks for the lowest.
            warnings.filterwarnings("ignore", message="no selection that fad tries")
        seed()
        compiled(*model.inputs).backward()
    return compiled


def get_alive(model: Model) -> set[int]:
    """Returns the storages that are alive anyway."""
    tensors = (*model.module.parameters(), *model.module.buffers(), *model.inputs)
    return {tensor.untyped_storage()._cdata for tensor in tensors}


def count_saved(model: Model, step: Callable, is_eager: bool) -> int:
    """Returns the bytes of the storages that forward saves for backward, beside those of
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
    sizes = {tensor.untyped_storage()._cdata: tensor.untyped_storage().nbytes() for tensor in kept}
    return sum(size for storage, size in sizes.items() if storage not in alive)


def measure_times(
    one: tuple[Model, Callable], other: tuple[Model, Callable], repetitions: int
) -> dict[str, Any]:
    """Seconds of a step of `one`, and their ratio to those of `other`, in turns: medians."""
    own, ratios = [], []
    for _ in range(2):
        time_step(*other), time_step(*one)
    for number in range(repetitions):
        pair = [(one, 0), (other, 1)]
        times = [0.0, 0.0]
        # The program that runs first may find other caches.
        for each, place in pair if number % 2 else pair[::-1]:
            times[place] = time_step(*each)
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
        # Choices of fad within its budgets, by their shares, and figures by choices.
        self.choices: dict[float, Choice] = {}
        self.chosen: dict[str, dict[str, Any]] = {}


def measure(reference: Reference, name: str, repetitions: int) -> dict[str, Any]:
    """Returns the figures of the configuration `name`."""
    share = read_share(name)
    if share is None:
        return _measure(reference, name, repetitions)
    choice = reference.choices.get(share)
    # Several budgets may have one selection, which is measured once.
    if choice is None or choice.selection not in reference.chosen:
        budget = InRange(share, PEAKS)
        figures = _measure(reference, name, repetitions, budget)
        if not budget.choices:
            return figures
        reference.choices = budget.choices
        choice = budget.choices[share]
        reference.chosen[choice.selection] = figures
    figures = reference.chosen[choice.selection]
    return {**figures, "budget": choice.budget, "estimate": choice.estimate}


def _measure(
    reference: Reference, name: str, repetitions: int, budget: InRange | None = None
) -> dict[str, Any]:
    model = reference.model
    try:
        if name == "inductor":
            step = reference.step
        else:
            step = compile_model(model, name, reference, budget=budget)
        # A step that is compiled anew is another's.
        with torch.compiler.set_stance("fail_on_recompile"):
            return _measure_compiled(reference, step, name == "eager", repetitions)
    except (WrongGradients, RuntimeError, RuntimeWarning) as error:
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
    # Eager dropout has other masks, and on a GPU each graph has.
    if not (is_eager or model.inputs[0].is_cuda) or not any(
        isinstance(module, torch.nn.Dropout) and module.p for module in model.module.modules()
    ):
        figures["error"] = compare(get_gradients(model, step), reference.gradients)
    return figures
