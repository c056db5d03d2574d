"""The operations that the operator of a region becomes in a part.

A plan sees a region as one operation, `fad::region`. In a part, it becomes a loop that is unrolled:
for each chunk, a call of one subgraph, which Inductor compiles once, and sums of the chunks' terms.
Each call reads a result of the call before it, so that no compiler computes two chunks at once. A
matrix product that is summed over the chunks adds to the sum in place."""

import math
import operator

import torch
from torch import fx

from .._build import Builder, Values
from .._graph import SCRATCH, copy_graph
from .._pytorch import functionalize, invoke_subgraph, is_representative
from .._sizes import TIME, estimate_size
from .._step_memory import CHUNKS
from .loop import LOOP, PREFIX, Loop, Rows
from .operators import ACCUMULATE
from .sizes import Size, Writer, divide, read_shape

aten = torch.ops.aten


def is_chunk(name: str | None) -> bool:
    """Tells whether a graph of this name is that of a chunk."""
    return (name or "").startswith(PREFIX)


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
        numbers = [self.represent(each) for each in self.node.args[1]]
        flat = [self.flatten(*each) for each in zip(self.node.args[0], loop.inputs)]
        sums: list[fx.Node | None] = [self.begin(number) for number in range(len(loop.results))]
        parts: list[list[fx.Node]] = [[] for _ in loop.results]
        products = [number for number, each in enumerate(sums) if each is not None]
        before = sums[products[-1]] if products else None
        start: Size = 0
        for size in loop.sizes:
            is_first = not self.is_begun
            inputs = [self.cut(node, rows, start, size) for node, rows in zip(flat, loop.inputs)]
            before = self.make_first(size, inputs, numbers) if before is None else before
            outputs = self.call(size, [*inputs, *numbers, before])
            before = outputs[0]
            for number, order in loop.orders.items():
                dims = sorted(range(len(order)), key=order.__getitem__)
                outputs[number] = self.build(aten.permute.default, outputs[number], dims)
            for number, result in enumerate(loop.results):
                place = loop.outputs[number]
                if isinstance(result, Rows):
                    parts[number].append(outputs[place])
                elif result.operands:
                    pair = [inputs[i] if i >= 0 else outputs[-1 - i] for i in result.operands]
                    sums[number] = self.accumulate(sums[number], *pair, is_first=is_first)
                elif sums[number] is None:
                    sums[number] = outputs[place]
                else:
                    sums[number] = self.build(aten.add.Tensor, sums[number], outputs[place])
            # Calls of one graph have operands of the same types.
            before = sums[products[-1]] if products else before
            start += size
        results = [
            self.join(parts[number], result) if isinstance(result, Rows) else sums[number]
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

    def represent(self, size: fx.Node) -> fx.Node:
        """Returns a node with the value of `size`, whose symbol stands for all that are equal to it. The
        graph of a chunk knows an operand by its own, and the shapes of tensors have that one."""
        if is_representative(size.meta["val"]):
            return size
        with self.part.graph.inserting_after(self.build.last):
            node = self.part.graph.call_function(operator.add, (size, 0))
        node.meta["val"] = size.meta["val"] + 0
        self.build.last = node
        return node

    def make_first(self, units: Size, inputs: list[fx.Node], numbers: list[fx.Node]) -> fx.Node:
        """Returns a value like the first output of a chunk, which precedes the first chunk."""
        like = self.make_values(units, [*inputs, *numbers, inputs[0]])[0]
        options = {"dtype": like.dtype, "device": like.device}
        shape = self.write(read_shape(like.shape))
        return self.build(aten.full.default, shape, 0, **options)

    def begin(self, number: int) -> fx.Node | None:
        """Returns memory for a sum of products."""
        result, value = self.loop.results[number], self.loop.values[number]
        if isinstance(result, Rows) or not result.operands:
            return None
        options = {"dtype": value.dtype, "device": value.device}
        shape = self.write(read_shape(value.shape))
        return self.build(aten.empty.memory_format, shape, **options)

    def flatten(self, node: fx.Node, rows: Rows | None) -> fx.Node:
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

    def cut(self, node: fx.Node, rows: Rows | None, start: Size, size: Size) -> fx.Node:
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

    def accumulate(self, sum: fx.Node, left: fx.Node, right: fx.Node, is_first: bool) -> fx.Node:
        """Returns `sum` after the product is added to it, or written if it `is_first`."""
        graph = self.part.graph
        with graph.inserting_after(self.build.last):
            if self.is_fused:
                named = dict(left=left, right=right, is_first=is_first)
                call = graph.call_function(*functionalize(ACCUMULATE, "sum", sum, **named))
            else:
                call = graph.call_function(ACCUMULATE, (sum, left, right, is_first))
        call.meta.update(self.build.place)
        call.meta["val"] = (None, sum.meta["val"])
        self.build.last = call
        return self.part_of(call, 1) if self.is_fused else sum

    def join(self, parts: list[fx.Node], rows: Rows) -> fx.Node:
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
