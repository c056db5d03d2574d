"""The tensors that cross from forward to backward in one partition of a graph, and the memory of a
training step over its operations, by module and line of the model."""

from __future__ import annotations

import os
import pathlib
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import fx

from ..._bars import shorten
from ..._layers import group_rows, label
from ._graph import is_part
from ._peak import (
    Peak,
    Storage,
    count_bytes,
    count_storage_bytes,
    find_scheduled_peak,
    get_tensors,
    peak_bytes,
)
from ._pytorch import get_module_stack, identify_storage

# How Dynamo's path of a module begins: the variable of the function that has the model.
_VARIABLE = re.compile(r"[LG]\['[^']*'\]\.?")
_FRAME = re.compile(r'File "(.+)", line (\d+), in .*\n\s*(.*)')
_OF_TORCH = os.path.dirname(torch.__file__) + os.sep
# A table has so many rows of the most bytes, and one for all others.
_ROWS = 20
# So many modules have a color of their own in a picture.
_MODULES = 9


@dataclass(frozen=True)
class Allocation:
    """A storage that an operation of the step makes.

    It is alive from operation `first` to operation `last` of the step, both included, and
    takes `bytes`. `kind` is "saved tensor" (forward makes it, and backward reads it),
    "gradient", "result" (of forward), "cotangent" (of a result, which backward is given), or
    "temporary". `operation`, `module` and `line` are those that make it; empty where nothing
    is known."""

    bytes: int
    kind: str
    operation: str
    module: str
    line: str
    first: int
    last: int


@dataclass(frozen=True)
class StepMemory:
    """All storages of a step but inputs and parameters, which are alive in any case.

    The step has `operations`, placeholders included, of which backward begins with the one
    of number `backward`. The peak is at number `peak`."""

    allocations: tuple[Allocation, ...]
    operations: int
    backward: int
    peak: int

    @property
    def at_peak(self) -> tuple[Allocation, ...]:
        """The storages that are alive at the peak, the largest first."""
        alive = [each for each in self.allocations if each.first <= self.peak <= each.last]
        return tuple(sorted(alive, key=lambda allocation: -allocation.bytes))

    @property
    def bytes(self) -> int:
        """Those that are alive at the peak."""
        return sum(allocation.bytes for allocation in self.at_peak)

    def count(self) -> dict[str, list[int]]:
        """Returns the bytes that are alive at each operation, by the module that makes them."""
        counts: dict[str, list[int]] = {}
        for allocation in self.allocations:
            changes = counts.setdefault(allocation.module, [0] * (self.operations + 1))
            changes[allocation.first] += allocation.bytes
            if allocation.last < self.operations:
                changes[allocation.last + 1] -= allocation.bytes
        for changes in counts.values():
            for place in range(1, len(changes)):
                changes[place] += changes[place - 1]
            del changes[self.operations]
        return counts


# The entry of the metadata of a region's first chunk: the operation, and how many chunks.
CHUNKS = "fad_chunks"

# The entry of the metadata of a large product whose region has no chunks: the reason.
AT_ONCE = "fad_at_once"


@dataclass(frozen=True)
class SavedTensor:
    """A tensor that crosses from forward to backward.

    `bytes` are those of its storage, 0 where an input, such as a parameter, or a tensor
    before it in the list has the same storage. `name` and `operation` are those of its
    node in forward; an input has no operation. `module` is the name of the innermost
    module of the model that makes it, and `line` the line of the model; both are empty
    where nothing is known. `reason` is why fad saves it. `readers` are the operations of
    backward that read it, those of the modules `read_by_modules`. `is_common` is whether
    the other partitioner saves the same storage."""

    name: str
    operation: str
    shape: tuple[str, ...]
    dtype: str
    bytes: int
    module: str
    line: str
    reason: str
    is_input: bool
    readers: tuple[str, ...]
    read_by_modules: tuple[str, ...]
    is_common: bool = False
    # A key by which storages are compared; it means nothing outside.
    storage: int = field(default=0, repr=False, compare=False)


@dataclass(frozen=True)
class Partition:
    """A graph, split by one partitioner.

    `bytes` cross from forward to backward, beyond inputs. `peak` is the most bytes that
    a step has at once, beyond inputs, by a model in which each operation makes its
    results and nothing else; it occurs at `peak_operation`, of `peak_module` if that is
    known, in backward if `peak_in_backward`. `memory` has what is alive then, and over the
    step."""

    tensors: tuple[SavedTensor, ...]
    bytes: int
    peak: int
    peak_operation: str
    peak_module: str
    peak_in_backward: bool
    memory: StepMemory
    # Products, with their modules, whose regions run in so many chunks.
    chunks: tuple[tuple[str, str, int], ...] = ()
    # Large products whose regions have no chunks, with their modules and the reasons, the largest
    # first.
    at_once: tuple[tuple[str, str, str], ...] = ()

    @property
    def by_module(self) -> dict[str, int]:
        """The bytes of each module that makes what is saved."""
        sums: Counter[str] = Counter()
        for tensor in self.tensors:
            if tensor.bytes:
                sums[tensor.module] += tensor.bytes
        return dict(sums)


def describe_partition(
    parts: tuple[fx.GraphModule, fx.GraphModule], modules: Collection[str] | None
) -> Partition:
    """Forward and backward of a graph, as one partitioner has split it, with the names of the
    model's `modules`, or where these are not known, the paths by which Dynamo reaches them."""
    forward, backward = parts
    of_forward = {node.name: node for node in forward.graph.nodes}
    inputs = {
        identify_storage(value)
        for node in forward.graph.nodes
        if node.op in ("placeholder", "get_attr")
        for value in get_tensors(node)
    }
    seen = set(inputs)
    tensors = []
    readers = {node.target: node for node in backward.graph.find_nodes(op="placeholder")}
    for name, node in of_forward.items():
        read, value = readers.get(name), node.meta.get("val")
        if read is None or not isinstance(value, torch.Tensor):
            continue
        key = identify_storage(value)
        tensors.append(
            SavedTensor(
                name=node.name,
                operation=name_operation(node),
                shape=tuple(map(str, value.shape)),
                dtype=str(value.dtype).removeprefix("torch."),
                bytes=0 if key in seen else count_storage_bytes(value),
                module=find_module(node, modules),
                line=find_line(node),
                reason=node.meta.get("fad_reason", ""),
                is_input=key in inputs,
                readers=tuple(dict.fromkeys(map(name_operation, read.users))),
                read_by_modules=tuple(
                    dict.fromkeys(find_module(user, modules) for user in read.users)
                ),
                storage=key,
            )
        )
        seen.add(key)
    peak = peak_bytes(forward, backward)
    at_once = [node for node in forward.graph.nodes if AT_ONCE in node.meta]
    return Partition(
        tensors=tuple(tensors),
        bytes=peak.saved,
        peak=peak.bytes,
        peak_operation=name_operation(peak.node) if peak.node else "",
        peak_module=find_module(peak.node, modules) if peak.node else "",
        peak_in_backward=peak.is_backward,
        memory=find_memory(peak, modules),
        chunks=tuple(
            (operation, find_module(node, modules), count)
            for part in parts
            for node in part.graph.nodes
            for operation, count in filter(None, [node.meta.get(CHUNKS)])
        ),
        at_once=tuple(
            (name_operation(node), find_module(node, modules), node.meta[AT_ONCE])
            for node in sorted(at_once, key=count_bytes, reverse=True)
        ),
    )


def find_memory(peak: Peak, modules: Collection[str] | None) -> StepMemory:
    """Returns the memory of the step of `peak`, by the `modules` of the model, if they are
    known."""
    allocations = tuple(describe_storage(storage, modules) for storage in peak.storages)
    return StepMemory(allocations, peak.operations, peak.start, peak.place)


def make_step_memory(allocations: Sequence[Allocation], operations: int, start: int) -> StepMemory:
    """Returns the memory of a step of so many `operations`, of which backward begins with number
    `start`, that has `allocations`."""
    _, place = find_scheduled_peak(allocations)
    return StepMemory(tuple(allocations), operations, start, place)


def describe_storage(storage: Storage, modules: Collection[str] | None) -> Allocation:
    """Returns `storage` by the `modules` of the model, if they are known."""
    node = storage.node
    return Allocation(
        storage.bytes,
        storage.kind,
        name_operation(node) if node else "",
        find_module(node, modules) if node else "",
        find_line(node) if node else "",
        storage.first,
        storage.last,
    )


def list_peak(memory: StepMemory, parameters: Mapping[str, int]) -> list[tuple[int, str, str, str]]:
    """Returns the rows of the storages at the peak, by module, line and kind: the bytes, the most
    first, kind, module and line. `parameters` are the bytes of parameters and buffers by module.
    Equal layers are one row."""
    sums: Counter[tuple[str, str, str]] = Counter()
    for allocation in memory.at_peak:
        sums[allocation.kind, allocation.module, allocation.line] += allocation.bytes
    for module, count in parameters.items():
        sums["parameter", module, ""] += count
    found = [(count, kind, module, line) for (kind, module, line), count in sums.items()]
    groups = group_rows(found, lambda row: row[2], lambda row: (row[0], row[1], row[3]))
    rows = [
        (count * len(group), kind, label([row[2] for row in group]), line)
        for group in groups
        for count, kind, _, line in group[:1]
    ]
    rows.sort(key=lambda row: -row[0])
    rest = rows[_ROWS:]
    if rest:
        rows[_ROWS:] = [(sum(row[0] for row in rest), f"{len(rest)} more rows", "", "")]
    return rows


# Where in a model the nodes of its graph come from.


def name_operation(node: fx.Node) -> str:
    """Returns the operation of `node`, or of that of which it is one of several results."""
    if node.op != "call_function":
        return ""
    return str(node.args[0].target if is_part(node) else node.target)


def find_line(node: fx.Node) -> str:
    """Returns the line of the model that `node` is of, as in "model.py:12: y = f(x)": the innermost
    one outside PyTorch. Empty where nothing is known."""
    frames = _FRAME.findall(node.stack_trace or "")
    own = [frame for frame in frames if not frame[0].startswith(_OF_TORCH)]
    if not frames:
        return ""
    file, line, code = (own or frames)[-1]
    return f"{os.path.basename(file)}:{line}: {code.strip()}"


def find_module(node: fx.Node, names: Collection[str] | None) -> str:
    """Returns the innermost of the modules `names` that `node` is of; empty for the model. Where
    the names are not known, the path by which Dynamo reaches the module, from the model on."""
    stack = get_module_stack(node)
    if not stack:
        return ""
    path = re.sub(r"\._modules\['([^']*)'\]", r".\1", list(stack.values())[-1][0])
    if names is None:
        return _VARIABLE.sub("", path, count=1)
    # The path begins with how the function reaches the model.
    parts = path.split(".")
    for start in range(len(parts)):
        name = ".".join(parts[start:])
        if name in names:
            return name
    return ""


# Pictures of a step.


def draw_memory(memories: Mapping[str, StepMemory], path: pathlib.Path) -> None:
    """Draws the bytes over a step to the file `path`: those of the first of `memories` by
    module, and for the others the sum."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            f"a picture in {path.name} needs matplotlib; install it with: pip install matplotlib"
        ) from error
    figure = Figure(figsize=(10, 4.5), layout="constrained")
    axes = figure.add_subplot()
    (name, memory), *others = memories.items()
    places = find_places(memory)
    series = {
        label: [count / 2**20 for count in counts]
        for label, counts in choose_series(memory).items()
    }
    axes.stackplot(places, *series.values(), labels=series, step="post")
    most = sum(each[memory.peak] for each in series.values())
    axes.plot(places[memory.peak], most, "v", color="black", label=f"peak, {name}")
    for other, of_other in others:
        sums = [sum(counts) / 2**20 for counts in zip(*of_other.count().values())]
        axes.step(find_places(of_other), sums, color="black", where="post", label=other)
    axes.axvline(1, color="gray", linestyle="dashed")
    axes.set_xticks([0.5, 1.5], ["forward", "backward"])
    axes.set_xlim(0, 2)
    axes.set_ylim(0)
    axes.set_ylabel("MiB alive beyond inputs and parameters")
    axes.set_title("Memory of a step by module")
    figure.legend(loc="outside right upper", fontsize="small")
    figure.savefig(path)


def find_places(memory: StepMemory) -> list[float]:
    """Returns where each operation is drawn: forward from 0 to 1, and backward from 1 to 2, so that
    steps of different numbers of operations are side by side."""
    start, end = memory.backward, memory.operations
    forward = [place / start for place in range(start)]
    return forward + [1 + place / (end - start) for place in range(end - start)]


def choose_series(memory: StepMemory) -> dict[str, list[int]]:
    """Returns the bytes at each operation, of the modules of the most at the peak, and of all others.
    The layers of a model are together."""
    of_modules = memory.count()
    counts = {
        shorten(label(names)): [sum(each) for each in zip(*map(of_modules.get, names))]
        for names in group_rows(of_modules, str, lambda module: None)
    }
    order = sorted(counts, key=lambda name: (-counts[name][memory.peak], -max(counts[name])))
    chosen = {name: counts[name] for name in order[:_MODULES]}
    rest = [counts[name] for name in order[_MODULES:]]
    if rest:
        chosen["other modules"] = [sum(each) for each in zip(*rest)]
    return chosen
