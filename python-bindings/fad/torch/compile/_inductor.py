"""Inductor's compilation of the graphs that fad has split, so that no more is alive than
fad has planned.

Inductor fuses operations that share operands where at most 64 others are between them,
and a result with its reader at any distance. Either may make an operation run earlier or
later than in the graph, and what it reads or computes waits. Where a layer runs twice,
the gradient of a bias is a sum of two sums, and these become one kernel: what the first
run has recomputed then waits for the second. Where two segments share the weight of a
normalization, both are recomputed at once. Where the gate of a layer is recomputed, one
kernel has all results that read it, and each waits for the last. With a budget for the peak,
and where a checkpoint repeats operations, fad refuses such fusions. On a GPU, whose time is the
bytes that kernels move, it refuses those alone that would have more alive than the budget. Where
no selection keeps a budget, all of Inductor's fusions may take less, and are then allowed.

Inductor also keeps a buffer that nothing reads any more, for a later one of its size,
within a peak that it estimates. The estimate is too high: it does not know kernels that
write over their operands. So fad lets each buffer be freed where memory matters more than
the time of the allocator, in the same graphs. There it also lets kernels write results over
operands in memory, where Inductor may choose an intermediate value of the kernel, which takes
none.

On a CPU, Inductor puts kernels that follow each other into one function, whose buffers are
all alive while it runs. There each kernel has a function of its own, in the same graphs.

Where a release of PyTorch has other internals than the module needs, fad warns, and Inductor does
as it does without fad."""

import contextlib
import itertools
import math
from collections import defaultdict
from typing import Any, Callable, Container, Iterator, Mapping, Sequence
from weakref import WeakKeyDictionary

import sympy
import torch
from torch import fx

from . import _overwrite
from .._releases import copies_filters, name_decompositions
from ._chunks import has_chunks, is_chunk
from ._fusion import ColumnsLast, FinishFusion, fuse_columns_last
from ._layouts import find_grouped, find_layout_options
from ._log import WARNED
from ._pytorch import (
    BaseSchedulerNode,
    CppScheduling,
    Dep,
    InductorChoices,
    MemoryDep,
    MultiOutput,
    OrderedSet,
    Scheduler,
    V,
    WeakDep,
    bounds_memory,
    compile_fx_inner,
    get_bound,
    get_hash_for_files,
    inductor_config,
    is_nonfreeable_buffers,
    replace_after_fusion,
    run_after_fusion,
    warn_of_filters,
    warn_of_inductor,
)
from ._scalars import find_decompositions

aten = torch.ops.aten

# Another release may not call what fad overrides, and would not say so.
for _owner, _name in (
    (CppScheduling, "ready_to_flush"),
    (InductorChoices, "can_fuse_horizontal"),
    (InductorChoices, "can_fuse_vertical"),
    (Scheduler, "get_backend"),
):
    getattr(_owner, _name)


def compile_inner(
    graph: fx.GraphModule,
    inputs: Sequence[Any],
    *,
    has_budget: bool,
    options: Mapping[str, Any],
    **arguments: Any,
) -> Any:
    """Inductor's compilation of forward or backward. `options` and choices that a user
    has set are kept."""
    arguments = name_decompositions(arguments, find_decompositions)
    with contextlib.ExitStack() as stack:
        if graph.meta.get(WARNED):
            # A later compilation that finds this one in a cache would not warn.
            stack.enter_context(inductor_config.patch(force_disable_caches=True))
        stack.enter_context(bound_memory(graph, has_budget, options))
        return compile_fx_inner(graph, inputs, **arguments)


@contextlib.contextmanager
def bound_memory(
    graph: fx.GraphModule, has_budget: bool, options: Container[str]
) -> Iterator[None]:
    """Lets Inductor compile `graph` with fad's choices, where memory matters more than time."""
    if not bounds_memory(graph, has_budget):
        layout = inductor_config.patch(find_layout_options(graph, False, options))
        with layout, fuse_columns_last(graph), _save_chunks(graph):
            yield
        return
    patches = find_layout_options(graph, True, options)
    if "allow_buffer_reuse" not in options:
        patches["allow_buffer_reuse"] = False
    if copies_filters() and find_grouped(graph):
        warn_of_filters()
    bound = get_bound(graph)
    after = run_after_fusion(_SaveMemory(bound))
    patches |= after
    choices = Choices(bool(after), bound) if type(V.choices) is InductorChoices else V.choices
    with inductor_config.patch(patches), V.set_choices_handler(choices):
        yield


@contextlib.contextmanager
def _save_chunks(graph: fx.GraphModule) -> Iterator[None]:
    """Lets each chunk of `graph` write over what it has read, where a user has set no choices."""
    waits = type(V.choices) is ColumnsLast
    change = replace_after_fusion(_SaveChunks()) if waits else run_after_fusion(_SaveChunks())
    if not has_chunks(graph) or not change or not (waits or type(V.choices) is InductorChoices):
        yield
        return
    with inductor_config.patch(change), V.set_choices_handler(_ChunkChoices(waits)):
        yield


class _SaveMemory(FinishFusion):
    """Finishes fusion. Lets buffers be freed between kernels, takes results out of tuples at once, and
    lists what operations of a kernel read from memory before intermediate values of the kernel.
    Inductor writes a result over the first operand that it can. Fusions are those within `bound`."""

    def __init__(self, bound: int | None = None) -> None:
        self._bound = bound

    def __call__(self, nodes: list[BaseSchedulerNode]) -> list[BaseSchedulerNode]:
        nodes = super().__call__(nodes)
        try:
            # Results, and operands of the kernels from one on.
            kept = set(V.graph.get_output_names())
            for kernel in reversed(nodes):
                self._change(kernel, kept)
                kept |= {read.name for read in kernel.read_writes.reads}
            nodes = _unpack_early(nodes)
        except Exception as error:
            # Those that are changed by then are as right as the others.
            warn_of_inductor(error)
        return nodes

    def _change(self, kernel: BaseSchedulerNode, kept: Container[str]) -> None:
        own = kernel.get_buffer_names()
        scheduler, device = kernel.scheduler, kernel.get_device()
        if device is not None and device.type == "cpu":
            # Other backends for CPUs have a function for each kernel.
            if type(scheduler.get_backend(device)) is CppScheduling:
                scheduler.backends[device] = _Separate(scheduler)
        if device is not None and device.type != "cpu":
            _overwrite.let_overwrite(kernel, kept)
        for node in kernel.get_nodes():
            reads = sorted(node.read_writes.reads, key=lambda read: read.name in own)
            # The same set in another order, which belongs to the scheduler of this graph.
            node.read_writes.reads = OrderedSet(reads)

    def uuid(self) -> bytes:
        return get_hash_for_files((__file__, _overwrite.__file__), repr(self._bound))


class _SaveChunks(_SaveMemory):
    """Finishes fusion, and changes the kernels of chunks alone."""

    def _change(self, kernel: BaseSchedulerNode, kept: Container[str]) -> None:
        if is_chunk(V.graph.name):
            super()._change(kernel, kept)


def find_parts(buffer: Any) -> list[Any]:
    """Returns the buffers that are taken out of `buffer`, where that is a tuple. Parts of others may
    have to wait for it, too, as random numbers wait for earlier ones."""
    readers = [user.node for user in buffer.users if not user.is_weak]
    made = [each for node in readers for each in getattr(node, "get_outputs", list)()]
    return [each for each in made if isinstance(each.node, MultiOutput)]


def _unpack_early(nodes: list[BaseSchedulerNode]) -> list[BaseSchedulerNode]:
    """Returns `nodes` with the parts of each tuple behind it. Nothing reads a part before all are
    taken out, in an order of Inductor's neither: the tuple holds each of them until then."""
    order: dict[BaseSchedulerNode, None] = {}
    tuples: dict[str, list[str]] = {}
    for node in nodes:
        order[node] = None
        for buffer in node.get_outputs():
            parts = find_parts(buffer)
            order |= dict.fromkeys(
                node.scheduler.name_to_fused_node[each.defining_op_name()] for each in parts
            )
            names = [each.get_name() for each in parts]
            tuples |= dict.fromkeys(names, names)
    for node in nodes:
        read = {dep.name for dep in node.unmet_dependencies}
        others = {name for part in read & tuples.keys() for name in tuples[part]} - read
        for name in sorted(others - node.get_buffer_names()):
            node.unmet_dependencies.add(WeakDep(name, node.get_name(), is_fake=True))
    return list(order)


class _Separate(CppScheduling):
    """Inductor's kernels for a CPU, of which each has a function of its own, so that buffers are
    freed between them."""

    def ready_to_flush(self) -> bool:
        return True


class _ChunkChoices(ColumnsLast):
    """Inductor's choices, in which an element that is picked from a row of a chunk is no part of the
    kernel that could write over the row."""

    def can_fuse_vertical(
        self, scheduler: Scheduler, node1: BaseSchedulerNode, node2: BaseSchedulerNode, *score: Any
    ) -> bool:
        if _decide(_picks, node1, node2):
            return False
        return super().can_fuse_vertical(scheduler, node1, node2, *score)

    def can_fuse_horizontal(
        self, scheduler: Scheduler, node1: BaseSchedulerNode, node2: BaseSchedulerNode, *score: Any
    ) -> bool:
        if _decide(_picks, node1, node2):
            return False
        return super().can_fuse_horizontal(scheduler, node1, node2, *score)


def _picks(node1: BaseSchedulerNode, node2: BaseSchedulerNode) -> bool:
    """Tells whether one of the nodes of a chunk picks elements by an index of a buffer that is as
    large as one that the other writes."""
    if not is_chunk(V.graph.name):
        return False

    def find(node: BaseSchedulerNode) -> tuple[set[int], set[int]]:
        writes, reads = node.read_writes.writes, node.read_writes.reads
        picked = [read for read in reads if isinstance(read, MemoryDep) and read.is_indirect()]
        return set(map(V.graph.get_dep_size_hint, writes)), set(
            map(V.graph.get_dep_size_hint, picked)
        )

    first, second = find(node1), find(node2)
    return not (first[0].isdisjoint(second[1]) and second[0].isdisjoint(first[1]))


def _count_unread(node1: BaseSchedulerNode, node2: BaseSchedulerNode) -> int:
    """Returns how many bytes too many Inductor counts as read by both nodes: all of a buffer, such as
    a table of embeddings, where an index picks elements of it, one for each turn of the loops."""
    common = node1.read_writes.reads & node2.read_writes.reads
    picked = [read for read in common if isinstance(read, MemoryDep) and read.is_indirect()]
    if not picked:
        return 0
    count = V.graph.get_dep_size_hint
    accesses = itertools.chain(*(each.read_writes.reads_and_writes() for each in (node1, node2)))
    # An access has the loops that its index needs; the index of an index may need more.
    loops = {(each.var_names, each.size) for each in accesses if isinstance(each, MemoryDep)}

    def count_read(read: MemoryDep) -> int:
        return max(
            count(MemoryDep(read.name, sympy.Add(*names), names, size)) for names, size in loops
        )

    return sum(max(count(read) - count_read(read), 0) for read in picked)


# The bytes that are alive are found again when one kernel in so many has been fused with another: the
# work grows with the kernels, and not with their square. A schedule tells the rest.
_STALE = 64

# Operations are fused if the bytes that wait are at most this part of those that both read.
_WAITING = 1 / 8


class _Alive:
    """The bytes that are alive at each kernel of `scheduler`, as far as it has fused them, and the
    places of operations in the order of the kernels."""

    def __init__(self, scheduler: Scheduler) -> None:
        fused = sorted(set(scheduler.name_to_fused_node.values()), key=lambda node: node.min_order)
        nodes = scheduler.topological_sort_schedule(fused)
        end = len(nodes)
        self.places: dict[str, int] = {}
        first: dict[str, int] = {}
        last = dict.fromkeys(V.graph.get_output_names(), end)
        sizes: dict[str, int] = {}
        for place, node in enumerate(nodes):
            names = node.get_operation_names()
            self.places |= dict.fromkeys(names, place)
            for write in node.read_writes.writes:
                if not scheduler.can_buffer_be_removed_through_fusion(write.name, names):
                    first.setdefault(write.name, place)
                    sizes[write.name] = V.graph.get_dep_size_hint(write)
            for read in node.read_writes.reads:
                if read.name in first or not is_nonfreeable_buffers(read):
                    # Operands of the graph are there from the start.
                    first.setdefault(read.name, 0)
                    sizes.setdefault(read.name, V.graph.get_dep_size_hint(read))
                    last[read.name] = max(last.get(read.name, 0), place)
        changes = [0] * (end + 2)
        for place, node in enumerate(nodes):
            read = {each.name for each in node.read_writes.reads if last.get(each.name) == place}
            made = sum(write.name in first for write in node.read_writes.writes)
            for name in _overwrite.find_overwritten(node, read & sizes.keys(), made):
                # A result takes its memory.
                changes[place] -= sizes[name]
                changes[place + 1] += sizes[name]
        for name, size in sizes.items():
            changes[first[name]] += size
            changes[max(last.get(name, 0), first[name]) + 1] -= size
        self.bytes = list(itertools.accumulate(changes))

    def find_most(self, *nodes: BaseSchedulerNode) -> float:
        """Returns the most bytes from the first operation of `nodes` to the last. They may have been
        fused from kernels that are known."""
        places = [self.places[name] for node in nodes for name in node.get_operation_names()]
        return max(self.bytes[min(places) : max(places) + 1])


class Choices(_ChunkChoices):
    """Inductor's choices for one graph, without fusions that let operands or results wait where
    more than `bound` bytes would be alive, or without any that do."""

    def __init__(self, waits: bool = False, bound: int | None = None) -> None:
        super().__init__(waits)
        self._bound = bound
        # By scheduler, what is alive in it, and of how many kernels.
        self._alive: WeakKeyDictionary[Scheduler, tuple[int, _Alive]] = WeakKeyDictionary()
        # By scheduler, where each buffer is read last, in the order before fusion.
        self._last: WeakKeyDictionary[Scheduler, dict[str, float]] = WeakKeyDictionary()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._waits, self._bound)

    def can_fuse_vertical(
        self, scheduler: Scheduler, node1: BaseSchedulerNode, node2: BaseSchedulerNode, *score: Any
    ) -> bool:
        if not _decide(self._may_wait, scheduler, node1, node2, *score):
            return False
        return super().can_fuse_vertical(scheduler, node1, node2, *score)

    def can_fuse_horizontal(
        self, scheduler: Scheduler, node1: BaseSchedulerNode, node2: BaseSchedulerNode, *score: Any
    ) -> bool:
        if not _decide(self._may_share, scheduler, node1, node2, *score):
            return False
        return super().can_fuse_horizontal(scheduler, node1, node2, *score)

    def _may_wait(
        self, scheduler: Scheduler, node1: BaseSchedulerNode, node2: BaseSchedulerNode, score: int
    ) -> bool:
        """Tells whether `node1` and `node2`, which reads its result, may run at once; both read
        `score` bytes."""
        later = self._count_later(scheduler, node1, node2)
        waiting = min(later, self._count_earlier(scheduler, node1, node2))
        shared = max(score - _count_unread(node1, node2), 0)
        return waiting <= _WAITING * shared or self._has_room(scheduler, node1, node2, waiting)

    def _may_share(
        self, scheduler: Scheduler, node1: BaseSchedulerNode, node2: BaseSchedulerNode, score: int
    ) -> bool:
        """Tells whether nodes that share operands of `score` bytes may run at once."""
        first, second = sorted((node1, node2), key=lambda node: node.min_order)
        later = self._count_later(scheduler, first, second)
        waiting = min(later, self._count_earlier(scheduler, first, second))
        shared = max(score - _count_unread(first, second), 0)
        return waiting <= _WAITING * shared or self._has_room(scheduler, first, second, waiting)

    def _has_room(
        self,
        scheduler: Scheduler,
        first: BaseSchedulerNode,
        second: BaseSchedulerNode,
        waiting: float,
    ) -> bool:
        """Tells whether so many bytes may be `waiting` between `first` and `second`."""
        if self._bound is None:
            return False
        kernels = len(set(scheduler.name_to_fused_node.values()))
        known = self._alive.get(scheduler)
        if known is None or _STALE * (known[0] - kernels) > known[0]:
            known = self._alive[scheduler] = kernels, _Alive(scheduler)
        return known[1].find_most(first, second) + waiting <= self._bound

    def _count_later(
        self, scheduler: Scheduler, first: BaseSchedulerNode, second: BaseSchedulerNode
    ) -> int:
        """Returns how many more bytes wait if `first` runs as late as `second`: those of operands
        that nothing reads when the last operation of `second` runs, less those of results that the
        fusion removes, and those of results that nothing reads then."""
        last = self._find_last(scheduler)
        own = {read.name for read in second.read_writes.reads}

        def waits(buffer: Dep) -> bool:
            return last[buffer.name] < second.max_order and buffer.name not in own

        reads, writes = first.read_writes.reads, first.read_writes.writes
        names = first.get_operation_names() | second.get_operation_names()
        operands = {
            read.name: V.graph.get_dep_size_hint(read)
            for read in reads
            if waits(read) and not is_nonfreeable_buffers(read)
        }
        removed = {
            write.name: V.graph.get_dep_size_hint(write)
            for write in writes
            if scheduler.can_buffer_be_removed_through_fusion(write.name, names)
        }
        results = sum(V.graph.get_dep_size_hint(write) for write in writes if waits(write))
        return max(sum(operands.values()) - sum(removed.values()), 0) + results

    def _count_earlier(
        self, scheduler: Scheduler, first: BaseSchedulerNode, second: BaseSchedulerNode
    ) -> float:
        """Returns how many more bytes wait if `second` runs as early as `first`: those of its
        results, but for operands that it is the last to read. It cannot where it reads what is
        computed between them."""
        nodes = scheduler.name_to_fused_node
        if any(nodes[name].min_order > first.max_order for name in second.ancestors):
            return math.inf
        last = self._find_last(scheduler)
        freed = {
            read.name: V.graph.get_dep_size_hint(read)
            for read in second.read_writes.reads
            if last[read.name] <= second.max_order and not is_nonfreeable_buffers(read)
        }
        made = {write.name: V.graph.get_dep_size_hint(write) for write in second.read_writes.writes}
        return sum(made.values()) - sum(freed.values())

    def _find_last(self, scheduler: Scheduler) -> dict[str, float]:
        if scheduler not in self._last:
            last: dict[str, float] = dict.fromkeys(V.graph.get_output_names(), math.inf)
            nodes = [node for fused in scheduler.nodes for node in fused.get_nodes()]
            for node in nodes:
                for read in node.read_writes.reads:
                    last[read.name] = max(last.get(read.name, -1), node.min_order)
            # Tensors of unknown readers are read to the end.
            self._last[scheduler] = defaultdict(lambda: math.inf, last)
        return self._last[scheduler]


def _decide(decide: Callable[..., bool], *arguments: Any) -> bool:
    """Returns the answer of `decide`; where it fails, as internals of PyTorch have changed, yes."""
    try:
        return decide(*arguments)
    except Exception as error:
        warn_of_inductor(error)
        return True
