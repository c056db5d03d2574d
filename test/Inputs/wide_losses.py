"""Heads and losses whose logits are much larger than their inputs, as PyTorch has them and as
libraries write them, for tests of chunks.

Each is a function of the hidden states (rows, width), or (batch, length, width), the weight of the
head (words, width), its bias (words), and integer targets of the rows; it returns a loss, and maybe
other results. Sizes are small, and elements are the caller's."""

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

LOSSES: dict[str, Callable] = {}
# Those of which no part runs in chunks, and why.
LEFT_ALONE: dict[str, str] = {}


def _add(name: str, reason: str = ""):
    def add(function):
        LOSSES[name] = function
        if reason:
            LEFT_ALONE[name] = reason
        return function

    return add


def _rows(hidden: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    return hidden.reshape(-1, hidden.shape[-1]), target.reshape(-1)


# PyTorch's losses


def _classify(name: str, **options):
    def loss(hidden, weight, bias, target):
        hidden, target = _rows(hidden, target)
        return F.cross_entropy(hidden @ weight.t(), target, **options)

    LOSSES[name] = loss


_classify("mean")
_classify("sum", reduction="sum")
_classify("ignored labels", ignore_index=3)
_classify("smoothed labels", label_smoothing=0.1)


@_add("none")
def _(hidden, weight, bias, target):
    hidden, target = _rows(hidden, target)
    losses = F.cross_entropy(hidden @ weight.t(), target, reduction="none")
    return (losses * torch.linspace(0.5, 1.5, losses.shape[0], dtype=losses.dtype)).sum()


@_add("class weights")
def _(hidden, weight, bias, target):
    hidden, target = _rows(hidden, target)
    weights = torch.linspace(0.5, 1.5, weight.shape[0], dtype=weight.dtype)
    return F.cross_entropy(hidden @ weight.t(), target, weight=weights)


@_add("class weights, smoothed labels")
def _(hidden, weight, bias, target):
    hidden, target = _rows(hidden, target)
    weights = torch.linspace(0.5, 1.5, weight.shape[0], dtype=weight.dtype)
    logits = F.linear(hidden, weight, bias)
    return F.cross_entropy(logits, target, weight=weights, label_smoothing=0.2, ignore_index=1)


@_add("probabilities")
def _(hidden, weight, bias, target):
    hidden, target = _rows(hidden, target)
    wanted = F.one_hot(target, weight.shape[0]).to(hidden.dtype) * 0.9 + 0.1 / weight.shape[0]
    return F.cross_entropy(F.linear(hidden, weight, bias), wanted)


@_add("negative log-likelihood")
def _(hidden, weight, bias, target):
    hidden, target = _rows(hidden, target)
    return F.nll_loss(F.log_softmax(F.linear(hidden, weight, bias), -1), target)


@_add("divergence")
def _(hidden, weight, bias, target):
    hidden, _ = _rows(hidden, target)
    wanted = torch.full_like(hidden[:, :1], 1.0).expand(-1, weight.shape[0]) / weight.shape[0]
    return F.kl_div(F.log_softmax(hidden @ weight.t(), -1), wanted, reduction="batchmean")


@_add("squares")
def _(hidden, weight, bias, target):
    hidden, target = _rows(hidden, target)
    return F.mse_loss(
        F.linear(hidden, weight, bias), F.one_hot(target, weight.shape[0]).to(hidden.dtype)
    )


@_add("absolute values")
def _(hidden, weight, bias, target):
    hidden, target = _rows(hidden, target)
    return F.l1_loss(
        F.linear(hidden, weight, bias), F.one_hot(target, weight.shape[0]).to(hidden.dtype)
    )


@_add("Huber")
def _(hidden, weight, bias, target):
    hidden, target = _rows(hidden, target)
    wanted = F.one_hot(target, weight.shape[0]).to(hidden.dtype)
    return F.huber_loss(F.linear(hidden, weight, bias), wanted, reduction="sum", delta=0.3)


@_add("smooth absolute values")
def _(hidden, weight, bias, target):
    hidden, target = _rows(hidden, target)
    wanted = F.one_hot(target, weight.shape[0]).to(hidden.dtype)
    return F.smooth_l1_loss(F.linear(hidden, weight, bias), wanted, beta=0.7)


@_add("binary")
def _(hidden, weight, bias, target):
    hidden, target = _rows(hidden, target)
    wanted = F.one_hot(target, weight.shape[0]).to(hidden.dtype)
    return F.binary_cross_entropy_with_logits(F.linear(hidden, weight, bias), wanted)


@_add("soft margin")
def _(hidden, weight, bias, target):
    hidden, target = _rows(hidden, target)
    wanted = F.one_hot(target, weight.shape[0]).to(hidden.dtype)
    return F.soft_margin_loss(F.linear(hidden, weight, bias), 2 * wanted - 1)


@_add("multilabel soft margin")
def _(hidden, weight, bias, target):
    hidden, target = _rows(hidden, target)
    wanted = F.one_hot(target, weight.shape[0]).to(hidden.dtype)
    return F.multilabel_soft_margin_loss(F.linear(hidden, weight, bias), wanted)


@_add("Poisson")
def _(hidden, weight, bias, target):
    hidden, target = _rows(hidden, target)
    wanted = F.one_hot(target, weight.shape[0]).to(hidden.dtype)
    return F.poisson_nll_loss(F.linear(hidden, weight, bias), wanted)


@_add("multiple margins")
def _(hidden, weight, bias, target):
    hidden, target = _rows(hidden, target)
    return F.multi_margin_loss(F.linear(hidden, weight, bias), target)


@_add("linear_cross_entropy")
def _(hidden, weight, bias, target):
    hidden, target = _rows(hidden, target)
    return F.linear_cross_entropy(hidden, weight, target)


# Losses of libraries


@_add("causal, shifted labels")
def _(hidden, weight, bias, target):
    """As transformers has it."""
    logits = hidden @ weight.t()
    labels = F.pad(target.view(hidden.shape[:-1]), (0, 1), value=-100)[..., 1:].contiguous()
    logits = logits.view(-1, weight.shape[0])
    loss = F.cross_entropy(logits, labels.view(-1), ignore_index=-100, reduction="sum")
    return loss / 7


@_add("causal, shifted logits")
def _(hidden, weight, bias, target):
    """As transformers had it."""
    logits = hidden @ weight.t()
    labels = target.view(hidden.shape[:-1])[..., 1:].contiguous()
    logits = logits[..., :-1, :].contiguous()
    return F.cross_entropy(logits.view(-1, weight.shape[0]), labels.view(-1))


@_add("soft-capped")
def _(hidden, weight, bias, target):
    """As Gemma 2 has it."""
    logits = torch.tanh(F.linear(hidden, weight) / 30.0) * 30.0
    return F.cross_entropy(logits.view(-1, weight.shape[0]), target.reshape(-1))


@_add("scaled logits")
def _(hidden, weight, bias, target):
    """As Cohere and Granite have it."""
    logits = F.linear(hidden, weight) * 0.0625
    return F.cross_entropy(logits.view(-1, weight.shape[0]), target.reshape(-1))


@_add("z-loss")
def _(hidden, weight, bias, target):
    hidden, target = _rows(hidden, target)
    logits = hidden @ weight.t()
    total = torch.logsumexp(logits, -1)
    picked = logits.gather(1, target[:, None]).squeeze(1)
    return (total - picked).mean() + 1e-2 * total.square().mean()


@_add("two losses")
def _(hidden, weight, bias, target):
    hidden, target = _rows(hidden, target)
    logits = hidden @ weight.t()
    loss = F.cross_entropy(logits, target)
    return loss, 1e-2 * torch.logsumexp(logits, -1).square().mean()


@_add("focal")
def _(hidden, weight, bias, target):
    hidden, target = _rows(hidden, target)
    losses = F.cross_entropy(F.linear(hidden, weight, bias), target, reduction="none")
    return ((1 - torch.exp(-losses)) ** 2 * losses).mean()


@_add("distillation")
def _(hidden, weight, bias, target):
    hidden, target = _rows(hidden, target)
    teacher = (hidden.detach() * 1.1) @ weight.detach().t()
    logits = F.linear(hidden, weight, bias)
    soft = F.kl_div(
        F.log_softmax(logits / 2.0, -1), F.softmax(teacher / 2.0, -1), reduction="batchmean"
    )
    return 0.5 * F.cross_entropy(logits, target) + 2.0 * soft


@_add("preferences")
def _(hidden, weight, bias, target):
    """As TRL computes direct preference optimization."""
    logits = hidden @ weight.t()
    picked = logits.log_softmax(-1).gather(-1, target.view(*hidden.shape[:-1], 1)).squeeze(-1)
    chosen, rejected = picked.sum(-1).chunk(2)
    return -F.logsigmoid(0.1 * (chosen - rejected)).mean()


@_add("policy")
def _(hidden, weight, bias, target):
    """As TRL computes group relative policy optimization."""
    logits = (hidden @ weight.t()) / 0.9
    picked = logits.log_softmax(-1).gather(-1, target.view(*hidden.shape[:-1], 1)).squeeze(-1)
    ratio = torch.exp(picked - picked.detach())
    gain = torch.linspace(-1, 1, hidden.shape[0], dtype=ratio.dtype)[:, None]
    return -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()


@_add("entropy")
def _(hidden, weight, bias, target):
    logits = F.linear(hidden, weight, bias)
    log = logits.log_softmax(-1)
    loss = F.nll_loss(log.view(-1, weight.shape[0]), target.reshape(-1))
    return loss + 0.1 * (log.exp() * log).sum(-1).mean()


@_add("contrast", "rows and columns are both normalized")
def _(hidden, weight, bias, target):
    """As CLIP has it."""
    hidden, _ = _rows(hidden, target)
    words = weight[: hidden.shape[0]]
    logits = F.normalize(hidden, dim=-1) @ F.normalize(words, dim=-1).t() * math.exp(1.0)
    own = torch.arange(hidden.shape[0])
    return (F.cross_entropy(logits, own) + F.cross_entropy(logits.t(), own)) / 2


@_add("two heads")
def _(hidden, weight, bias, target):
    hidden, target = _rows(hidden, target)
    one = F.cross_entropy(hidden @ weight.t(), target)
    return one + 0.3 * F.cross_entropy((hidden * 0.5) @ weight.flip(0).t(), target.flip(0))


@_add("smoothed by hand")
def _(hidden, weight, bias, target):
    """As fairseq has it."""
    hidden, target = _rows(hidden, target)
    log = F.log_softmax(F.linear(hidden, weight, bias), -1)
    picked = -log.gather(-1, target[:, None])
    smooth = -log.sum(-1, keepdim=True)
    mask = target[:, None].eq(1)
    picked, smooth = picked.masked_fill(mask, 0.0), smooth.masked_fill(mask, 0.0)
    return 0.9 * picked.sum() + 0.1 / weight.shape[0] * smooth.sum()


@_add("unlikelihood")
def _(hidden, weight, bias, target):
    hidden, target = _rows(hidden, target)
    log = (hidden @ weight.t()).log_softmax(-1)
    chance = log.gather(1, target.roll(1)[:, None]).exp()
    return F.nll_loss(log, target) - torch.log1p(-chance.clamp(max=0.99)).mean()


@_add("masked positions")
def _(hidden, weight, bias, target):
    hidden, target = _rows(hidden, target)
    picked = hidden[::2]
    return F.cross_entropy(F.linear(picked, weight, bias), target[::2])


@_add("largest logits")
def _(hidden, weight, bias, target):
    largest, place = F.linear(hidden, weight, bias).max(-1)
    return (largest * place).mean()


class _Rounded(torch.autograd.Function):
    """A layer whose gradient is no multiple of the loss's."""

    @staticmethod
    def forward(ctx, logits):
        return logits * 2

    @staticmethod
    def backward(ctx, gradient):
        return (gradient * 1000).to(torch.int32).to(gradient.dtype)


@_add("rounded gradient")
def _(hidden, weight, bias, target):
    hidden, target = _rows(hidden, target)
    return F.cross_entropy(_Rounded.apply(hidden @ weight.t()), target)


class _Offset(torch.autograd.Function):
    """A layer whose gradient has elements that the loss's does not multiply."""

    @staticmethod
    def forward(ctx, logits):
        return logits * 2

    @staticmethod
    def backward(ctx, gradient):
        return torch.cat([gradient[:, :60], gradient.new_ones(24, 36)], 1)


@_add("offset gradient")
def _(hidden, weight, bias, target):
    hidden, target = _rows(hidden, target)
    return F.cross_entropy(_Offset.apply(hidden @ weight.t()), target)


@_add("squared loss")
def _(hidden, weight, bias, target):
    hidden, target = _rows(hidden, target)
    return F.cross_entropy(hidden @ weight.t(), target) ** 2


@_add("frozen head")
def _(hidden, weight, bias, target):
    hidden, target = _rows(hidden, target)
    return F.cross_entropy(F.linear(hidden, weight.detach(), bias), target)


@_add("returned logits", "logits are a result")
def _(hidden, weight, bias, target):
    hidden, target = _rows(hidden, target)
    logits = F.linear(hidden, weight, bias)
    return F.cross_entropy(logits, target), logits.detach()


@_add("normalized over the batch", "a maximum of all rows")
def _(hidden, weight, bias, target):
    hidden, target = _rows(hidden, target)
    logits = hidden @ weight.t()
    return F.cross_entropy(logits / logits.detach().abs().max(), target)


@_add("random weights", "random numbers would come in another order")
def _(hidden, weight, bias, target):
    hidden, target = _rows(hidden, target)
    logits = hidden @ weight.t()
    scale = logits.detach().amax(-1).sum() * torch.rand(())
    weights = torch.rand(logits.shape[0], dtype=logits.dtype)
    losses = F.cross_entropy(logits, target, reduction="none")
    return (losses * weights).sum() / scale
