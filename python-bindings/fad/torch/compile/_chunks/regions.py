"""Regions of a joint graph whose values are large inside, and small or sums at their ends.

A region begins with a product that is much larger than its operands, such as logits. All large
values that follow from it along an axis are inside, with their readers, so that what leaves the
region is small, or a sum over the axis, such as the gradient of a weight.

Backward's part is linear in its cotangent. Where that is a scalar, as that of a mean of losses is,
both parts run in forward, for a cotangent of 1, and backward multiplies by the scalar: the
derivative is computed in the forward pass, as fad does it for elementwise regions. Otherwise
backward repeats what forward has not kept, chunk by chunk."""

from dataclasses import dataclass, field
from typing import Callable, Iterable, Iterator

import torch
from torch import fx

from ...._fad import find_peak
from .._graph import find_kind, find_makers, is_bound, is_part, is_tangent
from .._peak import get_tensors
from .._pytorch import get_packet, get_schema, tree_leaves
from .._scalars import LINEAR
from .._sizes import estimate_size
from .axes import CONSTANTS, GRADIENTS, PRODUCTS, Axis, Role, Span, get_shape
from .sizes import NotSeparable, Size, divide, find_symbols, list_tensors

aten = torch.ops.aten

# A product begins a region where its result has so many times the elements of its operand that
# has the axis.
AMPLIFIES = 2
# The part of the product's elements that makes a value large, if it has more than the operand: a half
# may be a gate, or what it multiplies.
_LARGE = 0.5


@dataclass
class Region:
    """Operations that run chunk by chunk, in the order of the graph.

    `results` are those that others read. `scaled` are results for a cotangent of 1, which
    `cotangent` multiplies; without one there are none. `bytes` are those of the large values
    that are in memory at once."""

    axis: Axis
    # The product that the region begins with.
    seed: fx.Node
    nodes: list[fx.Node]
    results: list[fx.Node]
    scaled: set[fx.Node] = field(default_factory=set)
    cotangent: fx.Node | None = None
    # Values without a tensor to determine them, which the operations read.
    constants: set[fx.Node] = field(default_factory=set)
    bytes: int = 0

    def find_inputs(self) -> list[fx.Node]:
        """Returns what the operations read of others, but for constants and the cotangent."""
        others = {*self.nodes, *self.constants, self.cotangent}
        read = dict.fromkeys(used for node in self.nodes for used in list_tensors(node))
        return [node for node in read if node not in others]

    def is_inner(self, node: fx.Node) -> bool:
        """Tells whether `node` is a tensor with the axis, and no result."""
        is_tensor = isinstance(node.meta["val"], torch.Tensor)
        return is_tensor and isinstance(self.axis.labels[node], Span) and node not in self.results

    @property
    def device(self) -> str:
        """The type of the device."""
        return self.seed.meta["val"].device.type

    def count_inner(self, is_fused: bool) -> int:
        """Returns the most bytes with the axis that are in memory at once, besides the results, where a
        compiler fuses operations or not."""
        return self.bytes if is_fused else self.count_live()

    def count_live(self) -> int:
        """Returns the most bytes with the axis that are in memory at once where operations run one by
        one, besides the results."""
        order = {node: place for place, node in enumerate(self.nodes)}
        buffers: dict[fx.Node, list[int]] = {}
        owners: dict[fx.Node, fx.Node] = {}
        for node in self.nodes:
            bases = [owners[each] for each in node.all_input_nodes if each in owners]
            # The parts of a view are views, too.
            is_view = find_kind(node.args[0] if is_part(node) else node) == "view"
            owners[node] = bases[0] if is_view and bases else node
            last = max((order[user] for user in node.users if user in order), default=order[node])
            if owners[node] in buffers:
                buffers[owners[node]][2] = max(buffers[owners[node]][2], last)
            elif self.is_inner(node):
                buffers[node] = [count_bytes(node), order[node], last]
        # Products that are summed are of results of a chunk.
        summed = [node for node in self.results if node.target is aten.mm.default]
        for operand in {owners.get(each) for node in summed for each in node.args}:
            if operand in buffers:
                buffers[operand][2] = len(order)
        return find_peak([tuple(each) for each in buffers.values()])[0]


def find_constants(nodes: Iterable[fx.Node]) -> set[fx.Node]:
    """Returns the nodes that no tensor determines, so that chunks can make them again."""
    constants: set[fx.Node] = set()
    for node in nodes:
        if node.op == "call_function" and constants.issuperset(list_tensors(node)):
            if get_schema(node) and find_kind(node) in ("view", "elementwise"):
                constants.add(node)
    return constants


def count_elements(node: fx.Node) -> int:
    """Returns the elements of `node`, of the first of several results, by the sizes of the batch."""
    value = next(v for v in tree_leaves(node.meta["val"]) if isinstance(v, torch.Tensor))
    return estimate_size(value.numel())


def count_bytes(node: fx.Node) -> int:
    return count_elements(node) * node.meta["val"].dtype.itemsize


class _Growth:
    """The large values that follow from `seed`, and their readers."""

    def __init__(self, seed: fx.Node, axis: Axis) -> None:
        self.axis = axis
        self.large = max(_LARGE * count_elements(seed), count_elements(seed.args[-2]) + 1)
        self.inside: set[fx.Node] = set()
        self.seed = seed

    def is_large(self, node: fx.Node) -> bool:
        label = self.axis.labels.get(node)
        return isinstance(label, Span) and count_elements(node) >= self.large

    def run(self) -> None:
        worklist = [self.seed]
        while worklist:
            node = worklist.pop()
            if node in self.inside:
                continue
            self.add(node)
            # A part brings the operation, of whose results another one may be small.
            operands = [e for e in node.all_input_nodes if is_part(node) or self.is_large(e)]
            worklist += [each for each in operands if each.op == "call_function"]
            for each in (node, *filter(is_part, node.users)):
                if self.is_large(each):
                    worklist += each.users

    def add(self, node: fx.Node) -> None:
        if node.op != "call_function":
            verb = "returns a value" if node.op == "output" else "has an input"
            raise NotSeparable(f"the graph {verb} of its size")
        if is_bound(node):
            raise NotSeparable(f"{node.name} is of a checkpoint")
        self.inside.add(node)
        self.axis.relate(node)
        # Others read the parts of several results, and not all at once.
        for part in filter(is_part, node.users):
            if part not in self.inside:
                self.add(part)

    def close(self, nodes: list[fx.Node], inside: set[fx.Node], end: fx.Node | None) -> None:
        """Adds to `inside` what leads from it to itself, but for ways through `end`."""
        while True:
            after: set[fx.Node] = set()
            for node in nodes:
                if node is not end and any(
                    each in inside or each in after for each in node.all_input_nodes
                ):
                    after.add(node)
            before: set[fx.Node] = set()
            for node in reversed(nodes):
                if node is not end and any(user in inside or user in before for user in node.users):
                    before.add(node)
            inner = after & before - inside
            between = [node for node in nodes if node in inner]
            if not between:
                return
            for node in between:
                self.add(node)
                inside.update({node}, filter(is_part, node.users))


def find_regions(seed: fx.Node, nodes: list[fx.Node]) -> list[Region]:
    """Returns the regions that begin with `seed`, of a graph with `nodes`: one of both parts, or
    one of forward and one of backward, each in the order in which they run. Raises
    NotSeparable, where there are none."""
    find_symbols([seed])
    reasons = []
    for units in _list_units(seed):
        try:
            growth = _grow(seed, units)
            both = _find_both(growth, nodes)
            return [both] if both else _find_parts(_grow(seed, units), nodes)
        except NotSeparable as reason:
            reasons.append(str(reason))
    raise NotSeparable("; ".join(dict.fromkeys(reasons)) or f"{seed.name} has no rows")


def _grow(seed: fx.Node, units: Size) -> _Growth:
    axis = Axis(units)
    shape = get_shape(seed)
    before = shape[0] if len(shape) == 3 and divide(shape[0], units) is None else 1
    axis.set(seed, axis.find_span(shape, before))
    growth = _Growth(seed, axis)
    growth.run()
    return growth


def _list_units(seed: fx.Node) -> list[Size]:
    """Returns the numbers of units to try: the rows of the product, and those dimensions that
    become its rows together."""
    operand = seed.args[-2]
    rows = get_shape(seed)[-2]
    units = [rows]
    while find_kind(operand) == "view" and operand.all_input_nodes:
        operand = operand.all_input_nodes[0]
        first = get_shape(operand)[0]
        if divide(rows, first) is not None:
            units.append(first)
    return [each for each in dict.fromkeys(units) if each != 1]


def find_dependent(nodes: Iterable[fx.Node]) -> set[fx.Node]:
    """Returns the nodes that depend on a cotangent."""
    dependent: set[fx.Node] = set()
    for node in nodes:
        if is_tangent(node) or not dependent.isdisjoint(node.all_input_nodes):
            dependent.add(node)
    return dependent


# Both parts at once


def _find_both(growth: _Growth, nodes: list[fx.Node]) -> Region | None:
    """Returns the region of forward and backward; None where the cotangent is no scalar, or
    backward is not linear in it."""
    dependent = find_dependent(nodes)
    order = {node: place for place, node in enumerate(nodes)}
    inside = growth.inside
    backward = inside & dependent
    if not backward:
        return None
    open_nodes = {
        each for node in backward for each in node.all_input_nodes if each in dependent
    } - inside
    while len(open_nodes) > 1 or not all(map(_is_scalar, open_nodes)):
        node = max(open_nodes, key=order.__getitem__)
        if node.op != "call_function":
            return None
        try:
            growth.add(node)
        except NotSeparable:
            return None
        open_nodes |= dependent.intersection(node.all_input_nodes)
        open_nodes -= inside
    if not open_nodes:
        return None
    (cotangent,) = open_nodes
    growth.axis.set(cotangent, Role.WHOLE)
    try:
        growth.close(nodes, inside, cotangent)
        scaled = _find_scaled([node for node in nodes if node in inside], cotangent)
    except NotSeparable:
        return None
    read = {each for node in inside for each in node.all_input_nodes} - inside
    if inside & dependent - scaled or read & dependent - {cotangent}:
        return None
    # Losses are multiplied by large numbers so that gradients in this type do not vanish.
    values = [value for node in scaled for value in get_tensors(node)]
    if any(value.dtype is torch.float16 for value in values):
        return None
    region = _make(growth, nodes, inside)
    region.cotangent = cotangent
    region.scaled = scaled.intersection(region.results)
    return region


def _is_scalar(node: fx.Node) -> bool:
    value = node.meta.get("val")
    is_float = isinstance(value, torch.Tensor) and value.is_floating_point()
    return is_float and not value.shape


# Operators that are linear in one operand, besides views.
_LINEAR = {
    aten._to_copy,
    aten.expand,
    aten.gather,
    aten.mean,
    aten.slice,
    aten.sum,
}
# Operators that are linear in the first operand, a gradient.
_FIRST = {
    *GRADIENTS,
    aten._log_softmax_backward_data,
    aten._softmax_backward_data,
    aten.native_layer_norm_backward,
}


def _find_scaled(nodes: Iterable[fx.Node], cotangent: fx.Node) -> set[fx.Node]:
    """Returns those of `nodes` that are proportional to `cotangent`. Raises NotSeparable where one
    depends on it in another way."""
    scaled = {cotangent}
    for node in nodes:
        read = scaled.intersection(node.all_input_nodes)
        if read and not _is_linear(node, read):
            raise NotSeparable(f"{node.name} is not linear in {cotangent.name}")
        if read:
            scaled.add(node)
    return scaled - {cotangent}


def _is_zero(node: object) -> bool:
    if not isinstance(node, fx.Node):
        return node == 0
    packet = get_packet(node)
    if packet in (aten.full, aten.full_like):
        return node.args[1] == 0
    if packet is aten.scalar_tensor:
        return node.args[0] == 0
    return packet in (aten.zeros, aten.zeros_like)


def _is_linear(node: fx.Node, scaled: set[fx.Node]) -> bool:
    packet = get_packet(node)
    values = get_tensors(node)
    if not values or not all(each.is_floating_point() or each.is_complex() for each in values):
        return False
    if is_part(node):
        return True
    if packet is aten.cat:
        return all(each in scaled or _is_zero(each) for each in node.args[0])
    if packet is aten.where:
        condition, *values = node.args
        return condition not in scaled and all(each in scaled or _is_zero(each) for each in values)
    places = [place for place, argument in enumerate(node.args) if argument in scaled]
    if packet in (aten.mm, aten.bmm):
        return len(places) == 1
    if packet in _FIRST:
        return places == [0]
    if packet in (aten.scatter, aten.scatter_add):
        return places == [3] and _is_zero(node.args[0])
    if packet in (aten.select_scatter, aten.slice_scatter):
        return places == [1] and _is_zero(node.args[0])
    if packet is aten.constant_pad_nd:
        return len(node.args) < 3 or node.args[2] == 0
    if packet in LINEAR:
        expected = LINEAR[packet]
        if expected is None:
            numbers = [each for each in node.args if not isinstance(each, torch.dtype)]
            return all(each in scaled for each in numbers)
        return len(places) == 1 and places[0] in expected
    return find_kind(node) == "view" or packet in _LINEAR


# Each part for itself


def _find_parts(growth: _Growth, nodes: list[fx.Node]) -> list[Region]:
    """Returns the regions of forward and of backward, which repeats forward's operations."""
    dependent = find_dependent(nodes)
    forward, backward = growth.inside - dependent, growth.inside & dependent
    growth.close([node for node in nodes if node not in dependent], forward, None)
    growth.close(nodes, backward, None)
    # Sums are complete when backward runs.
    repeated = find_makers(
        [each for node in backward for each in node.all_input_nodes if each in forward],
        lambda node: node in forward and growth.axis.labels[node] is not Role.SUM,
    )
    later = backward | repeated
    regions = [_make(growth, nodes, forward, lambda node, user: {node, user} <= later)]
    if backward:
        regions.append(_make(growth, nodes, later, lambda node, _: node in repeated))
    return regions


def _make(
    growth: _Growth,
    nodes: list[fx.Node],
    inside: set[fx.Node],
    is_repeated: Callable[[fx.Node, fx.Node], bool] = lambda *_: False,
) -> Region:
    """Returns the region of `inside`. `is_repeated` tells of a node and a reader outside whether the
    reader has the value from another region."""
    axis = growth.axis
    ordered = [node for node in nodes if node in inside]
    results = [
        node
        for node in ordered
        if any(user not in inside and not is_repeated(node, user) for user in node.users)
    ]
    region = Region(axis, growth.seed, ordered, results)
    constants = find_constants(nodes)
    region.constants = {
        node
        for node in region.find_inputs()
        if node in constants
        and (get_packet(node) in CONSTANTS or not isinstance(axis.labels.get(node), Span))
    }
    for node in (*ordered, *region.find_inputs()):
        if node not in axis.labels:
            raise NotSeparable(f"{node.name} has no dimension that is known to be the axis")
    for node in (*results, *region.find_inputs()):
        if isinstance(node.meta["val"], tuple | list):
            raise NotSeparable(f"{node.name} has several values, which would be read apart")
    for node in filter(growth.is_large, results):
        raise NotSeparable(f"{node.name} is read by others, and as large as all chunks")
    # A loop of a CPU picks an element where it writes its row. On a GPU, another kernel does, later.
    kept = _find_picked(ordered) if region.device == "cuda" else set()
    region.bytes = _count_large(growth, ordered, kept)
    return region


def _find_picked(nodes: list[fx.Node]) -> set[fx.Node]:
    """Returns the products of `nodes` of which elements are picked that depend on a sum, as in the loss
    of a class by logits: nothing is written over these before."""
    # By what operations compute of products, element by element, the products; and what depends on
    # a sum.
    bases: dict[fx.Node, set[fx.Node]] = {}
    summed: set[fx.Node] = set()
    picked: set[fx.Node] = set()
    for node in nodes:
        read = set().union(*(bases.get(each, ()) for each in node.all_input_nodes))
        kind = find_kind(node)
        if get_packet(node) in PRODUCTS:
            bases[node] = {node}
        elif get_packet(node) is aten.gather:
            picked |= read if summed.intersection(node.all_input_nodes) else set()
        elif kind in ("view", "elementwise"):
            bases[node] = read
        if kind == "reduction" or summed.intersection(node.all_input_nodes):
            summed.add(node)
    return picked


def _count_large(growth: _Growth, nodes: list[fx.Node], kept: set[fx.Node]) -> int:
    """Returns the bytes of the large values that are in memory at once: those that products make,
    over which those that products read are written, or these, and those that are `kept`."""
    made: dict[fx.Node, int] = {}
    read: dict[fx.Node, int] = {}
    for node in nodes:
        if get_packet(node) not in PRODUCTS:
            continue
        if growth.is_large(node):
            made[node] = count_bytes(node)
        for value in node.all_input_nodes:
            while find_kind(value) == "view" and value in growth.inside and value.all_input_nodes:
                value = value.all_input_nodes[0]
            if growth.is_large(value):
                read[value] = count_bytes(value)
    held = sum(size for node, size in made.items() if node in kept)
    return max(sum(made.values()), sum(read.values()) + held)


def find_seeds(nodes: Iterable[fx.Node], least: int) -> Iterator[fx.Node]:
    """Yields the products of forward whose results are large for their operands, and have at least
    so many bytes, the largest first."""
    nodes = list(nodes)
    dependent = find_dependent(nodes)

    def is_seed(node: fx.Node) -> bool:
        if get_packet(node) not in PRODUCTS or node in dependent:
            return False
        size, operand = (estimate_size(each.meta["val"].numel()) for each in (node, node.args[-2]))
        return size >= AMPLIFIES * operand and count_bytes(node) >= least

    yield from sorted(filter(is_seed, nodes), key=lambda node: -count_bytes(node))
