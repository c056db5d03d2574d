"""Packs few-bit numbers and unpacks them, in the forms for CPUs and for GPUs, which are both
executed on the CPU. Words of single bits are compared with NumPy's."""

import sys

import numpy as np
import torch
from fad.torch.compile._build import can_pack, pack, unpack

SHAPES = [(8,), (16, 8), (3, 8), (5, 7, 8), (4, 6), (2, 3, 4), (7, 3), (0, 8), ()]


class Value:
    """A tensor in the place of a node of a graph; it computes on the CPU, and is said to be
    on `device`."""

    def __init__(self, data, device):
        self.data = data
        self.meta = {"val": data.to(device)}


def make_builder(device):
    def build(target, *args, **options):
        args = [each.data if isinstance(each, Value) else each for each in args]
        if "device" in options:
            options["device"] = torch.device("cpu")
        return Value(target(*args, **options), device)

    return build


def check(shape, bits, device):
    """The error of the words of a tensor, if there is one."""
    build = make_builder(device)
    codes = torch.randint(0, 2**bits, shape, dtype=torch.int32)
    if not can_pack(Value(codes, device), bits):
        return "is not packed" if bits <= 4 else ""
    words = pack(build, Value(codes, device), bits)
    # The bits of a number in its word, and the numbers in a word.
    place = 8 // (8 // bits)
    each = 8 if device == "meta" else 8 // place
    if words.data.shape != (-(-codes.numel() // each),) or words.data.itemsize * 8 != each * place:
        return f"has words of {words.data.dtype}, {tuple(words.data.shape)}"
    if bits == 1 and device == "meta":
        expected = np.packbits(codes.numpy().astype(np.uint8).ravel(), bitorder="little")
        if not np.array_equal(words.data.numpy(), expected):
            return "has other bits than NumPy's"
    back = unpack(build, words, bits, list(shape)).data
    return "" if back.shape == codes.shape and torch.equal(back, codes) else "is not unpacked"


def main():
    torch.manual_seed(0)
    cases = [(s, b, d) for s in SHAPES for b in range(1, 9) for d in ("cpu", "meta")]
    wrong = [(case, text) for case in cases if (text := check(*case))]
    for case, text in wrong:
        print(*case, text)
    print(f"{len(cases)} tensors, {len(wrong)} wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
