"""Operations on repeated elements come before these are repeated: the same numbers, and no copies of the
gradient of a mean to the layout of a convolution. Truth values are decoded by as many operations as the
model of the peak counts."""

import pathlib
import sys
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).parents[4] / "benchmarks/compile"))
sys.path.insert(0, str(pathlib.Path(__file__).parents[4] / "benchmarks/common"))

import fake_cuda
import torch
from fad.torch.compile import _expand, _partitioner
from fad.torch.compile._backend import make_inner
from torch._inductor import ir
from torch._inductor.graph import GraphLowering
from torch.fx.experimental.proxy_tensor import make_fx
from traffic_measure import make_model

aten, prims = torch.ops.aten, torch.ops.prims
SHAPE = (3, 4, 5, 6)


def repeat(x):
    return aten.expand.default(x, SHAPE)


def divide(x):
    return aten.div.Scalar(repeat(x), 7)


# By name: a function of repeated elements and of all, and how many operations move.
CASES = {
    "a quotient": (lambda x, y: divide(x) * y, 1),
    "a cast of a quotient": (
        lambda x, y: prims.convert_element_type.default(divide(x), torch.float64) * y,
        2,
    ),
    "of two readers": (lambda x, y: divide(x) * y + divide(x), 2),
    "a square": (lambda x, y: aten.mul.Tensor(repeat(x), repeat(x)) * y, 0),
    "a result": (lambda x, y: (divide(x), y), 0),
    "a view": (lambda x, y: aten.view.default(divide(x), [12, 30]).exp(), 0),
    "a sum": (lambda x, y: aten.sum.dim_IntList(divide(x), [1]), 0),
    "random numbers": (lambda x, y: aten.rand_like.default(repeat(x)) * 0 + y, 0),
    "more dimensions": (lambda x, y: aten.add.Tensor(repeat(x), y) * y, 0),
    "an order of dimensions": (
        lambda x, y: aten.clone.default(divide(x), memory_format=torch.channels_last) * y,
        1,
    ),
}


def count_small(graph, sizes):
    """Returns how many operations of `graph` that compute have so many elements."""
    nodes = [node for node in graph.nodes if _expand._is_elementwise(node)]
    return sum(tuple(node.meta["val"].shape) == tuple(sizes) for node in nodes)


def check_numbers():
    for name, (function, moves) in CASES.items():
        for sizes in ((), (1, 4, 1, 1)):
            operands = torch.randn(sizes), torch.randn(SHAPE)
            part = make_fx(function, tracing_mode="fake")(*operands)
            with mock.patch.object(_expand, "find_target", lambda _: "gpu"):
                _expand.expand_last(part)
            part.graph.lint()
            found, right = part(*operands), function(*operands)
            if not all(map(torch.equal, found, right)):
                yield f"{name}, {sizes}: other numbers"
            if count_small(part.graph, sizes) != moves:
                yield f"{name}, {sizes}: {count_small(part.graph, sizes)} moved"


# Inductor has images of so many channels in "channels last".
SIZES = dict(width=128, after=256, batch=2, pixels=16, dropout=0.1)


def make_step(**options):
    """Returns the partitioner of a block of a U-Net, which has chosen the parts of a step."""
    model, partitioner = make_model("unet", SIZES), fake_cuda.Kept(**options)
    fake_cuda.write(model.module, model.inputs, partitioner, make_inner(partitioner, {}))
    return partitioner


def count_bytes():
    """Returns how many bytes the kernels of backward read and write."""
    # The fastest selection saves results of convolutions, whose layout the cotangent has.
    partitioner = make_step(budget=2**40)
    with fake_cuda.pretend():
        return partitioner._schedule(partitioner.parts, 1)[1].traffic


def count_decoding():
    """Returns the operations by which Inductor decodes a truth value, and reads its word."""
    counts, call = set(), GraphLowering.call_function

    def count(graph, target, *arguments):
        result = call(graph, target, *arguments)
        inner = getattr(getattr(result, "data", None), "data", None)
        if isinstance(inner, ir.Pointwise) and inner.dtype is torch.bool:
            found = inner.inner_fn_opcount()
            if "bitwise_right_shift" in found.used_ops:
                counts.add(found.num_ops)
        return result

    with mock.patch.object(GraphLowering, "call_function", count):
        make_step()
    return counts


def main():
    wrong = list(check_numbers())
    print(*wrong, sep="\n")
    moved = count_bytes()
    with mock.patch.object(_partitioner, "expand_last", lambda _: None):
        copied = count_bytes()
    print(f"backward moves {moved} bytes, and {copied} with copies of the cotangent")
    decoding = count_decoding()
    print(f"operations of a truth value: {decoding}")
    # The read, and those of select-residuals-fusion-decoding.mlir.
    return bool(wrong) or moved >= copied or decoding != {7}


if __name__ == "__main__":
    sys.exit(main())
