"""A model of the memory of a training step: the most bytes that are alive at once.

The step is the nodes of the forward graph in their order, then those of the backward
graph, one operation at a time. The bytes are those of storages, so a view takes none of
its own. What is alive before the step, and after it in any case, is not counted:
parameters, buffers and inputs, which are the placeholders of forward.

- A storage begins where an operation makes it. Its operands are alive then, too.
- A storage ends after the last operation that reads it or one of its views.
- What forward saves lives on to its last reader in backward.
- Results of forward, and gradients, live to the end of the step.
- Tangents begin with backward, and end after their last reader, or, as `keeps_tangents` says,
  with the step.

Memory that an operation takes for itself while it runs is not in the model, but for that of
chunks, and neither are buffers that a compiler saves by fusing operations, or reuses. It compares graphs of any
partitioner, PyTorch's among them, so storages and lifetimes are those of FX; `LiveBytes` of
fad's compiler adds them up, as for the models that selections are made by."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import fx

from ... import _fad
from .._releases import keeps_tangents
from ._graph import SCRATCH
from ._pytorch import identify_storage, tree_leaves
from ._sizes import estimate_size


@dataclass(frozen=True)
class Peak:
    """The most bytes that a step has alive at once, beyond its inputs.

    `node` is the first operation at which it has them, of the backward graph where
    `is_backward`. `live` is what is alive then: the operation that makes each storage,
    and its bytes, the most first. `saved` is how many bytes cross from forward to
    backward that are no inputs. The step has `operations`, backward begins with number
    `start`, and the peak is at number `place`. `storages` are those of the whole step."""

    bytes: int
    node: fx.Node | None
    is_backward: bool
    live: tuple[tuple[fx.Node, int], ...]
    saved: int
    storages: tuple["Storage", ...]
    operations: int
    start: int
    place: int


@dataclass(eq=False)
class Storage:
    """Memory that `node` makes, and that is not alive in any case. `kind` is that of an
    allocation of `StepMemory`. The node of a buffer of Inductor's may be unknown."""

    node: fx.Node | None
    bytes: int
    # The places of the operations that make it and that read it last.
    first: int
    last: int
    kind: str = "temporary"


# The storages of a node by what identifies them in its fake tensors. Only operands are
# compared: a node and its repetition in backward have the same fake tensor.
_Held = dict[int, Storage]


def count_storage_bytes(value: torch.Tensor) -> int:
    """Returns the bytes of the storage of a fake tensor, by the hints of its sizes."""
    if value.layout is not torch.strided:
        return 0
    return estimate_size(value.untyped_storage().nbytes())


def get_tensors(node: fx.Node) -> list[torch.Tensor]:
    """Returns the tensors that `node` results in."""
    leaves = tree_leaves(node.meta.get("val"))
    return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]


def count_bytes(node: fx.Node) -> int:
    """Returns the bytes of the storages that `node` results in."""
    storages = {identify_storage(each): count_storage_bytes(each) for each in get_tensors(node)}
    return sum(storages.values())


class _Walk:
    """Finds the storages of both graphs, and when they begin and end."""

    def __init__(self) -> None:
        self.storages: list[Storage] = []
        self.held: dict[fx.Node, _Held] = {}
        self.nodes: list[fx.Node] = []
        self.is_backward = False

    def add_node(self, node: fx.Node) -> None:
        place = len(self.nodes)
        self.nodes.append(node)
        known: _Held = {}
        for operand in node.all_input_nodes:
            known.update(self.held[operand])
            for storage in self.held[operand].values():
                storage.last = place
        if node.op == "output":
            return
        if node.meta.get(SCRATCH):
            self.storages.append(Storage(node, node.meta[SCRATCH], place, place))
        held = self.held[node] = {}
        for value in get_tensors(node):
            key = identify_storage(value)
            held[key] = known.get(key) or held.get(key) or self.make(node, value)

    def make(self, node: fx.Node, value: torch.Tensor) -> Storage:
        place = len(self.nodes) - 1
        # Tensors of the module are alive in any case, as are inputs of forward.
        is_input = node.op == "placeholder" and not self.is_backward
        is_static = is_input or node.op == "get_attr"
        storage = Storage(node, 0 if is_static else count_storage_bytes(value), place, place)
        if node.op == "placeholder":
            storage.kind = "cotangent"
        self.storages.append(storage)
        return storage

    def add_saved(self, node: fx.Node, source: fx.Node) -> None:
        """Adds the placeholder of backward for `source` of forward."""
        self.held[node] = self.held[source]
        for storage in self.held[node].values():
            storage.last = len(self.nodes)
        self.nodes.append(node)

    def keep(self, nodes: list[Any], kind: str) -> None:
        """Lets the storages of `nodes`, which are of `kind`, live up to the end."""
        for node in nodes:
            for storage in self.held[node].values() if isinstance(node, fx.Node) else ():
                storage.last = len(self.nodes)
                storage.kind = kind

    def find_peak(self) -> tuple[int, int]:
        """Returns the most bytes, and the first place that has them."""
        return _fad.find_peak([(each.bytes, each.first, each.last) for each in self.storages])


def peak_bytes(forward: fx.GraphModule, backward: fx.GraphModule) -> Peak:
    """Returns the peak of a step of `forward`, whose last results are saved, and then `backward`,
    whose placeholders have the names of the saved tensors.

    The graphs are those that a partitioner of AOTAutograd returns, with fake tensors
    as `meta["val"]`. Sizes that are symbols count by their hints."""
    walk = _Walk()
    for node in forward.graph.nodes:
        walk.add_node(node)
    start = len(walk.nodes)
    walk.is_backward = True
    of_forward = {node.name: node for node in forward.graph.nodes}
    saved, tangents = set(), []
    for node in backward.graph.nodes:
        source = of_forward.get(node.target) if node.op == "placeholder" else None
        if source is None:
            walk.add_node(node)
            tangents += [node] * (node.op == "placeholder")
        else:
            walk.add_saved(node, source)
            saved.add(source)

    # A saved tensor that is a result besides is among the results twice.
    results = tree_leaves(forward.graph.output_node().args)
    counts = Counter(results)
    walk.keep([node for node in results if node not in saved or counts[node] > 1], "result")
    walk.keep(tree_leaves(backward.graph.output_node().args), "gradient")
    if keeps_tangents():
        walk.keep(tangents, "cotangent")
    crossing = {storage for node in saved for storage in walk.held[node].values()}
    for storage in crossing:
        storage.kind = "saved tensor"
    most, where = walk.find_peak()
    live = [each for each in walk.storages if each.first <= where <= each.last and each.bytes]
    live.sort(key=lambda storage: -storage.bytes)
    return Peak(
        most,
        walk.nodes[where] if walk.nodes else None,
        where >= start,
        tuple((storage.node, storage.bytes) for storage in live),
        sum(storage.bytes for storage in crossing),
        tuple(storage for storage in walk.storages if storage.bytes),
        len(walk.nodes),
        start,
        where,
    )


# Steps of Inductor


@dataclass(eq=False)
class Buffer:
    """Memory that a kernel makes, or an input in it, with the numbers of the kernels that make
    it, -1 for an input, and that read it last. `node` is an operation of the part that is computed
    there, where one is known."""

    bytes: int
    first: int
    last: int
    node: fx.Node | None = None


@dataclass
class Schedule:
    """The kernels of a part: how many, a chunk being one; the bytes that those of Inductor's own read
    and write, in chunks, too; and their buffers. `inputs` are by name, and `results` are the buffers
    of the part's results; None for numbers. `strides` are those of the results, where they are known."""

    kernels: int = 0
    traffic: int = 0
    buffers: list[Buffer] = field(default_factory=list)
    inputs: dict[str, Buffer] = field(default_factory=dict)
    results: list[Buffer | None] = field(default_factory=list)
    strides: list[list[int] | None] = field(default_factory=list)


def find_scheduled_peak(storages: Iterable[Any]) -> tuple[int, int]:
    """Returns the most bytes that a step with `storages` has alive at once, and the first place that
    has them."""
    return _fad.find_peak([(each.bytes, each.first, each.last) for each in storages])


def list_scheduled(
    forward: fx.GraphModule, backward: fx.GraphModule, schedules: tuple[Schedule, Schedule]
) -> list[Storage]:
    """Returns the storages of a step of Inductor's `schedules` of both parts, but its inputs. Its
    operations are kernels. Lifetimes are those of `peak_bytes`."""
    first, second = schedules
    start, end = first.kernels, first.kernels + second.kernels
    # By the buffer, its storage.
    made = {
        buffer: Storage(buffer.node, buffer.bytes, buffer.first, buffer.last)
        for buffer in first.buffers
    }
    results = tree_leaves(forward.graph.output_node().args)
    counts = Counter(results)
    for node, buffer in zip(results, first.results, strict=True):
        if buffer not in made:
            continue
        storage, read = made[buffer], second.inputs.get(node.name)
        # A gradient may be written over it.
        stays = read is None or counts[node] > 1 or read in second.results
        storage.last = max(storage.last, end if stays else start + read.last)
        if storage.kind != "saved tensor":
            storage.kind = "saved tensor" if read else "result"
    storages = [*made.values()]
    of_forward = {node.name for node in forward.graph.nodes}
    for node in backward.graph.find_nodes(op="placeholder"):
        if node.target not in of_forward:
            # The gradient of a loss is a number, which `backward` holds.
            is_held = keeps_tangents() or count_bytes(node) <= 8
            until = end if is_held else start + second.inputs[node.target].last
            storages.append(Storage(node, count_bytes(node), start, until, "cotangent"))
    gradients = set(second.results)
    for buffer in second.buffers:
        is_gradient = buffer in gradients
        until = end if is_gradient else start + buffer.last
        kind = "gradient" if is_gradient else "temporary"
        storages.append(Storage(buffer.node, buffer.bytes, start + buffer.first, until, kind))
    return storages
