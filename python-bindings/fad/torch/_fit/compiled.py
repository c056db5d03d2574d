"""The step under `torch.compile`: the schedules by which Inductor would execute each partition of
the model's graphs, before it writes code."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from torch import fx

from .._requirements import torch
from ..compile._backend import compile_inductor
from ..compile._graph import copy_graph
from ..compile._alternatives import Choice, Search
from ..compile._chunks import Chunks
from ..compile._log import without_budgets
from ..compile._budget import Trial
from ..compile._partitioner import Partitioner
from ..compile._parts import without_collection
from ..compile._peak import Schedule, list_scheduled
from ..compile._pytorch import (
    CustomPartitionerFn,
    Parts,
    bounds_memory,
    box,
    get_hash_for_files,
    partition_by_pytorch,
)
from ..compile._step_memory import Allocation, StepMemory, describe_storage, make_step_memory
from .fake import Example, Loss

# The budget of the lowest peak that fad finds.
LOWEST = "lowest"


@dataclass
class Scheduled:
    """The memory of a step of each graph, in the order of forward, and the choice of a budget."""

    graphs: list[StepMemory] = field(default_factory=list)
    choices: list[Choice | None] = field(default_factory=list)

    def add(self, parts: Parts, schedules: Any, modules: Collection[str]) -> None:
        """Adds the step of `parts`, of Inductor's `schedules`."""
        storages = list_scheduled(*parts, schedules)
        allocations = [describe_storage(each, modules) for each in storages if each.bytes]
        forward, backward = (schedule.kernels for schedule in schedules)
        self.graphs.append(make_step_memory(allocations, forward + backward, forward))

    def join(self) -> StepMemory:
        """Returns the memory of the step of all graphs: forward of each in their order, then
        backward in the other."""
        if len(self.graphs) == 1:
            return self.graphs[0]
        start = sum(memory.backward for memory in self.graphs)
        end = sum(memory.operations for memory in self.graphs)
        allocations: list[Allocation] = []
        forward, backward = 0, end
        for memory in self.graphs:
            backward -= memory.operations - memory.backward
            for each in memory.allocations:
                first, last = (
                    place + forward
                    if place < memory.backward
                    else place - memory.backward + backward
                    for place in (each.first, each.last)
                )
                # Gradients are there to the end of the step.
                last = end if each.kind == "gradient" else last
                allocations.append(replace(each, first=first, last=last))
            forward += memory.backward
        return make_step_memory(allocations, end, start)


def count_kept(memory: StepMemory) -> int:
    """Returns the bytes that a step keeps for backward."""
    return sum(each.bytes for each in memory.allocations if each.kind == "saved tensor")


class _Stock(CustomPartitionerFn):
    """PyTorch's partitioner, whose parts are scheduled as Inductor compiles them."""

    def __init__(self, modules: Collection[str]) -> None:
        self.modules, self.found = modules, {"inductor": Scheduled()}

    def uuid(self) -> Any:
        return get_hash_for_files((__file__,), "stock")

    def __call__(self, gm: fx.GraphModule, joint_inputs: Sequence[object], **options: Any) -> Parts:
        from ..compile._schedule import schedule_parts

        parts = partition_by_pytorch(gm, joint_inputs, **options)
        # Graphs inside of others have no inputs of their own.
        if joint_inputs:
            schedules = schedule_parts(parts, options["num_fwd_outputs"], None)
            self.found["inductor"].add(parts, schedules, self.modules)
        return parts


class _Kept(Partitioner):
    """fad's partitioner with a budget, of which the schedule of the chosen parts is kept."""

    # The choice of a graph, and that at another size, which is taken again.
    choice: Choice | None = None
    before: Choice | None = None

    def choose(self, search: Search) -> Trial:
        again = search.repeat(self.before) if self.before else None
        trial = again or super().choose(search)
        self.choice = search.describe(trial)
        return trial

    def __getstate__(self) -> dict[str, Any]:
        # Inductor copies its configuration, in which this is, and no fake tensor can be copied.
        return {name: value for name, value in super().__getstate__().items() if name != "kept"}

    def _schedule(
        self, parts: Parts, num_fwd_outputs: int, is_stock: bool = False
    ) -> tuple[Schedule, Schedule]:
        schedules = super()._schedule(parts, num_fwd_outputs, is_stock)
        bounds = bounds_memory(parts[0], self.has_budget)
        vars(self).setdefault("kept", []).append((parts, bounds, schedules))
        return schedules

    def find_schedules(self, parts: Parts, num_fwd_outputs: int) -> tuple[Schedule, Schedule]:
        """Returns the schedules of the `parts` that were chosen."""
        kept = vars(self).pop("kept", [])
        now = parts, bounds_memory(parts[0], self.has_budget)
        found = [schedules for other, bounds, schedules in kept if (other, bounds) == now]
        return found[0] if found else super()._schedule(parts, num_fwd_outputs)


class _Lowest(_Kept):
    """Takes the lowest peak that any budget has, with more chunks where these lower it."""

    def __init__(self, chunks: Chunks) -> None:
        super().__init__(budget=1, chunks=chunks)

    def choose_within(
        self,
        make_trial: Callable[[int | None], Trial],
        refine: Callable[[Trial, int], Trial] = lambda trial, _: trial,
    ) -> Trial:
        self.narrow(1)
        return refine(min(make_trial(0), make_trial(None), key=lambda trial: trial.peak), 1)


class _Plans(CustomPartitionerFn):
    """fad's partitioner, in the place of which several with other options split copies of a graph."""

    def __init__(
        self,
        options: Mapping[str, Any],
        modules: Collection[str],
        chunks: Chunks,
        choices: Mapping[str, Sequence[Choice | None]],
    ) -> None:
        self.modules, self.choices = modules, choices
        self.own = {
            name: _Lowest(chunks) if budget == LOWEST else _Kept(budget=budget, chunks=chunks)
            for name, budget in options.items()
        }
        self.found = {name: Scheduled() for name in options}
        # The first one is for graphs inside of others, and for the decompositions of all.
        self.inner = Partitioner()
        self.has_budget = False

    def uuid(self) -> Any:
        return get_hash_for_files((__file__,), "plans")

    def __call__(self, gm: fx.GraphModule, joint_inputs: Sequence[object], **options: Any) -> Parts:
        if not joint_inputs:
            return self.inner(gm, joint_inputs, **options)
        for name, own in self.own.items():
            own.has_decompositions, own.given = True, self.given
            own.warns_at_once = False
            found, before = self.found[name], self.choices.get(name, ())
            number = len(found.graphs)
            own.choice, own.before = None, before[number] if number < len(before) else None
            copy = fx.GraphModule(gm, copy_graph(gm.graph))
            parts = own(copy, joint_inputs, **options)
            schedules = own.find_schedules(parts, options["num_fwd_outputs"])
            found.add(parts, schedules, self.modules)
            found.choices.append(own.choice)
        return partition_by_pytorch(gm, joint_inputs, **options)


def schedule_step(
    loss: Loss,
    example: Example,
    names: Collection[str],
    budgets: Mapping[str, Any],
    has_stock: bool = True,
    chunks: Chunks = "auto",
    choices: Mapping[str, Sequence[Choice | None]] = {},
) -> dict[str, Scheduled]:
    """Returns the schedules of a step of `loss` with the fake `example`, by plan: those of Inductor
    as "inductor", if `has_stock`, and those of fad with `chunks` for each of `budgets` by name, of which
    None is none. `names` are those of modules. Budgets take the `choices` again that they made at
    another size, by plan and graph."""
    found: dict[str, Scheduled] = {}
    if has_stock:
        found |= _capture(loss, example, _Stock(names), _compile_stock)
    if budgets:
        plans = _Plans(budgets, names, chunks, choices)
        found |= _capture(loss, example, plans, compile_inductor)
    return found


def _compile_stock(
    graph: fx.GraphModule, inputs: Any, partitioner: Any, options: dict[str, Any], **arguments: Any
) -> Callable:
    from ..compile._pytorch import compile_fx

    options = {**options, "custom_partitioner_fn": partitioner}
    return compile_fx(graph, inputs, config_patches=options, **arguments)


def _capture(
    loss: Loss, example: Example, partitioner: Any, compile_graph: Callable
) -> dict[str, Scheduled]:
    def run(graph: fx.GraphModule, inputs: Any, **options: Any) -> Callable:
        return box(graph)

    def backend(graph: fx.GraphModule, inputs: Any) -> Callable:
        options = {"force_disable_caches": True}
        return compile_graph(graph, inputs, partitioner, options, inner_compile=run)

    torch.compiler.reset()
    try:
        with without_collection(), without_budgets():
            compiled = torch.compile(loss, backend=backend, dynamic=False)
            compiled(*example.arguments, **example.keywords)
    finally:
        torch.compiler.reset()
    for scheduled in partitioner.found.values():
        if not scheduled.graphs:
            raise ValueError("torch.compile captures no graph of the model that needs a gradient")
    return partitioner.found
