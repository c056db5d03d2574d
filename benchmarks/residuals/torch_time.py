"""The estimated time of all that a backward graph of PyTorch computes again, by the
same table as fad's estimate: as the bytes that memory moves in that time."""

import operator

import torch

aten = torch.ops.aten

# Eighths of the time that moving a byte takes, for each element.
ARITHMETIC, DIVISION, TRANSCENDENTAL = 1, 8, 64
DIVISIONS = {aten.div, aten.sqrt, aten.rsqrt, aten.reciprocal, aten.remainder}
TRANSCENDENTALS = {
    aten.erf,
    aten.exp,
    aten.expm1,
    aten.log,
    aten.log1p,
    aten.sigmoid,
    aten.tanh,
    aten.gelu,
    aten.mish,
    aten.silu,
    aten.softplus,
}
CONTRACTIONS = {aten.mm, aten.addmm, aten.bmm, aten.baddbmm, aten.convolution}
# Operators that read no more elements of its first operand than it has results.
PICKING = {aten.embedding, aten.gather, aten.index, aten.index_select}
# Philox has ten rounds of eight operations for a number.
RANDOM, RANDOM_OPERATIONS = {"inductor_random", "rand", "rand_like"}, 80
CONSTANTS = {aten.full, aten.scalar_tensor, aten.arange, aten.empty}


def get_tensors(value):
    """Returns the tensors among the values of a node."""
    values = value if isinstance(value, (list, tuple)) else [value]
    return [each for each in values if isinstance(each, torch.Tensor)]


def is_view(target):
    return any(result.alias_info for result in target._schema.returns)


def estimate(node):
    """Returns the time of one node, or None for a contraction."""
    target = node.target
    if target is operator.getitem or not isinstance(target, torch._ops.OpOverload):
        return 0
    packet = target.overloadpacket
    if packet in CONTRACTIONS:
        return None
    if packet in CONSTANTS or is_view(target):
        return 0
    results = get_tensors(node.meta["val"])
    arguments = node.all_input_nodes[packet in PICKING :]
    tensors = results + [
        each for argument in arguments for each in get_tensors(argument.meta["val"])
    ]
    weight = ARITHMETIC
    if packet in DIVISIONS:
        weight = DIVISION
    elif packet in TRANSCENDENTALS:
        weight = TRANSCENDENTAL
    elif packet is aten.pow and node.args[1] not in (2, 3):
        weight = TRANSCENDENTAL
    elif target._schema.name.split("::")[1] in RANDOM:
        weight = RANDOM_OPERATIONS
    elements = max(each.numel() for each in tensors)
    # An operator that only moves elements fuses as elementwise operations do.
    fuses = all(each.numel() == elements for each in results)
    traffic = 0 if fuses else sum(each.nbytes for each in tensors)
    if packet in PICKING:
        traffic += sum(each.nbytes for each in results)
    return weight * elements / 8 + traffic


def estimate_recomputation(backward):
    """Returns the time of the values that `backward`, a backward graph, computes without
    cotangents, or None where contractions are among that."""
    linear, total = set(), 0
    for node in backward.graph.nodes:
        of_cotangent = node.op == "placeholder" and node.name.startswith("tangents")
        if of_cotangent or any(each in linear for each in node.all_input_nodes):
            linear.add(node)
        elif node.op == "call_function":
            time = estimate(node)
            if time is None:
                return None
            total += time
    return total
