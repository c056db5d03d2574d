"""Sums over rows, divided by elements of the batch: the same numbers, in the kernels that compute the
rows."""

from unittest import mock

import fake_cuda
import torch
from fad.torch.compile import _partitioner, _split_sums
from fad.torch.compile._backend import make_inner
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx

ROWS, WIDTH = 40, 24
SUM = torch.ops.aten.sum.dim_IntList
# By name: the size of the terms, the dimensions of their reshaping, those of the sum, whether it keeps
# them, and whether the sum is divided.
CASES = {
    "rows of a batch": ((3, ROWS, WIDTH), (-1, WIDTH), [0], True, True),
    "rows of images": ((3, 5, 8, WIDTH), (-1, WIDTH), [0], False, True),
    "no element": ((0, ROWS, WIDTH), (-1, WIDTH), [0], True, True),
    "few rows": ((30, 4, WIDTH), (-1, WIDTH), [0], True, False),
    "other rows": ((3, ROWS, WIDTH), (-1, 2 * WIDTH), [0], True, False),
    "all": ((3, ROWS, WIDTH), (-1, WIDTH), None, True, False),
    "columns": ((3, ROWS, WIDTH), (-1, WIDTH), [1], True, False),
    "no reshaping": ((ROWS, WIDTH), (-1, WIDTH), [0], True, False),
}


def split(part):
    with (
        mock.patch.object(_split_sums, "find_target", lambda _: "gpu"),
        mock.patch.dict(_split_sums.SPLIT, split_sums=0),
    ):
        _split_sums.split_sums(part)


def check_numbers():
    for name, (shape, reshaped, dims, keeps, divides) in CASES.items():
        for dtype in (torch.float64, torch.bfloat16):
            # No elements are a constant to PyTorch.
            for mode in ("fake", "symbolic") if shape[0] else ("fake",):

                def function(x, y):
                    return SUM((x * y).reshape(reshaped), dims, keeps), SUM(x, [0])

                operands = [torch.randn(shape, dtype=dtype) for _ in range(2)]
                part = make_fx(function, tracing_mode=mode)(*operands)
                split(part)
                part.graph.lint()
                is_divided = len(part.graph.find_nodes(op="call_function", target=SUM)) == 3
                if is_divided != divides:
                    yield f"{name}, {dtype}, {mode}: the sum is divided: {is_divided}"
                # The sizes of another batch, where they are symbols.
                if mode == "symbolic":
                    operands = [
                        torch.randn(shape[0] + 1, *shape[1:], dtype=dtype) for _ in range(2)
                    ]
                for found, right in zip(part(*operands), function(*operands), strict=True):
                    if found.dtype != right.dtype or not torch.allclose(found, right):
                        yield f"{name}, {dtype}, {mode}: off by {(found - right).abs().max()}"


def check_reduction():
    """A kernel that subtracts the sum of each row, or the mean, has no sums of columns."""
    reductions = {
        "a sum": lambda x: SUM(x, [-1], True),
        "a mean and a variance": lambda x: torch.var_mean(x, -1, keepdim=True)[1],
    }
    for name, reduce in reductions.items():

        def function(x):
            return SUM((x - reduce(x)).reshape(-1, WIDTH), [0], True)

        part = make_fx(function, tracing_mode="fake")(torch.randn(3, ROWS, WIDTH))
        before = str(part.graph)
        split(part)
        if str(part.graph) != before:
            yield f"a sum behind {name} is divided"


def count_kernels():
    model = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64))
    partitioner = fake_cuda.Kept()
    inputs = (torch.randn(64, 197, 64, requires_grad=True),)
    return [
        len(part.sources)
        for part in fake_cuda.write(model, inputs, partitioner, make_inner(partitioner, {}))
    ]


def main():
    print(*check_numbers(), *check_reduction(), sep="\n")
    divided = count_kernels()
    with mock.patch.object(_partitioner, "split_sums", lambda _: None):
        whole = count_kernels()
    print(f"kernels of forward and backward: {divided}, without divided sums {whole}")


if __name__ == "__main__":
    main()
