"""Sizes of a joint graph that are known when a step runs, as expressions of sympy.

A proof about expressions holds for all sizes: those that are equal as expressions are equal, and
all others count as different. No guard is asked for, but that there are rows for all chunks."""

import contextlib
from contextvars import ContextVar
from typing import Collection, Iterable, Iterator, Mapping, Sequence

import sympy
import torch
from torch import fx
from torch.fx.experimental.symbolic_shapes import (
    has_free_unbacked_symbols,
    statically_known_true,
)

from .._graph import find_kind, is_part
from .._pytorch import (
    get_expression,
    identify_storage,
    interpret_expression,
    is_representative,
    tree_leaves,
)
from .._sizes import estimate_size

# An integer, or an expression.
Size = int | sympy.Expr


class NotSeparable(Exception):
    """An operation that cannot run chunk by chunk. The message is the reason."""


# The rows of tiles of products by the type of the device, with which all but the last chunk are
# whole: part of a tile takes the time of one.
_TILES = {"cuda": 128}


# One of several expressions that a guard of the graph makes equal, by the others.
_equal: ContextVar[Mapping[sympy.Expr, sympy.Expr]] = ContextVar("fad_equal_sizes", default={})


@contextlib.contextmanager
def know_equal(graph: fx.Graph) -> Iterator[None]:
    """Lets sizes of `graph` that its guards make equal have one expression, such as the rows of
    logits, and of labels which are an input of their own."""
    found: dict[int, list[torch.SymInt]] = {}
    equal: dict[sympy.Expr, sympy.Expr] = {}
    for size in _list_sizes(graph):
        others = found.setdefault(estimate_size(size), [])
        other = next((each for each in others if statically_known_true(size == each)), None)
        if other is None:
            others.append(size)
        else:
            equal[get_expression(size)] = get_expression(other)
    token = _equal.set(equal)
    try:
        yield
    finally:
        _equal.reset(token)


def _list_sizes(graph: fx.Graph) -> list[torch.SymInt]:
    """Returns the sizes of values of `graph` that are no integers, with one of each expression."""
    sizes: dict[sympy.Expr, torch.SymInt] = {}
    for node in graph.nodes:
        for value in tree_leaves(node.meta.get("val")):
            if isinstance(value, torch.Tensor):
                for size in value.shape:
                    if isinstance(size, torch.SymInt) and not has_free_unbacked_symbols(size):
                        sizes.setdefault(get_expression(size), size)
    return list(sizes.values())


def read_size(size: int | torch.SymInt) -> Size:
    """Returns `size` as an integer where it is one, else as an expression."""
    if isinstance(size, int):
        return size
    expression = get_expression(size)
    expression = _equal.get().get(expression, expression)
    return int(expression) if expression.is_number else expression


def read_shape(sizes: Iterable[int | torch.SymInt]) -> list[Size]:
    return [read_size(size) for size in sizes]


def divide(one: Size, other: Size) -> Size | None:
    """Returns the quotient, or None where it is no integer, or may be none."""
    if isinstance(one, int) and isinstance(other, int):
        return None if one % other else one // other
    quotient = sympy.cancel(one / sympy.sympify(other))
    if not quotient.is_integer:
        return None
    return int(quotient) if quotient.is_number else quotient


def is_number(node: fx.Node) -> bool:
    """Tells whether `node` is a number that is made of sizes, and no tensor."""
    return isinstance(node.meta.get("val"), torch.SymInt | torch.SymFloat | torch.SymBool)


def list_tensors(node: fx.Node) -> list[fx.Node]:
    """Returns the operands of `node` that are no numbers."""
    return [each for each in node.all_input_nodes if not is_number(each)]


def find_largest(units: int | torch.SymInt, chunks: int, device: str) -> int | torch.SymInt:
    """Returns the units of the largest one of so many chunks on a `device` of this type."""
    if not isinstance(units, int):
        return units - (chunks - 1) * (units // chunks)
    least, tile = -(-units // chunks), _TILES.get(device, 1)
    tiled = -(-least // tile) * tile
    return tiled if -(-units // tiled) == chunks else least


def cut_units(units: int | torch.SymInt, chunks: int, device: str) -> list[Size]:
    """Returns the sizes of chunks of so many units in all. Where these are a symbol, all but the last
    have the same expression, and so one graph, and the program asks for two units a chunk: what a
    compiler knows of sizes holds for those of 0 and 1 alone. Raises NotSeparable for fewer."""
    largest = find_largest(units, chunks, device)
    if isinstance(units, int):
        return [min(largest, units - start) for start in range(0, units, largest)]
    if not units >= 2 * chunks:
        raise NotSeparable(f"{units} rows are fewer than two for each of {chunks} chunks")
    return [*[read_size(units // chunks)] * (chunks - 1), read_size(largest)]


def find_symbols(nodes: Iterable[fx.Node]) -> list[sympy.Symbol]:
    """Returns the symbols in sizes of `nodes` and in the numbers that they read, by their names.
    Raises NotSeparable where one is known only when a step runs."""
    found: set[sympy.Symbol] = set()
    for node in nodes:
        values = tree_leaves([each.meta.get("val") for each in (node, *node.all_input_nodes)])
        for value in values:
            sizes = [value]
            if isinstance(value, torch.Tensor):
                sizes = [*value.shape, *value.stride(), value.storage_offset()]
            for size in sizes:
                if isinstance(size, torch.SymInt | torch.SymFloat | torch.SymBool):
                    if has_free_unbacked_symbols(size):
                        raise NotSeparable(f"{node.name} has sizes that depend on data")
                    found |= get_expression(size).free_symbols
                    found |= sympy.sympify(read_size(size)).free_symbols
    return sorted(found, key=str)


def find_inputs(graph: fx.Graph) -> dict[sympy.Symbol, fx.Node]:
    """Returns the inputs of `graph` that are sizes, by their symbols."""
    found: dict[sympy.Symbol, fx.Node] = {}
    for node in filter(is_number, graph.find_nodes(op="placeholder")):
        symbol = get_expression(node.meta["val"])
        # Of sizes that turn out to be equal, Inductor knows the one whose symbol stands for all.
        if symbol.is_symbol and (symbol not in found or is_representative(node.meta["val"])):
            found[symbol] = node
    return found


def evaluate(size: Size, graph: fx.Graph) -> int | torch.SymInt:
    """Returns the number that `size` stands for, of the inputs of `graph`."""
    if isinstance(size, int) or size.is_Integer:
        return int(size)
    inputs = find_inputs(graph)
    check_known(size.free_symbols, inputs)
    return interpret_expression({symbol: node.meta["val"] for symbol, node in inputs.items()}, size)


def check_known(symbols: Iterable[sympy.Symbol], inputs: Collection[sympy.Symbol]) -> None:
    """Raises NotSeparable where one of `symbols` is not among those of `inputs`."""
    for symbol in sorted({*symbols} - {*inputs}, key=str):
        raise NotSeparable(f"the size {symbol} is no input of the graph")


def settle_sizes(graph: fx.Graph) -> None:
    """Lets numbers of `graph` that are sizes of computed values be those of its inputs, so that
    these values are not needed for them."""
    inputs = find_inputs(graph)
    for node in graph.nodes:
        if node.op != "call_function" or not isinstance(node.meta.get("val"), torch.SymInt):
            continue
        size = get_expression(node.meta["val"])
        is_known = size.free_symbols and inputs.keys() >= size.free_symbols
        if is_known and any(each.op == "call_function" for each in list_tensors(node)):
            node.replace_all_uses_with(Writer(graph, inputs, node.prev).write(size))
            graph.erase_node(node)


class Writer:
    """Writes sizes into `graph` behind `last`, of `symbols`."""

    def __init__(
        self, graph: fx.Graph, symbols: dict[sympy.Symbol, fx.Node], last: fx.Node
    ) -> None:
        self.graph, self.symbols, self.last = graph, symbols, last
        self._written: dict[sympy.Expr, fx.Node] = {}

    def write(self, size: Size) -> int | fx.Node:
        """Returns `size`, or a node for it. `last` is then the last of the new nodes."""
        if isinstance(size, int) or size.is_Integer:
            return int(size)
        if size not in self._written:
            check_known(size.free_symbols, self.symbols)
            self._written[size] = self._add(size)
        return self._written[size]

    def _add(self, size: sympy.Expr) -> fx.Node:
        tracer = fx.proxy.GraphAppendingTracer(self.graph)
        symbols = {symbol: fx.Proxy(node, tracer) for symbol, node in self.symbols.items()}
        end = self.last.next
        with self.graph.inserting_before(end):
            written = interpret_expression(symbols, size).node
        node = self.last
        while node.next is not end:
            node = node.next
            values = fx.map_arg(node.args, lambda operand: operand.meta["val"])
            node.meta["val"] = node.target(*values)
        self.last = node
        return written


def _takes_part(node: fx.Node) -> bool:
    """Tells whether `node` is a view of some of the elements that an operation computes."""
    elements = estimate_size(node.meta["val"].numel())
    while find_kind(viewed := node.args[0] if is_part(node) else node) == "view":
        node = viewed.args[0]
    return estimate_size(node.meta["val"].numel()) > elements


def find_orders(outputs: Sequence[fx.Node]) -> list[list[int] | None]:
    """Returns, of each output of a region, the dimensions as they lie in memory, the slowest first; None
    where it is not all of its memory, or another output is the same memory, so that a chunk copies it.
    A chunk has its results in that order: Inductor refuses calls of one graph whose operands have other
    strides, and a result orders the next chunk."""
    storages = [identify_storage(node.meta["val"]) for node in outputs]
    return [
        None if storage in storages[:number] else _find_order(node)
        for number, (node, storage) in enumerate(zip(outputs, storages, strict=True))
    ]


def _find_order(node: fx.Node) -> list[int] | None:
    value = node.meta["val"]
    order = sorted(range(value.dim()), key=lambda dim: -estimate_size(value.stride(dim)))
    order = sorted(order) if value.is_contiguous() else order
    is_whole = not _takes_part(node) and value.permute(order).is_contiguous()
    return order if is_whole else None
