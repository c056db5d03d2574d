"""A plan of residuals, applied to AOTAutograd's joint graph."""

from typing import Any

import torch
from torch import fx

from ._build import Builder, Values
from ._import import Imported, NotPlanned
from ._kinds import is_part
from ._packing import can_pack, pack, unpack
from ._scalars import TARGETS, TORCH_TYPES, read_number

aten, prims = torch.ops.aten, torch.ops.prims

# Operations whose second operand may be a number.
_WITH_NUMBERS = {
    aten.add.Tensor,
    aten.sub.Tensor,
    aten.mul.Tensor,
    aten.div.Tensor,
}


def apply_plan(
    graph: fx.Graph, plan: dict[str, Any], imported: Imported, mutated: set[fx.Node]
) -> list[fx.Node]:
    """Adds the new nodes of `plan` to `graph` where they are read, and returns the
    nodes to save."""
    names = {node.name: node for node in graph.nodes}

    def read(argument: Any) -> Any:
        if isinstance(argument, dict):
            return read_number(argument["value"])
        return names[argument]

    values = Values(graph)
    whole: set[fx.Node] = set()
    for entry in plan["new"]:
        args = [read(argument) for argument in entry["args"]]
        nodes = [argument for argument in args if isinstance(argument, fx.Node)]
        if not nodes:
            raise NotPlanned(f"a new {entry['op']} has no tensor")
        names[entry["name"]] = _build(
            Builder(graph, values, max(nodes)), entry, args, whole
        )

    for first, operands in plan["operands"].items():
        node = _find_operation(names[first])
        for old, new in zip(imported.operands[first], operands, strict=True):
            if names[new] is not old:
                node.replace_input_with(old, names[new])
    output = graph.output_node()
    for old, new in zip(imported.results, plan["results"], strict=True):
        if old is not None and names[new] is not old:
            output.replace_input_with(old, names[new])

    saved = [names[entry["name"]] for entry in plan["saved"]]
    saved = [_copy(graph, values, node) if node in mutated else node for node in saved]
    for node, entry in zip(saved, plan["saved"]):
        node.meta["fad_reason"] = entry["reason"]
    return saved


def _find_operation(node: fx.Node) -> fx.Node:
    """The operation of which `node` is a result."""
    while is_part(node):
        node = node.args[0]
    return node


def _build(
    build: Builder, entry: dict[str, Any], args: list, whole: set[fx.Node]
) -> fx.Node:
    """The node of `entry`. Few-bit numbers of an unknown number, or of one that fills no
    bytes, take a byte each: these are `whole`."""
    op = entry["op"]
    if op == "fad.pack":
        if can_pack(args[0], entry["bits"]):
            return pack(build, args[0], entry["bits"])
        whole.add(args[0])
        return args[0]
    if op == "fad.unpack":
        if args[0] in whole:
            return args[0]
        return unpack(build, args[0], entry["bits"], entry["shape"])
    target, dtype = TARGETS.get(op), TORCH_TYPES.get(entry["type"])
    if target is None or dtype is None:
        raise NotPlanned(f"{op} of {entry['type']} has no operation of PyTorch here")
    if target in (prims.convert_element_type.default, aten.view.dtype):
        return build(target, args[0], dtype)
    # Numbers are operands of few operations of PyTorch.
    takes_numbers = target in _WITH_NUMBERS and isinstance(args[0], fx.Node)
    if not takes_numbers:
        like = next(arg for arg in args if isinstance(arg, fx.Node)).meta["val"]
        kind = dtype if target is aten.where.self else like.dtype
        kinds = {"dtype": kind, "device": like.device, "pin_memory": False}
        args = [
            arg if isinstance(arg, fx.Node) else build(aten.full.default, [], arg, **kinds)
            for arg in args
        ]
    return build(target, *args)


def _copy(graph: fx.Graph, values: Values, node: fx.Node) -> fx.Node:
    """A copy of `node`, which forward changes in place, for all of its readers."""
    copy = Builder(graph, values, node)(aten.clone.default, node)
    for user in list(node.users):
        if user is not copy and user.target is not aten.copy_.default:
            user.replace_input_with(node, copy)
    return copy
