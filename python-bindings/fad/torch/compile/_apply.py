"""A plan of residuals, applied to AOTAutograd's joint graph and to its two parts."""

from typing import Any

import torch
from torch import fx

from ._build import Builder, Values, can_pack, list_sizes, pack, unpack
from ._graph import find_makers, find_readers, is_part, is_tangent
from ._import import Imported, NotPlanned
from ._peak import count_storage_bytes
from ._pytorch import bind_to_forward, get_schema, identify_storage
from ._scalars import SIGNS, TARGETS, TORCH_TYPES, read_number
from ._sizes import estimate_size

aten, prims = torch.ops.aten, torch.ops.prims

# Operations whose second operand may be a number.
_WITH_NUMBERS = {
    aten.add.Tensor,
    aten.sub.Tensor,
    aten.mul.Tensor,
    aten.div.Tensor,
}


def copy_for_forward(
    graph: fx.Graph, num_fwd_outputs: int, mutated: set[fx.Node]
) -> dict[fx.Node, fx.Node]:
    """Lets operations of forward read copies of inputs that backward alone changes, of which
    a plan may save some, and returns the originals by their copies."""
    readers = find_readers(graph, num_fwd_outputs, mutated)
    values = Values(graph)
    copies: dict[fx.Node, fx.Node] = {}
    for reader in readers.forward:
        for node in readers.memory.intersection(reader.all_input_nodes):
            if node not in copies:
                copy = copies[node] = Builder(graph, values, node)(aten.clone.default, node)
                bind_to_forward(copy)
            reader.replace_input_with(node, copies[node])
    return {copy: node for node, copy in copies.items()}


def remove_copies(graph: fx.Graph, originals: dict[fx.Node, fx.Node], saved: list[fx.Node]) -> None:
    """Removes the copies of `copy_for_forward` that backward does not read."""
    for copy, node in originals.items():
        if copy not in saved:
            copy.replace_all_uses_with(node)
            graph.erase_node(copy)


def apply_plan(
    graph: fx.Graph,
    plan: dict[str, Any],
    imported: Imported,
    mutated: set[fx.Node],
    is_fused: bool,
) -> tuple[list[fx.Node], dict[fx.Node, fx.Node]]:
    """Adds the new nodes of `plan` to `graph` where they are read, and returns the
    nodes to save, and the new nodes by those that they replace for some reader. With
    `is_fused`, the nodes are for Inductor."""
    names = {node.name: node for node in graph.nodes}

    def read(argument: Any) -> Any:
        if isinstance(argument, dict):
            return read_number(argument["value"])
        return names[argument]

    values = Values(graph)
    shapes: dict[fx.Node, list[Any] | None] = {}
    types = _widen_codes(plan)
    for entry in plan["new"]:
        args = [read(argument) for argument in entry["args"]]
        nodes = [argument for argument in args if isinstance(argument, fx.Node)]
        if not nodes:
            raise NotPlanned(f"a new {entry['op']} has no tensor")
        names[entry["name"]] = _build(
            Builder(graph, values, max(nodes)),
            {**entry, "type": types[entry["name"]]},
            args,
            shapes,
            is_fused,
        )

    replaced: dict[fx.Node, fx.Node] = {}

    def replace(node: fx.Node, old: fx.Node, new: fx.Node) -> None:
        if new is not old:
            dtype = old.meta["val"].dtype
            # Integers of a plan have no sign, so that int8 and uint8 are one type.
            if new.meta["val"].dtype is not dtype:
                new = Builder(graph, values, new)(aten.view.dtype, new, dtype)
            node.replace_input_with(old, new)
            replaced[old] = new

    for first, operands in plan["operands"].items():
        node = _find_operation(names[first])
        # An operand that stands for no node of the graph has no name.
        operands = filter(None, operands)
        for old, new in zip(imported.operands[first], operands, strict=True):
            replace(node, old, names[new])
    for old, new in zip(imported.results, plan["results"], strict=True):
        if old is not None:
            replace(graph.output_node(), old, names[new])

    for entry in plan["saved"]:
        if entry["place"] != "device":
            raise NotPlanned(
                f"the residual '{entry['name']}' is to wait in the memory of the "
                f"{entry['place']}, and fad has nothing that moves it there"
            )
    saved = [names[entry["name"]] for entry in plan["saved"]]
    saved = [_copy(graph, values, node) if node in mutated else node for node in saved]
    for node, entry in zip(saved, plan["saved"]):
        node.meta["fad_reason"] = entry["reason"]
    return saved, replaced


def _widen_codes(plan: dict[str, Any]) -> dict[str, str]:
    """Returns the types of the new nodes by name. Few-bit numbers that only new nodes read have 32
    bits until they are packed and after they are unpacked: Inductor's C++ code for bytes takes
    twenty times as long."""
    types = {entry["name"]: entry["type"] for entry in plan["new"]}
    fixed = {*plan["results"], *(name for names in plan["operands"].values() for name in names)}
    fixed |= {entry["name"] for entry in plan["saved"]}
    worklist = [
        argument for entry in plan["new"] if entry["op"] == "fad.pack" for argument in entry["args"]
    ]
    worklist += [entry["name"] for entry in plan["new"] if entry["op"] == "fad.unpack"]
    arguments = {
        entry["name"]: [name for name in entry["args"] if isinstance(name, str)]
        for entry in plan["new"]
    }
    operations = {entry["name"]: entry["op"] for entry in plan["new"]}
    while worklist:
        name = worklist.pop()
        if types.get(name) == "i8" and name not in fixed:
            types[name] = "i32"
            if operations[name] in ("arith.select", "arith.ori"):
                worklist += arguments[name]
    return types


def _find_operation(node: fx.Node) -> fx.Node:
    """Returns the operation of which `node` is a result."""
    while is_part(node):
        node = node.args[0]
    return node


def _build(
    build: Builder,
    entry: dict[str, Any],
    args: list,
    shapes: dict[fx.Node, list[Any] | None],
    is_fused: bool,
) -> fx.Node:
    """Returns the node of `entry`. Where few-bit numbers are packed, `shapes` has their shape by
    the packed node, and otherwise none: they take a byte each."""
    op, dtype = entry["op"], TORCH_TYPES.get(entry["type"])
    if op == "fad.pack":
        if can_pack(args[0], entry["bits"]):
            shape = list_sizes(build, args[0])
            packed = pack(build, args[0], entry["bits"])
            shapes[packed] = shape
            return packed
        is_wide = args[0].meta["val"].dtype is torch.int32
        node = _convert(build, args[0], torch.uint8) if is_wide else args[0]
        shapes[node] = None
        return node
    if op == "fad.unpack":
        shape = shapes[args[0]]
        if shape is None:
            return args[0]
        return _convert(build, unpack(build, args[0], entry["bits"], shape), dtype)
    kinds = {arg.meta["val"].dtype for arg in args if isinstance(arg, fx.Node)}
    if op in SIGNS or kinds >= {torch.int8, torch.uint8}:
        args = [_read_bytes(build, arg, SIGNS.get(op, torch.uint8)) for arg in args]
    target = TARGETS.get(op)
    if op == "arith.fptosi" and dtype is torch.uint8:
        dtype = torch.int8
    if target is None or dtype is None:
        raise NotPlanned(f"{op} of {entry['type']} has no operation of PyTorch here")
    if target in (prims.convert_element_type.default, aten.view.dtype):
        return build(target, args[0], dtype)
    # Inductor's ranges of values know no comparison of truth values. Without Inductor, some
    # are floats: the mask of a dropout without elements.
    are_bools = is_fused and kinds == {torch.bool}
    is_equal = are_bools and target is aten.eq.Tensor
    if are_bools and target in (aten.eq.Tensor, aten.ne.Tensor):
        target = aten.bitwise_xor.Tensor
    # Numbers are operands of few operations of PyTorch.
    takes_numbers = target in _WITH_NUMBERS and isinstance(args[0], fx.Node)
    if not takes_numbers:
        like = next(arg for arg in args if isinstance(arg, fx.Node)).meta["val"]
        kind = dtype if target is aten.where.self else like.dtype
        options = {"dtype": kind, "device": like.device, "pin_memory": False}
        # A negative number has no unsigned byte but that of its bits.
        is_unsigned = kind is torch.uint8
        numbers = [arg & 255 if is_unsigned and type(arg) is int else arg for arg in args]
        args = [
            arg if isinstance(arg, fx.Node) else build(aten.full.default, [], arg, **options)
            for arg in numbers
        ]
    node = build(target, *args)
    return build(aten.logical_not.default, node) if is_equal else node


def _read_bytes(build: Builder, arg: Any, dtype: torch.dtype) -> Any:
    """`arg` as numbers of the signedness of `dtype`, where it is of bytes."""
    other = {torch.int8: torch.uint8, torch.uint8: torch.int8}[dtype]
    if isinstance(arg, fx.Node) and arg.meta["val"].dtype is other:
        return build(aten.view.dtype, arg, dtype)
    return arg


def _convert(build: Builder, node: fx.Node, dtype: torch.dtype) -> fx.Node:
    if node.meta["val"].dtype is dtype:
        return node
    return build(prims.convert_element_type.default, node, dtype)


def _copy(graph: fx.Graph, values: Values, node: fx.Node) -> fx.Node:
    """Returns a copy of `node`, which forward changes in place, for all of its readers."""
    copy = Builder(graph, values, node)(aten.clone.default, node)
    for user in list(node.users):
        if user is not copy and user.target is not aten.copy_.default:
            user.replace_input_with(node, copy)
    return copy


# The place of saved values in forward.


def hoist(graph: fx.Graph, saved: list[fx.Node], mutated: set[fx.Node]) -> None:
    """Moves operations that stand in the backward part of the joint graph, and that
    forward executes to compute `saved`, behind their operands. Coefficients of
    cotangents stand there: at their old place forward would keep their operands up to
    its end. An operation that draws random numbers or has other effects stays where it
    is, and so does what reads its results."""
    needed = find_makers(saved)
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
                moved = [*_take(node, constants), node]
                # Constants that were taken before stand behind operands of others.
                read = {used for each in moved for used in each.all_input_nodes}
                last = max(read.difference(moved))
                for each in moved:
                    _move_behind(each, last)
                    last = each


def _take(node: fx.Node, constants: set[fx.Node]) -> list[fx.Node]:
    """Removes those of `constants` that `node` reads, and what they read, and returns
    them in order."""
    taken = find_makers(node.all_input_nodes, constants.__contains__)
    constants -= taken
    return sorted(taken)


def _is_movable(node: fx.Node) -> bool:
    schema = get_schema(node)
    return is_part(node) or (
        schema is not None
        and not schema.is_mutable
        and torch.Tag.nondeterministic_seeded not in node.target.tags
        and not node.is_impure()
    )


def _move_behind(node: fx.Node, operand: fx.Node) -> None:
    while operand.next.op == "placeholder":
        operand = operand.next
    operand.append(node)


# Saved inputs that stay what they are.
#
# Inductor computes convolutions in the layout "channels last". Where forward returns a filter or
# an image for backward, it returns the copy in that layout, which then stays in memory beside the
# original. A view of six dimensions has no such layout: forward returns the view, which takes no
# memory, and backward reads the input through it, and converts it again. The dimensions that the
# view adds have one element, so that its form is the same whether sizes are static or dynamic.
#
# A copy of a filter has the same size for each batch, and so has the time of another conversion.
# So copies of filters are kept where they are a small part of all saved bytes.

# The part of the saved bytes that copies of filters may be. In batches that keep a
# machine busy, all copies are less.
COPIES = 0.3


def keep_layouts(
    forward: fx.GraphModule,
    backward: fx.GraphModule,
    num_fwd_outputs: int,
    copies: float = COPIES,
) -> None:
    """Replaces inputs with channels among the saved tensors by views, but for filters
    whose copies are at most the part `copies` of all saved bytes."""
    convolutions = (
        graph.find_nodes(op="call_function", target=aten.convolution.default)
        for graph in (forward.graph, backward.graph)
    )
    if not any(convolutions):
        return
    output = forward.graph.output_node()
    results = list(output.args[0])
    readers = {node.name: node for node in backward.graph.find_nodes(op="placeholder")}
    kept = _choose_copies(results[num_fwd_outputs:], _find_filters(backward), copies)
    changed = False
    for number, node in enumerate(results):
        if number < num_fwd_outputs or not _has_channels(node) or node in kept:
            continue
        reader = readers.get(node.name)
        if reader is None:
            continue
        value = node.meta["val"]
        with forward.graph.inserting_before(output):
            row = forward.graph.call_function(aten.unsqueeze.default, (node, 0))
            view = forward.graph.call_function(aten.unsqueeze.default, (row, 0))
        row.meta["val"] = value.unsqueeze(0)
        view.meta["val"] = row.meta["val"].unsqueeze(0)
        results[number] = view
        with backward.graph.inserting_after(_last_placeholder(backward.graph)):
            back = backward.graph.call_function(aten.squeeze.dims, (reader, [0, 1]))
        reader.replace_all_uses_with(back, delete_user_cb=lambda user: user is not back)
        back.meta["val"], reader.meta["val"] = reader.meta["val"], view.meta["val"]
        changed = True
    if changed:
        output.args = (type(output.args[0])(results), *output.args[1:])
        forward.recompile()
        backward.recompile()


def _find_filters(backward: fx.GraphModule) -> set[str]:
    """Returns the names of the filters that backward computes with. For the gradient of a filter
    alone, as in a first layer, it needs no more than the sizes."""
    nodes = backward.graph.find_nodes(op="call_function", target=aten.convolution.default)
    filters = {node.args[1].name for node in nodes}
    target = aten.convolution_backward.default
    for node in backward.graph.find_nodes(op="call_function", target=target):
        if node.args[-1][0]:
            filters.add(node.args[2].name)
    return filters


def _choose_copies(saved: list[object], filters: set[str], copies: float) -> set[fx.Node]:
    """Returns those of `filters` among `saved` of which forward saves copies: the largest first, up
    to the part `copies` of all bytes."""
    computed = {
        identify_storage(node.meta["val"]): count_storage_bytes(node.meta["val"])
        for node in saved
        if isinstance(node, fx.Node)
        and node.op != "placeholder"
        and isinstance(node.meta.get("val"), torch.Tensor)
    }
    left = sum(computed.values()) * copies / (1 - copies)
    candidates = [node for node in saved if _has_channels(node) and node.name in filters]
    kept = set()
    sizes = {node: estimate_size(node.meta["val"].nbytes) for node in candidates}
    for node in sorted(sizes, key=lambda node: -sizes[node]):
        if sizes[node] <= left:
            left -= sizes[node]
            kept.add(node)
    return kept


def _has_channels(node: object) -> bool:
    """Tells whether `node` is an input with channels."""
    if not isinstance(node, fx.Node) or node.op != "placeholder":
        return False
    value = node.meta.get("val")
    return (
        isinstance(value, torch.Tensor)
        and value.dim() == 4
        and value.is_contiguous()
        and not value.is_contiguous(memory_format=torch.channels_last)
    )


def _last_placeholder(graph: fx.Graph) -> fx.Node:
    return list(graph.find_nodes(op="placeholder"))[-1]


def match_layouts(forward: fx.GraphModule, backward: fx.GraphModule, static: list[int]) -> None:
    """Gives gradients of the `static` inputs, such as parameters, the layouts of these. autograd
    copies gradients of other layouts at the end, when all are there."""
    output = backward.graph.output_node()
    inputs, gradients = forward.graph.find_nodes(op="placeholder"), list(output.args[0])
    for number in filter(range(len(gradients)).__contains__, static):
        value, gradient = inputs[number].meta.get("val"), gradients[number]
        layout = _find_layout(value)
        if layout is None or not isinstance(gradient, fx.Node):
            continue
        made = gradient.meta["val"]
        if made.shape == value.shape and _list_strides(made) != _list_strides(value):
            with backward.graph.inserting_after(gradient):
                copy = backward.graph.call_function(
                    aten.clone.default, (gradient,), {"memory_format": layout}
                )
            copy.meta["val"] = made.clone(memory_format=layout)
            gradients[number] = copy
    if gradients != list(output.args[0]):
        output.args = (type(output.args[0])(gradients), *output.args[1:])
        backward.recompile()


def _find_layout(value: Any) -> torch.memory_format | None:
    layouts = (torch.contiguous_format, torch.channels_last)
    if not isinstance(value, torch.Tensor):
        return None
    return next((each for each in layouts if value.is_contiguous(memory_format=each)), None)


def _list_strides(value: torch.Tensor) -> list[Any]:
    """Returns the strides between elements of `value`."""
    return [stride for size, stride in zip(value.shape, value.stride()) if size != 1]
