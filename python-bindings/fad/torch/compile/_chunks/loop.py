"""The loop that a region becomes: how many rows each chunk has, and the graph of one chunk, which
Inductor compiles once."""

import itertools
import math
from dataclasses import dataclass
from typing import NamedTuple

import sympy
import torch
from torch import fx

from .._build import Values
from .._pytorch import PLACE, get_packet, name_arguments
from .._sizes import estimate_size, estimate_time
from .axes import SHAPED, SIZED, Role, Span, get_shape
from .cost import accumulated_type, estimate_chunks
from .operators import MANY_WEIGHTS, MULTIPLY
from .regions import Region, count_elements
from .sizes import (
    NotSeparable,
    Size,
    Writer,
    check_known,
    cut_units,
    divide,
    evaluate,
    find_inputs,
    find_orders,
    find_symbols,
    is_number,
    read_size,
)

aten, prims = torch.ops.aten, torch.ops.prims

# The entry of the metadata of `fad::region` that has its loop.
LOOP = "fad_loop"
# How the names of the graphs of chunks begin.
PREFIX = "fad_region_"


class Rows(NamedTuple):
    """A value whose dimensions from `start` to `stop` are cut."""

    shape: list[Size]
    start: int
    stop: int


class Sum(NamedTuple):
    """A sum of the chunks' terms, in its type. With `operands`, chunks make those of a product:
    each is a number of an input, or -1 minus that of an output."""

    operands: tuple[int, int] | None


@dataclass
class Loop:
    """The chunks of a region: how many units each has, and the graph of chunks of so many units.
    `inputs` has rows for each input that is cut, and `symbols` are those in sizes. `values` are the
    results, without data, `scratch` are the bytes that a chunk takes besides them, and `time` is
    that of all chunks."""

    name: str
    # The product that the region begins with.
    operation: str
    sizes: list[Size]
    bodies: dict[Size, fx.GraphModule]
    inputs: list[Rows | None]
    symbols: list[sympy.Symbol]
    results: list[Rows | Sum]
    outputs: list[int | None]
    # By the number of an output, its dimensions in the order of its memory, if that is another one.
    orders: dict[int, list[int]]
    values: list[torch.Tensor]
    units: Size
    scratch: int
    time: int


class _Body:
    """Writes the operations of a region for chunks of so many `units`, by the `inputs` of its graph
    that are sizes."""

    def __init__(
        self,
        region: Region,
        units: Size,
        symbols: list[sympy.Symbol],
        inputs: dict[sympy.Symbol, fx.Node],
    ) -> None:
        self.region, self.units = region, units
        self.graph = fx.Graph()
        self.nodes = {node: self.graph.placeholder(node.name) for node in region.find_inputs()}
        sizes = {symbol: self.graph.placeholder(str(symbol)) for symbol in symbols}
        for symbol, node in sizes.items():
            node.meta["val"] = inputs[symbol].meta["val"]
        # An operand that orders chunks.
        before = self.graph.placeholder("before")
        self.writer = Writer(self.graph, sizes, before)
        for node in region.nodes:
            self.copy(node)

    def write(self, sizes: list[Size]) -> list[int | fx.Node]:
        """Returns `sizes` as operands of the next operation."""
        self.writer.last = next(iter(reversed(self.graph.nodes)))
        return [self.writer.write(size) for size in sizes]

    def copy(self, node: fx.Node) -> fx.Node:
        if node in self.nodes:
            return self.nodes[node]
        if is_number(node) and isinstance(node.meta["val"], torch.SymInt):
            return self.write([read_size(node.meta["val"])])[0]
        if is_number(node) and node.op != "call_function":
            raise NotSeparable(f"{node.name} is a number that the graph is given")
        region = self.region
        if node is region.cotangent:
            value = node.meta["val"]
            made = self.graph.call_function(
                aten.full.default, ([], 1.0), {"dtype": value.dtype, "device": value.device}
            )
        elif get_packet(node) is aten.mean and region.axis.labels[node] is Role.SUM:
            made = self.average(node)
        elif self.is_linear(node):
            made = self.graph.call_function(MULTIPLY, tuple(map(self.copy, node.args)))
        else:
            packet = get_packet(node)
            shape: list[int | fx.Node] = []
            if packet in SIZED or packet in SHAPED:
                shape = self.write(region.axis.chunk_shape(node, self.units))
            made = self.graph.node_copy(node, self.copy)
            made.meta = {key: node.meta[key] for key in PLACE if key in node.meta}
            if packet in SIZED:
                place = SIZED[packet]
                made.args = (*made.args[:place], shape, *made.args[place + 1 :])
            elif packet in SHAPED:
                # All views by shapes are one operator; a chunk may have other strides.
                is_view = packet is not aten.expand
                made.target = aten.reshape.default if is_view else made.target
                made.args = (made.args[0], shape)
                made.kwargs = {}
        self.nodes[node] = made
        return made

    def is_linear(self, node: fx.Node) -> bool:
        """Tells whether `node` is a product of a chunk's rows and many weights, on a CPU."""
        if node.target is not aten.mm.default or node.meta["val"].device.type != "cpu":
            return False
        rows, weights = node.args
        labels, value = self.region.axis.labels, weights.meta["val"]
        return (
            labels.get(rows) == Span(0, 1)
            and labels.get(weights) is Role.WHOLE
            and value.dtype == torch.float32
            and count_elements(weights) >= MANY_WEIGHTS
            and not find_symbols([weights])
            and value.t().is_contiguous()
        )

    def average(self, node: fx.Node) -> fx.Node:
        """Returns a chunk's term of the mean `node`, of all elements that are averaged."""
        arguments = name_arguments(node)
        elements = (math.prod(get_shape(each)) for each in (node.args[0], node))
        dims = arguments.get("dim") or list(range(len(get_shape(node.args[0]))))
        # A sum of 16-bit floats may exceed the type of their mean.
        options = {"dtype": accumulated_type(node.meta["val"].dtype)}
        args = (self.copy(node.args[0]), dims, arguments.get("keepdim", False))
        total = self.graph.call_function(aten.sum.dim_IntList, args, options)
        (count,) = self.write([divide(*elements)])
        return self.graph.call_function(aten.div.Tensor, (total, count))

    def finish(self, outputs: list[fx.Node], orders: list[list[int] | None]) -> fx.GraphModule:
        """Returns the graph of a chunk, whose results lie in memory in the `orders` of dimensions, or as
        copies."""
        results = []
        for node, order in zip(outputs, orders, strict=True):
            made = self.nodes[node]
            dtype = node.meta["val"].dtype
            if self.region.axis.labels[node] is Role.SUM and accumulated_type(dtype) != dtype:
                args = (made, accumulated_type(dtype))
                made = self.graph.call_function(prims.convert_element_type.default, args)
            if order is None:
                # Inductor adds the offset of a result in its memory twice. It may also write over one
                # of two results that are the same memory, or have other strides than the graph.
                options = {"memory_format": torch.contiguous_format}
                made = self.graph.call_function(aten.clone.default, (made,), options)
            elif order != sorted(order):
                made = self.graph.call_function(aten.permute.default, (made, order))
            results.append(made)
        self.graph.output(tuple(results))
        return fx.GraphModule(torch.nn.Module(), self.graph)


def _describe(node: fx.Node, region: Region) -> Rows | None:
    label = region.axis.labels[node]
    return Rows(get_shape(node), *label) if isinstance(label, Span) else None


_numbers = itertools.count()


def make_loop(region: Region, chunks: int, values: Values, is_fused: bool) -> Loop:
    axis, inputs = region.axis, region.find_inputs()
    sizes = cut_units(evaluate(axis.units, region.seed.graph), chunks, region.device)
    outputs: list[fx.Node] = []

    def find_place(node: fx.Node) -> int:
        if node in inputs:
            return inputs.index(node)
        if node not in outputs:
            outputs.append(node)
        return -1 - outputs.index(node)

    results: list[Rows | Sum] = []
    places: list[int | None] = []
    types = []
    for node in region.results:
        rows = _describe(node, region)
        dtype = node.meta["val"].dtype
        is_product = rows is None and node.target is aten.mm.default
        operands = tuple(map(find_place, node.args)) if is_product else None
        results.append(rows or Sum(operands))
        places.append(None if operands else find_place(node))
        types.append(dtype if rows else accumulated_type(dtype))
    known = find_inputs(region.seed.graph)
    symbols = find_symbols([*region.nodes, *inputs])
    check_known(symbols, known)
    orders = find_orders(outputs)
    bodies = {
        size: _Body(region, size, symbols, known).finish(outputs, orders)
        for size in dict.fromkeys(sizes)
    }
    for body in bodies.values():
        body.graph.eliminate_dead_code()
        body.recompile()
    with values.mode:
        fakes = [
            torch.empty(node.meta["val"].shape, dtype=dtype, device=node.meta["val"].device)
            for node, dtype in zip(region.results, types)
        ]
    graph = region.seed.graph
    largest, units = (
        max(estimate_size(evaluate(size, graph)) for size in each)
        for each in ({*sizes}, [axis.units])
    )
    scratch = region.count_inner(is_fused) * largest // units
    return Loop(
        f"{PREFIX}{next(_numbers)}",
        str(region.seed.target),
        sizes,
        bodies,
        [_describe(node, region) for node in inputs],
        symbols,
        results,
        [place if place is None else -1 - place for place in places],
        {number: order for number, order in enumerate(orders) if order and order != sorted(order)},
        fakes,
        axis.units,
        scratch,
        sum(map(estimate_time, region.nodes))
        + estimate_chunks([region], len(sizes))
        - estimate_chunks([region], 1),
    )
