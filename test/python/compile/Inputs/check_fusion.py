"""Bytes that kernels move in backward of two normalizations, with and without fad's order of
fusions, for a GPU that is not there."""

import fake_cuda
import torch
from fad.torch.compile import _fusion
from fad.torch.compile._backend import make_inner
from torch import nn
from torch._inductor import config
from torch._inductor.scheduler import Scheduler

ROWS, WIDTH = 8192, 1024


class Model(nn.Module):
    """Two layers beside a residual stream of 32 bits."""

    def __init__(self):
        super().__init__()
        self.weights = nn.ParameterList(nn.Parameter(torch.ones(WIDTH)) for _ in range(2))
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(2))

    def forward(self, x):
        with torch.autocast("cpu", torch.bfloat16):
            for weight, layer in zip(self.weights, self.layers):
                scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
                x = x + layer(torch.tanh(layer(weight * (x * scale))))
        return x.square().mean()


def measure(*, has_budget=False, given=None):
    """The bytes that backward's kernels move."""
    partitioner = fake_cuda.Moved(budget=0.9 if has_budget else None)
    patch = {"benchmark_kernel": True}
    if given:
        patch["_post_fusion_custom_pass"] = given
    with config.patch(patch):
        inputs = (torch.randn(4, ROWS // 4, WIDTH, requires_grad=True),)
        _, part = fake_cuda.write(Model(), inputs, partitioner, make_inner(partitioner, {}))
    return sum(map(part.count_bytes, part.launches))


def main():
    # A function of the user's stays, and nothing waits for it.
    rounds = []
    fuse = Scheduler.fuse_nodes
    Scheduler.fuse_nodes = lambda *arguments: rounds.append(1) or fuse(*arguments)
    stock = measure(given=lambda nodes: nodes)
    print("of a user:", len(rounds), "rounds")
    rounds.clear()
    fused = measure()
    print("of fad:", len(rounds), f"rounds, {fused / stock:.2f} of the bytes")
    # Graphs whose kernels give way to memory have the order, too.
    rounds.clear()
    measure(has_budget=True)
    print("with a budget:", len(rounds), "rounds")
    assert _fusion.V.choices.__class__ is _fusion.InductorChoices


main()
