"""Losses that are one operator in a joint graph, in parts that run chunk by chunk.

Graphs for Inductor have the parts already, of PyTorch's own decompositions."""

import torch
from torch import fx
from torch.fx.experimental.proxy_tensor import make_fx

from .._build import Values
from .._pytorch import PLACE, get_decompositions, tree_leaves

aten = torch.ops.aten

_LOSSES = {
    aten.nll_loss2d_backward.default,
    aten.nll_loss2d_forward.default,
    aten.nll_loss_backward.default,
    aten.nll_loss_forward.default,
}


def decompose_losses(graph: fx.Graph) -> fx.Graph:
    """Returns `graph` with the parts of its losses in their place."""
    losses = [node for node in graph.nodes if node.target in _LOSSES]
    if not losses:
        return graph
    values = Values(graph)
    table = get_decompositions(tuple(_LOSSES))
    for node in losses:
        _decompose(graph, node, values, table)
    return graph


def _decompose(graph: fx.Graph, node: fx.Node, values: Values, table: dict) -> None:
    operands = node.all_input_nodes

    def run(*tensors: torch.Tensor) -> list[torch.Tensor]:
        found = dict(zip(operands, tensors))
        return tree_leaves(node.target(*fx.map_arg(node.args, found.__getitem__), **node.kwargs))

    with values.mode:
        traced = make_fx(run, decomposition_table=table)(
            *(operand.meta["val"] for operand in operands)
        )
    copies = dict(zip(traced.graph.find_nodes(op="placeholder"), operands))
    with graph.inserting_before(node):
        results = graph.graph_copy(traced.graph, copies)
    for copy in copies.values():
        if copy not in operands:
            copy.meta.update({key: node.meta[key] for key in PLACE if key in node.meta})
    results = tree_leaves(results)
    if isinstance(node.meta["val"], torch.Tensor):
        node.replace_all_uses_with(results[0])
    for user in list(node.users):
        user.replace_all_uses_with(results[user.args[1]])
        graph.erase_node(user)
    graph.erase_node(node)
