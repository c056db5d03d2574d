"""Masks of random numbers that are saved in few bits, on a GPU."""

import torch
from torch import fx

from ._build import Builder, Values

aten, prims = torch.ops.aten, torch.ops.prims


def find_masks(replaced: dict[fx.Node, fx.Node]) -> dict[fx.Node, fx.Node]:
    """The masks of the graph that are made of random numbers and packed on a GPU, with
    what stands for each of them behind its packed form. `replaced` has the new nodes by
    those that they replace.

    A mask is true where what stands for it is not zero."""
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
        makers = _find_makers(new, mask)
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
        and any(each.target is prims.inductor_random.default for each in mask.all_input_nodes)
    )


def _is_packed(mask: fx.Node, new: fx.Node) -> bool:
    """Whether `new` is computed from words, and neither from `mask` itself nor from random
    numbers: all ways from `new` to them lead through words, which together have fewer bytes
    than `mask` has elements."""
    count = mask.meta["val"].numel()
    # Where the number of elements is dynamic, nothing is packed.
    if not isinstance(count, int):
        return False
    words: set[fx.Node] = set()
    seen: set[fx.Node] = set()
    worklist = [new]
    while worklist:
        node = worklist.pop()
        if node is mask or node.target is prims.inductor_random.default:
            return False
        if _is_word(node, count):
            words.add(node)
        elif node not in seen:
            seen.add(node)
            worklist.extend(node.all_input_nodes)
    return bool(words) and sum(node.meta["val"].numel() for node in words) < count


def _is_word(node: fx.Node, count: int) -> bool:
    """Whether `node` is a tensor of fewer than `count` bytes without a sign."""
    value = node.meta.get("val")
    if not isinstance(value, torch.Tensor) or value.dtype is not torch.uint8:
        return False
    return isinstance(value.numel(), int) and value.numel() < count


def _find_makers(new: fx.Node, mask: fx.Node) -> set[fx.Node]:
    """The nodes of which `new` is made, with `new`, but for those of `mask` alone."""
    makers: set[fx.Node] = set()
    worklist = [new]
    while worklist:
        node = worklist.pop()
        if node is not mask and node not in makers:
            makers.add(node)
            worklist.extend(node.all_input_nodes)
    return makers
