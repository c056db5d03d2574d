"""Compares what fad has written down of PyTorch's internals with their source."""

import ast
import inspect
import re
import textwrap

import torch
from torch._functorch import partitioners
from torch._inductor import ir, lowering
from torch._inductor.fx_passes import reinplace

from fad.torch.compile import _graph, _pytorch

aten, prims = torch.ops.aten, torch.ops.prims


def check_heavy():
    """The operations that Inductor executes once are those that it calls heavy."""
    source = textwrap.dedent(inspect.getsource(ir.StorageBox.should_realize_on_reuse))
    (heavy,) = (
        ast.literal_eval(node.value)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "heavy_ops"
    )
    assert set(heavy) == set(_pytorch.HEAVY) and len(heavy) > 1, heavy


def find_operators():
    """The operators of ATen and of prims."""
    for name in torch._C._dispatch_get_all_op_names():
        namespace, _, rest = name.partition("::")
        base, _, overload = rest.partition(".")
        packet = getattr(torch.ops, namespace) if namespace in ("aten", "prims") else None
        op = getattr(getattr(packet, base, None), overload or "default", None)
        if op is not None and not op._schema.is_mutable:
            yield op


def find_kind(op):
    """The kind of a node that calls `op`; "seeded" for random operators, which are kept."""
    if torch.Tag.nondeterministic_seeded in op.tags:
        return "seeded"
    return _graph.find_kind(torch.fx.Graph().call_function(op))


def find_kinds(packet):
    ops = (getattr(packet, overload) for overload in packet.overloads())
    ops = [op for op in ops if not op._schema.is_mutable]
    # Some packets have overloads for lists and strings.
    return {find_kind(op) for op in ops if "Tensor" in str(op._schema)}


# Of PyTorch's operators that fuse, these are none that fad repeats for their cost: some are
# decomposed before there is a joint graph.
NOT_REPEATED = {
    aten.__and__,
    aten.__or__,
    aten.broadcast_tensors,
    aten.lift_fresh_copy,
    aten.sum_to_size,
    aten.type_as,
    prims.div,
    prims.prepare_softmax_online,
    prims.sum,
}
# The type of a result is another, or its device.
CONVERTS = {aten._to_copy, aten.to}
# It is neither a product nor a convolution.
NO_CONTRACTION = {aten.upsample_bilinear2d}


def check_kinds():
    """Lists have all that PyTorch's partitioner knows, and nothing that PyTorch marks."""
    listed = {
        "view": _graph.UNMARKED_VIEWS,
        "contraction": _graph.UNCOUNTED,
        "reduction": _graph.ROWWISE,
        "elementwise": _graph.MOVEMENTS,
    }
    known = partitioners.get_default_op_list()
    for kind, packets in listed.items():
        assert all(find_kinds(packet) == {kind} for packet in packets), kind
    for packet in known.view_ops:
        assert find_kinds(packet) == {"view"}, packet
    for packet in set(known.compute_intensive_ops) - NO_CONTRACTION:
        assert find_kinds(packet) <= {"contraction", "seeded"}, packet
    for packet in known.random_ops:
        assert find_kinds(packet) == {"seeded"}, packet
    packets = {each for each in known.recomputable_ops if hasattr(each, "overloads")}
    kept = {each for each in packets if find_kinds(each) == {"keep"}}
    assert kept - CONVERTS == NOT_REPEATED & packets, kept ^ NOT_REPEATED
    for packets in listed.values():
        for packet in packets:
            for op in map(packet.__getattr__, packet.overloads()):
                marks = _pytorch.is_view(op), _pytorch.get_count(packet), _pytorch.makes_tensor(op)
                tagged = {torch.Tag.pointwise, torch.Tag.reduction} & {*op.tags}
                if "Tensor" in str(op._schema) and not op._schema.is_mutable:
                    assert not any(marks) and not tagged, f"PyTorch knows {op}"
    made = {
        op for op in find_operators() if _pytorch.makes_tensor(op) and find_kind(op) != "seeded"
    }
    assert {aten.arange.default, aten.zeros_like.default, prims.iota.default} < made
    tokens = aten.from_file.default, aten._make_dep_token.default, prims._make_token.default
    assert made.isdisjoint(tokens)


def check_library():
    """Operators of libraries are kept, whatever they are for PyTorch."""
    with torch.library._scoped_library("fadtest", "DEF") as library:
        library.define("make(int size) -> Tensor")
        library.define("product(Tensor x, Tensor y) -> Tensor")
        ops = torch.ops.fadtest
        torch.utils.flop_counter.register_flop_formula(ops.product)(lambda x, y, **rest: 1)
        try:
            assert find_kind(ops.make.default) == find_kind(ops.product.default) == "keep"
        finally:
            del torch.utils.flop_counter.flop_registry[ops.product]


def check_selections():
    """The reductions with elements of the operand are those that are listed."""
    x = torch.tensor([[0.3, 0.7, 1.9], [2.3, 1.1, 0.6]], dtype=torch.float64)
    found = set()
    for op in find_operators():
        arguments = op._schema.arguments
        needed = [each for each in arguments if not each.has_default_value()]
        if torch.Tag.reduction not in op.tags or len(needed) > 2 or op.namespace == "prims":
            continue
        # A reduction has a dimension at most that has to be given. PyTorch forgets some by names.
        if "name" in op._overloadname:
            continue
        others = [[1] if "List" in str(each.type) else 1 for each in needed[1:]]
        result = op(x, *others)
        result = result[0] if isinstance(result, tuple) else result
        if result.dtype is x.dtype and set(result.flatten().tolist()) < set(x.flatten().tolist()):
            found.add(op.overloadpacket)
    assert found == _graph.SELECTIONS, found


def check_overwriting():
    """The operators whose lowerings write to a clone are those that are listed, but for those
    that are decomposed to these."""
    decomposed = {aten.index_add, aten._unsafe_masked_index_put_accumulate}
    found = set()
    for op, function in lowering.lowerings.items():
        function = inspect.unwrap(function)
        source = inspect.getsource(function) if inspect.isfunction(function) else ""
        if re.search(r"return \w+_\(\s*clone\(x\)", source):
            found.add(getattr(op, "overloadpacket", op))
    # It writes numbers that the operand does not determine.
    found.discard(aten.bernoulli)
    assert found == _graph.OVERWRITING - decomposed, found
    packets = {getattr(op, "overloadpacket", None) for op in reinplace.inplaceable_ops}
    assert {each for each in packets if str(each).startswith("aten.")} <= found


check_heavy()
check_kinds()
check_library()
check_selections()
check_overwriting()
print("as PyTorch")
