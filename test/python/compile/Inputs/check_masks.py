"""Readers of random masks, which read the packed forms instead where these are of words
alone. Tensors are fake ones."""

import sys

import torch
from fad.torch.compile._build import Builder, Values, find_masks, pack, read_packed, unpack
from torch import fx
from torch._subclasses.fake_tensor import FakeTensorMode

aten, prims = torch.ops.aten, torch.ops.prims


def use_words(build, mask, random, codes):
    return codes


def use_mask(build, mask, random, codes):
    """Of words and of the mask itself."""
    return build(aten.bitwise_and.Tensor, codes, mask)


def use_numbers(build, mask, random, codes):
    """Of words and of the random numbers."""
    return build(aten.bitwise_and.Tensor, codes, build(aten.gt.Scalar, random, 0.1))


def use_no_words(build, mask, random, codes):
    return build(aten.logical_not.default, build(aten.logical_not.default, mask))


def make(device, use):
    """A graph with a mask, what `use` makes of it and of its packed form, and a reader; and
    whether the reader then reads what `use` has made."""
    graph = fx.Graph()
    seed = graph.placeholder("seed")
    with FakeTensorMode():
        seed.meta["val"] = torch.empty((), dtype=torch.int64, device=device)
    build = Builder(graph, Values(graph), seed)
    random = build(prims.inductor_random.default, [4, 16], seed, "rand")
    mask = build(aten.gt.Scalar, random, 0.1)
    bits = build(prims.convert_element_type.default, mask, torch.int32)
    words = pack(build, bits, 1)
    codes = build(aten.ne.Scalar, unpack(build, words, 1, [4, 16]), 0)
    new = use(build, mask, random, codes)
    reader = build(aten.logical_not.default, mask)
    graph.output((reader, new))
    masks = find_masks({mask: new})
    read_packed(graph, masks)
    graph.lint()
    # Words are made of the mask in any case.
    is_source = bits.args[0] is mask
    return reader.args[0] is new if is_source else "the words lose the mask"


def main():
    cases = {
        ("cuda", use_words): True,
        ("cuda", use_mask): False,
        ("cuda", use_numbers): False,
        ("cuda", use_no_words): False,
        ("cpu", use_words): False,
    }
    for (device, use), expected in cases.items():
        found = make(device, use)
        print(f"{device} {use.__name__}: {found}{'' if found is expected else ', wrong'}")


if __name__ == "__main__":
    sys.exit(main())
