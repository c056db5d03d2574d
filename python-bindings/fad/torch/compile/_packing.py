"""Few-bit numbers in words, as nodes that Inductor fuses with their neighbors.

On a CPU, words are bytes, and the bits of one byte come from places that lie far apart: the
first bits of all bytes are one contiguous part of the tensor, and so on. So each part is one
vector loop. It consists of whole rows where that can be, and the loop over a row needs no
quotients to find its bytes. Where a number of elements is dynamic, or no multiple of the
numbers in a word, zeros fill the last words, and each part is one row.

On a GPU, a word has eight neighbors and is their sum, each shifted to its place. To
Inductor's kernels in Triton, the sum is a reduction of short rows, which goes into one
kernel with the operations that make the numbers: a kernel for parts of the tensor would
run over fewer elements than those, so that Inductor fuses nothing with it."""

import functools
import math
import operator
from typing import Any, Callable, Sequence

import torch
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

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
    """Whether `codes` are packed; not where their number depends on data. Where a number needs
    more than half a byte, it is as well off in its own."""
    return bits <= 4 and not free_unbacked_symbols(codes.meta["val"])


def pack(build: Build, codes: torch.fx.Node, bits: int) -> torch.fx.Node:
    """Words of `codes`, non-negative numbers below `2 ** bits`, for which `can_pack`
    holds. Their form, one dimension, depends on nothing but the number of codes."""
    if _is_for_loops(codes):
        return _pack_parts(build, codes, bits, 8 // bits)
    return _pack_neighbors(build, codes, bits)


def list_sizes(build: Build, codes: torch.fx.Node) -> list[Any]:
    """The sizes of `codes`: numbers, or nodes for those that are dynamic."""
    return [
        size if isinstance(size, int) else build(aten.sym_size.int, codes, dimension)
        for dimension, size in enumerate(codes.meta["val"].shape)
    ]


def unpack(build: Build, packed: torch.fx.Node, bits: int, shape: list[Any]) -> torch.fx.Node:
    """The codes in `packed`, as integers of 32 bits of the shape `shape`."""
    # The places of a word are the first dimension of the codes on a CPU, and the last on a GPU.
    if _is_for_loops(packed):
        each, steps_shape, step = 8 // bits, [8 // bits, 1, 1], bits
    else:
        each, steps_shape, step = _NEIGHBORS, [1, _NEIGHBORS], _find_place(bits)
    steps = _list_steps(build, packed, each, step)
    steps = build(aten.reshape.default, steps, steps_shape)
    is_whole = all(isinstance(size, int) for size in shape) and math.prod(shape) % each == 0
    if not _is_for_loops(packed):
        packed = build(aten.unsqueeze.default, packed, 1)
    elif is_whole:
        packed = build(aten.reshape.default, packed, [1, *_find_part(shape, each)])
    else:
        packed = build(aten.unsqueeze.default, build(aten.unsqueeze.default, packed, 0), 0)
    wide = build(prims.convert_element_type.default, packed, torch.int32)
    codes = build(aten.bitwise_right_shift.Tensor, wide, steps)
    codes = build(aten.bitwise_and.Scalar, codes, 2**bits - 1)
    if not is_whole:
        codes = build(aten.reshape.default, codes, [-1])
        count = functools.reduce(functools.partial(_compute, build, operator.mul), shape, 1)
        codes = build(aten.slice.Tensor, codes, 0, 0, count)
    return build(aten.reshape.default, codes, shape)


def _compute(build: Build, compute: Callable, one: Any, other: Any) -> Any:
    """The result of `compute` for two numbers, or nodes that stand for numbers."""
    if isinstance(one, int) and isinstance(other, int):
        return compute(one, other)
    return build(compute, one, other)


def _divide(build: Build, codes: torch.fx.Node, each: int) -> tuple[torch.fx.Node, Any]:
    """`codes` in one dimension, with zeros at the end, so that `each` go into a word; and
    the number of words."""
    flat = build(aten.reshape.default, codes, [-1])
    compute = functools.partial(_compute, build)
    count = codes.meta["val"].numel()
    if not isinstance(count, int):
        count = build(aten.sym_size.int, flat, 0)
    words = compute(operator.floordiv, compute(operator.add, count, each - 1), each)
    missing = compute(operator.sub, compute(operator.mul, words, each), count)
    if missing != 0:
        flat = build(aten.constant_pad_nd.default, flat, [0, missing])
    return flat, words


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
    place = _find_place(bits)
    flat, words = _divide(build, codes, _NEIGHBORS)
    rows = build(aten.reshape.default, flat, [words, _NEIGHBORS])
    rows = build(prims.convert_element_type.default, rows, torch.int32)
    steps = _list_steps(build, codes, _NEIGHBORS, place)
    rows = build(aten.bitwise_left_shift.Tensor, rows, steps)
    words = build(aten.sum.dim_IntList, rows, [1], dtype=torch.int32)
    return build(prims.convert_element_type.default, words, _WORDS[place])


def _pack_parts(build: Build, codes: torch.fx.Node, bits: int, each: int) -> torch.fx.Node:
    count = codes.meta["val"].numel()
    if isinstance(count, int) and count % each == 0:
        part: list[Any] = _find_part(codes.meta["val"].shape, each)
    else:
        codes, words = _divide(build, codes, each)
        part = [words]
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
    packed = build(prims.convert_element_type.default, packed, torch.uint8)
    return build(aten.reshape.default, packed, [-1])
