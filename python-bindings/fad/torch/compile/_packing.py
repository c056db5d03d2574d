"""Few-bit numbers in bytes, as nodes that Inductor fuses with their neighbours.

Bits of one byte come from places that lie far apart: the first bits of all bytes
are one contiguous part of the tensor, and so on. So each part is one vector loop. It
consists of whole rows where that can be, and the loop over a row needs no quotients to
find its bytes."""

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


def can_pack(codes: torch.fx.Node, bits: int) -> bool:
    """Whether `codes` fill bytes; not if their number is unknown."""
    count = codes.meta["val"].numel()
    return isinstance(count, int) and count % (8 // bits) == 0


def pack(build: Build, codes: torch.fx.Node, bits: int) -> torch.fx.Node:
    """Bytes of `codes`, non-negative numbers below `2 ** bits`, for which `can_pack`
    holds."""
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


def unpack(build: Build, packed: torch.fx.Node, bits: int, shape: list[int]) -> torch.fx.Node:
    """The codes in `packed`, as integers of 32 bits of the shape `shape`."""
    each = 8 // bits
    device = packed.meta["val"].device
    steps = build(
        prims.iota.default,
        each,
        start=0,
        step=bits,
        dtype=torch.int32,
        device=device,
        requires_grad=False,
    )
    steps = build(aten.reshape.default, steps, [each, 1, 1])
    wide = build(prims.convert_element_type.default, packed, torch.int32)
    wide = build(aten.unsqueeze.default, wide, 0)
    codes = build(aten.bitwise_right_shift.Tensor, wide, steps)
    codes = build(aten.bitwise_and.Scalar, codes, 2**bits - 1)
    return build(aten.reshape.default, codes, shape)
