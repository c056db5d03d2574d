"""The order in which Inductor fuses reductions for a GPU.

The derivative of a normalization is a sum over each row, and sums over columns for the gradients
of its weight. Inductor computes them in one kernel, and forms it first. Such a kernel accepts
little more: no operation whose loops have another order of dimensions, such as the cast of the
gradient for a matrix product, and none that the graph has earlier, such as what backward computes
again from the operands that the sums read. These become kernels of their own, and read the
operands once more. Sums over columns of two normalizations which share an operand become one
kernel, too, and then none with their sums over rows.

So fad lets sums over columns wait until all other operations are fused, and has them join the sums
over rows of their operands first."""

import contextlib
import dataclasses
from typing import Any, Iterator
from weakref import WeakSet

from torch import fx

from ._graph import find_target
from ._pytorch import (
    BaseSchedulerNode,
    CustomSchedulerPass,
    InductorChoices,
    MixOrderReduction,
    Scheduler,
    V,
    get_hash_for_files,
    inductor_config,
    run_after_fusion,
)

# The most bytes of an element. Inductor scores a kernel of sums over rows and columns by its
# elements, and others by the bytes that they share.
_ELEMENT_BYTES = 8


class ColumnsLast(InductorChoices):
    """Inductor's choices for a graph of a GPU, in which sums over columns are fused last if
    something `finish`es fusion, and they may wait (`waits`)."""

    def __init__(self, waits: bool) -> None:
        self._waits = waits
        # The schedulers in which such sums wait, and those in which they do no longer.
        self._waiting: WeakSet[Scheduler] = WeakSet()
        self._finished: WeakSet[Scheduler] = WeakSet()

    def __reduce__(self) -> tuple[Any, ...]:
        # For compilation in another process, which has schedulers of its own.
        return type(self), (self._waits,)

    def can_fuse_horizontal(
        self, scheduler: Scheduler, node1: BaseSchedulerNode, node2: BaseSchedulerNode, *score: Any
    ) -> bool:
        if self._waits and scheduler not in self._finished and _sums_columns(node1, node2):
            self._waiting.add(scheduler)
            return False
        return super().can_fuse_horizontal(scheduler, node1, node2, *score)

    def score_fusion(
        self, scheduler: Scheduler, node1: BaseSchedulerNode, node2: BaseSchedulerNode
    ) -> Any:
        score = super().score_fusion(scheduler, node1, node2)
        if dataclasses.is_dataclass(score) and MixOrderReduction.can_fuse(node1, node2):
            memory = _ELEMENT_BYTES * score.memory_score
            return dataclasses.replace(score, memory_score=memory)
        return score

    def finish(self, scheduler: Scheduler, nodes: list[BaseSchedulerNode]) -> Any:
        """`nodes`, with the fusions that have waited."""
        if scheduler not in self._waiting:
            return nodes
        self._finished.add(scheduler)
        return scheduler.fuse_nodes(nodes)


def _sums_columns(node1: BaseSchedulerNode, node2: BaseSchedulerNode) -> bool:
    """Tells whether two reductions of a GPU are not both over rows."""
    if not (node1.is_reduction() and node2.is_reduction()) or node1.get_device().type == "cpu":
        return False
    return not all(map(MixOrderReduction.is_contiguous_node, (node1, node2)))


class FinishFusion(CustomSchedulerPass):
    """Lets the sums over columns be fused for which `ColumnsLast` waits."""

    def __call__(self, nodes: list[BaseSchedulerNode]) -> list[BaseSchedulerNode]:
        choices = V.choices
        if nodes and isinstance(choices, ColumnsLast):
            return choices.finish(nodes[0].scheduler, nodes)
        return nodes

    def uuid(self) -> bytes:
        return get_hash_for_files((__file__,))


@contextlib.contextmanager
def fuse_columns_last(graph: fx.GraphModule) -> Iterator[None]:
    """Lets Inductor fuse sums over columns last as it compiles `graph`, where it is for a GPU and a
    user has set no choices for fusions."""
    patches = run_after_fusion(FinishFusion())
    if find_target(graph.graph) == "cpu" or not patches or type(V.choices) is not InductorChoices:
        yield
        return
    with inductor_config.patch(patches), V.set_choices_handler(ColumnsLast(True)):
        yield
