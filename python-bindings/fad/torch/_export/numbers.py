"""Numbers among the tensors of a graph."""

from .._pytorch import get_schema
from .._requirements import torch


def widen_numbers(graph) -> None:
    """Makes numbers that operators take in the place of tensors, such as that of `0.3 - x`,
    tensors of f64 where the others are. torch-mlir makes all of them tensors of f32."""
    for node in list(graph.nodes):
        schema = get_schema(node)
        wide = next(filter(_is_wide, node.all_input_nodes), None)
        if schema is None or wide is None:
            continue
        for place, (argument, value) in enumerate(zip(schema.arguments, node.args)):
            if isinstance(value, float) and "Tensor" in str(argument.type):
                node.update_arg(place, _make_tensor(graph, node, value, wide.meta["val"]))


def _is_wide(node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dtype is torch.float64


def _make_tensor(graph, user, number: float, like):
    with graph.inserting_before(user):
        options = {"dtype": like.dtype, "device": like.device}
        made = graph.call_function(torch.ops.aten.full.default, ([], number), options)
    made.meta = {**user.meta, "val": like.new_full((), number)}
    return made
