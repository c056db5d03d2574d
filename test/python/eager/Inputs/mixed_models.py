"""Layers of language models as libraries write them."""

import math

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS, LENGTH, BATCH = 128, 4, 256, 2


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def forward(self, x):
        def split(y):
            return y.view(*x.shape[:2], HEADS, -1).transpose(1, 2)

        heads = split(self.query(x)), split(self.key(x)), split(self.value(x))
        y = F.scaled_dot_product_attention(*heads, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(x.shape))


class RMSNorm(nn.Module):
    """As Llama spells it."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        dtype = x.dtype
        x = x.to(torch.float32)
        variance = x.pow(2).mean(-1, keepdim=True)
        x = x * torch.rsqrt(variance + 1e-6)
        return self.weight * x.to(dtype)


class Llama(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.attention = RMSNorm(), RMSNorm(), Attention()
        inner = WIDTH * 8 // 3
        self.gate, self.up = nn.Linear(WIDTH, inner), nn.Linear(WIDTH, inner)
        self.down = nn.Linear(inner, WIDTH)

    def forward(self, x):
        x = x + self.attention(self.first(x))
        y = self.second(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Layer(nn.Module):
    """The parts of GPT-2 and BERT."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)


class GPT2(Layer):
    """With `gelu_new`."""

    def forward(self, x):
        x = x + self.attention(self.first(x))
        h = self.up(self.second(x))
        cube = h + 0.044715 * torch.pow(h, 3.0)
        return x + self.down(0.5 * h * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * cube)))


class BERT(Layer):
    """With a composed GELU, and norms behind the sums."""

    def forward(self, x):
        x = self.first(x + self.attention(x))
        h = self.up(x)
        h = h * 0.5 * (1.0 + torch.erf(h / math.sqrt(2.0)))
        return self.second(x + self.down(h))


# The bytes that policy auto keeps at most, of eager PyTorch's.
MODELS = {"GPT-2": (GPT2, 0.5), "Llama": (Llama, 0.6), "BERT": (BERT, 0.45)}


def make(model):
    torch.manual_seed(0)
    return nn.Sequential(*(model() for _ in range(2)))


def sample(dtype=torch.float32):
    return torch.randn(BATCH, LENGTH, WIDTH, dtype=dtype)
