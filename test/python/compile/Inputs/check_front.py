"""Selections of a model of 12 layers are dense: the estimates of neighbors on the front differ by at most
1/30. Where a model has two layers, one value is a larger part of the peak. Nothing is executed."""

import sys

import torch
import torch.nn.functional as F
from fad.torch.compile import Partitioner, _backend
from fad.torch.compile._alternatives import ANY_PEAK
from torch import nn

WIDTH, HEADS, TOKENS, BATCH, LENGTH = 128, 4, 256, 64, 256


class Layer(nn.Module):
    """One of a GPT-2: attention and a GELU, each behind a normalization."""

    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)])
        self.inner, self.outer = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        heads = self.inner(self.norms[0](x)).view(BATCH, LENGTH, 3, HEADS, WIDTH // HEADS)
        query, key, value = heads.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.outer(mixed.transpose(1, 2).reshape(x.shape))
        return x + self.down(F.gelu(self.up(self.norms[1](x)), approximate="tanh"))


class Model(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.table = nn.Embedding(TOKENS, WIDTH)
        self.layers = nn.Sequential(*(Layer() for _ in range(layers)))
        self.head = nn.Linear(WIDTH, TOKENS, bias=False)

    def forward(self, tokens):
        logits = self.head(self.layers(self.table(tokens)))
        return F.cross_entropy(logits.flatten(0, 1), tokens.flatten())


class Front(Partitioner):
    """Keeps the estimates of the front."""

    def _split(self, gm, alternatives, joint_inputs, num_fwd_outputs, static):
        self.trial = {"peak_budget": ANY_PEAK}
        graph = alternatives.make(alternatives.first)
        self._split_once(gm, graph, joint_inputs, num_fwd_outputs, static)
        self.front = self.planned["front"]
        # No parts are of use, those of PyTorch's partitioner neither.
        raise KeyboardInterrupt


def find_largest(layers):
    """Returns how many selections the front of a model has, and the largest gap between two."""
    partitioner = Front(budget=1)

    def compile_graph(graph, inputs):
        return _backend.compile_inductor(graph, inputs, partitioner, {})

    torch._dynamo.reset()
    try:
        torch.compile(Model(layers), backend=compile_graph)(
            torch.zeros(BATCH, LENGTH, dtype=torch.long)
        )
    except KeyboardInterrupt:
        pass
    front = partitioner.front
    return len(front), max((one - next_) / one for one, next_ in zip(front, front[1:]))


def main():
    gaps = {layers: find_largest(layers) for layers in (2, 12)}
    for layers, (count, gap) in gaps.items():
        print(f"{layers} layers: {count} selections, {gap:.3f} of the peak between two")
    return gaps[12][1] > 1 / 30 or gaps[2][1] <= 1 / 30


if __name__ == "__main__":
    sys.exit(main())
