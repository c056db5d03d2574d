"""PyTorch's functions that write into existing tensors, which benchmarks of kernels compare
with, compute the values and gradients of autograd.

usage: check_into.py BENCHMARKS UTILS"""

import sys

import torch

sys.path[:0] = sys.argv[1:]

from activations import ACTIVATIONS, get_torch_function
from gpu.peers import INTO, make_into

count = 0
for name, activation in ACTIVATIONS.items():
    if activation.torch_name not in INTO:
        continue
    x = torch.linspace(-30, 30, 1001, requires_grad=True)
    g = torch.linspace(1, 2, 1001)
    y = get_torch_function(name)(x)
    (dx,) = torch.autograd.grad(y, x, g)
    into = {"x": x.detach(), "g": g, "y": torch.zeros_like(g), "dx": torch.zeros_like(g)}
    passes = make_into(torch, name, into)
    for call in passes.values():
        call()
    torch.testing.assert_close(into["y"], y, rtol=0, atol=0)
    if "backward" in passes:
        torch.testing.assert_close(into["dx"], dx, rtol=0, atol=0)
    count += len(passes)
print(f"{count} passes")
