"""A joint graph as two parts, by PyTorch's partition with another choice of saved values."""

import contextlib
import gc
from typing import Any, Callable, Iterator, Sequence

import torch
from torch import fx

from ._apply import keep_layouts
from ._graph import merge_equal, write_last
from ._pytorch import Parts, find_required_in_backward, is_number_or_object, partition


class Planned(Exception):
    """Ends a partition of which the plan alone is asked for."""


@contextlib.contextmanager
def without_collection() -> Iterator[None]:
    """Makes a search for garbage would visit all objects of the traced model, and a plan makes no
    garbage that only a search finds."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def partition_joint(
    gm: fx.GraphModule,
    joint_inputs: Sequence[object],
    num_fwd_outputs: int,
    static: list[int],
    choose: Callable[..., list[fx.Node]],
    copies: float,
) -> Parts:
    """PyTorch's partition, with `choose` in the place of its choice, and `copies` for
    `keep_layouts`."""
    is_chosen = False

    def choose_closed(graph: fx.Graph, propose: Callable) -> list[fx.Node]:
        nonlocal is_chosen
        is_chosen = True
        saved = choose(graph, num_fwd_outputs, propose)
        graph.eliminate_dead_code()
        graph.lint()
        return _close(graph, find_required_in_backward(gm, static, num_fwd_outputs), saved)

    forward, backward = partition(
        gm,
        joint_inputs,
        choose_closed,
        merge_equal,
        num_fwd_outputs=num_fwd_outputs,
        static_lifetime_input_indices=static,
    )
    # A graph without a backward part has nothing to choose.
    if is_chosen:
        write_last(backward)
        keep_layouts(forward, backward, num_fwd_outputs, copies)
    return forward, backward


def _close(graph: fx.Graph, required: Any, saved: list[fx.Node]) -> list[fx.Node]:
    """`saved`, with the numbers and objects that backward reads beside them: sizes, for
    example, which fad does not see. The order is that of the plan, which is the same for
    static sizes and for dynamic ones."""
    closed = set(saved)
    # PyTorch counts the output among them, which has the results of forward, too.
    worklist = [node for node in required if node.op != "output"]
    seen = set(worklist)
    while worklist:
        for used in worklist.pop().all_input_nodes:
            if used in seen or used in closed or used in required:
                continue
            seen.add(used)
            is_tensor = isinstance(used.meta.get("val"), torch.Tensor)
            if used.op == "placeholder" or (not is_tensor and is_number_or_object(used)):
                closed.add(used)
            else:
                worklist.append(used)
    return list(dict.fromkeys([*saved, *(node for node in graph.nodes if node in closed)]))
