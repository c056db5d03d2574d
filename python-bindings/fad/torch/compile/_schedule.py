"""The kernels by which Inductor executes a part of a graph, and their buffers, before it writes
code for them.

Inductor compiles a copy of the part up to its schedule: which operations are one kernel, in which
order kernels run, which buffers they read and write, and which results are written over an
operand. The bytes in memory follow from these."""

import contextlib
import math
from collections import Counter
from typing import Any, Callable, Container, Mapping, Sequence

import torch
from torch import fx

from ... import _fad
from .._releases import hint_expression
from ._chunks import copy_chunks, is_chunk
from ._inductor import bound_memory, find_parts
from ._peak import Buffer, Schedule, get_tensors
from ._pytorch import (
    BaseSchedulerNode,
    CppScheduling,
    CustomSchedulerPass,
    InvokeSubgraph,
    Kernel,
    MemoryDep,
    MultiOutputLayout,
    NonOwningLayout,
    Parts,
    ReuseLine,
    Scheduler,
    V,
    compile_fx_inner,
    donate,
    functorch_config,
    get_after_fusion,
    identify_storage,
    inductor_config,
    read_after_fusion,
    tree_leaves,
)
from ._workspace import count_taken


class _Stop(Exception):
    """The schedule is known; code is not needed."""


class _Read(CustomSchedulerPass):
    """Reads the schedule of a graph when it is complete, after the pass `before`, and ends the
    compilation."""

    def __init__(self, before: Callable | None) -> None:
        self.before = before
        self.schedule: Schedule | None = None

    def __call__(self, nodes: list[BaseSchedulerNode]) -> list[BaseSchedulerNode]:
        if self.before is not None:
            nodes = self.before(nodes)
        if is_chunk(V.graph.name):
            return nodes
        scheduler = nodes[0].scheduler

        def stop() -> None:
            self.schedule = _Walk(scheduler, inductor_config.allow_buffer_reuse).read()
            raise _Stop

        # In the place of code for the kernels.
        scheduler.codegen = stop
        return nodes

    def uuid(self) -> Any:
        return None


def schedule_parts(
    parts: Parts, num_results: int, options: Container[str] | None, has_budget: bool = True
) -> tuple[Schedule, Schedule]:
    """Returns the schedules of forward, with so many results, and of backward, as the backend `fad`
    compiles them, with a budget or without one, where a user has set Inductor's `options`; as
    Inductor alone does with None. Nothing of the parts is changed."""
    forward, backward = parts

    def bound(part: fx.GraphModule) -> Any:
        if options is None:
            return contextlib.nullcontext()
        return bound_memory(part, has_budget, options)

    first = _schedule(forward, range(num_results), (), {}, bound, is_backward=False)
    results = tree_leaves(forward.graph.output_node().args)
    strides = dict(zip(results, first.strides))
    saved = {node.name: found for node, found in strides.items() if isinstance(node, fx.Node)}
    # There is none of an integer.
    outputs = enumerate(tree_leaves(backward.graph.output_node().args))
    gradients = [number for number, node in outputs if isinstance(node, fx.Node)]
    donated = _find_donated(parts, num_results)
    return first, _schedule(backward, gradients, donated, saved, bound, is_backward=True)


def _find_donated(parts: Parts, num_results: int) -> list[int]:
    """Returns the numbers of the inputs of backward that forward saves for it alone, each in memory
    of its own, which may be written over."""
    forward, backward = parts
    if not functorch_config.donated_buffer:
        return []
    results = tree_leaves(forward.graph.output_node().args)[:num_results]
    others = [*forward.graph.find_nodes(op="placeholder"), *results]
    saved = {node.name: node for node in forward.graph.nodes if node not in others}
    inputs = backward.graph.find_nodes(op="placeholder")
    held = [*others, *(saved[node.target] for node in inputs if node.target in saved)]
    counts = Counter(key for node in held for key in _find_storages(node))
    return [
        number
        for number, node in enumerate(inputs)
        if node.target in saved
        and all(counts[key] == 1 for key in _find_storages(saved[node.target]))
    ]


def _find_storages(node: Any) -> set[int]:
    return set(map(identify_storage, get_tensors(node))) if isinstance(node, fx.Node) else set()


def _schedule(
    part: fx.GraphModule,
    visible: Sequence[int],
    donated: Sequence[int],
    strides: Mapping[str, list[int] | None],
    bound: Callable[[fx.GraphModule], Any],
    **arguments: Any,
) -> Schedule:
    """Returns the schedule of `part` in the context `bound` of it. The results of the numbers
    `visible` have the strides that PyTorch expects, and the inputs of the numbers `donated` may be
    written over. By name, inputs have the `strides` with which forward makes them."""
    graph = fx.Graph()
    graph.output(graph.graph_copy(part.graph, val_map={}))
    copy = fx.GraphModule(part, graph)
    copy_chunks(copy)
    output = graph.output_node()
    output.meta = {**part.graph.output_node().meta, "user_visible_output_idxs": list(visible)}
    inputs = []
    for node in graph.find_nodes(op="placeholder"):
        value, found = node.meta["val"], strides.get(node.target)
        if isinstance(value, torch.Tensor) and found and list(value.stride()) != found:
            value = value.as_strided(value.shape, found)
        inputs.append(value)
    if all(node.op in ("placeholder", "output") for node in graph.nodes):
        return _pass_through(graph)
    with bound(part), donate(donated):
        read = _Read(get_after_fusion())
        with inductor_config.patch(read_after_fusion(read)):
            try:
                compile_fx_inner(copy, inputs, **arguments)
            except Exception:
                # Inductor has an error of its own for those of a compilation.
                if read.schedule is None:
                    raise
    if read.schedule is None:
        raise RuntimeError("Inductor compiles a part without a schedule")
    return read.schedule


def _pass_through(graph: fx.Graph) -> Schedule:
    """Returns the schedule of a `graph` without operations."""
    inputs = {node.target: Buffer(0, -1, 0) for node in graph.find_nodes(op="placeholder")}
    results = tree_leaves(graph.output_node().args)
    named = [inputs.get(getattr(node, "target", None)) for node in results]
    return Schedule(inputs=inputs, results=named)


def _count_buffer_bytes(node: Any) -> int:
    """Returns the bytes of a buffer of Inductor's graph in compilation, by the hints of its sizes;
    0 where it is no tensor."""
    layout = node.layout
    if not hasattr(layout, "size"):
        return 0
    size = hint_expression(V.graph.sizevars, layout.storage_size())
    return size * layout.dtype.itemsize


def _count_traffic(kernel: BaseSchedulerNode) -> int:
    """Returns the bytes that a `kernel` of Inductor's reads and writes. Inductor counts all of a buffer
    of which some elements are picked."""
    reads = [read for read in kernel.read_writes.reads if isinstance(read, MemoryDep)]
    whole = {read.name for read in reads if not read.is_indirect()}
    picked: dict[str, int] = {}
    bytes_: dict[str, int] = {}
    for read in reads:
        if read.name not in whole:
            count = math.prod(hint_expression(V.graph.sizevars, size) for size in read.size)
            size = count * V.graph.get_dtype(read.name).itemsize
            picked[read.name] = picked.get(read.name, 0) + size
            bytes_[read.name] = V.graph.get_dep_size_hint(read)
    unread = sum(max(0, bytes_[name] - size) for name, size in picked.items())
    return kernel.get_read_write_buffers_sizes() - unread


def _find_origin(node: Any) -> fx.Node | None:
    """Returns the operation of a graph that Inductor's `node` computes, or the last of several; None
    where it does not say."""
    found = getattr(node, "origin_node", None)
    origins = [each for each in getattr(node, "origins", ()) if isinstance(each, fx.Node)]
    return found or (max(origins) if origins else None)


def _find_strides(node: Any) -> list[int] | None:
    """Returns the strides of a result of Inductor's graph in compilation; None where they are
    unknown."""
    try:
        return list(map(int, node.get_stride()))
    except (AttributeError, NotImplementedError, TypeError):
        return None


def _read_chunk(graph: Any) -> Schedule:
    """Returns the schedule of Inductor's `graph` of a chunk."""
    # As Inductor sets them when it writes code.
    for name in ("wrapper_code", "device_ops", "device_type", "device_types", "device_idxs"):
        setattr(graph, name, getattr(V.graph, name))
    with V.set_graph_handler(graph):
        return _Walk(Scheduler(graph.operations), False).read()


def _count_chunk_bytes(schedule: Schedule) -> int:
    """Returns the most bytes that a chunk of the `schedule` has besides its results."""
    end, results = schedule.kernels, set(schedule.results)
    buffers = [each for each in schedule.buffers if each not in results]
    inner = [(each.bytes, each.first, each.last) for each in buffers]
    # A result is there from the kernel that makes it.
    made = [(each.bytes, each.first, end) for each in results - set(schedule.inputs.values())]
    total = sum(bytes for bytes, *_ in made)
    return max(0, _fad.find_peak([*inner, *made])[0] - total)


def _find_removed(local: set[str], over: Mapping[str, str]) -> set[str]:
    """Returns those of the `local` buffers of a kernel that take no memory: those that are written over
    each other, as `over` says, take some if one of them does."""
    pairs = [{*pair} for pair in over.items()]
    while kept := [pair for pair in pairs if pair & local and not pair <= local]:
        local = local.difference(*kept)
    return local


class _Walk:
    """Follows the kernels of a scheduler in their order. With `reuses`, Inductor may have a buffer in
    the memory of another one that is no longer read."""

    def __init__(self, scheduler: Scheduler, reuses: bool) -> None:
        self.scheduler, self.reuses = scheduler, reuses
        self.schedule = Schedule()
        self.numbers: list[int] = []
        # By the names of Inductor's buffers. Several may be in the same memory.
        self.held: dict[str, Buffer] = {}
        # The tuple by whose name each part of one is found.
        self.tuples: dict[str, str] = {}
        # By Inductor's graph, the schedule of a chunk, which runs more than once.
        self.chunks: dict[Any, Schedule] = {}

    def read(self) -> Schedule:
        schedule, nodes = self.schedule, self.scheduler.nodes
        self._number(nodes)
        end = schedule.kernels = 1 + max(self.numbers, default=-1)
        own = (node for node in nodes if not node.is_extern())
        schedule.traffic = sum(map(_count_traffic, own))
        schedule.inputs = {name: Buffer(0, -1, -1) for name in V.graph.graph_inputs}
        self.held.update(schedule.inputs)
        for number, node, after in zip(self.numbers, nodes, [*self.numbers[1:], end]):
            self._add(number, node)
            if self.reuses and after != number:
                # Buffers are freed behind the call of the kernel.
                V.graph.wrapper_code.writeline("")
                self.scheduler.free_buffers()
        last = self._find_last(nodes, end)
        for name, buffer in self.held.items():
            # An input that no kernel reads is not freed before the end.
            unread = end if name in schedule.inputs else buffer.first
            # A tuple has all of its parts until the last one is taken out.
            packed = last.get(self.tuples.get(name, ""), 0)
            buffer.last = max(buffer.last, last.get(name, unread), packed)
        if self.reuses:
            self._hold_reused()
        schedule.results = [self.held.get(name) for name in V.graph.get_output_names()]
        schedule.strides = list(map(_find_strides, V.graph.graph_outputs))
        return schedule

    def _hold_reused(self) -> None:
        """Lets memory that Inductor reuses be there until then: it is not freed between."""
        wrapper = V.graph.wrapper_code
        wrapper.run_wrapper_ir_passes(False)
        for line in wrapper.lines:
            if isinstance(line, ReuseLine):
                old, new = (self.held.get(each.get_name()) for each in (line.node, line.reused_as))
                if old is not None and new is not None and old is not new:
                    old.last = max(old.last, new.first - 1)

    def _number(self, nodes: Sequence[BaseSchedulerNode]) -> None:
        """Finds the number of each kernel. Those in one function of a CPU have the same, as their
        buffers are freed when it ends."""
        number, is_open = -1, False
        for node in nodes:
            device = node.get_device()
            is_call = node.is_extern() or node.is_template() or device is None
            joins = not is_call and type(self.scheduler.get_backend(device)) is CppScheduling
            number += not (joins and is_open)
            is_open = joins
            self.numbers.append(number)

    def _find_last(self, nodes: Sequence[BaseSchedulerNode], end: int) -> dict[str, int]:
        """Returns the last kernel that uses each buffer; the `end` where it is not freed before."""
        numbered = zip(self.numbers, nodes)
        last = {name: number for number, node in numbered for name in node.last_usage}
        return last | dict.fromkeys(V.graph.never_reuse_buffers, end)

    def _add(self, number: int, kernel: BaseSchedulerNode) -> None:
        """Adds the buffers that `kernel` makes."""
        operations = kernel.get_operation_names()
        handler = Kernel(increase_kernel_count=False)
        with V.set_kernel_handler(handler):
            if self.reuses:
                self.scheduler.current_node = kernel
                self.scheduler.buffer_names_to_free.update(kernel.last_usage)
            for node in kernel.get_nodes():
                node.decide_inplace_update()
                if self.reuses:
                    node.mark_run()
        over, before = handler.inplace_update_buffers, len(self.schedule.buffers)
        local: set[str] = set()
        for buffer in kernel.get_outputs():
            name, node = buffer.get_name(), buffer.node
            if name in self.held:
                continue
            shared = self._find_shared(number, buffer, over)
            if shared is not None:
                self.held[name] = shared
            elif isinstance(node.layout, MultiOutputLayout):
                self._add_parts(number, buffer)
            elif not self.scheduler.can_buffer_be_removed_through_fusion(name, operations):
                # Others than the kernel read the buffer.
                self._make(number, buffer)
            else:
                local.add(name)
        if self.reuses:
            V.graph.removed_buffers.update(_find_removed(local, over))
            # The memory is known by the names that are written over in it, too.
            for name, base in reversed(over.items()):
                if base in local and name in self.held:
                    self.held[base] = self.held[name]
        self.scheduler.completed_operations |= operations
        made = sum(buffer.bytes for buffer in self.schedule.buffers[before:])
        if isinstance(kernel.node, InvokeSubgraph):
            taken = made + _count_chunk_bytes(self._add_chunk(kernel.node.subgraph.graph))
        else:
            taken = count_taken(kernel.node)
        self.schedule.buffers.append(Buffer(max(taken - made, 0), number, number))

    def _add_chunk(self, graph: Any) -> Schedule:
        """Adds the kernels of a chunk, which is computed by Inductor's `graph`. Returns its schedule."""
        if graph not in self.chunks:
            self.chunks[graph] = _read_chunk(graph)
        chunk = self.chunks[graph]
        self.schedule.traffic += chunk.traffic
        return chunk

    def _find_shared(self, number: int, buffer: Any, over: Mapping[str, str]) -> Buffer | None:
        """Returns the memory of another buffer in which `buffer` is."""
        name, node = buffer.get_name(), buffer.node
        renamed = self.scheduler.mutation_real_name.get(name)
        layout = node.layout
        if renamed is not None:
            return self.held.get(renamed)
        if name in over:
            return self.held.get(over[name])
        if isinstance(layout, NonOwningLayout):
            base = layout.view.get_name()
            if base not in self.held and base in self.scheduler.name_to_buf:
                self._make(number, self.scheduler.name_to_buf[base])
            return self.held.get(base)
        aliases = node.get_inputs_that_alias_output()
        return self.held.get(aliases[0]) if aliases else None

    def _add_parts(self, number: int, buffer: Any) -> None:
        """Adds the results of a kernel that makes several at once."""
        for part in find_parts(buffer):
            self._make(number, part)
            self.tuples[part.get_name()] = buffer.get_name()

    def _make(self, number: int, buffer: Any) -> None:
        node = buffer.node
        made = Buffer(_count_buffer_bytes(node), number, number, _find_origin(node))
        self.held[buffer.get_name()] = made
        self.schedule.buffers.append(made)
