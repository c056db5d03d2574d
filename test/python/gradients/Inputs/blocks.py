"""Parts that networks are made of, as functions of tensors to a scalar loss."""

import torch
import torch.nn.functional as F
from torch import randint, randn


def attention(x, wq, wk, wv, wo):
    q, k, v = ((x @ w).view(2, 8, 4, 8).transpose(1, 2) for w in (wq, wk, wv))
    p = F.softmax(q @ k.transpose(-1, -2) / 8**0.5, dim=-1)
    return ((p @ v).transpose(1, 2).reshape(2, 8, 32) @ wo).square().mean()


def sdpa_causal(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True).square().mean()


def layer_norm(x, g, b):
    return F.layer_norm(x, (32,), g, b).square().mean()


def rms_norm(x, g):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    return (x * scale * g).sum()


def group_norm(x, g, b):
    return F.group_norm(x, 4, g, b).square().mean()


def embedding_loss(table, w, ids, labels):
    return F.cross_entropy((F.embedding(ids, table).mean(1) @ w), labels)


def conv_pool(x, w, wd):
    x = F.conv2d(F.conv2d(x, w, stride=2, padding=1), wd, groups=8, padding=1)
    return F.max_pool2d(F.silu(x), 3, 2, 1).mean()


def avg_pool(x, w):
    return F.avg_pool2d(F.mish(F.conv2d(x, w, dilation=2)), 2).square().mean()


def gated(x, wg, wu, wd):
    return ((F.silu(x @ wg) * (x @ wu)) @ wd).square().mean()


def rope(x, c, s):
    h = torch.cat((-x[..., 16:], x[..., :16]), -1)
    return (x * c + h * s).square().mean()


def dropout(x, w):
    return F.dropout(F.gelu(x @ w), 0.1, training=True).square().mean()


def two_results(x):
    a = torch.sigmoid(x)
    return (a * torch.tanh(x)).sum() + torch.exp(a).sum()


def branches(x, w):
    a = F.gelu(x @ w)
    return a.sum() + (a * a).mean() + a.max()


class ConvNormRelu(torch.nn.Module):
    """In training mode its running statistics are results."""

    def __init__(self):
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 8, 3, bias=False)
        self.norm = torch.nn.BatchNorm2d(8)

    def forward(self, x):
        return F.relu(self.norm(self.convolution(x))).square().mean()


# A function or a module, and its arguments.
CASES = {
    "attention": lambda: (attention, randn(2, 8, 32), *weights(4, 32, 32)),
    "sdpa_causal": lambda: (sdpa_causal, *weights(3, 2, 4, 8, 8)),
    "layer_norm": lambda: (layer_norm, randn(4, 8, 32), randn(32), randn(32)),
    "rms_norm": lambda: (rms_norm, randn(4, 8, 32), randn(32)),
    "group_norm": lambda: (group_norm, randn(2, 8, 5, 5), randn(8), randn(8)),
    "embedding_loss": lambda: (
        embedding_loss,
        randn(50, 16),
        randn(16, 10),
        randint(0, 50, (4, 6)),
        randint(0, 10, (4,)),
    ),
    "conv_pool": lambda: (
        conv_pool,
        randn(2, 3, 16, 16),
        randn(8, 3, 3, 3),
        randn(8, 1, 3, 3),
    ),
    "avg_pool": lambda: (avg_pool, randn(2, 3, 12, 12), randn(4, 3, 3, 3)),
    "gated": lambda: (gated, randn(4, 16), *weights(2, 16, 32), randn(32, 16)),
    "rope": lambda: (rope, randn(2, 8, 32), randn(8, 32), randn(8, 32)),
    "dropout": lambda: (dropout, randn(4, 16), randn(16, 32)),
    "two_results": lambda: (two_results, randn(8, 16)),
    "branches": lambda: (branches, randn(4, 16), randn(16, 32)),
    "conv_bn_relu_train": lambda: (ConvNormRelu(), randn(2, 3, 8, 8)),
}


def weights(count, *shape):
    return (randn(shape) for _ in range(count))
