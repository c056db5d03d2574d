"""Work of backward with operations that fad knows by their costs alone."""

import operator
from typing import Any

import torch
from torch import fx
from torch.utils.checkpoint import CheckpointPolicy

from ._pytorch import OpOverload, must_repeat
from ._sizes import estimate_size

aten, prims = torch.ops.aten, torch.ops.prims

_VIEWS = {
    aten.alias,
    aten.as_strided,
    aten.detach,
    aten.diagonal,
    aten.expand,
    aten.permute,
    aten.select,
    aten.slice,
    aten.split,
    aten.split_with_sizes,
    aten.squeeze,
    aten.t,
    aten.transpose,
    aten.unbind,
    aten.unfold,
    aten.unsafe_chunk,
    aten.unsafe_split,
    aten.unsafe_split_with_sizes,
    aten.unsqueeze,
    aten.view,
    aten.view_as_complex,
    aten.view_as_real,
    aten._conj,
    aten._reshape_alias,
    aten._unsafe_view,
    aten.reshape,
}
_CONTRACTIONS = {
    aten.addmm,
    aten.addmv,
    aten.baddbmm,
    aten.bmm,
    aten.convolution,
    aten.dot,
    aten.linear,
    aten.matmul,
    aten.mm,
    aten.mv,
    aten._scaled_mm,
    aten._scaled_dot_product_cudnn_attention,
    aten._scaled_dot_product_efficient_attention,
    aten._scaled_dot_product_flash_attention,
    aten._scaled_dot_product_flash_attention_for_cpu,
}
_REDUCTIONS = {
    aten.all,
    aten.amax,
    aten.amin,
    aten.any,
    aten.argmax,
    aten.argmin,
    aten.cumsum,
    aten.logsumexp,
    aten.max,
    aten.mean,
    aten.min,
    aten.prod,
    aten.std,
    aten.sum,
    aten.var,
    aten.var_mean,
    aten._log_softmax,
    aten._softmax,
}
# Elements in other places, and tensors that no tensor determines. Both fuse with
# their readers.
_MOVEMENTS = {
    aten.arange,
    aten.cat,
    aten.constant_pad_nd,
    aten.embedding,
    aten.empty,
    aten.flip,
    aten.full,
    aten.full_like,
    aten.gather,
    aten.index,
    aten.index_select,
    aten.ones,
    aten.ones_like,
    aten.repeat,
    aten.scalar_tensor,
    aten.select_scatter,
    aten.slice_scatter,
    aten.tril,
    aten.triu,
    aten.zeros,
    aten.zeros_like,
    prims.iota,
    prims._low_memory_max_pool_offsets_to_indices,
}
# Operators that Inductor fuses with their readers, though backward never repeats it.
_FUSED = {prims.inductor_lookup_seed, prims.inductor_random}
# Operators that Inductor computes in the memory of the first operand, where nothing else reads
# that.
_OVERWRITING = {
    aten._unsafe_index_put,
    aten._unsafe_masked_index_put_accumulate,
    aten.index_add,
    aten.index_put,
    aten.scatter,
    aten.scatter_add,
    aten.scatter_reduce,
}
# The places of the images and of the filter among the operands of a convolution, and how
# many copies of the filter are there at once: in Inductor's layout, in that of the kernel,
# and of the gradient.
_CONVOLUTIONS = {aten.convolution: (0, 1, 2), aten.convolution_backward: (1, 2, 3)}


def find_memory(node: fx.Node) -> list[str]:
    """The attributes that say what Inductor does with the memory of `node`."""
    packet = getattr(node.target, "overloadpacket", None)
    if packet in _FUSED:
        return ["fad.fuses"]
    if packet in _OVERWRITING:
        return ["fad.overwrites"]
    if packet not in _CONVOLUTIONS:
        return []
    images, weights, copies = _CONVOLUTIONS[packet]
    values = (node.args[images].meta["val"], node.args[weights].meta["val"])
    image, weight = (estimate_size(value.numel()) * value.dtype.itemsize for value in values)
    is_cpu = values[0].device.type == "cpu"
    return [f"fad.scratch = {image + copies * weight}"] if is_cpu else []


def find_kind(node: fx.Node) -> str:
    """The kind of `fad.opaque` for `node`. What is not known is kept: repeating it
    may have other effects, or other results."""
    if must_repeat(node):
        return "repeat"
    target: Any = node.target
    if is_bound(node) or not isinstance(target, OpOverload) or target._schema.is_mutable:
        return "keep"
    if torch.Tag.nondeterministic_seeded in target.tags:
        return "keep"
    packet = target.overloadpacket
    for kind, packets in (
        ("view", _VIEWS),
        ("contraction", _CONTRACTIONS),
        ("reduction", _REDUCTIONS),
        ("elementwise", _MOVEMENTS),
    ):
        if packet in packets:
            return kind
    # A copy to another device is no conversion of elements.
    if packet is aten._to_copy and node.kwargs.get("device") is None:
        return "elementwise"
    return "elementwise" if torch.Tag.pointwise in target.tags else "keep"


def is_bound(node: fx.Node) -> bool:
    """Whether a checkpoint decides whether backward repeats `node`."""
    must_save = node.meta.get("recompute") is CheckpointPolicy.MUST_SAVE
    return must_save or must_repeat(node)


def is_part(node: fx.Node) -> bool:
    """Whether `node` is one of several results of another node."""
    return node.target is operator.getitem
