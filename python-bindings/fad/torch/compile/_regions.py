"""Equal operations that stay apart.

PyTorch merges equal operations of a joint graph. If two checkpoints begin with the same
operations on the same values, they then share the results: a layer that runs twice on
one input, for example. Backward repeats one checkpoint after the other, so that shared
results would wait from the first to the last. Each checkpoint repeats its own instead.

An input that backward changes may have another value when backward reads it than when
forward has read it. So neither takes the results of the other."""

from typing import Any

from torch import fx

from ._pytorch import merge_equal_nodes, must_repeat
from ._writes import find_written_in_backward

# The name of an argument that no operation has.
_PART = "fad_part"


def merge_equal(graph: fx.Graph) -> fx.Graph:
    """A copy of a joint graph without operations that occur more than once outside of
    checkpoints, or in one of them."""
    written = find_written_in_backward(graph)
    for node in graph.nodes:
        part: list[Any] = []
        if must_repeat(node):
            part.append(node.meta.get("ac_graph_id"))
        if node.op == "call_function" and not written.isdisjoint(node.all_input_nodes):
            part.append(node.meta.get("partitioner_tag"))
        if part:
            node.kwargs = {**node.kwargs, _PART: part}
    graph = merge_equal_nodes(graph)
    for node in graph.nodes:
        if _PART in node.kwargs:
            node.kwargs = {k: v for k, v in node.kwargs.items() if k != _PART}
    return graph
