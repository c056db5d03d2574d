"""Coefficients that kernels of a GPU repeat for many elements: those that take many operations are in
memory, so that the gradient of a normalization of groups is not there twice."""

import pathlib
import sys
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).parents[4] / "benchmarks/compile"))
sys.path.insert(0, str(pathlib.Path(__file__).parents[4] / "benchmarks/common"))

import fake_cuda
import torch
from fad.torch.compile import _coefficients, _partitioner
from fad.torch.compile._backend import make_inner
from fad.torch.compile._pytorch import IS_WRITTEN
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx
from traffic_measure import Mixed

GROUPS, ELEMENTS = 6, 64


def repeat(x, times):
    """An elementwise operation of `x`, so many `times`."""
    for _ in range(times):
        x = x * 3
    return x


def repeat_twice(x, c, times):
    """The sum of products by two coefficients, of which the second one is computed of the first."""
    first = repeat(c, 9)
    return x * first + x * repeat(first, times)


def stretch(x):
    return x.reshape(GROUPS, 1).expand(GROUPS, ELEMENTS)


# By name: what is computed of elements and of a number for each row, and how many values are in memory.
CASES = {
    "many operations": (lambda x, c: x * repeat(c, 9), 1),
    "few operations": (lambda x, c: x * repeat(c, 8), 0),
    "few operations of one in memory": (lambda x, c: repeat_twice(x, c, 8), 1),
    "many operations of one in memory": (lambda x, c: repeat_twice(x, c, 9), 2),
    "operations of elements": (lambda x, c: repeat(x, 20) * c, 0),
    "a few repetitions": (lambda x, c: x[:, :31] * repeat(c, 20), 0),
    "views": (lambda x, c: x * stretch(repeat(c, 9).flatten()), 1),
    "a reduction of elements between": (lambda x, c: x * repeat(repeat(x, 9).sum(1, True), 8), 0),
}


def list_written(function):
    part = make_fx(function, tracing_mode="fake")(
        torch.randn(GROUPS, ELEMENTS), torch.randn(GROUPS, 1)
    )
    with mock.patch.object(_coefficients, "find_target", lambda _: "gpu"):
        _coefficients.write_coefficients(part)
    return [node.name for node in part.graph.nodes if node.meta.get(IS_WRITTEN)]


def count_bytes():
    """Returns the bytes that kernels of backward move."""
    model = Mixed(
        nn.Sequential(
            nn.Conv2d(8, 64, 3, padding=1),
            nn.GroupNorm(8, 64),
            nn.SiLU(),
            nn.Conv2d(64, 8, 3, padding=1),
        )
    )
    partitioner = fake_cuda.Kept()
    with torch._inductor.config.patch(benchmark_kernel=True):
        image = torch.randn(4, 8, 32, 32)
        parts = fake_cuda.write(model, (image,), partitioner, make_inner(partitioner, {}))
    return sum(map(parts[1].count_bytes, parts[1].launches))


def main():
    for name, (function, count) in CASES.items():
        written = list_written(function)
        print(f"{name}: {written}" if len(written) != count else "", end="")
    print()
    written = count_bytes()
    with mock.patch.object(_partitioner, "write_coefficients", lambda _: None):
        inline = count_bytes()
    print(f"bytes of backward: {written / inline:.2f} of those without coefficients in memory")


if __name__ == "__main__":
    main()
