"""Applies plans with new nodes of signed bytes and of truth values to graphs that read
them. Types of plans have no sign, those of PyTorch have. Inductor fails where truth
values that depend on positions are compared."""

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

from fad.torch.compile._apply import apply_plan
from fad.torch.compile._import import Imported, NotPlanned

aten, prims = torch.ops.aten, torch.ops.prims


def joint(mask, x):
    one = torch.full((), 1, dtype=torch.int8)
    three = torch.full((), -3, dtype=torch.int8)
    chosen = aten.where(mask, one, three)
    below = aten.lt(chosen, 0)
    wide = prims.convert_element_type(chosen, torch.float32)
    return aten.where(below, x, wide) + wide


def select(name, kind="i8"):
    return {"name": name, "op": "arith.select", "type": kind,
            "args": ["mask_1", {"value": 1}, {"value": -3}]}  # fmt: skip


def convert(op):
    return {"name": "fad_1", "op": op, "type": "f32", "args": ["fad_0"]}


def compare(op, value):
    return {"name": "fad_1", "op": op, "type": "i1", "args": ["fad_0", {"value": value}]}


def compare_mask(op, value):
    args = ["mask_1", value if isinstance(value, str) else {"value": value}]
    return {"name": "fad_0", "op": f"arith.cmpi.{op}", "type": "i1", "args": args}


# The new nodes, the operation that reads one of them, its operands, and what the graph
# computes then for the mask [True, False] and x = [5, 7]: of 1 and -3, or of 1 and 253.
CASES = {
    "int8 in its place": ([select("fad_0")], "convert_element_type", ["fad_0"], [2, 4]),
    "signed conversion": (
        [select("fad_0"), convert("arith.sitofp")], "add", ["where_1", "fad_1"], [2, 4]),
    "unsigned conversion": (
        [select("fad_0"), convert("arith.uitofp")], "add", ["where_1", "fad_1"], [2, 260]),
    "signed comparison": (
        [select("fad_0"), compare("arith.cmpi.slt", 0)],
        "where_1", ["fad_1", "x_1", "convert_element_type"], [2, 4]),
    # 1 is less than 251, and 253 is not.
    "unsigned comparison": (
        [select("fad_0"), compare("arith.cmpi.ult", -5)],
        "where_1", ["fad_1", "x_1", "convert_element_type"], [6, -6]),
    "equal to false": (
        [compare_mask("eq", False)], "where_1", ["fad_0", "x_1", "convert_element_type"], [2, 4]),
    "equal to true": (
        [compare_mask("eq", True)], "where_1", ["fad_0", "x_1", "convert_element_type"], [6, -6]),
    "unequal to true": (
        [compare_mask("ne", True)], "where_1", ["fad_0", "x_1", "convert_element_type"], [2, 4]),
    # The second element alone is below zero, and its mask is False.
    "equal masks": (
        [compare_mask("eq", "lt")], "where_1", ["fad_0", "x_1", "convert_element_type"], [2, -6]),
}  # fmt: skip


def check(new, reader, operands, expected):
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    mask, x = torch.tensor([True, False]), torch.tensor([5.0, 7.0])
    with mode:
        fakes = mode.from_tensor(mask), mode.from_tensor(x)
    graph = make_fx(joint, tracing_mode="fake")(*fakes)
    nodes = {node.name: node for node in graph.graph.nodes}
    before = list(nodes[reader].all_input_nodes)
    imported = Imported(None, {reader: before}, [], gradient_bytes=0)
    plan = {"new": new, "operands": {reader: operands}, "results": [], "saved": []}
    apply_plan(graph.graph, plan, imported, set(), is_fused=True)
    graph.graph.lint()
    graph.recompile()
    for node in graph.graph.nodes:
        if node.target in (aten.eq.Tensor, aten.ne.Tensor):
            assert node.args[0].meta["val"].dtype is not torch.bool, node
    result = graph(mask, x).tolist()
    assert result == expected, (result, expected)


def check_place():
    """A residual on the host has nothing that moves it."""
    graph = torch.fx.symbolic_trace(torch.nn.ReLU()).graph
    saved = [{"name": "input_1", "bytes": 8, "place": "host", "reason": "result"}]
    plan = {"new": [], "operands": {}, "results": [], "saved": saved}
    try:
        apply_plan(graph, plan, Imported(None, {}, [], gradient_bytes=0), set(), is_fused=True)
    except NotPlanned as error:
        assert str(error) == (
            "the residual 'input_1' is to wait in the memory of the host, and fad has nothing that "
            "moves it there"
        ), error
    else:
        raise AssertionError("the plan was applied")


check_place()
for name, case in CASES.items():
    check(*case)
    print(f"{name}: right")
print(f"{len(CASES)} plans are right")
