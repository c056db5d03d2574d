"""Inputs that forward or backward changes in place.

AOTAutograd's joint graph computes new values, and writes each of them to its input at the
end. The value of an input that forward changes is therefore that before forward, and what
backward reads of it has to be a copy. An input that backward alone changes has its value
from before this, which operations of backward read when they run: other steps may have
changed it since forward. A value of forward that backward computes again needs the input as
forward has read it, and so a copy, too; and so does the gradient of an operation for which
autograd itself has saved the input."""

from dataclasses import dataclass

import torch
from torch import fx
from torch.utils._pytree import tree_leaves

from ._kinds import find_kind, is_part
from ._pytorch import OpOverload, is_bound_to_backward, is_bound_to_forward, is_of_autograd

aten = torch.ops.aten


def is_write(node: fx.Node) -> bool:
    """Whether `node` does nothing but write a value to an input."""
    return node.target is aten.copy_.default and not node.users


def find_mutated(graph: fx.Graph, num_fwd_outputs: int) -> set[fx.Node]:
    """The inputs that forward changes: by an operation of the graph, or afterwards,
    as the descriptions of its outputs say."""
    mutated = set()
    placeholders = {}
    for node in graph.nodes:
        if node.op == "placeholder":
            placeholders[node.meta.get("desc")] = node
        elif isinstance(node.target, OpOverload) and not is_bound_to_backward(node):
            schema = node.target._schema
            values = dict(zip((a.name for a in schema.arguments), node.args))
            values.update(node.kwargs)
            for argument in schema.arguments:
                if argument.is_write:
                    leaves = tree_leaves(values.get(argument.name))
                    mutated.update(leaf for leaf in leaves if isinstance(leaf, fx.Node))
    outputs = tree_leaves(graph.output_node().meta.get("desc", ()))
    for output in outputs[:num_fwd_outputs]:
        changed = getattr(output, "mutated_input", None)
        if changed is not None and changed in placeholders:
            mutated.add(placeholders[changed])
    return {node for node in mutated if node.op == "placeholder"}


def find_written_in_backward(graph: fx.Graph) -> set[fx.Node]:
    writes = graph.find_nodes(op="call_function", target=aten.copy_.default)
    return {node.args[0] for node in writes if is_bound_to_backward(node)}


def check_versions(graph: fx.Graph, mutated: set[fx.Node]) -> None:
    """Lets backward raise RuntimeError where it changes one of `mutated`, and another step
    has changed that since forward: backward computes the new value from the one that forward
    has left. PyTorch does not compare versions of tensors that a function keeps as an attribute of
    its context."""
    for node in find_written_in_backward(graph) & mutated:
        node.meta["saved_tensor_with_no_vc_check"] = False


@dataclass
class Readers:
    """The operations that read inputs which backward alone changes, but for views."""

    # The inputs, and views of them.
    memory: set[fx.Node]
    # They need the values that the inputs have in forward.
    forward: list[fx.Node]
    # They run in backward, whether or not they depend on a cotangent.
    backward: list[fx.Node]


def find_readers(graph: fx.Graph, num_fwd_outputs: int, mutated: set[fx.Node]) -> Readers:
    readers = Readers(find_written_in_backward(graph) - mutated, [], [])
    if not readers.memory:
        return readers
    results = tree_leaves(graph.output_node().args)[:num_fwd_outputs]
    worklist = [node for node in results if isinstance(node, fx.Node)]
    worklist += [node for node in graph.nodes if is_write(node) and not is_bound_to_backward(node)]
    of_forward: set[fx.Node] = set()
    while worklist:
        node = worklist.pop()
        if node not in of_forward:
            of_forward.add(node)
            worklist.extend(node.all_input_nodes)
    for node in graph.nodes:
        if node.op == "output" or readers.memory.isdisjoint(node.all_input_nodes):
            continue
        if is_part(node) or find_kind(node) == "view":
            readers.memory.add(node)
        elif node in of_forward or is_bound_to_forward(node) or is_of_autograd(node):
            readers.forward.append(node)
        else:
            readers.backward.append(node)
    return readers


def write_last(backward: fx.GraphModule) -> None:
    """Moves writes to inputs to the end of `backward`, where AOTAutograd has put them: what
    PyTorch's order has behind them may read the old values."""
    graph = backward.graph
    writes = filter(is_write, graph.find_nodes(op="call_function", target=aten.copy_.default))
    moved = list(writes)
    for node in moved:
        graph.output_node().prepend(node)
    if moved:
        backward.recompile()
