"""Few-bit numbers in words, as nodes that Inductor fuses with their neighbors.

On a CPU, words are bytes, and the bits of one byte come from places that lie far apart: the
first bits of all bytes are one contiguous part of the tensor, and so on. So each part is one
vector loop. It consists of whole rows where that can be, and the loop over a row needs no
quotients to find its bytes.

On a GPU, a word has eight neighbors and is their sum, each shifted to its place. To
Inductor's kernels in Triton, the sum is a reduction of short rows, which goes into one
kernel with the operations that make the numbers: a kernel for parts of the tensor would
run over fewer elements than those, so that Inductor fuses nothing with it."""

from typing import Callable, Sequence

import torch

aten, prims = torch.ops.aten, torch.ops.prims

# Adds a node, and returns it.
Build = Callable[..., torch.fx.Node]


def _find_part(shape: Sequence[int], each: int) -> list[int]:
    """The shape of one of `each` parts of a tensor of `shape`: rows, and elements of a
    row. Rows are as long as can be."""
    rows, total = 1, 1
    for size in shape:
        total *= size
        if rows % each:
            rows *= size
    return [rows // each, total // max(rows, 1)]


# The numbers in a word on a GPU. Inductor unrolls sums of fewer, and fuses them no more.
_NEIGHBORS = 8

# The types of their words by the bits that a number has in them.
_WORDS = {1: torch.uint8, 2: torch.int16, 4: torch.int32}


def _is_for_loops(node: torch.fx.Node) -> bool:
    return node.meta["val"].device.type == "cpu"


def _find_place(bits: int) -> int:
    """The bits that a number of `bits` bits has in a word: 1, 2 or 4."""
    return 8 // (8 // bits)


def can_pack(codes: torch.fx.Node, bits: int) -> bool:
    """Whether `codes` fill words; not if their number is unknown. Where a number needs
    more than half a byte, it is as well off in its own."""
    count = codes.meta["val"].numel()
    each = 8 // bits if _is_for_loops(codes) else _NEIGHBORS
    return isinstance(count, int) and bits <= 4 and count % each == 0


def pack(build: Build, codes: torch.fx.Node, bits: int) -> torch.fx.Node:
    """Words of `codes`, non-negative numbers below `2 ** bits`, for which `can_pack`
    holds."""
    return (_pack_parts if _is_for_loops(codes) else _pack_neighbors)(build, codes, bits)


def unpack(build: Build, packed: torch.fx.Node, bits: int, shape: list[int]) -> torch.fx.Node:
    """The codes in `packed`, as integers of 32 bits of the shape `shape`."""
    # The places of a word are the first dimension of the codes on a CPU, and the last on a GPU.
    if _is_for_loops(packed):
        each, dimension, steps_shape = 8 // bits, 0, [8 // bits, 1, 1]
        step = bits
    else:
        each, dimension, steps_shape = _NEIGHBORS, 1, [1, _NEIGHBORS]
        step = _find_place(bits)
    steps = _list_steps(build, packed, each, step)
    steps = build(aten.reshape.default, steps, steps_shape)
    wide = build(prims.convert_element_type.default, packed, torch.int32)
    wide = build(aten.unsqueeze.default, wide, dimension)
    codes = build(aten.bitwise_right_shift.Tensor, wide, steps)
    codes = build(aten.bitwise_and.Scalar, codes, 2**bits - 1)
    return build(aten.reshape.default, codes, shape)


def _list_steps(build: Build, like: torch.fx.Node, each: int, step: int) -> torch.fx.Node:
    """By how many bits each of the numbers in a word is shifted."""
    return build(
        prims.iota.default,
        each,
        start=0,
        step=step,
        dtype=torch.int32,
        device=like.meta["val"].device,
        requires_grad=False,
    )


def _pack_neighbors(build: Build, codes: torch.fx.Node, bits: int) -> torch.fx.Node:
    count, place = codes.meta["val"].numel(), _find_place(bits)
    rows = build(aten.reshape.default, codes, [count // _NEIGHBORS, _NEIGHBORS])
    rows = build(prims.convert_element_type.default, rows, torch.int32)
    steps = _list_steps(build, codes, _NEIGHBORS, place)
    rows = build(aten.bitwise_left_shift.Tensor, rows, steps)
    words = build(aten.sum.dim_IntList, rows, [1], dtype=torch.int32)
    return build(prims.convert_element_type.default, words, _WORDS[place])


def _pack_parts(build: Build, codes: torch.fx.Node, bits: int) -> torch.fx.Node:
    each = 8 // bits
    part = _find_part(codes.meta["val"].shape, each)
    rows = build(aten.reshape.default, codes, [each, *part])
    packed = None
    for number in range(each):
        row = build(aten.select.int, rows, 0, number)
        # C++ code for integers of 32 bits is vectorized best.
        row = build(prims.convert_element_type.default, row, torch.int32)
        if number:
            row = build(aten.bitwise_left_shift.Tensor_Scalar, row, bits * number)
            row = build(aten.bitwise_or.Tensor, packed, row)
        packed = row
    return build(prims.convert_element_type.default, packed, torch.uint8)
