"""The step under `torch.compile`: the schedules by which Inductor would execute each partition of
the model's graphs, before it writes code."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from torch import fx

from .._requirements import torch
from ..compile._backend import compile_inductor
from ..compile._graph import copy_graph
from ..compile._alternatives import ANY_PEAK, Search, Selection
from ..compile._chunks import Chunks
from ..compile._layouts import get_layout
from ..compile._log import describe_budgets, without_budgets
from ..compile._budget import Trial
from ..compile._partitioner import Partitioner
from ..compile._parts import without_collection
from ..compile._peak import Schedule, count_bytes, list_scheduled
from ..compile._pytorch import (
    CustomPartitionerFn,
    Parts,
    bounds_memory,
    box,
    get_hash_for_files,
    partition_by_pytorch,
    tree_leaves,
)
from ..compile._step_memory import Allocation, StepMemory, describe_storage, make_step_memory
from .fake import Example, Loss

# The budget of the lowest peak that fad finds.
LOWEST = "lowest"

# Tells whether a search is of use where so many bytes steer it.
Accepts = Callable[[int], bool]

# The lowest selections at the last size, by the name of the plan and the number of the graph.
Selections = dict[tuple[str, int], Selection]


@dataclass
class Scheduled:
    """The memory of a step of each graph, in the order of forward, as a budget chooses; and of one
    graph, its `guide`, by which searches of sizes are steered: that of the fastest step for a
    fraction, and one of as many bytes as an estimate for the lowest peak. Where the budget `is_left`
    without a choice, it has that alone. For the lowest peak, there is the `budget` of each graph by
    which the partitioner finds it. `missed` says which budget graphs exceed."""

    graphs: list[StepMemory] = field(default_factory=list)
    guide: StepMemory | None = None
    is_left: bool = False
    budgets: list[int] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    def add(
        self,
        memory: StepMemory,
        guide: StepMemory | None = None,
        is_left: bool = False,
        budget: int | None = None,
    ) -> None:
        """Adds the step of a graph."""
        self.guide = None if self.graphs else guide
        self.is_left = self.is_left or is_left
        self.budgets.append(memory.bytes if budget is None else budget)
        self.graphs.append(memory)

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


def _find_memory(parts: Parts, schedules: Any, modules: Collection[str]) -> StepMemory:
    """Returns the memory of the step of `parts`, of Inductor's `schedules`."""
    storages = list_scheduled(*parts, schedules)
    allocations = [describe_storage(each, modules) for each in storages if each.bytes]
    forward, backward = (schedule.kernels for schedule in schedules)
    return make_step_memory(allocations, forward + backward, forward)


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
            self.found["inductor"].add(_find_memory(parts, schedules, self.modules))
        return parts


class _Kept(Partitioner):
    """fad's partitioner with a budget, of which the schedule of the chosen parts is kept."""

    # The parts of the fastest selection of a graph, of whose peak a budget is a fraction; and a
    # function of the bytes that steer, where it refuses which no selection is searched for.
    fastest: Parts | None = None
    accepts: Accepts | None = None
    is_left = False

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        # The schedules of all selections of a graph.
        self.kept: list[tuple[Parts, tuple[bool, bool | None], tuple[Schedule, Schedule]]] = []

    def forget(self) -> None:
        """Forgets the graph before."""
        self.kept, self.fastest, self.is_left = [], None, False

    def choose(self, search: Search) -> Trial:
        if not self.fraction:
            return super().choose(search)
        fastest = search.make_trial(ANY_PEAK)
        self.fastest = fastest.parts
        self.is_left = bool(self.accepts and not self.accepts(fastest.peak))
        return fastest if self.is_left else super().choose(search)

    def find_steps(
        self, chosen: Parts, num_fwd_outputs: int, modules: Collection[str]
    ) -> list[StepMemory]:
        """Returns the memory of the step of the parts that were `chosen`, and its guide, if there is
        one. `modules` are names."""
        return [
            _find_memory(parts, self.find_schedules(parts, num_fwd_outputs), modules)
            for parts in (chosen, self.fastest)
            if parts is not None
        ]

    def __getstate__(self) -> dict[str, Any]:
        # Inductor copies its configuration, in which this is, and no fake tensor can be copied.
        left_out = "fastest", "accepts", "before", "selection"
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name not in left_out} | {"kept": []}

    def _schedule(
        self, parts: Parts, num_fwd_outputs: int, is_stock: bool = False
    ) -> tuple[Schedule, Schedule]:
        schedules = super()._schedule(parts, num_fwd_outputs, is_stock)
        self.kept.append((parts, self._describe(parts), schedules))
        return schedules

    def _describe(self, parts: Parts) -> tuple[bool, bool | None]:
        """Returns by which choices for Inductor `parts` have their schedules now."""
        return bounds_memory(parts[0], self.has_budget), get_layout(parts[1])

    def find_schedules(self, parts: Parts, num_fwd_outputs: int) -> tuple[Schedule, Schedule]:
        """Returns the schedules of the `parts` that were chosen, or tried."""
        now = parts, self._describe(parts)
        found = [schedules for other, choices, schedules in self.kept if (other, choices) == now]
        return found[0] if found else super()._schedule(parts, num_fwd_outputs)


class _Lowest(_Kept):
    """Takes the lowest peak that any budget has, with more chunks where these lower it. Where it
    `is_named`, that is the budget, of which the step is: it may take less, as a search within a budget
    tries other selections."""

    # The estimate of that peak, which takes no schedule, where there is one.
    least: int | None = None
    # The selections at another size, and now.
    before: Selection | None = None
    selection: Selection | None = None

    # The budget of the step, where it is named.
    budget: int | None = None

    def __init__(self, chunks: Chunks, is_named: bool = False) -> None:
        super().__init__(budget=1, chunks=chunks)
        self.is_named = is_named

    def forget(self) -> None:
        super().forget()
        self.least = self.selection = self.budget = None

    def choose(self, search: Search) -> Trial:
        self.narrow(1)
        self.least = search.find_least(self.before)
        self.is_left = bool(self.accepts and not self.accepts(self.least))
        if self.is_left:
            # PyTorch goes on with any parts.
            return search.split_first()
        before = self.before
        if before and (again := search.find_again(before)):
            # Errors of estimates do not add up over sizes.
            self.selection = before
            return again
        found = search.find_lowest(before)
        self.selection = search.describe(found)
        if not self.is_named:
            return found
        self.budget = found.peak
        search.restart()
        # The next graph's lowest peak is found without a budget.
        options, self.options = self.options, {**self.options, "peak_budget": found.peak}
        try:
            return self.choose_within(search.make_trial, search.refine)
        finally:
            self.options = options

    def find_steps(
        self, chosen: Parts, num_fwd_outputs: int, modules: Collection[str]
    ) -> list[StepMemory]:
        steps = [] if self.is_left else super().find_steps(chosen, num_fwd_outputs, modules)
        if self.least is None:
            return steps
        # Gradients do not grow with the size.
        fixed = min(_count_gradients(chosen[1]), self.least)
        parts = {"gradient": fixed, "temporary": self.least - fixed}
        least = [Allocation(bytes, kind, "", "", "", 0, 0) for kind, bytes in parts.items()]
        guide = make_step_memory(least, 1, 1)
        return [*(steps or [guide]), guide]


def _count_gradients(backward: fx.GraphModule) -> int:
    results = {each for each in tree_leaves(backward.graph.output_node().args) if each is not None}
    return sum(count_bytes(each) for each in results if isinstance(each, fx.Node))


class _Plans(CustomPartitionerFn):
    """fad's partitioner, in the place of which several with other options split copies of a graph."""

    def __init__(
        self,
        options: Mapping[str, Any],
        modules: Collection[str],
        chunks: Chunks,
        accepts: Accepts | None,
        selections: Selections | None,
    ) -> None:
        self.modules, self.accepts = modules, accepts
        # Where no other size follows, the lowest is that of the budget by which it is named.
        is_named = selections is None
        self.selections: Selections = {} if selections is None else selections
        self.own = {
            name: _Lowest(chunks, is_named)
            if budget == LOWEST
            else _Kept(budget=budget, chunks=chunks)
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
            own.forget()
            own.accepts = self.accepts
            graph = name, len(self.found[name].graphs)
            if isinstance(own, _Lowest):
                own.before = self.selections.get(graph)
            copy = fx.GraphModule(gm, copy_graph(gm.graph))
            with without_budgets() as planned:
                chosen = own(copy, joint_inputs, **options)
            self.found[name].missed += describe_budgets(planned)
            steps = own.find_steps(chosen, options["num_fwd_outputs"], self.modules)
            budget = own.budget if isinstance(own, _Lowest) else None
            self.found[name].add(*steps, is_left=own.is_left, budget=budget)
            if isinstance(own, _Lowest) and own.selection:
                self.selections[graph] = own.selection
            own.kept = []
        # PyTorch goes on with those of any plan.
        return chosen


def schedule_step(
    loss: Loss,
    example: Example,
    names: Collection[str],
    budgets: Mapping[str, Any],
    has_stock: bool = True,
    chunks: Chunks = "auto",
    accepts: Accepts | None = None,
    selections: Selections | None = None,
) -> dict[str, Scheduled]:
    """Returns the schedules of a step of `loss` with the fake `example`, by plan: those of Inductor
    as "inductor", if `has_stock`, and those of fad with `chunks` for each of `budgets` by name, of which
    None is none. `names` are those of modules. Selections within fractions, and the lowest, are
    searched for where `accepts` tells so of the bytes of their guides. The lowest are those of
    `selections` where these are of a size near that of the example; then new ones are there."""
    found: dict[str, Scheduled] = {}
    if has_stock:
        found |= _capture(loss, example, _Stock(names), _compile_stock)
    if budgets:
        plans = _Plans(budgets, names, chunks, accepts, selections)
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
            raise ValueError(
                "torch.compile captures no graph of the model that needs a gradient, such as of one "
                "that is all nn.GRU; its step is that of eager PyTorch, which plans='eager' tells"
            )
    return partitioner.found
