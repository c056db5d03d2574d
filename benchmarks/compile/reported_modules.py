"""The modules of reported.py, each the smallest that shows what a report is about."""

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint


class Case(NamedTuple):
    """A module that returns a loss, its inputs, and its sizes."""

    module: nn.Module
    inputs: tuple[torch.Tensor, ...]
    sizes: dict[str, Any]


class Attention(nn.Module):
    """Attention of `x` to itself, or to a context."""

    def __init__(self, width: int, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.out = (nn.Linear(width, width, bias=False) for _ in range(2))
        self.pair = nn.Linear(width, 2 * width, bias=False)

    def forward(self, x: torch.Tensor, context: torch.Tensor | None = None) -> torch.Tensor:
        parts = self.query(x), *self.pair(x if context is None else context).chunk(2, -1)
        parts = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in parts)
        mixed = F.scaled_dot_product_attention(*parts, is_causal=context is None)
        return self.out(mixed.transpose(1, 2).flatten(2))


class GatedLayer(nn.Module):
    """A layer like those of Llama."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.before, self.after = nn.RMSNorm(width), nn.RMSNorm(width)
        self.attention = Attention(width)
        self.gate, self.up = (nn.Linear(width, 3 * width, bias=False) for _ in range(2))
        self.down = nn.Linear(3 * width, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.before(x))
        y = self.after(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    """A language model of gated layers."""

    def __init__(self, layers: int, width: int, tokens: int = 64) -> None:
        super().__init__()
        self.embedding = nn.Embedding(tokens, width)
        self.layers = nn.ModuleList(GatedLayer(width) for _ in range(layers))
        self.head = nn.Linear(width, tokens, bias=False)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.embedding(ids)
        for layer in self.layers:
            x = layer(x)
        return F.cross_entropy(self.head(x).flatten(0, 1), ids.flatten())


def make_decoder(is_quick: bool) -> Case:
    sizes = {"layers": 3 if is_quick else 6, "width": 64, "batch": 2, "length": 128}
    ids = torch.randint(64, (sizes["batch"], sizes["length"]))
    return Case(Decoder(sizes["layers"], sizes["width"]), (ids,), sizes)


class CrossLayer(nn.Module):
    """A layer that reads a context, if there is one."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.own, self.cross = Attention(width), Attention(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor, context: torch.Tensor | None) -> torch.Tensor:
        x = x + self.own(self.norms[0](x))
        if context is not None:
            x = x + self.cross(self.norms[1](x), context)
        return x + self.down(F.gelu(self.up(self.norms[2](x))))


class Twice(nn.Module):
    """Two losses by the same checkpointed layers: without the context, and with it."""

    def __init__(self, layers: int, width: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(CrossLayer(width) for _ in range(layers))

    def run(self, x: torch.Tensor, context: torch.Tensor | None) -> torch.Tensor:
        for layer in self.layers:
            x = checkpoint(layer, x, context, use_reentrant=False)
        return x

    def forward(self, x: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        return self.run(x, None).square().mean() + self.run(x, context).sin().sum()


def make_twice(is_quick: bool) -> Case:
    sizes = {"layers": 2 if is_quick else 4, "width": 64, "batch": 8, "length": 128}
    x, context = (torch.randn(sizes["batch"], sizes["length"], 64) for _ in range(2))
    return Case(Twice(sizes["layers"], sizes["width"]), (x, context), sizes)


class Checkpointed(nn.Module):
    """Layers of a product, a normalization and GELU, each checkpointed."""

    def __init__(self, layers: int, width: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Sequential(nn.Linear(width, width), nn.LayerNorm(width), nn.GELU())
            for _ in range(layers)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False)
        return x.square().mean()


def make_checkpointed(is_quick: bool) -> Case:
    sizes = {"layers": 5, "width": 128, "batch": 512 if is_quick else 2048}
    x = torch.randn(sizes["batch"], sizes["width"])
    return Case(Checkpointed(sizes["layers"], sizes["width"]), (x,), sizes)


class Residual(nn.Module):
    """A sum of products of normalized values, layer by layer."""

    def __init__(self, layers: int, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(64, width)
        self.norms = nn.ModuleList(nn.RMSNorm(width) for _ in range(layers))
        self.pairs = nn.ModuleList(
            nn.Sequential(*(nn.Linear(width, width, bias=False) for _ in range(2)))
            for _ in range(layers)
        )

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.embedding(ids)
        for norm, pair in zip(self.norms, self.pairs):
            x = pair(norm(x)) + x
        return x.square().mean()


def make_residual(is_quick: bool) -> Case:
    sizes = {"layers": 4 if is_quick else 12, "width": 64, "batch": 64 if is_quick else 2048}
    return Case(
        Residual(sizes["layers"], sizes["width"]), (torch.randint(64, (sizes["batch"],)),), sizes
    )


class Dropped(nn.Module):
    """A product of the elements of `ones` that dropout keeps; these are a result, too. It shows
    the mask of forward, and the gradient of `ones` shows that of backward. A given mask takes
    the place of dropout."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(
        self, ones: torch.Tensor, mask: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        kept = F.dropout(ones, 0.5) if mask is None else ones * mask
        return self.linear(kept).square().mean(), kept


def make_dropped(is_quick: bool) -> Case:
    sizes = {"width": 64, "batch": 64}
    ones = torch.ones(sizes["batch"], sizes["width"], requires_grad=True)
    return Case(Dropped(sizes["width"]), (ones,), sizes)


class _Rounded(torch.autograd.Function):
    """A product with 8-bit floats, to which the weight is rounded in backward, too."""

    @staticmethod
    def forward(context, x, weight):
        context.save_for_backward(x, weight)
        return x @ _round(weight).T

    @staticmethod
    def backward(context, gradient):
        x, weight = context.saved_tensors
        return gradient @ _round(weight), gradient.T @ x


def _round(weight: torch.Tensor) -> torch.Tensor:
    scale = weight.abs().amax() / 448.0
    return (weight / scale).to(torch.float8_e4m3fn).to(weight.dtype) * scale


class Rounded(nn.Module):
    """Layers with weights that are rounded to 8-bit floats for each product."""

    def __init__(self, layers: int, width: int) -> None:
        super().__init__()
        weights = (torch.randn(width, width) / width**0.5 for _ in range(layers))
        self.weights = nn.ParameterList(weights)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for weight in self.weights:
            x = F.relu(_Rounded.apply(x, weight))
        return x.square().mean()


def make_rounded(is_quick: bool) -> Case:
    sizes = {"layers": 3 if is_quick else 8, "width": 64 if is_quick else 256, "batch": 32}
    x = torch.randn(sizes["batch"], sizes["width"])
    return Case(Rounded(sizes["layers"], sizes["width"]), (x,), sizes)
