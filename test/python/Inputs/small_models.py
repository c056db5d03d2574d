"""Small models that several tests train, with inputs and targets."""

import torch
from torch import nn


class Attention(nn.Module):
    """One block of a transformer without its feed-forward part."""

    def __init__(self, width=32, heads=4):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        batch, length, width = x.shape
        size = width // self.heads
        q, k, v = (
            layer(x).view(batch, length, self.heads, size).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        weights = torch.softmax(q @ k.transpose(-1, -2) / size**0.5, -1)
        mixed = (weights @ v).transpose(1, 2).reshape(batch, length, width)
        return self.norm(x + self.out(mixed))


class NewGELU(nn.Module):
    """GELU as GPT-2 spells it."""

    def forward(self, x):
        cubic = x + 0.044715 * torch.pow(x, 3.0)
        return 0.5 * x * (1.0 + torch.tanh(0.7978845608028654 * cubic))


def make_perceptron():
    model = nn.Sequential(nn.Linear(16, 32), NewGELU(), nn.LayerNorm(32), nn.Linear(32, 4))
    return model, torch.randn(8, 16), torch.randn(8, 4)


def make_attention():
    return Attention(), torch.randn(2, 8, 32), torch.randn(2, 8, 32)


def make_convolution():
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(8),
        nn.SiLU(),
        nn.Flatten(),
        nn.Linear(8 * 64, 4),
    )
    return model, torch.randn(4, 3, 16, 16), torch.randn(4, 4)


MODELS = {
    "perceptron": make_perceptron,
    "attention": make_attention,
    "convolution": make_convolution,
}
