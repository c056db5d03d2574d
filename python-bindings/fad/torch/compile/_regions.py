"""Equal operations of different checkpoints, which stay apart.

PyTorch merges equal operations of a joint graph. If two checkpoints begin with the same
operations on the same values, they then share the results: a layer that runs twice on
one input, for example. Backward repeats one checkpoint after the other, so that shared
results would wait from the first to the last. Each checkpoint repeats its own instead."""

from torch import fx
from torch._functorch import partitioners
from torch._functorch.compile_utils import fx_graph_cse

# The name of an argument that no operation has.
_CHECKPOINT = "fad_checkpoint"


def merge_equal(graph: fx.Graph) -> fx.Graph:
    """A copy of a joint graph without operations that occur more than once outside of
    checkpoints, or in one of them."""
    for node in graph.nodes:
        if partitioners.must_recompute(node):
            node.kwargs = {**node.kwargs, _CHECKPOINT: node.meta.get("ac_graph_id")}
    graph = fx_graph_cse(graph)
    for node in graph.nodes:
        if _CHECKPOINT in node.kwargs:
            node.kwargs = {k: v for k, v in node.kwargs.items() if k != _CHECKPOINT}
    return graph
