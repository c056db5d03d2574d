"""Operations on repeated elements, for a GPU: computed before they are repeated.

The gradient of a mean repeats one number, and then divides each. PyTorch takes the quotients for a tensor
of the order of dimensions that a new one has, and so is what reads them, whatever the order of its
other operands: the gradient of a convolution with "channels last" is then copied to that order, for
each of its readers. The repeated number itself has any order."""

import torch
from torch import fx

from ._build import Builder, Values
from ._graph import find_kind, find_target

aten, prims = torch.ops.aten, torch.ops.prims


def expand_last(part: fx.GraphModule) -> None:
    """Has operations of `part`, for a GPU, that read a repeated tensor alone, and that others read which
    compute each element by itself, compute its elements before they are repeated."""
    if find_target(part.graph) != "gpu":
        return
    values = Values(part.graph)
    # Those that read an operation which has moved are behind it.
    for node in list(part.graph.nodes):
        if not _is_elementwise(node) or not all(map(_is_elementwise, node.users)):
            continue
        operands = node.all_input_nodes
        if len(operands) != 1 or operands[0].target is not aten.expand.default:
            continue
        # An order of dimensions that is asked for is one of the repeated elements.
        if "memory_format" in node.kwargs:
            continue
        (expand,) = operands
        # Operands may be broadcast to more dimensions.
        if expand.meta["val"].shape != node.meta["val"].shape:
            continue
        source, sizes = expand.args
        build = Builder(part.graph, values, node)
        args = [source if arg is expand else arg for arg in node.args]
        once = build(node.target, *args, **node.kwargs)
        repeated = build(aten.expand.default, once, sizes)
        node.replace_all_uses_with(repeated)
        part.graph.erase_node(node)
        if not expand.users:
            part.graph.erase_node(expand)
    part.recompile()


def _is_elementwise(node: fx.Node) -> bool:
    """Tells whether `node` computes each element of its result of those in the same place."""
    if node.op != "call_function" or find_kind(node) != "elementwise":
        return False
    is_cast = node.target is prims.convert_element_type.default
    return is_cast or torch.Tag.pointwise in node.target.tags
