"""The peak of a step with checkpoints that Inductor has compiled is not above eager
PyTorch's. The allocator gives what the kernels need, whatever they compute, so that no
compiler is needed: they are empty."""

import sys
import warnings

import torch
from torch import nn
from torch._inductor.async_compile import AsyncCompile
from torch.utils.checkpoint import checkpoint

from fad.torch.compile._measure import measure_peak


class Layer(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.norm, self.inner = nn.LayerNorm(size), nn.Linear(size, size)
        self.up, self.down = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)

    def forward(self, x):
        x = x + self.inner(self.norm(x)).sin()
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


class Twice(nn.Module):
    """Two losses by the same checkpointed layers. The first layer of both runs begins with
    the same operations."""

    def __init__(self, size=32, depth=3):
        super().__init__()
        self.layers = nn.ModuleList(Layer(size) for _ in range(depth))

    def run(self, x):
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False)
        return x

    def forward(self, x):
        return self.run(x).square().mean() + self.run(x).sin().sum()


def train(model, call, x):
    """A step, whose gradients are left."""
    for tensor in (*model.parameters(), x):
        tensor.grad = None
    call(x).backward()


def measure(model, x, options=None):
    """The peak of a step, of eager PyTorch without `options`."""
    torch._dynamo.reset()
    call = model if options is None else torch.compile(model, backend="fad", options=options)
    train(model, call, x)
    train(model, call, x)
    for tensor in model.parameters():
        tensor.grad = None
    return measure_peak(lambda: train(model, call, x))


def main():
    AsyncCompile.cpp_pybinding = lambda *arguments, **options: lambda *operands: None
    # What is wrong is no exception: it would only warn.
    warnings.filterwarnings("error", "fad leaves", RuntimeWarning)
    torch._inductor.config.force_disable_caches = True
    torch.manual_seed(0)
    model, x = Twice(), torch.randn(1024, 32)
    eager, peak = measure(model, x), measure(model, x, {})
    print(f"eager {eager}, measured {peak}")
    print("the peak is above eager PyTorch's" if peak > eager else "right")
    return peak > eager


if __name__ == "__main__":
    sys.exit(main())
