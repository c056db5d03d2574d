"""Small models that several tests train, with inputs and targets."""

import torch
from torch import nn
import torch.nn.functional as F


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


class Numbers(nn.Module):
    """Functions of f64 with numbers that f32 does not have, each at points on both sides of its
    kinks."""

    def __init__(self):
        super().__init__()
        self.x = nn.Parameter(torch.tensor([-0.7, 0.11, 0.2, 0.9], dtype=torch.float64))

    def forward(self, y):
        x = self.x * y
        terms = [
            *(0.3 - x, torch.rsub(x, 0.3, alpha=0.7), torch.sub(0.3, x), torch.add(0.3, x)),
            *(torch.mul(0.3, x), torch.div(0.3, x), 0.3 / x, 0.3**x),
            *(x.clamp(min=0.3), x.clamp(max=0.3), x.clamp(-0.1, 0.3), x.clamp(0.5, -0.3)),
            *(F.hardtanh(x, -0.1, 0.3), F.threshold(x, 0.3, -2.1), F.relu6(x), F.hardswish(x)),
            *(F.leaky_relu(x, 0.3), F.elu(x, 0.3), F.softshrink(x, 0.3), F.hardshrink(x, 0.3)),
            torch.linspace(0.1, 0.7, 4, dtype=torch.float64) * x,
        ]
        # No error is that of another one with the other sign.
        return sum(term / (3 + place) for place, term in enumerate(terms)).sum()


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
