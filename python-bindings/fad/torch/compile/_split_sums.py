"""Sums over the rows of a batch, in the kernels of a GPU that compute the rows.

The gradient of a bias is a sum over all rows of a cotangent. Inductor divides such a sum into parts by
the size of the device, and a kernel that computes the cotangent has other parts: the sum is a kernel of
its own, which reads the cotangent again. So backward sums the rows of each element of the batch, and then
these sums. The kernel that computes the rows of an element sums them, too."""

import math

import torch
from torch import fx
from torch.fx.experimental.symbolic_shapes import statically_known_true

from ._build import Builder, Values
from ._chunks.cost import accumulated_type
from ._graph import SPLIT, find_kind, find_makers, find_target, is_part
from ._sizes import estimate_size

aten, prims = torch.ops.aten, torch.ops.prims

_RESHAPES = (aten.reshape.default, aten.view.default, aten._unsafe_view.default)


def split_sums(part: fx.GraphModule) -> None:
    """Divides sums over the rows that kernels without reductions of `part`, for a GPU, compute. The sums
    of elements of the batch are in f32, or in the type of wider rows."""
    if find_target(part.graph) != "gpu":
        return
    values = Values(part.graph)
    for node in list(part.graph.find_nodes(op="call_function", target=aten.sum.dim_IntList)):
        batch = _find_batch(node)
        if batch is None:
            continue
        build = Builder(part.graph, values, node)
        dtype = node.meta["val"].dtype
        wide = accumulated_type(dtype)
        rows = [*range(1, batch.meta["val"].dim() - 1)]
        sums = build(aten.sum.dim_IntList, batch, rows, dtype=wide)
        total = build(aten.sum.dim_IntList, sums, *node.args[1:])
        if dtype != wide:
            total = build(prims.convert_element_type.default, total, dtype)
        node.replace_all_uses_with(total)
        unused = node
        while not unused.users:
            operand = unused.args[0]
            part.graph.erase_node(unused)
            unused = operand
    part.recompile()


def _find_batch(node: fx.Node) -> fx.Node | None:
    """Returns the elementwise result, of a batch, whose rows the sum `node` adds: all of them."""
    batch = node.args[0]
    value = batch.meta["val"]
    # Dimensions may be None, for all of them.
    if value.dim() != 2 or node.args[1:2] != ([0],) or node.kwargs or not value.is_floating_point():
        return None
    while batch.target in _RESHAPES:
        batch = batch.args[0]
    shape = batch.meta["val"].shape
    is_batch = len(shape) > 2 and statically_known_true(shape[-1] == value.shape[-1])
    if not is_batch or find_kind(batch) != "elementwise":
        return None
    rows, sums = estimate_size(math.prod(shape[1:-1])), estimate_size(shape[0] * shape[-1])
    is_large = rows >= SPLIT["split_rows"] and sums >= SPLIT["split_sums"]
    return batch if is_large and _is_free(batch) else None


def _is_free(node: fx.Node) -> bool:
    """Tells whether the kernel that computes `node` has no reduction: other sums do not go with it."""
    inner = find_makers([node], lambda each: find_kind(each) in ("elementwise", "view"))
    operands = [operand for each in inner for operand in each.all_input_nodes]
    # A reduction may have several results, as that of a variance and a mean has.
    makers = [operand.args[0] if is_part(operand) else operand for operand in operands]
    return all(find_kind(maker) != "reduction" for maker in makers)
