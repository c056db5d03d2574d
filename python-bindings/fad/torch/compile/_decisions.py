"""Comparisons of 16-bit floats, in graphs for Inductor.

Inductor computes with 32 bits inside of a kernel, and rounds where it writes to memory. What
backward computes again is therefore not rounded as in forward, where other tensors are in
memory. A row that is compared with its largest element then has no element equal to it, and
an argument of the maximum is another one. So forward compares, once, and backward reads the
result, which takes one bit an element. Forward rounds both operands first, since it may have
one of them in memory, and the other one not. Where one is computed from the other, as a
maximum is, forward has that in memory: two kernels that compute it read different tensors
from memory, and others before they are rounded."""

from typing import Any

import torch
from torch import fx

from ._kinds import find_kind, is_part
from ._pytorch import must_repeat

aten = torch.ops.aten

_COMPARISONS = {aten.eq, aten.ne, aten.lt, aten.le, aten.gt, aten.ge}
# Those that find places.
_CHOICES = {aten.argmax, aten.argmin, aten.max, aten.min}

# Those whose results are elements of the operand, and those that change the type.
_SELECTIONS = {aten.amax, aten.amin, aten.max, aten.min}
_CONVERSIONS = {aten._to_copy, torch.ops.prims.convert_element_type}
_HALVES = (torch.bfloat16, torch.float16)

# With these entries of the metadata of a node, Inductor rounds its operands, as it does for
# `emulate_precision_casts`, or writes its result to memory.
_ROUNDS, _IS_WRITTEN = "low_precision_pointwise_barrier", "inductor_realize_to_strides"


def is_decision(node: fx.Node) -> bool:
    """Whether the result of `node` jumps where a computed operand is rounded."""
    packet = getattr(node.target, "overloadpacket", None)
    if packet not in _COMPARISONS and not (packet in _CHOICES and _has_places(node)):
        return False
    operands = [argument for argument in node.args if isinstance(argument, fx.Node)]
    tensors = operands if packet in _CHOICES else node.args[:2]
    if not all(map(_is_half, tensors)):
        return False
    makers = [_find_maker(operand) for operand in operands]
    # A checkpoint repeats all that is compared, and the comparison.
    return any(maker.op == "call_function" and not must_repeat(maker) for maker in makers)


def round_operands(graph: fx.Graph) -> None:
    """Lets comparisons of `graph` read what is in memory, or would be."""
    for node in graph.nodes:
        if getattr(node.target, "overloadpacket", None) not in _COMPARISONS:
            continue
        if is_decision(node):
            node.meta[_ROUNDS] = True
            one, other = map(_find_maker, node.args[:2])
            for first, second in ((one, other), (other, one)):
                if first.op == "call_function" and first < second and _is_made_of(second, first):
                    first.meta[_IS_WRITTEN] = True


def _is_made_of(node: fx.Node, operand: fx.Node) -> bool:
    """Whether `node` is computed from `operand`, which stands before it."""
    seen: set[fx.Node] = set()
    worklist = [node]
    while worklist:
        for used in worklist.pop().all_input_nodes:
            if used is operand:
                return True
            if used not in seen and operand < used:
                seen.add(used)
                worklist.append(used)
    return False


def _has_places(node: fx.Node) -> bool:
    value = node.meta.get("val")
    value = value[-1] if isinstance(value, (list, tuple)) else value
    return isinstance(value, torch.Tensor) and value.dtype is torch.int64


def _is_half(operand: Any) -> bool:
    """Whether the elements of `operand` are those of a tensor of 16-bit floats, in whatever
    type: it may be converted, and elements chosen of it."""
    while isinstance(operand, fx.Node):
        value = operand.meta.get("val")
        if isinstance(value, torch.Tensor) and value.dtype in _HALVES:
            return True
        packet = getattr(operand.target, "overloadpacket", None)
        is_same = packet in _SELECTIONS or _is_conversion(operand)
        if not (is_same or is_part(operand) or find_kind(operand) == "view"):
            return False
        operand = operand.args[0] if operand.args else None
    return False


def _is_conversion(node: fx.Node) -> bool:
    return getattr(node.target, "overloadpacket", None) in _CONVERSIONS


def _find_maker(node: fx.Node) -> fx.Node:
    """The operation that computes the elements of `node`, but for conversions of 16 bits."""
    while node.op == "call_function":
        if _is_conversion(node):
            if node.args[0].meta["val"].dtype not in _HALVES:
                return node
        elif not (is_part(node) or find_kind(node) == "view"):
            return node
        node = node.args[0]
    return node
