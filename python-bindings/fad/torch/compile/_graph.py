"""The nodes of AOTAutograd's joint graphs: their kinds, inputs that they change in place,
comparisons that jump, and equal ones."""

import operator
from dataclasses import dataclass
from typing import Any, Callable, Iterable

import torch
from torch import fx

from ..._operators.table import OPERATORS
from ._pytorch import (
    HEAVY,
    IS_WRITTEN,
    ROUNDS,
    check_version,
    find_changed_afterwards,
    find_inlining_limits,
    get_checkpoint,
    get_count,
    get_packet,
    get_part,
    get_policy,
    get_schema,
    is_bound_to_backward,
    is_bound_to_forward,
    is_of_autograd,
    is_view,
    makes_tensor,
    merge_equal_nodes,
    must_repeat,
    name_arguments,
    tree_leaves,
)
from ._scalars import find_packet
from ._sizes import estimate_size

aten, prims = torch.ops.aten, torch.ops.prims

# Operations that fad knows by their costs alone.
#
# PyTorch says most of it: by aliases in schemas, by tags, by its counts of operations. The lists
# here are the rest; a test compares them with PyTorch's own, which may grow.

# Views without an alias in their schemas: autograd takes them for new tensors.
UNMARKED_VIEWS = {
    aten.unsafe_chunk,
    aten.unsafe_split,
    aten.unsafe_split_with_sizes,
    aten._unsafe_view,
}
# Contractions that PyTorch does not count the operations of.
UNCOUNTED = {aten.addmv, aten.dot, aten.linear, aten.matmul, aten.mv}
# Functions of rows that PyTorch tags as no reductions: their results are as large as the rows.
ROWWISE = {aten.cumsum, aten._log_softmax, aten._softmax}
# Elements in other places, which PyTorch has no tag for. These fuse with their readers.
MOVEMENTS = {
    aten.cat,
    aten.constant_pad_nd,
    aten.embedding,
    aten.flip,
    aten.gather,
    aten.index,
    aten.index_select,
    aten.repeat,
    aten.select_scatter,
    aten.slice_scatter,
    aten.tril,
    aten.triu,
    prims._low_memory_max_pool_offsets_to_indices,
}
# Operators that Inductor fuses with their readers, though backward never repeats it: its lowerings
# say so by what they do alone.
_FUSED = {prims.inductor_lookup_seed, prims.inductor_random}
# Operators that Inductor computes in the memory of the first operand, where nothing else reads
# that: its lowerings write to a clone, or its decompositions have operators that do.
OVERWRITING = {
    aten._unsafe_index_put,
    aten._unsafe_masked_index_put_accumulate,
    aten.index_add,
    aten.index_put,
    aten.scatter,
    aten.scatter_add,
    aten.scatter_reduce,
}
# How many copies of the filter of a convolution are there at once: in Inductor's layout, in that of
# the kernel, and of the gradient.
_CONVOLUTIONS = {aten.convolution: 2, aten.convolution_backward: 3}


def copy_graph(graph: fx.Graph) -> fx.Graph:
    """Returns a copy of a joint graph, whose nodes have the metadata of the original's."""
    copy = fx.Graph()
    copy.output(copy.graph_copy(graph, val_map={}))
    copy.output_node().meta = dict(graph.output_node().meta)
    return copy


def find_device(graph: fx.Graph) -> torch.device:
    """Returns the device whose times count: that of a tensor, and a CPU if all are there."""
    values = (node.meta.get("val") for node in graph.nodes)
    devices = (value.device for value in values if isinstance(value, torch.Tensor))
    others = (device for device in devices if device.type != "cpu")
    return next(others, torch.device("cpu"))


def find_target(graph: fx.Graph) -> str:
    """Returns the target whose times count: that of the tensors."""
    return "cpu" if find_device(graph).type == "cpu" else "gpu"


# The operations of MLIR by the names that ATen has.
_MLIR = {row.name: row.mlir for row in OPERATORS}


# Sums over the rows of a batch are those of its elements first, for a GPU, where an element has so many rows:
# the sums take this part of the rows' memory, or twice that of rows in 16 bits. And where there are so many
# sums: Inductor divides them again where there are fewer than 64 for each multiprocessor of the device.
SPLIT = {"split_rows": 32, "split_sums": 1 << 14}


def describe_fusion(target: str) -> dict[str, Any]:
    """Returns the attribute `#fad.fusion` of a function that Inductor compiles for `target`."""
    is_cpu = target == "cpu"
    others = {"once": [_MLIR[name] for name in HEAVY]} if is_cpu else SPLIT
    return {**find_inlining_limits(is_cpu), **others}


# Entries of the metadata of a node that stands for several operations: the bytes that it takes
# besides its results, and its kind.
SCRATCH, KIND = "fad_scratch", "fad_kind"


def find_memory(node: fx.Node) -> dict[str, Any]:
    """Returns the attributes that say what Inductor does with the memory of `node`."""
    if SCRATCH in node.meta:
        return {"fad.scratch": node.meta[SCRATCH]}
    packet = get_packet(node)
    if packet in _FUSED:
        return {"fad.fuses": None}
    # A view of given strides reads its operand where that is.
    if packet is aten.as_strided:
        return {"fad.materializes": None}
    if packet in OVERWRITING:
        return {"fad.overwrites": None}
    if packet not in _CONVOLUTIONS:
        return {}
    arguments = name_arguments(node)
    values = [arguments[name].meta["val"] for name in ("input", "weight")]
    image, weight = (estimate_size(value.numel()) * value.dtype.itemsize for value in values)
    is_cpu = values[0].device.type == "cpu"
    return {"fad.scratch": image + _CONVOLUTIONS[packet] * weight} if is_cpu else {}


def find_kind(node: fx.Node) -> str:
    """Returns the kind of `fad.opaque` for `node`. What is not known is kept: repeating it may have
    other effects, or other results."""
    if must_repeat(node):
        return "repeat"
    if KIND in node.meta:
        return node.meta[KIND]
    target: Any = node.target
    schema = get_schema(node)
    if is_bound(node) or schema is None or schema.is_mutable:
        return "keep"
    if torch.Tag.nondeterministic_seeded in target.tags:
        return "keep"
    packet = get_packet(node)
    if is_view(target) or packet in UNMARKED_VIEWS:
        return "view"
    # Operators of libraries may have counts, and be random for all that PyTorch knows.
    if target.namespace == "aten" and (get_count(packet) or packet in UNCOUNTED):
        return "contraction"
    if torch.Tag.reduction in target.tags or packet in ROWWISE:
        return "reduction"
    if torch.Tag.pointwise in target.tags or makes_tensor(target) or packet in MOVEMENTS:
        return "elementwise"
    # A copy to another device is no conversion of elements.
    is_conversion = packet is aten._to_copy and node.kwargs.get("device") is None
    return "elementwise" if is_conversion else "keep"


# The policies of a checkpoint under which forward saves a result. Offloading it is for others;
# not all releases of PyTorch have that policy.
_IS_SAVED = ("MUST_SAVE", "MUST_CPU_OFFLOAD")


def is_bound(node: fx.Node) -> bool:
    """Tells whether a checkpoint decides whether backward repeats `node`."""
    policy = get_policy(node)
    return getattr(policy, "name", "") in _IS_SAVED or must_repeat(node)


def find_makers(
    nodes: Iterable[fx.Node], is_one: Callable[[fx.Node], bool] = lambda _: True
) -> set[fx.Node]:
    """`nodes` and what they are computed from, up to those for which `is_one` does not hold."""
    found: set[fx.Node] = set()
    worklist = list(nodes)
    while worklist:
        node = worklist.pop()
        if node not in found and is_one(node):
            found.add(node)
            worklist.extend(node.all_input_nodes)
    return found


def is_part(node: fx.Node) -> bool:
    """Tells whether `node` is one of several results of another node."""
    return node.target is operator.getitem


# Inputs that forward or backward changes in place.
#
# AOTAutograd's joint graph computes new values, and writes each of them to its input at the end.
# The value of an input that forward changes is therefore that before forward, and what backward
# reads of it has to be a copy. An input that backward alone changes has its value from before
# this, which operations of backward read when they run: other steps may have changed it since
# forward. A value of forward that backward computes again needs the input as forward has read it,
# and so a copy, too; and so does the gradient of an operation for which autograd itself has saved
# the input.


def is_write(node: fx.Node) -> bool:
    """Tells whether `node` does nothing but write a value to an input."""
    return node.target is aten.copy_.default and not node.users


def find_mutated(graph: fx.Graph, num_fwd_outputs: int) -> set[fx.Node]:
    """Returns the inputs that forward changes: by an operation of the graph, or afterwards, as the
    descriptions of its outputs say."""
    mutated = find_changed_afterwards(graph, num_fwd_outputs)
    for node in graph.nodes:
        schema = get_schema(node)
        if schema is not None and not is_bound_to_backward(node):
            values = name_arguments(node)
            for argument in schema.arguments:
                if argument.is_write:
                    leaves = tree_leaves(values.get(argument.name))
                    mutated.update(leaf for leaf in leaves if isinstance(leaf, fx.Node))
    return {node for node in mutated if node.op == "placeholder" and not is_tangent(node)}


def is_tangent(node: fx.Node) -> bool:
    """Tells whether `node` is an input of backward: a cotangent."""
    return node.op == "placeholder" and "tangents" in str(node.target)


def find_written_in_backward(graph: fx.Graph) -> set[fx.Node]:
    writes = graph.find_nodes(op="call_function", target=aten.copy_.default)
    written = {node.args[0] for node in writes if is_bound_to_backward(node)}
    return {node for node in written if not is_tangent(node)}


def check_versions(graph: fx.Graph, mutated: set[fx.Node]) -> None:
    """Lets backward raise RuntimeError where it changes one of `mutated`, and another step
    has changed that since forward: backward computes the new value from the one that forward
    has left. PyTorch does not compare versions of tensors that a function keeps as an attribute of
    its context."""
    for node in find_written_in_backward(graph) & mutated:
        check_version(node)


@dataclass
class Readers:
    """The operations that read inputs which backward alone changes, but for views."""

    # The inputs, and views of them.
    memory: set[fx.Node]
    # They need the values that the inputs have in forward.
    forward: list[fx.Node]
    # They run in backward, whether or not they depend on a cotangent.
    backward: list[fx.Node]


def find_readers(graph: fx.Graph, num_fwd_outputs: int, mutated: set[fx.Node]) -> Readers:
    readers = Readers(find_written_in_backward(graph) - mutated, [], [])
    if not readers.memory:
        return readers
    results = tree_leaves(graph.output_node().args)[:num_fwd_outputs]
    ends = [node for node in results if isinstance(node, fx.Node)]
    ends += [node for node in graph.nodes if is_write(node) and not is_bound_to_backward(node)]
    of_forward = find_makers(ends)
    for node in graph.nodes:
        if node.op == "output" or readers.memory.isdisjoint(node.all_input_nodes):
            continue
        if is_part(node) or find_kind(node) == "view":
            readers.memory.add(node)
        elif node in of_forward or is_bound_to_forward(node) or is_of_autograd(node):
            readers.forward.append(node)
        else:
            readers.backward.append(node)
    return readers


def write_last(backward: fx.GraphModule) -> None:
    """Moves writes to inputs to the end of `backward`, where AOTAutograd has put them: what
    PyTorch's order has behind them may read the old values."""
    graph = backward.graph
    writes = filter(is_write, graph.find_nodes(op="call_function", target=aten.copy_.default))
    moved = list(writes)
    for node in moved:
        graph.output_node().prepend(node)
    if moved:
        backward.recompile()


# Comparisons of 16-bit floats, in graphs for Inductor.
#
# Inductor computes with 32 bits inside of a kernel, and rounds where it writes to memory. What
# backward computes again is therefore not rounded as in forward, where other tensors are in
# memory. A row that is compared with its largest element then has no element equal to it, and an
# argument of the maximum is another one. So forward compares, once, and backward reads the
# result, which takes one bit an element. Forward rounds both operands first, since it may have
# one of them in memory, and the other one not. Where one is computed from the other, as a maximum
# is, forward has that in memory: two kernels that compute it read different tensors from memory,
# and others before they are rounded.

_COMPARISONS = {find_packet(row) for row in OPERATORS if row.kind == "condition" and row.sign}

# Reductions whose results are elements of the operand, of which PyTorch's tag does not tell, and
# operations that change the type.
SELECTIONS = {aten.amax, aten.amin, aten.aminmax, aten.max, aten.min}
_CONVERSIONS = {aten._to_copy, torch.ops.prims.convert_element_type}
_HALVES = (torch.bfloat16, torch.float16)


def is_decision(node: fx.Node) -> bool:
    """Tells whether the result of `node` jumps where a computed operand is rounded."""
    is_comparison = get_packet(node) in _COMPARISONS
    if not is_comparison and not _finds_places(node):
        return False
    operands = [argument for argument in node.args if isinstance(argument, fx.Node)]
    tensors = node.args[:2] if is_comparison else operands
    if not all(map(_is_half, tensors)):
        return False
    origins = [_find_origin(operand) for operand in operands]
    # A checkpoint repeats all that is compared, and the comparison.
    return any(each.op == "call_function" and not must_repeat(each) for each in origins)


def round_operands(graph: fx.Graph) -> None:
    """Lets comparisons of `graph` read what is in memory, or would be."""
    for node in graph.nodes:
        if get_packet(node) not in _COMPARISONS:
            continue
        if is_decision(node):
            node.meta[ROUNDS] = True
            one, other = map(_find_origin, node.args[:2])
            for first, second in ((one, other), (other, one)):
                is_call = first.op == "call_function" and first < second
                if is_call and first in find_makers([second], lambda each: first <= each):
                    first.meta[IS_WRITTEN] = True


def _finds_places(node: fx.Node) -> bool:
    """Tells whether `node` reduces to integers: places of elements, or how many there are."""
    value = node.meta.get("val")
    value = value[-1] if isinstance(value, (list, tuple)) else value
    is_reduction = torch.Tag.reduction in getattr(node.target, "tags", ())
    return is_reduction and isinstance(value, torch.Tensor) and value.dtype is torch.int64


def _is_half(operand: Any) -> bool:
    """Tells whether the elements of `operand` are those of a tensor of 16-bit floats, in whatever
    type: it may be converted, and elements chosen of it."""
    while isinstance(operand, fx.Node):
        value = operand.meta.get("val")
        if isinstance(value, torch.Tensor) and value.dtype in _HALVES:
            return True
        packet = get_packet(operand)
        is_same = packet in SELECTIONS or _is_conversion(operand)
        if not (is_same or is_part(operand) or find_kind(operand) == "view"):
            return False
        operand = operand.args[0] if operand.args else None
    return False


def _is_conversion(node: fx.Node) -> bool:
    return get_packet(node) in _CONVERSIONS


def _find_origin(node: fx.Node) -> fx.Node:
    """Returns the operation that computes the elements of `node`, but for conversions of 16
    bits."""
    while node.op == "call_function":
        if _is_conversion(node):
            if node.args[0].meta["val"].dtype not in _HALVES:
                return node
        elif not (is_part(node) or find_kind(node) == "view"):
            return node
        node = node.args[0]
    return node


# Equal operations that stay apart.
#
# PyTorch merges equal operations of a joint graph. If two checkpoints begin with the same
# operations on the same values, they then share the results: a layer that runs twice on one
# input, for example. Backward repeats one checkpoint after the other, so that shared results
# would wait from the first to the last. Each checkpoint repeats its own instead.
#
# An input that backward changes may have another value when backward reads it than when forward
# has read it. So neither takes the results of the other.

# The name of an argument that no operation has.
_PART = "fad_part"


def merge_equal(graph: fx.Graph, **options: Any) -> fx.Graph:
    """Returns a copy of a joint graph without operations that occur more than once outside of
    checkpoints, or in one of them. Since PyTorch 2.14, `options` keep what backward reads apart
    from what forward alone reads."""
    written = find_written_in_backward(graph)
    for node in graph.nodes:
        part: list[Any] = []
        if must_repeat(node):
            part.append(get_checkpoint(node))
        if node.op == "call_function" and not written.isdisjoint(node.all_input_nodes):
            part.append(get_part(node))
        if part:
            node.kwargs = {**node.kwargs, _PART: part}
    graph = merge_equal_nodes(graph, **options)
    for node in graph.nodes:
        if _PART in node.kwargs:
            node.kwargs = {k: v for k, v in node.kwargs.items() if k != _PART}
    return graph
