"""The peak of a step that Inductor has compiled: with checkpoints it is not above eager
PyTorch's, and it is within the lowest budget that fad accepts. The allocator gives what the
kernels need, whatever they compute, so that no compiler is needed: they are empty."""

import re
import sys
import warnings

import torch
from torch import nn
from torch._inductor.async_compile import AsyncCompile
from torch.utils.checkpoint import checkpoint

import fad.torch
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


class Gated(nn.Module):
    """A gated layer like those of Llama. The gradients of gate and value are results of
    one kernel, and those of the weights of two normalizations read the same sum."""

    def __init__(self, size):
        super().__init__()
        self.before, self.after = nn.RMSNorm(size), nn.RMSNorm(size)
        self.inner = nn.Linear(size, size, bias=False)
        self.gate, self.up = (nn.Linear(size, 3 * size, bias=False) for _ in range(2))
        self.down = nn.Linear(3 * size, size, bias=False)

    def forward(self, x):
        x = x + self.inner(self.before(x))
        y = self.after(x)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    def __init__(self, size=32, depth=3):
        super().__init__()
        self.layers = nn.Sequential(*(Gated(size) for _ in range(depth)))

    def forward(self, x):
        return self.layers(x).square().mean()


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


def find_lowest(model, x):
    """The lowest budget that fad accepts, as a lower one's warning names it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fad.torch.explain(model, x, options={"fad.budget": 1})
    said = "\n".join(str(each.message) for each in caught)
    (lowest,) = set(re.findall("the lowest is ([0-9,]+)", said))
    return int(lowest.replace(",", ""))


def main():
    AsyncCompile.cpp_pybinding = lambda *arguments, **options: lambda *operands: None
    torch._inductor.config.force_disable_caches = True
    torch.manual_seed(0)
    x = torch.randn(1024, 32)
    model = Decoder()
    budget = find_lowest(model, x)
    # What is wrong is no exception: it would only warn.
    warnings.filterwarnings("error", "fad leaves|no selection", RuntimeWarning)
    peak = measure(model, x, {"fad.budget": budget})
    print(f"budget {budget}, measured {peak}")
    wrong = ["the budget is not kept"] * (peak > budget)
    model = Twice()
    eager, peak = measure(model, x), measure(model, x, {})
    print(f"eager {eager}, measured {peak}")
    wrong += ["the peak is above eager PyTorch's"] * (peak > eager)
    print("\n".join(wrong) or "right")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
