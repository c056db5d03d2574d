"""New nodes of AOTAutograd's joint graph, with the tensors that they stand for."""

import functools
import math
import operator
from typing import Any, Callable, Sequence

import torch
from torch import fx
from torch.fx.experimental.symbolic_shapes import has_free_unbacked_symbols

from ._graph import find_makers
from ._import import NotPlanned
from ._pytorch import PLACE, FakeTensor, detect_fake_mode, identify_storage, unset_fake_temporarily

aten, prims = torch.ops.aten, torch.ops.prims


class Values:
    """Tensors without data, as PyTorch's operations return them.

    Equal operations on equal operands return equal tensors, so each is computed once.
    PyTorch compares storages, so each result is a tensor of its own."""

    def __init__(self, graph: fx.Graph) -> None:
        values = [node.meta.get("val") for node in graph.nodes]
        self.mode = detect_fake_mode([v for v in values if isinstance(v, torch.Tensor)])
        # Nodes that make a result, by the operation and its operands.
        self.forms: dict[Any, tuple[Any, ...]] = {}

    def compute(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Returns the result of `target`. Tensors are operands of their own, not in lists."""
        key = (target, tuple(map(_describe, args)), tuple(kwargs.items()))
        try:
            form = self.forms.get(key)
        except TypeError:
            # Symbolic sizes are no keys.
            return self.call(target, args, kwargs)
        if form is not None:
            return self.make(form, args)
        value = self.call(target, args, kwargs)
        self.forms[key] = (_get_form(value), _find_base(value, args))
        return value

    def call(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self.mode is None:
            raise NotPlanned("the graph has no fake tensors")
        with self.mode:
            return target(*args, **kwargs)

    def make(self, form: tuple[Any, ...], args: tuple[Any, ...]) -> torch.Tensor:
        (dtype, device, size, stride, offset), base = form
        with unset_fake_temporarily():
            if base is None:
                value = torch.empty_strided(size, stride, dtype=dtype, device="meta")
            else:
                storage = args[base].untyped_storage()
                value = torch.empty(0, dtype=dtype, device="meta")
                value.set_(storage, offset, size, stride)
            return FakeTensor(self.mode, value, device)


def _get_form(value: torch.Tensor) -> tuple[Any, ...]:
    return value.dtype, value.device, value.shape, value.stride(), value.storage_offset()


def _describe(argument: Any) -> Any:
    """`argument` as a part of a key."""
    if isinstance(argument, torch.Tensor):
        return _get_form(argument)
    if isinstance(argument, (list, tuple)):
        return tuple(argument)
    # Equal numbers of different types have different results.
    return type(argument), argument


def _find_base(value: torch.Tensor, args: tuple[Any, ...]) -> int | None:
    """Returns the number of the operand of which `value` is a view."""
    for number, argument in enumerate(args):
        if isinstance(argument, torch.Tensor):
            if identify_storage(argument) == identify_storage(value):
                return number
    return None


class Builder:
    """Adds nodes after `last`, whose place in the model they share, and after the
    inputs of the graph."""

    def __init__(self, graph: fx.Graph, values: Values, last: fx.Node) -> None:
        self.graph = graph
        self.values = values
        self.place = {key: last.meta[key] for key in PLACE if key in last.meta}
        while last.next.op == "placeholder":
            last = last.next
        self.last = last

    def __call__(self, target: Any, *args: Any, **kwargs: Any) -> fx.Node:
        with self.graph.inserting_after(self.last):
            node = self.graph.call_function(target, args, kwargs)
        node.meta.update(self.place)
        values = fx.map_arg(args, lambda operand: operand.meta["val"])
        node.meta["val"] = self.values.compute(target, values, kwargs)
        self.last = node
        return node


# Few-bit numbers in words, as nodes that Inductor fuses with their neighbors.
#
# On a CPU, words are bytes, and the bits of one byte come from places that lie far apart: the
# first bits of all bytes are one contiguous part of the tensor, and so on. So each part is one
# vector loop. It consists of whole rows where that can be, and the loop over a row needs no
# quotients to find its bytes. Where a number of elements is dynamic, or no multiple of the
# numbers in a word, zeros fill the last words, and each part is one row.
#
# On a GPU, a word has eight neighbors and is their sum, each shifted to its place. To Inductor's
# kernels in Triton, the sum is a reduction of short rows, which goes into one kernel with the
# operations that make the numbers: a kernel for parts of the tensor would run over fewer elements
# than those, so that Inductor fuses nothing with it.

# Adds a node, and returns it.
Build = Callable[..., torch.fx.Node]


def _find_part(shape: Sequence[int], each: int) -> list[int]:
    """Returns the shape of one of `each` parts of a tensor of `shape`: rows, and elements of a row.
    Rows are as long as can be."""
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
    """Returns the bits that a number of `bits` bits has in a word: 1, 2 or 4."""
    return 8 // (8 // bits)


def can_pack(codes: torch.fx.Node, bits: int) -> bool:
    """Tells whether `codes` are packed; not where their number depends on data. Where a number
    needs more than half a byte, it is as well off in its own."""
    return bits <= 4 and not has_free_unbacked_symbols(codes.meta["val"])


def pack(build: Build, codes: torch.fx.Node, bits: int) -> torch.fx.Node:
    """Words of `codes`, non-negative numbers below `2 ** bits`, for which `can_pack`
    holds. Their form, one dimension, depends on nothing but the number of codes."""
    if _is_for_loops(codes):
        return _pack_parts(build, codes, bits, 8 // bits)
    return _pack_neighbors(build, codes, bits)


def list_sizes(build: Build, codes: torch.fx.Node) -> list[Any]:
    """Returns the sizes of `codes`: numbers, or nodes for those that are dynamic."""
    return [
        size if isinstance(size, int) else build(aten.sym_size.int, codes, dimension)
        for dimension, size in enumerate(codes.meta["val"].shape)
    ]


def unpack(build: Build, packed: torch.fx.Node, bits: int, shape: list[Any]) -> torch.fx.Node:
    """Returns the codes in `packed`, as integers of 32 bits of the shape `shape`."""
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
    """Returns the result of `compute` for two numbers, or nodes that stand for numbers."""
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


# Masks of random numbers that are saved in few bits, on a GPU.


def find_masks(replaced: dict[fx.Node, fx.Node]) -> dict[fx.Node, fx.Node]:
    """Masks of random numbers that are packed on a GPU, with the node that replaces each behind
    its packed form. `replaced` has the new nodes by those that they replace.

    A mask is true where the node that replaces it is not zero."""
    masks = {}
    for old, new in replaced.items():
        mask = old.args[0] if old.target is prims.convert_element_type.default else old
        if _is_random(mask) and _is_packed(mask, new):
            masks[mask] = new
    return masks


def read_packed(graph: fx.Graph, masks: dict[fx.Node, fx.Node]) -> None:
    """Lets all readers of `masks` read the packed forms, where these are there already.

    Kernels that reduce rows, such as softmax and normalizations, cannot pack a mask, so
    another kernel does. Random numbers are drawn in one of them alone: the other would
    read them from memory, with 32 bits for each bit of the mask."""
    for mask, new in masks.items():
        makers = find_makers([new], lambda node: node is not mask)
        readers = [user for user in mask.users if user not in makers and user > new]
        if readers:
            build = Builder(graph, Values(graph), new)
            is_bool = new.meta["val"].dtype is torch.bool
            bits = new if is_bool else build(aten.ne.Scalar, new, 0)
            for user in readers:
                user.replace_input_with(mask, bits)


def _is_random(mask: fx.Node) -> bool:
    value = mask.meta.get("val")
    return (
        isinstance(value, torch.Tensor)
        and value.dtype is torch.bool
        and value.device.type != "cpu"
        and any(map(_is_drawn, mask.all_input_nodes))
    )


def _is_drawn(node: fx.Node) -> bool:
    """Tells whether `node` is random numbers, of 32 bits as they are drawn or of another type."""
    while node.target is prims.convert_element_type.default:
        node = node.args[0]
    return node.target is prims.inductor_random.default


def _is_packed(mask: fx.Node, new: fx.Node) -> bool:
    """Tells whether `new` is computed from words, and neither from `mask` itself nor from random
    numbers: all ways from `new` to them lead through words, which together have fewer bytes than
    `mask` has elements."""
    count = mask.meta["val"].numel()
    # Where the number of elements is dynamic, nothing is packed.
    if not isinstance(count, int):
        return False
    makers = find_makers([new], lambda node: not _is_word(node, count))
    if mask in makers or any(node.target is prims.inductor_random.default for node in makers):
        return False
    words = {new, *(used for node in makers for used in node.all_input_nodes)} - makers
    return bool(words) and sum(node.meta["val"].numel() for node in words) < count


def _is_word(node: fx.Node, count: int) -> bool:
    """Tells whether `node` is a tensor of fewer than `count` bytes without a sign."""
    value = node.meta.get("val")
    if not isinstance(value, torch.Tensor) or value.dtype is not torch.uint8:
        return False
    return isinstance(value.numel(), int) and value.numel() < count
