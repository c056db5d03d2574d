"""The place of saved values in forward."""

import torch
from torch import fx

from ._import import is_tangent
from ._kinds import is_part


def hoist(graph: fx.Graph, saved: list[fx.Node], mutated: set[fx.Node]) -> None:
    """Moves operations that stand in the backward part of the joint graph, and that
    forward executes to compute `saved`, behind their operands. Coefficients of
    cotangents stand there: at their old place forward would keep their operands up to
    its end. An operation that draws random numbers or has other effects stays where it
    is, and so does what reads its results."""
    needed: set[fx.Node] = set()
    worklist = list(saved)
    while worklist:
        node = worklist.pop()
        if node not in needed:
            needed.add(node)
            worklist.extend(node.all_input_nodes)
    dependent = {node for node in graph.nodes if is_tangent(node)}
    is_backward = False
    fixed = set(mutated)
    for node in list(graph.nodes):
        if node.op != "call_function":
            continue
        if not dependent.isdisjoint(node.all_input_nodes):
            dependent.add(node)
            is_backward = True
        elif is_backward and node in needed:
            operands = node.all_input_nodes
            # An input that forward changes has its old value up to some place.
            if operands and fixed.isdisjoint(operands) and _is_movable(node):
                _move_behind(node, max(operands))
            else:
                fixed.add(node)


def _is_movable(node: fx.Node) -> bool:
    return is_part(node) or (
        isinstance(node.target, torch._ops.OpOverload)
        and not node.target._schema.is_mutable
        and torch.Tag.nondeterministic_seeded not in node.target.tags
        and not node.is_impure()
    )


def _move_behind(node: fx.Node, operand: fx.Node) -> None:
    while operand.next.op == "placeholder":
        operand = operand.next
    operand.append(node)
