"""A plan of residuals, applied to AOTAutograd's joint graph."""

from typing import Any

import torch
from torch import fx
from torch._guards import detect_fake_mode
from torch.utils._pytree import tree_leaves, tree_map

from ._import import Imported, NotPlanned
from ._kinds import is_part
from ._packing import can_pack, pack, unpack
from ._scalars import TARGETS, TORCH_TYPES, read_number

aten, prims = torch.ops.aten, torch.ops.prims

# What describes the place of a node in the model, for errors and for PyTorch's order
# of the backward part.
_PLACE = (
    "stack_trace",
    "seq_nr",
    "nn_module_stack",
    "fwd_nn_module_stack",
    "original_aten",
    "ac_graph_id",
)

# Operations whose second operand may be a number.
_WITH_NUMBERS = {
    aten.add.Tensor,
    aten.sub.Tensor,
    aten.mul.Tensor,
    aten.div.Tensor,
}


class _Builder:
    """Adds nodes after `last`, whose place in the model they share, and after the
    inputs of the graph."""

    def __init__(self, graph: fx.Graph, last: fx.Node) -> None:
        self.graph = graph
        self.place = {key: last.meta[key] for key in _PLACE if key in last.meta}
        while last.next.op == "placeholder":
            last = last.next
        self.last = last

    def __call__(self, target: Any, *args: Any, **kwargs: Any) -> fx.Node:
        with self.graph.inserting_after(self.last):
            node = self.graph.call_function(target, args, kwargs)
        node.meta.update(self.place)
        values = tree_map(
            lambda leaf: leaf.meta["val"] if isinstance(leaf, fx.Node) else leaf,
            (args, kwargs),
        )
        mode = detect_fake_mode(tree_leaves(values))
        if mode is None:
            raise NotPlanned("the graph has no fake tensors")
        with mode:
            # A tensor of its own: PyTorch compares storages.
            node.meta["val"] = target(*values[0], **values[1])
        self.last = node
        return node


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

    whole: set[fx.Node] = set()
    for entry in plan["new"]:
        args = [read(argument) for argument in entry["args"]]
        nodes = [argument for argument in args if isinstance(argument, fx.Node)]
        if not nodes:
            raise NotPlanned(f"a new {entry['op']} has no tensor")
        names[entry["name"]] = _build(
            _Builder(graph, max(nodes)), entry, args, whole
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

    saved = [_save(graph, names[entry["name"]], mutated) for entry in plan["saved"]]
    for node, entry in zip(saved, plan["saved"]):
        node.meta["fad_reason"] = entry["reason"]
    return saved


def _find_operation(node: fx.Node) -> fx.Node:
    """The operation of which `node` is a result."""
    return node.args[0] if is_part(node) else node


def _build(
    build: _Builder, entry: dict[str, Any], args: list, whole: set[fx.Node]
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


def _save(graph: fx.Graph, node: fx.Node, mutated: set[fx.Node]) -> fx.Node:
    """`node`, or a copy of it if forward changes it in place."""
    if node not in mutated:
        return node
    copy = _Builder(graph, node)(aten.clone.default, node)
    for user in list(node.users):
        if user is not copy and user.target is not aten.copy_.default:
            user.replace_input_with(node, copy)
    return copy
