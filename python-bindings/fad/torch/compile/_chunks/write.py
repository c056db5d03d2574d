"""The operator of a region in a joint graph, and the operations that it becomes in a part.

A plan sees a region as one operation, `fad::region`. In a part, it becomes a loop that is unrolled:
for each chunk, a call of one subgraph, which Inductor compiles once, and sums of the chunks' terms.
Each call reads a result of the call before it, so that no compiler computes two chunks at once. A
matrix product that is summed over the chunks adds to the sum in place."""

import itertools
import math
import operator
from dataclasses import dataclass
from typing import NamedTuple

import sympy
import torch
from torch import fx

from .._build import Builder, Values
from .._graph import SCRATCH, copy_graph
from .._step_memory import CHUNKS
from .._pytorch import (
    PLACE,
    functionalize,
    get_packet,
    invoke_subgraph,
    name_arguments,
)
from .._sizes import TIME, estimate_size, estimate_time
from .axes import SHAPED, SIZED, Role, Span, get_shape
from .cost import accumulated_type, estimate_chunks
from .operators import ACCUMULATE, MANY_WEIGHTS, MULTIPLY
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
    read_shape,
    read_size,
)

aten, prims = torch.ops.aten, torch.ops.prims

# The entry of the metadata of `fad::region` that has its loop.
LOOP = "fad_loop"
# How the names of the graphs of chunks begin.
_PREFIX = "fad_region_"


class _Rows(NamedTuple):
    """A value whose dimensions from `start` to `stop` are cut."""

    shape: list[Size]
    start: int
    stop: int


class _Sum(NamedTuple):
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
    inputs: list[_Rows | None]
    symbols: list[sympy.Symbol]
    results: list[_Rows | _Sum]
    outputs: list[int | None]
    # By the number of an output, its dimensions in the order of its memory, if that is another one.
    orders: dict[int, list[int]]
    values: list[torch.Tensor]
    units: Size
    scratch: int
    time: int


# The graph of a chunk


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


def _describe(node: fx.Node, region: Region) -> _Rows | None:
    label = region.axis.labels[node]
    return _Rows(get_shape(node), *label) if isinstance(label, Span) else None


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

    results: list[_Rows | _Sum] = []
    places: list[int | None] = []
    types = []
    for node in region.results:
        rows = _describe(node, region)
        dtype = node.meta["val"].dtype
        is_product = rows is None and node.target is aten.mm.default
        operands = tuple(map(find_place, node.args)) if is_product else None
        results.append(rows or _Sum(operands))
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
        f"{_PREFIX}{next(_numbers)}",
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


# Parts


def is_chunk(name: str | None) -> bool:
    """Tells whether a graph of this name is that of a chunk."""
    return (name or "").startswith(_PREFIX)


def _copy(body: fx.GraphModule) -> fx.GraphModule:
    """Returns a copy of the graph of a chunk, which Inductor may change."""
    return fx.GraphModule(torch.nn.Module(), copy_graph(body.graph))


def copy_chunks(part: fx.GraphModule) -> None:
    """Lets `part` have graphs of chunks of its own."""
    for node in part.graph.find_nodes(op="get_attr"):
        if is_chunk(str(node.target)):
            setattr(part, node.target, _copy(getattr(part, node.target)))


def has_chunks(part: fx.GraphModule) -> bool:
    """Tells whether `part` runs in chunks."""
    return any(is_chunk(str(node.target)) for node in part.graph.find_nodes(op="get_attr"))


def expand_regions(part: fx.GraphModule, is_fused: bool) -> None:
    """Replaces each `fad::region` of `part`, which may be for Inductor, by its chunks."""
    nodes = [node for node in part.graph.nodes if LOOP in node.meta]
    for node in nodes:
        _Expansion(part, node, is_fused).run()
    if nodes:
        part.graph.lint()
        part.recompile()


class _Expansion:
    """The chunks of the region `node` in `part`."""

    def __init__(self, part: fx.GraphModule, node: fx.Node, is_fused: bool) -> None:
        self.part, self.node, self.is_fused = part, node, is_fused
        self.loop: Loop = node.meta[LOOP]
        self.build = Builder(part.graph, Values(part.graph), node)
        self.writer = Writer(part.graph, dict(zip(self.loop.symbols, node.args[1])), node)
        self.names: dict[Size, str] = {}
        # By the units of a chunk, its results without data.
        self.values: dict[Size, tuple[torch.Tensor, ...]] = {}
        # Whether the first chunk is there.
        self.is_begun = False
        for number, (units, body) in enumerate(self.loop.bodies.items()):
            self.names[units] = f"{self.loop.name}_{number}"
            part.add_submodule(self.names[units], _copy(body))

    def run(self) -> None:
        loop = self.loop
        flat = [self.flatten(*each) for each in zip(self.node.args[0], loop.inputs)]
        sums: list[fx.Node | None] = [self.begin(number) for number in range(len(loop.results))]
        parts: list[list[fx.Node]] = [[] for _ in loop.results]
        products = [number for number, each in enumerate(sums) if each is not None]
        before = sums[products[-1]] if products else None
        start: Size = 0
        for size in loop.sizes:
            inputs = [self.cut(node, rows, start, size) for node, rows in zip(flat, loop.inputs)]
            before = self.make_first(size, inputs) if before is None else before
            outputs = self.call(size, [*inputs, *self.node.args[1], before])
            before = outputs[0]
            for number, order in loop.orders.items():
                dims = sorted(range(len(order)), key=order.__getitem__)
                outputs[number] = self.build(aten.permute.default, outputs[number], dims)
            for number, result in enumerate(loop.results):
                place = loop.outputs[number]
                if isinstance(result, _Rows):
                    parts[number].append(outputs[place])
                elif result.operands:
                    pair = [inputs[i] if i >= 0 else outputs[-1 - i] for i in result.operands]
                    sums[number] = self.accumulate(sums[number], *pair)
                elif sums[number] is None:
                    sums[number] = outputs[place]
                else:
                    sums[number] = self.build(aten.add.Tensor, sums[number], outputs[place])
            # Calls of one graph have operands of the same types.
            before = sums[products[-1]] if products else before
            start += size
        results = [
            self.join(parts[number], result) if isinstance(result, _Rows) else sums[number]
            for number, result in enumerate(loop.results)
        ]
        for user in list(self.node.users):
            result = results[user.args[1]]
            user.replace_all_uses_with(result)
            self.part.graph.erase_node(user)
            # Backward reads what forward saves by its name.
            result.name = user.name
            result.meta.update({key: user.meta[key] for key in user.meta if key.startswith("fad_")})
        self.part.graph.erase_node(self.node)

    def write(self, sizes: list[Size]) -> list[int | fx.Node]:
        """Returns `sizes` as operands of the next operation."""
        self.writer.last = self.build.last
        written = [self.writer.write(size) for size in sizes]
        self.build.last = self.writer.last
        return written

    def make_first(self, units: Size, inputs: list[fx.Node]) -> fx.Node:
        """Returns a value like the first output of a chunk, which precedes the first chunk."""
        like = self.make_values(units, [*inputs, *self.node.args[1], inputs[0]])[0]
        options = {"dtype": like.dtype, "device": like.device}
        shape = self.write(read_shape(like.shape))
        return self.build(aten.full.default, shape, 0, **options)

    def begin(self, number: int) -> fx.Node | None:
        """Returns zeros, to which products are added."""
        result, value = self.loop.results[number], self.loop.values[number]
        if isinstance(result, _Rows) or not result.operands:
            return None
        options = {"dtype": value.dtype, "device": value.device}
        return self.build(aten.full.default, self.write(read_shape(value.shape)), 0.0, **options)

    def flatten(self, node: fx.Node, rows: _Rows | None) -> fx.Node:
        """Returns `node` with the axis in one dimension."""
        if rows is None or rows.stop == rows.start + 1:
            return node
        shape = rows.shape
        shape = [
            *shape[: rows.start],
            math.prod(shape[rows.start : rows.stop]),
            *shape[rows.stop :],
        ]
        return self.build(aten.reshape.default, node, self.write(shape))

    def cut(self, node: fx.Node, rows: _Rows | None, start: Size, size: Size) -> fx.Node:
        """Returns the rows of `node`, which is flat, for the units from `start`."""
        if rows is None:
            return node
        each = divide(math.prod(rows.shape[rows.start : rows.stop]), self.loop.units)
        ends = self.write([start * each, (start + size) * each])
        cut = self.build(aten.slice.Tensor, node, rows.start, *ends)
        ones = [1] * (rows.stop - rows.start - 1)
        if not ones:
            return cut
        shape = read_shape(cut.meta["val"].shape)
        at = rows.start + 1
        shape = self.write([*shape[:at], *ones, *shape[at:]])
        return self.build(aten.reshape.default, cut, shape)

    def call(self, units: Size, operands: list[fx.Node]) -> list[fx.Node]:
        """Returns the outputs of the chunk's graph for `operands`."""
        graph, name = self.part.graph, self.names[units]
        with graph.inserting_before(self.build.last.next):
            if self.is_fused:
                # Inductor finds the graph by the name where there is no value.
                args = (graph.get_attr(name), name, *operands)
                call = graph.call_function(invoke_subgraph, args)
            else:
                call = graph.call_module(name, tuple(operands))
        call.meta.update(self.build.place)
        call.meta["val"] = self.make_values(units, operands)
        results = sum(estimate_size(each.numel()) * each.itemsize for each in call.meta["val"])
        call.meta[SCRATCH] = max(self.loop.scratch - results, 0)
        if not self.is_begun:
            call.meta[CHUNKS] = (self.loop.operation, len(self.loop.sizes))
            call.meta[TIME] = self.loop.time
        self.is_begun = True
        self.build.last = call
        return [self.part_of(call, number) for number in range(len(call.meta["val"]))]

    def make_values(self, units: Size, operands: list[fx.Node]) -> tuple[torch.Tensor, ...]:
        """Returns the results of the chunk's graph for `operands`, without data, each in memory of its
        own."""
        with self.build.values.mode:
            if units not in self.values:
                values = [operand.meta["val"] for operand in operands]
                self.values[units] = fx.Interpreter(self.loop.bodies[units]).run(*values)
            return tuple(map(torch.empty_like, self.values[units]))

    def part_of(self, node: fx.Node, number: int) -> fx.Node:
        with self.part.graph.inserting_after(self.build.last):
            part = self.part.graph.call_function(operator.getitem, (node, number))
        part.meta.update(self.build.place)
        part.meta["val"] = node.meta["val"][number]
        self.build.last = part
        return part

    def accumulate(self, sum: fx.Node, left: fx.Node, right: fx.Node) -> fx.Node:
        """Returns `sum` after the product is added to it."""
        graph = self.part.graph
        with graph.inserting_after(self.build.last):
            if self.is_fused:
                call = graph.call_function(
                    *functionalize(ACCUMULATE, "sum", sum, left=left, right=right)
                )
            else:
                call = graph.call_function(ACCUMULATE, (sum, left, right))
        call.meta.update(self.build.place)
        call.meta["val"] = (None, sum.meta["val"])
        self.build.last = call
        return self.part_of(call, 1) if self.is_fused else sum

    def join(self, parts: list[fx.Node], rows: _Rows) -> fx.Node:
        """Returns the result of which `parts` are the rows."""
        node = parts[0] if len(parts) == 1 else self.concatenate(parts, rows.start)
        return (
            self.build(aten.reshape.default, node, self.write(rows.shape))
            if rows.stop > rows.start + 1
            else node
        )

    def concatenate(self, parts: list[fx.Node], dim: int) -> fx.Node:
        graph = self.part.graph
        with graph.inserting_after(self.build.last):
            node = graph.call_function(aten.cat.default, (parts, dim))
        node.meta.update(self.build.place)
        with self.build.values.mode:
            node.meta["val"] = torch.cat([part.meta["val"] for part in parts], dim)
        self.build.last = node
        return node
