"""The place of saved values in forward."""

import torch
from torch import fx

from ._import import is_tangent
from ._kinds import is_part
from ._pytorch import OpOverload


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
    # An input that forward changes has its old value up to some place.
    fixed = set(mutated)
    # Constants, and what is computed of constants alone.
    constants: set[fx.Node] = set()
    for node in list(graph.nodes):
        if node.op != "call_function":
            continue
        if not dependent.isdisjoint(node.all_input_nodes):
            dependent.add(node)
            is_backward = True
        elif is_backward and node in needed:
            operands = node.all_input_nodes
            if not _is_movable(node) or not fixed.isdisjoint(operands):
                fixed.add(node)
            elif constants.issuperset(operands):
                constants.add(node)
            else:
                last = max(each for each in operands if each not in constants)
                for each in [*_take(node, constants), node]:
                    _move_behind(each, last)
                    last = each


def _take(node: fx.Node, constants: set[fx.Node]) -> list[fx.Node]:
    """Removes those of `constants` that `node` reads, and what they read, and returns
    them in order."""
    taken: set[fx.Node] = set()
    worklist = list(node.all_input_nodes)
    while worklist:
        operand = worklist.pop()
        if operand in constants:
            constants.discard(operand)
            taken.add(operand)
            worklist.extend(operand.all_input_nodes)
    return sorted(taken)


def _is_movable(node: fx.Node) -> bool:
    return is_part(node) or (
        isinstance(node.target, OpOverload)
        and not node.target._schema.is_mutable
        and torch.Tag.nondeterministic_seeded not in node.target.tags
        and not node.is_impure()
    )


def _move_behind(node: fx.Node, operand: fx.Node) -> None:
    while operand.next.op == "placeholder":
        operand = operand.next
    operand.append(node)
