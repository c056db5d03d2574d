"""Inductor's code for fad's residuals on a GPU: its kernels in Triton, compiled to PTX
and machine code without a GPU.

usage: check_kernels.py [CASE ...] [--capabilities 80 90] [--all-configurations]"""

import argparse
import functools
import re
import subprocess
import sys
import tempfile
import warnings

import fake_cuda
import torch
import torch.nn.functional as F
from fad.torch.compile._backend import make_inner
from torch import nn
from torch._inductor.compile_fx import compile_fx_inner

BATCH, WIDTH, INNER, LENGTH = 32, 64, 256, 16


class Block(nn.Module):
    """Two linear layers, and `function` between them."""

    def __init__(self, function, frozen=False):
        super().__init__()
        self.first, self.second = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)
        # Its weight has no gradient, for which backward would read the result of `function`.
        self.second.requires_grad_(not frozen)
        self.function = function

    def forward(self, x):
        return self.second(self.function(self.first(x)))


class Gate(Block):
    def __init__(self):
        super().__init__(F.silu)
        self.gate = nn.Linear(WIDTH, INNER)

    def forward(self, x):
        return self.second(self.function(self.gate(x)) * self.first(x))


class Layer(Block):
    """A layer of a transformer."""

    def __init__(self, heads=4):
        super().__init__(F.gelu)
        self.heads = heads
        self.query, self.key, self.value, self.mix = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))

    def forward(self, x):
        parts = (part(x) for part in (self.query, self.key, self.value))
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in parts)
        weights = (q @ k.transpose(-1, -2) / (WIDTH // self.heads) ** 0.5).softmax(-1)
        mixed = (F.dropout(weights, 0.1) @ v).transpose(1, 2).flatten(2)
        x = self.norms[0](x + F.dropout(self.mix(mixed), 0.1))
        return self.norms[1](x + F.dropout(super().forward(x), 0.1))


def drop(x):
    return F.dropout(x, 0.1)


# By name, the policy and the module.
CASES = {
    "gelu": ("fad", lambda: Block(F.gelu)),
    "tanh-gelu": ("fad", lambda: Block(functools.partial(F.gelu, approximate="tanh"))),
    "mish": ("fad", lambda: Block(F.mish)),
    "silu-gate": ("fad", Gate),
    "relu-mask": ("auto", lambda: Block(F.relu, frozen=True)),
    "dropout": ("auto", lambda: Block(drop)),
    "gelu-dropout": ("auto", lambda: Block(lambda x: drop(F.gelu(x)))),
    "layer": ("auto", Layer),
}  # fmt: skip


def find_bits(source):
    """The parameters of a kernel that are bytes."""
    return re.findall(r"'(\w+)': '\*u8'", source)


def describe(part, capability, count):
    """The kernels of `part` in their first `count` configurations: elements of a block and
    warps, registers, and the loads and stores of a thread."""
    for name, source in part.sources.items():
        for configuration, ptx in fake_cuda.compile_kernel(name, source, capability, count):
            registers, spills = assemble(ptx)
            loads, stores = (len(re.findall(rf"\b{op}\.global", ptx)) for op in ("ld", "st"))
            sizes = [*configuration.kwargs.values(), f"{configuration.num_warps} warps"]
            yield (
                f"  sm_{capability} {name}, {', '.join(map(str, sizes))}: "
                f"{registers} registers, {loads} loads, {stores} stores, {spills} bytes spilled"
            )


def assemble(ptx):
    """The registers and spilled bytes of a kernel, in the words of NVIDIA's assembler."""
    from triton import knobs

    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(ptx)
        file.flush()
        (target,) = re.findall(r"^\.target (\w+)", ptx, re.M)
        program = [knobs.nvidia.ptxas.path, "-v", f"--gpu-name={target}"]
        run = subprocess.run(
            [*program, file.name, "-o", "/dev/null"], check=True, stderr=subprocess.PIPE, text=True
        )
    spills = sum(map(int, re.findall(r"(\d+) bytes spill", run.stderr)))
    return int(re.search(r"Used (\d+) registers", run.stderr)[1]), spills


def check(name, capabilities, count):
    policy, make = CASES[name]
    shape = (4, LENGTH, WIDTH) if name == "layer" else (BATCH, WIDTH)
    partitioner = fake_cuda.Moved(policy)
    inner = make_inner(partitioner, {})
    own = fake_cuda.write(make(), [torch.randn(shape)], partitioner, inner)
    stock = fake_cuda.write(make(), [torch.randn(shape)], fake_cuda.MovedStock(), compile_fx_inner)
    counts = [[len(part.launches) for part in parts] for parts in (own, stock)]
    forward, backward = ([part.sources[each] for each in part.launches] for part in own)
    packing = [source for source in forward if find_bits(source)]
    # Kernels that draw a mask for others, and do nothing else.
    drawing = [
        source for source in packing
        if ".rand" in source and source.count("tl.load") == 1 and source.count("tl.store") == 1
    ]  # fmt: skip
    stores = [source.count("tl.store") for source in forward]
    print(
        f"{name}: kernels {counts[0]}, PyTorch's {counts[1]}; "
        f"{len(drawing)} draw masks alone; forward's store {stores}"
    )
    for source in forward:
        # No random number goes through memory.
        for number in re.findall(r"(tmp\d+) = [\w.]+\.rand", source):
            if re.search(rf"tl\.store\(.*, {number}, ", source):
                yield "a random number is stored"
    if any(counts[0][i] > counts[1][i] + (0 if i else len(drawing)) for i in range(2)):
        yield "there are more kernels than PyTorch's"
    if policy == "fad" and stores != [3 if name == "silu-gate" else 2]:
        yield "value and derivative are not of one kernel"
    if policy == "auto" and not (packing and any(map(find_bits, backward))):
        yield "no kernel packs bits, or none of backward reads them"
    for capability in capabilities:
        for part in own:
            print(*describe(part, capability, count), sep="\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--capabilities", type=int, nargs="+", default=[80, 90])
    parser.add_argument("--all-configurations", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("error", RuntimeWarning)
    errors = [
        f"{name}: {error}"
        for name in arguments.names or CASES
        for error in check(
            name, arguments.capabilities, None if arguments.all_configurations else 1
        )
    ]
    print(*errors, sep="\n")
    print("wrong" if errors else "right")
    return bool(errors)


if __name__ == "__main__":
    sys.exit(main())
