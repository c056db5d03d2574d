"""Saved inputs that stay what they are.

Inductor computes convolutions in the layout "channels last". Where forward returns a
filter or an image for backward, it returns the copy in that layout, which then stays
in memory beside the original. A view of six dimensions has no such layout: forward returns
the view, which takes no memory, and backward reads the input through it, and converts
it again. The dimensions that the view adds have one element, so that its form is the same
whether sizes are static or dynamic.

A copy of a filter has the same size for each batch, and so has the time of another
conversion. So copies of filters are kept where they are a small part of all saved bytes."""

import torch
from torch import fx

from ._peak import count_storage_bytes, identify_storage
from ._sizes import estimate_size

aten = torch.ops.aten

# The part of the saved bytes that copies of filters may be. In batches that keep a
# machine busy, all copies are less.
COPIES = 0.3


def keep_layouts(
    forward: fx.GraphModule,
    backward: fx.GraphModule,
    num_fwd_outputs: int,
    copies: float = COPIES,
) -> None:
    """Replaces inputs with channels among the saved tensors by views, but for filters
    whose copies are at most the part `copies` of all saved bytes."""
    convolutions = (
        graph.find_nodes(op="call_function", target=aten.convolution.default)
        for graph in (forward.graph, backward.graph)
    )
    if not any(convolutions):
        return
    output = forward.graph.output_node()
    results = list(output.args[0])
    readers = {node.name: node for node in backward.graph.find_nodes(op="placeholder")}
    kept = _choose_copies(results[num_fwd_outputs:], _find_filters(backward), copies)
    changed = False
    for number, node in enumerate(results):
        if number < num_fwd_outputs or not _has_channels(node) or node in kept:
            continue
        reader = readers.get(node.name)
        if reader is None:
            continue
        value = node.meta["val"]
        with forward.graph.inserting_before(output):
            row = forward.graph.call_function(aten.unsqueeze.default, (node, 0))
            view = forward.graph.call_function(aten.unsqueeze.default, (row, 0))
        row.meta["val"] = value.unsqueeze(0)
        view.meta["val"] = row.meta["val"].unsqueeze(0)
        results[number] = view
        with backward.graph.inserting_after(_last_placeholder(backward.graph)):
            back = backward.graph.call_function(aten.squeeze.dims, (reader, [0, 1]))
        reader.replace_all_uses_with(back, delete_user_cb=lambda user: user is not back)
        back.meta["val"], reader.meta["val"] = reader.meta["val"], view.meta["val"]
        changed = True
    if changed:
        output.args = (type(output.args[0])(results), *output.args[1:])
        forward.recompile()
        backward.recompile()


def _find_filters(backward: fx.GraphModule) -> set[str]:
    """The names of the filters that backward computes with. For the gradient of a filter
    alone, as in a first layer, it needs no more than the sizes."""
    nodes = backward.graph.find_nodes(op="call_function", target=aten.convolution.default)
    filters = {node.args[1].name for node in nodes}
    target = aten.convolution_backward.default
    for node in backward.graph.find_nodes(op="call_function", target=target):
        if node.args[-1][0]:
            filters.add(node.args[2].name)
    return filters


def _choose_copies(saved: list[object], filters: set[str], copies: float) -> set[fx.Node]:
    """Those of `filters` among `saved` of which forward saves copies: the largest first,
    up to the part `copies` of all bytes."""
    computed = {
        identify_storage(node.meta["val"]): count_storage_bytes(node.meta["val"])
        for node in saved
        if isinstance(node, fx.Node)
        and node.op != "placeholder"
        and isinstance(node.meta.get("val"), torch.Tensor)
    }
    left = sum(computed.values()) * copies / (1 - copies)
    candidates = [node for node in saved if _has_channels(node) and node.name in filters]
    kept = set()
    sizes = {node: estimate_size(node.meta["val"].nbytes) for node in candidates}
    for node in sorted(sizes, key=lambda node: -sizes[node]):
        if sizes[node] <= left:
            left -= sizes[node]
            kept.add(node)
    return kept


def _has_channels(node: object) -> bool:
    """Whether `node` is an input with channels."""
    if not isinstance(node, fx.Node) or node.op != "placeholder":
        return False
    value = node.meta.get("val")
    return (
        isinstance(value, torch.Tensor)
        and value.dim() == 4
        and value.is_contiguous()
        and not value.is_contiguous(memory_format=torch.channels_last)
    )


def _last_placeholder(graph: fx.Graph) -> fx.Node:
    return list(graph.find_nodes(op="placeholder"))[-1]
