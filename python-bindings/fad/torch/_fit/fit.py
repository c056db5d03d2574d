"""Whether a training step fits in a memory, before it runs."""

import contextlib
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..._choices import check_choice
from ..._figures import show_bytes
from ..._policy import check_budget
from .._pytorch import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorMode,
)
from .._requirements import torch
from .._saved_memory.modules import ModuleMarks
from ..compile._chunks import Chunks, check_chunks
from ..compile._step_memory import list_peak
from ..compile._workspace import Limit, limit_calls
from .compiled import LOWEST, Accepts, Selections, count_kept, schedule_step
from .configurations import find_positions
from .deep import Deep
from .eager import Traced, trace_step
from .fake import DIMENSIONS, Example, Loss, count_bytes, make_fake_model, read_example
from .layers import find_layers
from .optimizers import find_optimizer
from .progress import clear_progress, show_progress
from .report import Fit, Plan
from .search import Fixed, Sizes, find_largest

PLANS = ("eager", "inductor", "fad", LOWEST)
_DEVICES = ("cpu", "cuda")
# Searches of the largest size end where a step of a schedule leaves so much of the memory.
_SLACK = 0.01
# Budgets that are fractions are not searched for at sizes at which they are less of the memory. Of the
# lowest peak, estimates are near, and its search takes long, so that it is for the last size.
_LOW = 0.95
# At sizes that are no more than so many times another one, or as small a part of it, they take about
# as large a part of the fastest step.
_FAR = 4
# Calls of libraries of a CPU run alone for their workspaces if their operands have so many elements
# at most.
_ELEMENTS = 1 << 24


def fit(
    model: torch.nn.Module,
    example: Any,
    *,
    memory: int | str | None = None,
    optimizer: str | Callable = "adamw",
    budget: int | float | str | None = None,
    chunks: Chunks = "auto",
    vary: str = "batch",
    plans: Sequence[str] = PLANS,
    device: str | None = None,
) -> Fit:
    """Returns the memory that a training step of `model` takes, by plan, before it runs.

    Neither the model nor its inputs need memory: both may be on PyTorch's device "meta". `example`
    has the inputs of the model: a tensor, a tuple of arguments, or a dictionary of arguments by
    name. The result of the model is its loss, or has one as `loss`, or is a tensor, of which
    backward begins with ones. A step is forward, backward, and a step of `optimizer`: "none",
    "sgd", "momentum", "adam" or "adamw", with PyTorch's defaults, or a function that makes one of a
    list of parameters. Gradients are None before it.

    The `plans` are "eager", PyTorch without `torch.compile`; "inductor", `torch.compile` by itself;
    "fad", its backend "fad"; and "lowest", that with the lowest budget that it keeps. With
    `budget`, there is one more, "budget": a `fad.budget`. `chunks` is the `fad.chunks` of the plans of
    fad. With `memory`, a number of bytes or text such as "24GB", there is the largest size of the
    examples' dimension `vary` within that, too: "batch", the first one of all inputs that have as many
    rows as the first input, or "length", the second. `device` is "cpu" or "cuda"; by default that of
    the model, and "cuda" for "meta".

    Sizes with which the model does not run are too large, and so are lengths above the positions of
    a configuration of transformers. Compiled plans of a model with many equal layers are those of few
    of them, extended, where this gives the same step in eager PyTorch and one more layer is the same
    in a plan; a `budget` is planned with all layers.

    The logger "fad.torch.fit" says what is planned, and so does a line on a terminal. All that
    `torch.compile` has compiled before is compiled again at its next call. Raises
    ValueError where the model does not run with the example, or needs values of tensors."""
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"model is a {type(model).__name__}; give a torch.nn.Module")
    memory = check_budget("memory", memory)
    check_choice("vary is", vary, DIMENSIONS)
    plans = (plans,) if isinstance(plans, str) else plans
    for name in plans:
        check_choice("there is no plan", name, PLANS)
    if not plans and budget is None:
        raise ValueError("plans is empty; name one of them, or give a budget")
    chunks = check_chunks(chunks)
    found = read_example(example)
    if vary == "length" and any(tensor.dim() > 3 for tensor in found.tensors):
        raise ValueError(
            "the second dimension of images is channels, and no length; vary the batch"
        )
    size = found.get_size(vary)
    if size is None:
        others = "; vary the batch" if vary != "batch" else ""
        raise ValueError(f"no input of the example has a dimension for the {vary}{others}")
    if size == 0:
        raise ValueError(f"the {vary} of the example is 0; give at least 1")
    device = _find_device(model, device)
    name, make_optimizer = find_optimizer(optimizer, device)
    budgets = {"fad": None, LOWEST: LOWEST}
    chosen = {each: budgets[each] for each in plans if each in budgets}
    if budget is not None:
        chosen["budget"] = budget
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    step = _Step(make_fake_model(model, mode), mode, make_optimizer, device == "cpu", chunks)
    step.selections = None if memory is None else {}
    wanted = [*plans, *["budget"] * (budget is not None)]
    with clear_progress():
        answer = _Answer(step, found, chosen, wanted, memory, vary, size)
        return answer.make(type(model).__name__, device, name)


def _find_device(model: torch.nn.Module, device: str | None) -> str:
    if device is not None:
        return check_choice("device is", device, _DEVICES)
    kinds = {parameter.device.type for parameter in model.parameters()}
    return "cpu" if kinds <= {"cpu"} else "cuda"


class _Step:
    """Steps of a model without memory, of examples of any size."""

    def __init__(
        self,
        model: torch.nn.Module,
        mode: FakeTensorMode,
        make_optimizer: Callable | None,
        has_workspaces: bool,
        chunks: Chunks,
    ) -> None:
        self.mode, self.loss, self.chunks = mode, Loss(model), chunks
        self.make_optimizer, self.has_workspaces = make_optimizer, has_workspaces
        self.marks = ModuleMarks({"": self.loss.model})
        # Calls of libraries that are too large to run alone.
        self.limit = Limit(_ELEMENTS if has_workspaces else 0, set())
        # None where no other size follows.
        self.selections: Selections | None = None

    def replace_model(self, model: torch.nn.Module) -> "_Step":
        """Returns the step of another fake model."""
        return _Step(model, self.mode, self.make_optimizer, self.has_workspaces, self.chunks)

    def trace(self, example: Example, updates: bool) -> Traced:
        """Returns the memory of the step in eager PyTorch; that of the optimizer, if `updates`."""
        make = self.make_optimizer if updates else None
        with self.mode, limit_calls(self.limit):
            fake = example.make_fake(self.mode)
            return trace_step(self.loss, fake, self.marks, make, self.has_workspaces)

    def schedule(
        self,
        example: Example,
        budgets: Mapping[str, Any],
        has_stock: bool,
        accepts: Accepts | None = None,
    ) -> Any:
        """Returns the schedules of the step by Inductor, and of fad's plans of `budgets`, which search
        where `accepts` tells so of the bytes of their guides."""
        with self.mode, limit_calls(self.limit):
            fake = example.make_fake(self.mode)
            names, chunks = self.marks.names, self.chunks
            return schedule_step(
                self.loss, fake, names, budgets, has_stock, chunks, accepts, self.selections
            )


class _Answer:
    """The plans of a step, and their largest sizes within a memory."""

    def __init__(
        self,
        step: _Step,
        example: Example,
        budgets: Mapping[str, Any],
        plans: Sequence[str],
        memory: int | None,
        vary: str,
        size: int,
    ) -> None:
        self.step, self.example, self.budgets, self.plans = step, example, budgets, plans
        self.memory, self.vary, self.size = memory, vary, size
        loss = step.loss
        self.parameters = count_bytes(loss.parameters())
        self.buffers = count_bytes([*loss.parameters(), *loss.buffers()]) - self.parameters
        self.traced = _run(lambda: step.trace(example, True))
        self.deep = self._make_deep()
        self.graphs = 1
        # Whether a size has several graphs.
        self.has_several = False
        # By plan and size, the largest peak of a graph.
        self.peaks: dict[tuple[str, int], int] = {}
        # By plan, the budget that a step with the example exceeds.
        self.missed: dict[str, str] = {}
        # By plan, the sizes that have been tried.
        fixed = self._find_fixed()
        self.sizes = {name: Sizes(DIMENSIONS[vary] + 1, fixed) for name in plans}
        # Those that steer the search of a budget.
        self.guides = {name: Sizes(DIMENSIONS[vary] + 1, fixed) for name in plans}

    def make(self, model: str, device: str, optimizer: str) -> Fit:
        """Returns the answer."""
        memories = self._find_memories(self.example)
        plans = {name: self._make_plan(name, *memories[name]) for name in self.plans}
        return Fit(
            model,
            device,
            optimizer,
            self.vary,
            self.size,
            self.memory,
            self.parameters,
            self.buffers,
            count_bytes(self.example.tensors),
            self.traced.state,
            self.traced.gradients,
            self.step.marks.count_parameters(),
            plans,
            tuple(self._list_unknown(device)),
        )

    def _find_fixed(self) -> Fixed:
        """Returns the bytes that do not depend on the size, for searches of the largest one."""
        parameters = self.step.loss.parameters()
        fixed = Fixed([each.numel() * each.itemsize for each in parameters])
        if self.memory is not None and {*self.plans} - {"eager"}:
            step, one = self.step, self.traced.memory
            if self.deep:
                step, one = self.deep.steps[0], self.deep.traced
            double = self.example.resize(self.vary, 2 * self.size)
            # A model may not run with twice the length.
            with contextlib.suppress(ValueError):
                fixed.compare(self.size, one, _run(lambda: step.trace(double, False)).memory)
        return fixed

    def _make_deep(self) -> Deep | None:
        """Returns the steps of fewer layers, of which those of all follow; None where none do."""
        layers = find_layers(self.step.loss.model)
        if layers is None or not {*self.plans} - {"eager"}:
            return None
        try:
            deep = _run(lambda: Deep(self.step, layers, self.step.replace_model))
            is_regular = _run(lambda: deep.is_regular(self.example, self.traced.memory))
        except ValueError:
            # Models may need all of their layers.
            return None
        return deep if is_regular else None

    def _find_memories(
        self, example: Example, only: str | None = None, accepts: Accepts | None = None
    ) -> dict[str, Any]:
        """Returns the memory of a step with `example`, and what it keeps, by plan; of the plan
        `only`, where one is named. Of budgets that are left, there is a guide alone."""
        found: dict[str, Any] = {}
        wanted = [only] if only else self.plans
        if "eager" in wanted:
            is_first = example is self.example
            traced = self.traced if is_first else _run(lambda: self.step.trace(example, False))
            found["eager"] = traced.memory, traced.kept
        budgets = {name: budget for name, budget in self.budgets.items() if name in wanted}
        has_stock = "inductor" in wanted
        if budgets or has_stock:
            size = example.get_size(self.vary)
            names = ", ".join(each for each in wanted if each != "eager")
            tried = sum(len(sizes.known) for sizes in self.sizes.values())
            show_progress(f"fit plans {names} of {self.vary} {size}, after {tried} steps")
        if self.deep is not None:
            # A budget is for all layers at once, and so is the lowest.
            equal = {name: each for name, each in budgets.items() if each is None}
            deep = self.deep
            for name, memory in _run(lambda: deep.schedule(example, equal, has_stock)).items():
                found[name] = memory, count_kept(memory)
            budgets = {name: each for name, each in budgets.items() if name not in found}
            has_stock = has_stock and "inductor" not in found
        if budgets or has_stock:
            size = example.get_size(self.vary)
            # A budget is for each graph alone, so that several have no guide, by which the search could
            # be steered: their budgets are searched for after all, and those of other sizes at once.
            steers = None if self.has_several else accepts
            scheduled = _run(lambda: self.step.schedule(example, budgets, has_stock, steers))
            self.has_several |= any(len(each.graphs) > 1 for each in scheduled.values())
            if any(each.is_left and each.guide is None for each in scheduled.values()):
                scheduled = _run(lambda: self.step.schedule(example, budgets, has_stock, None))
            for name, each in scheduled.items():
                if each.guide is not None:
                    self.guides[name].add(size, each.guide)
                if each.is_left:
                    continue
                self.graphs = max(self.graphs, len(each.graphs))
                peak = self.peaks[name, size] = max(each.budgets)
                if each.missed and example is self.example and budgets[name] not in (None, LOWEST):
                    self.missed[name] = "; ".join(dict.fromkeys(each.missed))
                if len(each.graphs) > 1 and budgets.get(name) == LOWEST:
                    # Within the one budget that its option names, graphs take more.
                    named = {name: peak}
                    each = _run(lambda: self.step.schedule(example, named, False, None))[name]
                memory = each.join()
                found[name] = memory, count_kept(memory)
        for name, (memory, _) in found.items():
            self.sizes[name].add(example.get_size(self.vary), memory)
        return found

    def _make_plan(self, name: str, memory: Any, kept: int) -> Plan:
        update = self.traced.update if self.step.make_optimizer else 0
        step = memory.bytes
        static = self._count_static(self.example)
        largest = largest_peak = limit = None
        if self.memory is not None:
            largest, largest_peak, limit = self._find_largest(name, static + max(step, update))
        return Plan(
            name,
            self._find_options(name, step, largest),
            kept,
            step,
            update,
            static + max(step, update),
            memory,
            largest,
            largest_peak,
            limit,
            self.missed.get(name),
        )

    def _count_static(self, example: Example) -> int:
        return self.parameters + self.buffers + self.traced.state + count_bytes(example.tensors)

    def _find_largest(self, name: str, peak: int) -> tuple[int, int, str]:
        """Returns the largest size within the memory, its peak, and the limit of the size."""
        memory = self.memory
        assert memory is not None
        update = self.traced.update if self.step.make_optimizer else 0
        fixed = self.parameters + self.buffers + self.traced.state
        least = fixed + max(update, self.traced.gradients)
        if least > memory:
            return 0, peak, f"{show_bytes(least)} of parameters, gradients and the optimizer"

        # By the sizes with which the model does not run, the limit.
        stops: dict[int, str] = {}
        positions = find_positions(getattr(self.step.loss.model, "config", None))

        left: set[int] = set()
        is_lowest = self.budgets.get(name) == LOWEST
        is_steered = self.graphs == 1 and bool(self.guides[name].known)

        def count(size: int, is_sure: bool = not is_steered) -> float:
            if self.vary == "length" and positions is not None and size > positions:
                stops[size] = f"the {positions} positions of the configuration"
                return math.inf
            example = self.example.resize(self.vary, size)
            static = self._count_static(example)

            low, high = (1 - _SLACK, 1) if is_lowest else (_LOW, 1 + _SLACK)

            def accepts(guide: int) -> bool:
                step = self._estimate(name, size, guide)
                return low <= (static + step) / memory <= high

            try:
                found = self._find_memories(example, name, None if is_sure else accepts)
            except ValueError:
                # A model may have no more positions, for example.
                stops[size] = f"the model, which does not run with a {self.vary} of {size}"
                return math.inf
            left.discard(size)
            if name in found:
                # Others may have been told too much, or too little, before a search near them.
                known.update({each: scale((each,), each) for each in left})
                return static + max(found[name][0].bytes, update)
            left.add(size)
            return static + max(self._scale(name, (size,), size), update)

        def predict(size: int) -> float | None:
            step = self.sizes[name].predict(size)
            if step is None:
                return None
            return self._count_static(self.example.resize(self.vary, size)) + max(step, update)

        def scale(near: Sequence[int], size: int) -> float:
            step = self._scale(name, near, size)
            return self._count_static(self.example.resize(self.vary, size)) + max(step, update)

        fixed += self.traced.gradients
        more = () if name == "eager" else (scale, _SLACK, self.vary == "batch")
        known: dict[int, float] = {self.size: peak}
        while True:
            found = find_largest(known, count, fixed, memory, predict, *more)
            tried = found[0] or min(known)
            if tried in left:
                left.discard(tried)
                known[tried] = count(tried, True)
                continue
            return *found, self._find_limit(name, found[0], stops)

    def _scale(self, name: str, near: Sequence[int], size: int) -> float:
        """Returns about the bytes of a step of a size by those of one or two sizes `near` it, the
        nearest first."""
        known, guides = self.sizes[name].known, self.guides[name]
        # An estimate does not tell what grows with the size, as the storages of a step do.
        has_all = known.keys() >= {*near} and self.budgets.get(name) == LOWEST
        if guides.known.keys() >= {*near} and not has_all:
            return self._estimate(name, size, guides.scale(near, size))
        # Sizes with several graphs have no guide, and those that are left have it alone.
        return self.sizes[name].scale([each for each in near if each in known], size)

    def _estimate(self, name: str, size: int, guide: float) -> float:
        """Returns about the bytes that the budget of a plan takes at a size whose guide has so many: the
        part that it does at a size near it, or says; and the lowest, all of its estimate."""
        known, guides = self.sizes[name].known, self.guides[name].known
        near = min(known.keys() & guides.keys(), key=lambda each: abs(math.log(each / size)))
        step, whole = known[near][0].bytes, guides[near][0].bytes
        is_near, budget = size / _FAR <= near <= size * _FAR, self.budgets[name]
        if budget == LOWEST:
            return guide * (step / whole if is_near else 1)
        if is_near and step > budget * whole:
            # No selection keeps the budget there, and the lowest has no part of the fastest step.
            return max(budget * guide, self.sizes[name].scale((near,), size))
        return guide * (step / whole if is_near else budget)

    def _find_limit(self, name: str, largest: int, stops: Mapping[int, str]) -> str:
        """Returns the limit of the `largest` size of a plan: of `stops`, or what takes the most memory."""
        known = self.sizes[name].known
        above = {size for size in {*known, *self.guides[name].known} if size > largest}
        if largest and stops and not above:
            return stops[min(stops)]
        memory, _ = known[largest or min(known)]
        update = self.traced.update if self.step.make_optimizer else 0
        fixed = self.parameters + self.buffers + self.traced.state
        text = f"the memory: parameters and the optimizer's state take {show_bytes(fixed)}, "
        if update > memory.bytes:
            return f"{text}gradients and the optimizer's step {show_bytes(update)}"
        count, kind, module, _ = list_peak(memory, {})[0]
        most, all_ = show_bytes(count), show_bytes(memory.bytes)
        return f"{text}and at the peak, {module} takes {most} of {all_} ({kind})"

    def _find_options(self, name: str, step: int, largest: int | None) -> dict[str, Any] | None:
        """Returns the options of fad to write for a plan, and for the `largest` size, if any."""
        if name in ("eager", "inductor"):
            return None
        chunks = self.step.chunks
        options: dict[str, Any] = {} if chunks == "auto" else {"fad.chunks": chunks}
        if name == "fad":
            return options
        if name == "budget":
            return {"fad.budget": self.budgets[name], **options}
        # A budget is for each graph alone.
        if self.graphs > 1 or self.memory is None:
            return {"fad.budget": self.peaks[name, largest or self.size], **options}
        left = self.memory - self._count_static(self.example)
        return {"fad.budget": max(left, step), **options}

    def _list_unknown(self, device: str) -> list[str]:
        unknown = ["fragmentation of the allocator, and rounding of sizes by it"]
        if device == "cuda":
            unknown += [
                "CUDA's context, and workspaces of its libraries",
                "differences of a GPU's operators and kernels, as all are those of a CPU: without "
                "CUDA, PyTorch has no derivatives of tensors that are on a GPU by declaration",
            ]
        elif self.step.limit.left_out:
            names = ", ".join(sorted(self.step.limit.left_out))
            unknown.append(f"workspaces of calls that are too large to be tried: {names}")
        if self.step.loss.leaves_others:
            unknown.append(
                "results beside the loss, such as logits: compile "
                "lambda *given, **named: model(*given, **named).loss"
            )
        if any(not tensor.is_floating_point() for tensor in self.example.tensors):
            unknown.append("whether indices are in range, as inputs have no values")
        if self.graphs > 1:
            unknown.append(f"tensors between {self.graphs} graphs (TORCH_LOGS=graph_breaks)")
        return unknown


def _run(call: Callable[[], Any]) -> Any:
    """Returns the result of `call`, which runs the model. Its errors say what to do."""
    # PyTorch logs the errors of fake tensors, too.
    log = logging.getLogger("torch._subclasses.fake_tensor")
    was_disabled, log.disabled = log.disabled, True
    try:
        return call()
    except (DataDependentOutputException, DynamicOutputShapeException) as error:
        raise ValueError(
            f"the model needs values of tensors, which have none before a run ({error}); leave out "
            "what depends on them, such as checks, or masks that are all ones"
        ) from error
    except (AttributeError, IndexError, KeyError, RuntimeError, TypeError) as error:
        first = str(error).strip().splitlines()
        raise ValueError(
            f"the model does not run with the example: {type(error).__name__}: "
            f"{first[0] if first else ''}"
        ) from error
    finally:
        log.disabled = was_disabled
