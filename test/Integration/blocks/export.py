#!/usr/bin/env python3
"""Writes the .mlir files of this folder: the parts that networks are made of,
as torch-mlir exports them to linalg on tensors, and one joint graph of
AOTAutograd. Parameters are arguments and the result is a scalar loss.

Needs torch and torch-mlir. The files are kept in the repository, so that
nothing else does."""

import argparse
import pathlib
import warnings

import torch
import torch.nn.functional as F
from torch import nn
from torch._functorch.aot_autograd import aot_export_module
from torch_mlir import fx


def attention(x, wq, wk, wv, wo):
    def split(w):
        return (x @ w).view(2, 8, 4, 8).transpose(1, 2)

    q, k, v = map(split, (wq, wk, wv))
    p = F.softmax(q @ k.transpose(-1, -2) / 8**0.5, dim=-1)
    joined = (p @ v).transpose(1, 2).reshape(2, 8, 32)
    return (joined @ wo).square().mean()


def sdpa_causal(q, k, v):
    y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return y.square().mean()


def layer_norm(x, g, b):
    return F.layer_norm(x, (32,), g, b).square().mean()


def rms_norm(x, g):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    return (x * scale * g).sum()


def group_norm(x, g, b):
    return F.group_norm(x, 4, g, b).square().mean()


def embedding_loss(table, w, ids, labels):
    return F.cross_entropy(F.embedding(ids, table).mean(1) @ w, labels)


def conv_pool(x, w, wd):
    y = F.conv2d(x, w, stride=2, padding=1)
    y = F.silu(F.conv2d(y, wd, groups=8, padding=1))
    return F.max_pool2d(y, 3, 2, 1).mean()


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


def make_cases():
    """Each function with arguments of the types that it takes."""
    r = torch.randn
    ids = torch.randint(0, 50, (4, 6))
    labels = torch.randint(0, 10, (4,))
    return [
        (attention, r(2, 8, 32), *(r(32, 32) for _ in range(4))),
        (sdpa_causal, *(r(2, 4, 8, 8) for _ in range(3))),
        (layer_norm, r(4, 8, 32), r(32), r(32)),
        (rms_norm, r(4, 8, 32), r(32)),
        (group_norm, r(2, 8, 5, 5), r(8), r(8)),
        (embedding_loss, r(50, 16), r(16, 10), ids, labels),
        (conv_pool, r(2, 3, 16, 16), r(8, 3, 3, 3), r(8, 1, 3, 3)),
        (avg_pool, r(2, 3, 12, 12), r(4, 3, 3, 3)),
        (gated, r(4, 16), r(16, 32), r(16, 32), r(32, 16)),
        (rope, r(2, 8, 32), r(8, 32), r(8, 32)),
        (dropout, r(4, 16), r(16, 32)),
        (two_results, r(8, 16)),
        (branches, r(4, 16), r(16, 32)),
    ]


class Call(nn.Module):
    """A function as a module."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *arguments):
        return self.function(*arguments)


class ConvNormRelu(nn.Module):
    """In training mode: running statistics are results."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, bias=False)
        self.norm = nn.BatchNorm2d(8)

    def forward(self, x):
        return F.relu(self.norm(self.conv(x))).square().mean()


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(16, 64)
        self.down = nn.Linear(64, 16)

    def forward(self, x):
        return (self.down(F.gelu(self.up(x))).square().mean(),)


def export(module, arguments, name):
    return fx.export_and_import(module, *arguments, output_type="linalg-on-tensors", func_name=name)


def export_joint(module, argument, name):
    graph, _ = aot_export_module(module, (argument,), trace_joint=True, output_loss_index=0)
    return fx.stateless_fx_import(graph, output_type="linalg-on-tensors", model_name=name)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    out = parser.parse_args().out
    warnings.filterwarnings("ignore")
    torch.manual_seed(0)
    exported = {}
    for function, *arguments in make_cases():
        name = function.__name__
        exported[name] = export(Call(function), arguments, name)
    name = "conv_bn_relu_train"
    image = torch.randn(2, 3, 8, 8)
    exported[name] = export(ConvNormRelu().train(), [image], name)
    name = "joint_ffn_gelu"
    exported[name] = export_joint(FeedForward(), torch.randn(8, 16), name)
    for name, module in exported.items():
        (out / f"{name}.mlir").write_text(str(module))


if __name__ == "__main__":
    main()
