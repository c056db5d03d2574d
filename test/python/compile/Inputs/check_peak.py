"""Compares the modeled peak of training steps with the bytes that PyTorch's allocator
has at once, under the engine `eager`, by fad's partitions and PyTorch's."""

import sys

import torch
import torch.nn.functional as F
from torch import nn
from torch._functorch import partitioners
from torch.utils.checkpoint import checkpoint

from fad.torch.compile import Partitioner
from fad.torch.compile._backend import compile_eager
from fad.torch.compile._explain import measure_peak
from fad.torch.compile._peak import peak_bytes


class MLP(nn.Module):
    """Layers of one width, and a loss, in the graph."""

    def __init__(self, activation):
        super().__init__()
        sizes = 64, 256, 256, 256, 16
        self.layers = nn.ModuleList(nn.Linear(*each) for each in zip(sizes, sizes[1:]))
        self.activation = activation

    def forward(self, x):
        for layer in self.layers:
            x = self.activation(layer(x))
        return x.square().mean()


class Attention(nn.Module):
    """Views of one tensor, a broadcast mask, and several results of operations."""

    def __init__(self):
        super().__init__()
        self.project, self.norm = nn.Linear(64, 192), nn.LayerNorm(64)

    def forward(self, x):
        q, k, v = self.project(self.norm(x)).view(8, 32, 3, 4, 16).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / 4.0
        mask = torch.ones(32, 32, dtype=torch.bool).tril()
        scores = torch.softmax(scores.masked_fill(~mask, -1e9), -1)
        return ((scores @ v).transpose(1, 2).reshape(x.shape) + x).square().mean()


class Convolutions(nn.Module):
    """Buffers that forward changes, and indices."""

    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Conv2d(4, 16, 3), nn.BatchNorm2d(16)
        self.second = nn.Conv2d(16, 16, 3)

    def forward(self, x):
        x = F.max_pool2d(F.silu(self.norm(self.first(x))), 2)
        return F.gelu(self.second(x)).mean()


class Checkpointed(nn.Module):
    """Layers of which only the inputs are saved."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64)) for _ in range(4)
        )

    def forward(self, x):
        for layer in self.layers:
            x = x + checkpoint(layer, x, use_reentrant=False)
        return x.square().mean()


class Results(nn.Module):
    """Results that backward reads as well, and one that is a view of another."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(64, 256)

    def forward(self, x):
        y = torch.tanh(self.linear(x))
        return (y * y.exp()).mean(), y, y[:7]


class Outside(nn.Module):
    """A result of which the loss is no part of the graph: its gradient is a tangent."""

    def __init__(self):
        super().__init__()
        self.linear, self.last = nn.Linear(64, 256), nn.Linear(256, 1024)

    def forward(self, x):
        return F.gelu(self.last(F.gelu(self.linear(x))))


CASES = {
    "relu": (lambda: MLP(F.relu), (128, 64)),
    "gelu": (lambda: MLP(F.gelu), (128, 64)),
    "attention": (Attention, (8, 32, 64)),
    "convolutions": (Convolutions, (8, 4, 32, 32)),
    "checkpointed": (Checkpointed, (512, 64)),
    "results": (Results, (256, 64)),
    "outside": (Outside, (256, 64)),
}


def check(case, partition):
    """The error of the model of the steps of `case`, or nothing; and the peak."""
    make, shape = CASES[case]
    torch.manual_seed(0)
    torch._dynamo.reset()
    model, x = make(), torch.randn(shape)
    parts = []

    def record(*arguments, **options):
        parts.append(partition(*arguments, **options))
        return parts[-1]

    def compile_graph(graph, inputs):
        return compile_eager(graph, inputs, record)

    compiled = torch.compile(model, backend=compile_graph)
    kept, weights = [], None

    def step():
        results = compiled(x)
        results = results if isinstance(results, tuple) else (results,)
        loss = results[0] if results[0].dim() == 0 else (results[0] * weights).sum()
        loss.backward()
        kept[:] = results

    weights = torch.randn_like(model(x)) if case == "outside" else None
    step()
    kept.clear()
    model.zero_grad()
    measured = measure_peak(step)
    peak = peak_bytes(*parts[0])
    print(f"{case}: measured {measured}, modeled {peak.bytes}, saved {peak.saved}, {peak.node}")
    # Numbers of the loss, and of buffers, are made outside the graph.
    if abs(measured - peak.bytes) > 256:
        return "the model is wrong", measured
    if sum(count for _, count in peak.live) != peak.bytes:
        return "what is alive at the peak has other bytes", measured
    if (peak.node.graph is parts[0][1].graph) != peak.is_backward:
        return "the peak is in the other graph", measured
    return "", measured


def main():
    every = "--every" in sys.argv
    partitions = (
        Partitioner(),
        *(Partitioner("recompute") for _ in range(every)),
        partitioners.min_cut_rematerialization_partition,
    )
    wrong = 0
    for case in [each for each in sys.argv[1:] if each != "--every"] or CASES:
        messages, peaks = zip(*(check(case, partition) for partition in partitions))
        # Only one checkpoint is repeated at a time.
        if case == "checkpointed" and peaks[0] > 1.01 * peaks[-1]:
            messages += (f"the peak is {peaks[0]}, and PyTorch's {peaks[-1]}",)
        for message in filter(None, messages):
            wrong += 1
            print(f"{case}: {message}")
    print(f"{len(CASES)} modules, {wrong} wrong")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
