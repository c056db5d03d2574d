"""New nodes of joint graphs: the tensors that they stand for are those that PyTorch
computes, each of a storage of its own or of that of its base, and numbers have the bits
that PyTorch gives them."""

import math
import random
import struct
import sys

import torch
from torch import fx
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from fad.torch.compile._build import Builder, Values
from fad._operators.writer import find_bits
from fad.torch._types import MLIR_TYPES

aten, prims = torch.ops.aten, torch.ops.prims
INTEGERS = {2: torch.int16, 4: torch.int32, 8: torch.int64}

# Operations of the tensors x, of floats, and i, of integers.
CALLS = (
    (aten.mul.Tensor, "x", "x"),
    (aten.mul.Tensor, "x", 2),
    (aten.mul.Tensor, "i", 2),
    (aten.mul.Tensor, "i", 2.0),
    (aten.add.Tensor, "x", "i"),
    (aten.gt.Tensor, "x", "x"),
    (aten.clone.default, "transposed"),
    (aten.exp.default, "transposed"),
    (aten.select.int, "x", 0, 1),
    (aten.select.int, "x", 0, 2),
    (aten.unsqueeze.default, "transposed", 0),
    (aten.reshape.default, "x", [2, 2, 6]),
    (aten.reshape.default, "transposed", [24]),
    (prims.convert_element_type.default, "x", torch.bfloat16),
    (prims.convert_element_type.default, "x", torch.float64),
)


def describe(value):
    return value.dtype, value.device, value.shape, value.stride(), value.storage_offset()


def storage(value):
    return value.untyped_storage()._cdata


def check_values(is_dynamic):
    mode = FakeTensorMode(shape_env=ShapeEnv() if is_dynamic else None)
    tensors = {"x": torch.randn(4, 6), "i": torch.zeros(4, 6, dtype=torch.int32)}
    graph = fx.Graph()
    nodes = {}
    for name, tensor in tensors.items():
        nodes[name] = graph.placeholder(name)
        if is_dynamic:
            torch._dynamo.maybe_mark_dynamic(tensor, 0)
        nodes[name].meta["val"] = mode.from_tensor(tensor)
    nodes["x"].meta["seq_nr"] = 7
    values = Values(graph)
    x = Builder(graph, values, nodes["x"])
    nodes["transposed"] = x(aten.permute.default, nodes["x"], [1, 0])
    errors = []
    for target, *arguments in CALLS:
        arguments = [nodes[a] if isinstance(a, str) else a for a in arguments]
        read = [a.meta["val"] if isinstance(a, fx.Node) else a for a in arguments]
        with mode:
            expected = target(*read)
        results = [Builder(graph, values, x.last)(target, *arguments) for _ in range(2)]
        made = [result.meta["val"] for result in results]
        if any(describe(value) != describe(expected) for value in made):
            errors.append(f"{target} has another result")
        if any(type(value) is not type(expected) for value in made):
            errors.append(f"{target} has a result of another class")
        if any(value.fake_mode is not mode for value in made):
            errors.append(f"{target} has a result of another mode")
        bases = {storage(read[0])}
        is_view = storage(expected) in bases
        if any((storage(value) in bases) != is_view for value in made):
            errors.append(f"{target} has the storage of another tensor")
        if not is_view and storage(made[0]) == storage(made[1]):
            errors.append(f"{target} has one storage twice")
        if any(result.meta.get("seq_nr") != 7 for result in results):
            errors.append(f"{target} has lost its place")
    graph.output(x.last)
    graph.lint()
    return errors


def check_bits():
    random.seed(0)
    numbers = [0.0, -0.0, 1.0, 65504.0, 65519.9, 65520.0, 3.4028235e38, 3.40282357e38, 1e40]
    numbers += [-1e40, 1e-46, 5e-324, 2.0**-24, 2.0**-25, math.inf, -math.inf, math.nan]
    for _ in range(2000):
        numbers.append(random.uniform(-4, 4) * 10 ** random.randint(-45, 45))
        half = random.getrandbits(16)
        numbers.append(struct.unpack("<f", struct.pack("<I", half << 16))[0])
        numbers.append(struct.unpack("<e", struct.pack("<H", half))[0])
    errors = []
    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
        for number in numbers:
            expected = torch.tensor(number, dtype=dtype)
            bits, is_exact = find_bits(number, MLIR_TYPES[dtype])
            if is_exact != (expected.item() == number or number != number):
                errors.append(f"{number} of {dtype}: exact is {is_exact}")
            integer = INTEGERS[dtype.itemsize]
            if number != number:
                is_right = torch.tensor(bits, dtype=integer).view(dtype).isnan()
            else:
                is_right = bits == expected.view(integer).item()
            # Bits that bfloat16 does not hold are zero.
            if not is_right and (is_exact or dtype is not torch.bfloat16):
                errors.append(f"{number} of {dtype} has the bits {bits:x}")
    return errors


def main():
    errors = [*check_values(False), *check_values(True), *check_bits()]
    print("\n".join(errors[:20]))
    print(f"{len(CALLS)} operations, {len(errors)} errors")
    return bool(errors)


if __name__ == "__main__":
    sys.exit(main())
