"""Proofs that operations of a joint graph can run chunk by chunk along an axis.

An axis has a number of units, such as tokens, and each value has a label: the dimensions in which
it has the units, all of it for each chunk, or a sum over chunks. A rule relates the labels of the
operands of an operation to that of its result, as an index map would: where one of them is known,
the rule gives the others, or raises `NotSeparable`. The proof holds for any number of chunks.

A chunk has the rank of its value: the dimensions of the axis become one of the chunk's units, and
others of size 1. So operations of a chunk have the arguments of the whole ones, but for shapes."""

import math
import operator
from enum import Enum
from typing import Any, Callable, NamedTuple, Sequence

import torch
from torch import fx

from ...._operators.table import OPERATORS
from .._pytorch import get_packet, get_schema, name_arguments, tree_leaves
from .sizes import NotSeparable, Size, divide, list_tensors, read_shape

aten, prims = torch.ops.aten, torch.ops.prims


class Span(NamedTuple):
    """The dimensions from `start` to `stop` have the units of the axis: in order, each with as many
    elements."""

    start: int
    stop: int


class Role(Enum):
    """Labels of values without the axis."""

    # Each chunk reads all of it.
    WHOLE = "whole"
    # Each chunk makes a term of it.
    SUM = "sum"


Label = Span | Role


def get_shape(node: fx.Node) -> list[Size]:
    """Returns the sizes of `node`, of the first of several results."""
    value = next(
        (v for v in tree_leaves(node.meta.get("val")) if isinstance(v, torch.Tensor)), None
    )
    if value is None:
        raise NotSeparable(f"{node.name} has no sizes")
    shape = read_shape(value.shape)
    if 0 in shape:
        raise NotSeparable(f"{node.name} has no elements")
    return shape


class Axis:
    """An axis of `units`, and the labels of values."""

    def __init__(self, units: Size) -> None:
        self.units = units
        self.labels: dict[fx.Node, Label] = {}

    def set(self, node: fx.Node, label: Label) -> None:
        if self.labels.setdefault(node, label) != label:
            raise NotSeparable(f"{node.name} is read as {self.labels[node]} and as {label}")

    def find_span(self, shape: Sequence[Size], before: Size) -> Span:
        """Returns the dimensions of `shape` with the axis, behind those of `before` elements."""
        start = 0
        while start < len(shape) and (before != 1 or shape[start] == 1):
            rest = divide(before, shape[start])
            if rest is None:
                break
            before, start = rest, start + 1
        stop, rows = start, 1
        while stop < len(shape) and divide(rows, self.units) is None:
            rows *= shape[stop]
            stop += 1
        if before != 1 or divide(rows, self.units) is None:
            raise NotSeparable(f"no dimensions of {list(shape)} have {self.units} units")
        return Span(start, stop)

    def relate(self, node: fx.Node) -> None:
        """Finds the labels of the operands and of the result of `node`."""
        rule = find_rule(node)
        if rule is None:
            raise NotSeparable(f"{node.name} is {node.target}, which has no rule for chunks")
        rule(self, node)

    def chunk_shape(self, node: fx.Node, units: Size) -> list[Size]:
        """Returns the shape of a chunk of `node`, of so many units."""
        shape, label = get_shape(node), self.labels.get(node)
        if not isinstance(label, Span):
            return shape
        start, stop = label
        rows = divide(math.prod(shape[start:stop]), self.units) * units
        return [*shape[:start], rows, *[1] * (stop - start - 1), *shape[stop:]]


# Rules


def _get_operands(node: fx.Node) -> list[fx.Node]:
    return [each for each in list_tensors(node) if "val" in each.meta]


def _align(axis: Axis, one: fx.Node, other: fx.Node, is_result: bool) -> None:
    """Labels `other` by `one`, where dimensions are aligned from the last. With `is_result`,
    `other` is the result of `one`, which has all its elements."""
    label = axis.labels[one]
    if not isinstance(label, Span):
        return
    shape, target = get_shape(one), get_shape(other)
    shift = len(target) - len(shape)
    sizes = [target[i + shift] if i + shift >= 0 else 1 for i in range(*label)]
    if sizes == shape[slice(*label)]:
        axis.set(other, Span(label.start + shift, label.stop + shift))
    elif is_result or any(size != 1 for size in sizes):
        raise NotSeparable(f"{one.name} and {other.name} differ in the axis")
    else:
        axis.set(other, Role.WHOLE)


def _relate_broadcast(axis: Axis, node: fx.Node) -> None:
    """Relates elements of the result to those of the operands in the same place."""
    operands = _get_operands(node)
    for operand in operands:
        if axis.labels.get(operand) is Role.SUM:
            raise NotSeparable(f"{node.name} reads {operand.name}, a sum over all chunks")
        if operand in axis.labels:
            _align(axis, operand, node, is_result=True)
    if operands and all(axis.labels.get(operand) is Role.WHOLE for operand in operands):
        axis.set(node, Role.WHOLE)
    if axis.labels.get(node) is Role.WHOLE:
        for operand in operands:
            axis.set(operand, Role.WHOLE)
    elif node in axis.labels:
        for operand in operands:
            _align(axis, node, operand, is_result=False)


def _relate_pairs(axis: Axis, node: fx.Node, find: Callable[[fx.Node, fx.Node], Label]) -> None:
    """Labels the result by the first operand, or that by the result: `find` returns the label of
    the second of two values by that of the first."""
    operand = node.args[0]
    for one, other in ((operand, node), (node, operand)):
        label = axis.labels.get(one)
        if label is Role.WHOLE:
            axis.set(other, Role.WHOLE)
        elif isinstance(label, Span):
            axis.set(other, find(one, other))
        elif label is Role.SUM and one is operand:
            raise NotSeparable(f"{node.name} reads {operand.name}, a sum over all chunks")


def _relate_view(axis: Axis, node: fx.Node) -> None:
    """Relates values whose elements stay in their order."""

    def find(one: fx.Node, other: fx.Node) -> Label:
        before = math.prod(get_shape(one)[: axis.labels[one].start])
        return axis.find_span(get_shape(other), before)

    _relate_pairs(axis, node, find)


def _relate_permutation(axis: Axis, node: fx.Node) -> None:
    rank = len(get_shape(node))
    arguments = list(node.args[1:])
    if get_packet(node) is aten.permute:
        order = [dim % rank for dim in arguments[0]]
    else:
        order = list(range(rank))
        one, other = (dim % rank for dim in arguments or (-1, -2))
        order[one], order[other] = order[other], order[one]

    def find(one: fx.Node, _: fx.Node) -> Label:
        dims = range(*axis.labels[one])
        places = [order[dim] if one is node else order.index(dim) for dim in dims]
        if places != list(range(places[0], places[0] + len(places))):
            raise NotSeparable(f"{node.name} takes the axis apart")
        return Span(places[0], places[-1] + 1)

    _relate_pairs(axis, node, find)


def _list_moved(node: fx.Node, rank: int) -> set[int]:
    """Returns the dimensions along which the elements of `node` are from other places."""
    arguments = name_arguments(node)
    if get_packet(node) is aten.constant_pad_nd:
        pads = arguments["pad"]
        return {rank - 1 - place // 2 for place, size in enumerate(pads) if size}
    if "normalized_shape" in arguments:
        return {*range(rank - len(arguments["normalized_shape"]), rank)}
    return {arguments.get("dim", 0) % rank}


def _relate_same(axis: Axis, node: fx.Node) -> None:
    """Relates values of the same dimensions, whose elements move along others than the axis. One
    place of a value, which is selected, lacks the dimension in which that is."""
    packet = get_packet(node)
    rank = len(get_shape(node)) + (packet is aten.select)
    moved = _list_moved(node, rank)
    # The dimensions of each value among those of all.
    dims: dict[fx.Node, list[int]] = {}
    for each in (node, *_get_operands(node)):
        others = moved if len(get_shape(each)) < rank and packet in _SELECTIONS else ()
        dims[each] = [dim for dim in range(rank) if dim not in others]
    dims = {each: found for each, found in dims.items() if len(found) == len(get_shape(each))}
    one = next((each for each in dims if each in axis.labels), None)
    if one is None:
        return
    label = axis.labels[one]
    if label is Role.SUM:
        raise NotSeparable(f"{node.name} reads a sum over all chunks")
    if not isinstance(label, Span):
        for each in dims:
            axis.set(each, label)
        return
    first, last = dims[one][label.start], dims[one][label.stop - 1]
    if moved.intersection(range(first, last + 1)):
        raise NotSeparable(f"{node.name} works along the axis")
    spans = {each: Span(has.index(first), has.index(last) + 1) for each, has in dims.items()}
    if len({tuple(get_shape(each)[slice(*span)]) for each, span in spans.items()}) > 1:
        raise NotSeparable(f"{node.name} works along the axis")
    for each, span in spans.items():
        axis.set(each, span)


def _relate_norm(axis: Axis, node: fx.Node) -> None:
    """Relates rows that are normalized, each by itself, and their gradients; all of them have the same
    weight and bias, of whose gradients each chunk makes a term."""
    arguments = name_arguments(node)
    if not all(arguments.get("output_mask", [True])[:1]):
        raise NotSeparable(f"{node.name} is no gradient of rows")
    _relate_same(axis, node)
    for each in filter(None, (arguments["weight"], arguments["bias"])):
        if node in axis.labels:
            axis.set(each, Role.WHOLE)


def _relate_reduction(axis: Axis, node: fx.Node) -> None:
    operand = node.args[0]
    shape, arguments = get_shape(operand), name_arguments(node)
    dims = arguments.get("dim")
    dims = [dims] if isinstance(dims, int) else dims or range(len(shape))
    reduced = {dim % len(shape) for dim in dims} if shape else set()
    keeps = arguments.get("keepdim", False)
    # The place of each dimension of the operand that stays.
    stays = [dim for dim in range(len(shape)) if keeps or dim not in reduced]

    def find(one: fx.Node, other: fx.Node) -> Label:
        dims = range(*axis.labels[one])
        if one is node:
            dims = [stays[dim] for dim in dims]
            if reduced.intersection(dims) or list(dims) != list(range(dims[0], dims[-1] + 1)):
                raise NotSeparable(f"{node.name} has the axis where it reduces")
            return Span(dims[0], dims[-1] + 1)
        if reduced.issuperset(dims) and get_packet(node) in (aten.mean, aten.sum):
            return Role.SUM
        if reduced.intersection(dims):
            raise NotSeparable(f"{node.name} is {node.target} over the axis, which is no sum")
        return Span(stays.index(dims[0]), stays.index(dims[-1]) + 1)

    _relate_pairs(axis, node, find)


# The dimensions of products, by letters: of the operands and of the result.
PRODUCTS = {aten.mm: ("mk", "kn", "mn"), aten.bmm: ("bmk", "bkn", "bmn")}
PRODUCTS |= {aten.addmm: ("mn", *PRODUCTS[aten.mm]), aten.baddbmm: ("bmn", *PRODUCTS[aten.bmm])}


def _relate_product(axis: Axis, node: fx.Node) -> None:
    letters = PRODUCTS[get_packet(node)]
    values = [*node.args[: len(letters) - 1], node]
    for value, names in zip(values[-3:], letters[-3:]):
        label = axis.labels.get(value)
        if label is Role.SUM and value is not node:
            raise NotSeparable(f"{node.name} reads {value.name}, a sum over all chunks")
        if isinstance(label, Span):
            if label.stop - label.start > 1:
                raise NotSeparable(f"{node.name} has the axis in several dimensions")
            chunked = names[label.start]
            break
    else:
        raise NotSeparable(f"{node.name} has no operand with the axis")
    if len(letters) == 4:
        if chunked not in letters[-1]:
            raise NotSeparable(f"{node.name} adds to a sum over all chunks")
        axis.set(node, Span(letters[-1].index(chunked), letters[-1].index(chunked) + 1))
        _align(axis, node, values[0], is_result=False)
    for value, names in zip(values[-3:], letters[-3:]):
        place = names.find(chunked)
        none = Role.SUM if value is node else Role.WHOLE
        axis.set(value, Span(place, place + 1) if place >= 0 else none)


def _relate_part(axis: Axis, node: fx.Node) -> None:
    source, number = node.args
    if number and get_packet(source) is aten.native_layer_norm_backward:
        # The gradient of a weight or of a bias.
        if source in axis.labels:
            axis.set(node, Role.SUM if isinstance(axis.labels[source], Span) else Role.WHOLE)
        return
    for one, other in ((source, node), (node, source)):
        if one in axis.labels:
            axis.set(other, axis.labels[one])


def _relate_constant(axis: Axis, node: fx.Node) -> None:
    """Finds nothing: elements are equal, so that the readers determine the label."""


Rule = Callable[[Axis, fx.Node], None]

_VIEWS = (aten.view, aten._unsafe_view, aten.reshape, aten.squeeze, aten.unsqueeze)
CONSTANTS = (aten.full, aten.zeros, aten.ones)
# Elementwise operators and gradients of activations, not all of which PyTorch tags.
_OPERATORS = [*filter(None, (getattr(aten, row.name, None) for row in OPERATORS))]
GRADIENTS = tuple(filter(None, (getattr(aten, f"{row.name}_backward", None) for row in OPERATORS)))
_ELEMENTWISE = (
    aten.alias,
    aten.clone,
    aten.detach,
    aten.expand,
    aten.full_like,
    aten.ones_like,
    aten.zeros_like,
    prims.convert_element_type,
)
_REDUCTIONS = (
    aten.all,
    aten.amax,
    aten.amin,
    aten.any,
    aten.argmax,
    aten.argmin,
    aten.logsumexp,
    aten.max,
    aten.mean,
    aten.min,
    aten.prod,
    aten.sum,
    aten.var,
    aten.var_mean,
)
# One of the places of a dimension.
_SELECTIONS = (aten.select, aten.select_backward, aten.select_scatter)
_SAME = (
    aten._log_softmax,
    aten._log_softmax_backward_data,
    aten._softmax,
    aten._softmax_backward_data,
    aten.cat,
    aten.constant_pad_nd,
    aten.cumsum,
    aten.gather,
    aten.scatter,
    aten.scatter_add,
    *_SELECTIONS,
    aten.slice,
    aten.slice_backward,
    aten.slice_scatter,
    aten.split,
    aten.split_with_sizes,
)
_NORMS = (aten.native_layer_norm, aten.native_layer_norm_backward)
RULES: dict[Any, Rule] = {
    **dict.fromkeys((*_OPERATORS, *GRADIENTS), _relate_broadcast),
    **dict.fromkeys(_VIEWS, _relate_view),
    **dict.fromkeys((aten.permute, aten.t, aten.transpose), _relate_permutation),
    **dict.fromkeys(CONSTANTS, _relate_constant),
    **dict.fromkeys(_REDUCTIONS, _relate_reduction),
    **dict.fromkeys(_SAME, _relate_same),
    **dict.fromkeys(_NORMS, _relate_norm),
    **dict.fromkeys(PRODUCTS, _relate_product),
    **dict.fromkeys(_ELEMENTWISE, _relate_broadcast),
}
# The place of the argument with the sizes of the result, besides that of views.
SIZED = {**dict.fromkeys(CONSTANTS, 0), aten.select_backward: 1, aten.slice_backward: 1}
# The operators whose arguments are the shape of the result.
SHAPED = {*_VIEWS, aten.expand}


def _stays(node: fx.Node) -> bool:
    """Tells whether a copy is on the device of its operand."""
    return node.meta["val"].device == node.args[0].meta["val"].device


def find_rule(node: fx.Node) -> Rule | None:
    """Returns the rule for the operation of `node`; None where there is none."""
    if node.target is operator.getitem:
        return _relate_part
    schema = get_schema(node)
    if schema is None or schema.is_mutable or node.target is aten.view.dtype:
        return None
    if torch.Tag.nondeterministic_seeded in node.target.tags:
        return None
    # Functions of two tensors share a name with reductions of one.
    is_pointwise = torch.Tag.pointwise in node.target.tags
    is_pointwise |= get_packet(node) is aten._to_copy and _stays(node)
    return _relate_broadcast if is_pointwise else RULES.get(get_packet(node))
