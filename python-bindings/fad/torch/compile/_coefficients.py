"""Coefficients of few elements that kernels repeat for many, for a GPU: in memory.

The derivative of a normalization of groups has two coefficients of each group, sums times a dozen
numbers. Inductor computes them in the kernels that read them, again for each element, and among the
operations of the result: one of more than 30 operations is in memory, and in f32, though one that
reads it rounds it. Where that has another order of dimensions, as for a convolution, it is a kernel
of its own. Coefficients in memory have no operations, and are as good as no bytes."""

import itertools

import torch
from torch import fx

from ._graph import find_kind, find_target
from ._pytorch import IS_WRITTEN
from ._sizes import estimate_size

# A kernel may compute a coefficient again that takes so many operations.
_MOST = 8

# The elements for each of which a coefficient is read, at least: it takes a small part of their bytes.
_REPEATS = 32


def write_coefficients(part: fx.GraphModule) -> None:
    """Has Inductor write coefficients of `part`, for a GPU, to memory that take many operations."""
    if find_target(part.graph) != "gpu":
        return
    # By the node, the operations that a kernel which reads it computes.
    inlined: dict[fx.Node, set[fx.Node]] = {}
    for node in part.graph.nodes:
        kind = find_kind(node) if node.op == "call_function" else ""
        if kind not in ("elementwise", "view"):
            continue
        own = set().union(*(inlined.get(operand, ()) for operand in node.all_input_nodes))
        if kind == "elementwise":
            own.add(node)
            if len(own) > _MOST and _find_most_read(node) >= _REPEATS * _count_elements(node):
                node.meta[IS_WRITTEN] = True
                continue
        # Chains may be long.
        inlined[node] = set(itertools.islice(own, _MOST + 1))


def _find_most_read(node: fx.Node) -> int:
    """Returns the elements of the largest result that an operation computes of each of `node`'s."""
    kinds = {user: find_kind(user) for user in node.users if user.op == "call_function"}
    # A view may repeat elements, but computes none.
    sizes = [_count_elements(user) for user, kind in kinds.items() if kind == "elementwise"]
    sizes += [_find_most_read(user) for user, kind in kinds.items() if kind == "view"]
    return max(sizes, default=0)


def _count_elements(node: fx.Node) -> int:
    value = node.meta.get("val")
    return estimate_size(value.numel()) if isinstance(value, torch.Tensor) else 0
