"""Checks what fad.torch.saved_memory reports of a nested network of six layers."""

import torch
from torch import nn

import fad.torch


class ComposedGELU(nn.Module):
    def forward(self, x):
        return 0.5 * x * (1.0 + torch.tanh(0.8 * (x + 0.045 * torch.pow(x, 3.0))))


torch.manual_seed(0)
layers = [part for _ in range(6) for part in (nn.Linear(128, 128), ComposedGELU())]
model, x = nn.Sequential(*layers), torch.randn(64, 128)
size, wrong = x.nbytes, 0
eager = fad.torch.saved_memory(model, x)
assert eager.bytes // size == 29 and not eager.unseen, eager
# In tensors of a layer's size: under auto the sources and the result; under fad the
# derivatives, what the next layers read, and the result.
for policy, expected in (("auto", 7), ("fad", 12)):
    nested = fad.torch.saved_memory(fad.torch.nest(model, policy=policy, min_numel=0), x)
    if nested.resident // size != expected or "FadBackward" not in nested.unseen:
        wrong += 1
        print(policy, nested)
print(f"2 policies, {wrong} wrong")
