"""Estimates of the sizes and the times of operations, on which choices alone depend."""

import contextlib
import hashlib
from collections import OrderedDict
from contextvars import ContextVar
from typing import Any, Iterator, Mapping

import torch
from torch import fx
from torch.fx.experimental.symbolic_shapes import is_nested_int

from .._releases import find_hint
from ._pytorch import (
    get_count,
    get_example,
    get_expression,
    get_packet,
    packs_saved_tensors,
    tree_leaves,
    tree_map,
)
from ._rates import find_rates


# Numbers for sizes that are known only when a step runs.
#
# A checkpoint around a compiled function repeats it, and may find another graph than forward had:
# when a second size of a batch comes, PyTorch makes a graph with dynamic sizes, which it also
# takes for the first size. Both have to save the same tensors. So a graph that is made where
# hooks pack saved tensors, as a checkpoint's do, is planned with the sizes of the graph of the
# same program before it. Programs are the same where they differ by integers alone, since any of
# these may be a size.

# The size of a dimension of which nothing is known, such as the number of nonzero elements.
_ASSUMED_SIZE = 128

# The sizes in the place of PyTorch's hints, by the names of symbols.
_sizes: ContextVar[Mapping[str, int]] = ContextVar("fad_sizes", default={})

# The shapes that inputs had in the last graph of a program, and of how many programs.
_shapes: OrderedDict[bytes, list[tuple[int | None, ...]]] = OrderedDict()
_PROGRAMS = 1000


def estimate_size(size: int | torch.SymInt) -> int:
    """Returns a number for `size`, which may be a product of sizes, or bytes: that with which
    PyTorch traced the model, where there is one. Only choices depend on it; generated code does
    not."""
    if isinstance(size, int):
        return size
    sizes = _sizes.get()
    if sizes and isinstance(size, torch.SymInt):
        expression = get_expression(size)
        symbols = expression.free_symbols
        known = {each: sizes[each.name] for each in symbols if each.name in sizes}
        if len(known) == len(symbols):
            return int(expression.xreplace(known))
    return find_hint(size, _ASSUMED_SIZE)


@contextlib.contextmanager
def assume_sizes(sizes: Mapping[str, int]) -> Iterator[None]:
    """Lets `estimate_size` take `sizes`, by the names of symbols, in the place of hints."""
    token = _sizes.set(sizes)
    try:
        yield
    finally:
        _sizes.reset(token)


def find_sizes(graph: fx.GraphModule, options: Any) -> dict[str, int]:
    """Returns the sizes to plan `graph`, Dynamo's graph of a program, with, besides PyTorch's
    hints, where it is compiled with `options`."""
    inputs = [get_example(node) for node in graph.graph.find_nodes(op="placeholder")]
    tensors = [value for value in inputs if isinstance(value, torch.Tensor)]
    key = hashlib.sha256(repr((_describe(graph.graph), options)).encode()).digest()
    sizes: dict[str, int] = {}
    if packs_saved_tensors():
        for value, shape in zip(tensors, _shapes.get(key, ())):
            for size, known in zip(value.shape, shape):
                if known is None or not isinstance(size, torch.SymInt) or is_nested_int(size):
                    continue
                expression = get_expression(size)
                if expression.is_symbol:
                    sizes[expression.name] = known
    with assume_sizes(sizes):
        _shapes[key] = [tuple(map(_find_number, value.shape)) for value in tensors]
    _shapes.move_to_end(key)
    if len(_shapes) > _PROGRAMS:
        _shapes.popitem(last=False)
    return sizes


def forget_sizes() -> None:
    """Forgets the sizes of all programs, when `torch._dynamo.reset` forgets their graphs."""
    _shapes.clear()


def _describe(graph: fx.Graph) -> list[Any]:
    """Returns the parts of a program that graphs with static sizes and with dynamic ones share: its
    operations on tensors with their operands and constants, but for integers, which may be sizes,
    and the types of its inputs."""
    numbers: dict[fx.Node, int] = {}
    described: list[Any] = []

    def read(argument: Any) -> Any:
        if isinstance(argument, fx.Node):
            # A size of a graph with dynamic ones is an integer of one with static ones.
            return numbers.get(argument, "int" if is_size(argument) else argument.name)
        if isinstance(argument, slice):
            return tuple(map(read, (argument.start, argument.stop, argument.step)))
        return "int" if type(argument) is int else repr(argument)

    def is_size(node: fx.Node) -> bool:
        return isinstance(get_example(node), int | torch.SymInt)

    for node in graph.nodes:
        value = get_example(node)
        if node.op == "placeholder" and isinstance(value, torch.Tensor):
            shape = tuple(value.shape) if isinstance(value, torch.nn.Parameter) else value.dim()
            described.append((value.dtype, shape))
        elif node.op.startswith("call") and _has_tensors(value):
            leaves = map(read, tree_leaves((node.args, sorted(node.kwargs.items()))))
            described.append((str(node.target), *leaves))
        elif node.op == "get_attr":
            # The body of an operator such as `autograd.Function`'s, or a constant.
            body = getattr(graph.owning_module, str(node.target))
            is_graph = isinstance(body, fx.GraphModule)
            described.append(_describe(body.graph) if is_graph else str(node.target))
        else:
            continue
        numbers[node] = len(numbers)
    return described


def _find_number(size: int | torch.SymInt) -> int | None:
    """Returns a number for `size`; none for the lengths of a nested tensor's rows, which are no
    number."""
    return None if is_nested_int(size) else estimate_size(size)


def _has_tensors(value: Any) -> bool:
    leaves = tree_leaves(value)
    return any(isinstance(leaf, torch.Tensor) for leaf in leaves)


# The time of contractions, which decides which of them backward repeats first.


# The entry of the metadata of a node for the time of the operations that it stands for.
TIME = "fad_time"


def estimate_time(node: fx.Node) -> int:
    """Returns the time of the arithmetic of `node` in units of `fad.opaque`; 0 for an operation
    whose operations PyTorch does not count."""
    if TIME in node.meta:
        return node.meta[TIME]
    count = get_count(get_packet(node))
    if count is None:
        return 0
    args, kwargs, value = tree_map(
        lambda leaf: leaf.meta["val"] if isinstance(leaf, fx.Node) else leaf,
        (node.args, node.kwargs, node),
    )
    operations = estimate_size(count(*args, **kwargs, out_val=value))
    # Gradients that nothing needs are None.
    result = next(leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor))
    return round(operations * find_rates(result.device).count_units(result.dtype))
