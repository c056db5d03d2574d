"""The place of saved values in forward: in random joint graphs whose backward part computes
them, operations of constants among them, each stands behind its operands, and in front of the
first operation that reads a cotangent."""

import random
import sys

import torch
from torch import fx

from fad.torch.compile._apply import hoist

aten = torch.ops.aten


def make(choice):
    """A joint graph, and nodes of its backward part that forward is to save."""
    graph = fx.Graph()
    inputs = [graph.placeholder(name) for name in ("primals_1", "primals_2")]
    tangent = graph.placeholder("tangents_1")
    forward = [*inputs, graph.call_function(aten.sin.default, (inputs[0],))]
    backward = [graph.call_function(aten.neg.default, (tangent,))]
    constants, computed = [], []
    for _ in range(12):
        kind = choice.choice(("constant", "of constants", "value", "value", "cotangent"))
        if kind == "constant" or not constants:
            constants.append(graph.call_function(aten.full.default, ([], choice.random())))
        elif kind == "of constants":
            operands = choice.choices(constants, k=2)
            constants.append(graph.call_function(aten.add.Tensor, tuple(operands)))
        elif kind == "value":
            operands = choice.choice(forward + computed), choice.choice(constants + computed)
            computed.append(graph.call_function(aten.mul.Tensor, operands))
        else:
            operands = choice.choice(backward), choice.choice(forward + computed)
            backward.append(graph.call_function(aten.mul.Tensor, operands))
    graph.output(tuple([*computed, *backward]))
    return graph, choice.sample(computed, min(len(computed), 3))


def check(seed):
    choice = random.Random(seed)
    graph, saved = make(choice)
    hoist(graph, saved, set())
    graph.lint()
    order = {node: number for number, node in enumerate(graph.nodes)}
    first = next(node for node in graph.nodes if node.target is aten.neg.default)
    return [node for node in saved if order[node] > order[first]]


def main():
    wrong = 0
    for seed in range(200):
        try:
            late = check(seed)
        except RuntimeError as error:
            late = str(error).splitlines()[0]
        if late:
            wrong += 1
            print(f"seed {seed}: {late}")
    print(f"200 graphs, {wrong} wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
