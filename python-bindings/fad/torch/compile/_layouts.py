"""Saved inputs that stay what they are.

Inductor computes convolutions in the layout "channels last". Where forward returns a
filter or an image for backward, it returns the copy in that layout, which then stays
in memory beside the original. A view of other rank has no such layout: forward returns
the view, which takes no memory, and backward reads the input through it."""

import torch
from torch import fx

aten = torch.ops.aten


def keep_layouts(
    forward: fx.GraphModule, backward: fx.GraphModule, num_fwd_outputs: int
) -> None:
    """Replaces inputs with channels among the saved tensors by views."""
    convolutions = (
        graph.find_nodes(op="call_function", target=aten.convolution.default)
        for graph in (forward.graph, backward.graph)
    )
    if not any(convolutions):
        return
    output = forward.graph.output_node()
    results = list(output.args[0])
    readers = {node.name: node for node in backward.graph.find_nodes(op="placeholder")}
    changed = False
    for number, node in enumerate(results):
        if number < num_fwd_outputs or not _has_channels(node):
            continue
        reader = readers.get(node.name)
        if reader is None:
            continue
        shape = list(node.meta["val"].shape)
        flat = [*shape[:2], shape[2] * shape[3]]
        with forward.graph.inserting_before(output):
            view = forward.graph.call_function(aten.view.default, (node, flat))
        view.meta["val"] = node.meta["val"].view(flat)
        results[number] = view
        with backward.graph.inserting_after(_last_placeholder(backward.graph)):
            back = backward.graph.call_function(aten.view.default, (reader, shape))
        reader.replace_all_uses_with(back, delete_user_cb=lambda user: user is not back)
        back.meta["val"], reader.meta["val"] = reader.meta["val"], view.meta["val"]
        changed = True
    if changed:
        output.args = (type(output.args[0])(results), *output.args[1:])
        forward.recompile()
        backward.recompile()


def _has_channels(node: object) -> bool:
    """Whether `node` is an input with channels and a known shape."""
    if not isinstance(node, fx.Node) or node.op != "placeholder":
        return False
    value = node.meta.get("val")
    return (
        isinstance(value, torch.Tensor)
        and value.dim() == 4
        and all(isinstance(size, int) for size in value.shape)
        and value.is_contiguous()
        and not value.is_contiguous(memory_format=torch.channels_last)
    )


def _last_placeholder(graph: fx.Graph) -> fx.Node:
    return list(graph.find_nodes(op="placeholder"))[-1]
