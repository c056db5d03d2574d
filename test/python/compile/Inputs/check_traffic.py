"""The bytes of a kernel, as the benchmark of traffic counts them, are those of the operands that its text
reads and of those that it writes, each once."""

import math
import re
import sys

import fake_cuda
import torch
from torch import nn
from torch._inductor import config
from torch._inductor.compile_fx import compile_fx_inner

WIDTH, TOKENS = 64, 96


class Model(nn.Module):
    """Embeddings and a layer, with norms behind which dropouts write over random numbers."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(TOKENS, WIDTH)
        self.layer, self.norm = nn.Linear(WIDTH, WIDTH), nn.LayerNorm(WIDTH)
        self.dropout = nn.Dropout(0.1)

    def forward(self, tokens):
        x = self.dropout(self.norm(self.table(tokens)))
        return self.dropout(self.norm(x + self.dropout(self.layer(x)))).square().mean()


def count(source):
    """Returns the bytes of the operands that `source` reads and writes, and of those that it writes over or
    reads alone, where it may do both; None where it reads rows that an index picks."""
    if "device_assert" in source:
        return None, 0
    operands = re.search(r"^def triton_\w+\((.*?)\)", source, re.M)[1].split(", ")
    tensors = re.findall(r"arg_(\d+) = rand_strided\(\(([^)]*)\),.*dtype=torch\.(\w+)", source)
    total = single = 0
    for number, sizes, dtype in tensors:
        operand = operands[int(number)]
        numbers = [int(size) for size in sizes.split(",") if size.strip()]
        size = math.prod(numbers) * getattr(torch, dtype).itemsize
        reads, writes = (
            bool(re.search(rf"tl\.{access}\({operand}\b", source))
            for access in ("load", "(store|atomic_add)")
        )
        total += (reads + writes) * size
        single += size * (reads != writes and operand.startswith("in_out"))
    return total, single


def main():
    kernels = corrected = wrong = 0
    tokens = torch.randint(TOKENS, (8, 32))
    with config.patch(benchmark_kernel=True):
        parts = fake_cuda.write(Model(), (tokens,), fake_cuda.MovedStock(), compile_fx_inner)
    for part in parts:
        for kernel, source in part.sources.items():
            expected, single = count(source)
            if expected is None:
                continue
            kernels += 1
            corrected += bool(single)
            if found := part.count_bytes(kernel) - expected:
                wrong += 1
                print(f"{kernel} has {found} bytes more than {expected}")
    print(f"{kernels} kernels, {wrong} wrong; {corrected} have values of their own in place")
    return wrong or not corrected


if __name__ == "__main__":
    sys.exit(main())
