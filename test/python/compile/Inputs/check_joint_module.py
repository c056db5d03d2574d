"""Prints the module of a joint graph with nodes of each form."""

import operator

import torch
from torch import fx
from torch._subclasses import FakeTensorMode

from fad.torch.compile._import import import_joint

aten = torch.ops.aten


def make_graph():
    graph, mode = fx.Graph(), FakeTensorMode()

    def place(name, *shape, dtype=torch.float32):
        node = graph.placeholder(name)
        with mode:
            node.meta["val"] = torch.empty(shape, dtype=dtype)
        return node

    def call(target, *args):
        node = graph.call_function(target, args)
        with mode:
            node.meta["val"] = target(*fx.map_arg(args, lambda each: each.meta["val"]))
        return node

    x, w, c = place("x", 2, 3), place("w", 3), place("c", 2, 2)
    n, tangent = place("n", 2, 3, dtype=torch.int8), place("tangents_1", 2, 3)
    product = call(aten.mm.default, c, call(aten.mul.Tensor, x, w))
    pair = call(aten.topk.default, product, 2)
    top, _ = (call(operator.getitem, pair, number) for number in range(2))
    is_positive = call(aten.gt.Scalar, n, 0)
    call(aten.lt.Scalar, n, 1000)
    sign = call(torch.ops.prims.convert_element_type.default, is_positive, torch.float32)
    gradient = call(aten.mul.Tensor, tangent, sign)
    call(aten.copy_.default, c, top)
    graph.output((product, gradient, product))
    return graph, c


graph, changed = make_graph()
print(import_joint(graph, 1, {changed}, True, [["mul_tensor", "mm_default"]]).module)
