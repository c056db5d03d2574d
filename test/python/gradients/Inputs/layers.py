"""Further layers, losses and rearrangements, as functions of tensors to a scalar
loss."""

import torch
import torch.nn.functional as F
from torch import randint, randn


class Layer(torch.nn.Module):
    """`function`, with the floats among `arguments` as parameters."""

    def __init__(self, function, arguments):
        super().__init__()
        self.function = function
        self.is_float = [value.is_floating_point() for value in arguments]
        self.values = torch.nn.ParameterList(
            value for value in arguments if value.is_floating_point()
        )

    def forward(self, *inputs):
        values, inputs = iter(self.values), iter(inputs)
        arguments = [next(values if f else inputs) for f in self.is_float]
        return self.function(*arguments)


def make_module(case):
    """The module of a case and its inputs: a function's floats are parameters."""
    function, *arguments = case()
    if isinstance(function, torch.nn.Module):
        return function, arguments
    inputs = [value for value in arguments if not value.is_floating_point()]
    return Layer(function, arguments), inputs


def weighted(y):
    """A scalar whose gradient with respect to every element of `y` differs, and
    depends on `y`."""
    steps = torch.linspace(-1.0, 1.5, y.numel()).reshape(y.shape)
    return (y * steps + 0.25 * y * y).sum()


def batch_norm_train(x, g, b):
    return weighted(F.batch_norm(x, None, None, g, b, training=True))


def batch_norm_eval(x, g, b):
    mean, variance = torch.tensor([0.1, 0.2, -0.3, 0.5]), torch.tensor([1.0, 2, 3, 4])
    return weighted(F.batch_norm(x, mean.to(x), variance.to(x), g, b))


def masked_attention(q, k, v, mask):
    scores = q @ k.transpose(-1, -2) / 8**0.5
    scores = scores.masked_fill(mask == 0, torch.finfo(torch.float32).min)
    return weighted(F.softmax(scores, dim=-1) @ v)


def sdpa_masked(q, k, v, mask):
    return weighted(F.scaled_dot_product_attention(q, k, v, attn_mask=mask != 0))


def interleaved_rope(x, c, s):
    even, odd = x[..., 0::2], x[..., 1::2]
    turned = torch.stack((even * c - odd * s, even * s + odd * c), -1)
    return weighted(turned.flatten(-2))


def ignored_labels(table, w, ids, labels):
    logits = F.embedding(ids, table) @ w
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100)


def lstm_cell(x, h, c, wx, wh, b):
    i, f, g, o = (x @ wx.T + h @ wh.T + b).chunk(4, 1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return weighted(torch.sigmoid(o) * torch.tanh(c)) + c.square().mean()


def recurrent(x, h, wx, wh):
    for step in range(x.shape[0]):
        h = torch.tanh(x[step] @ wx + h @ wh)
    return weighted(h)


def residual(x, w1, w2):
    y = x + F.gelu(x @ w1) @ w2
    return weighted(y + F.mish(y))


def strided_block(x, w1, w2, ws):
    y = F.conv2d(F.relu(F.conv2d(x, w1, stride=2, padding=1)), w2, padding=1)
    return weighted(F.relu(y + F.conv2d(x, ws, stride=2)))


NORMALIZATION = {
    "batch_norm_train": lambda: (
        batch_norm_train,
        randn(3, 4, 5, 5),
        randn(4),
        randn(4),
    ),
    "batch_norm_eval": lambda: (batch_norm_eval, randn(3, 4, 5, 5), *many(2, 4)),
    "batch_norm_1d": lambda: (batch_norm_train, randn(6, 4), randn(4), randn(4)),
    "instance_norm": lambda: (
        lambda x: weighted(F.instance_norm(x)),
        randn(2, 3, 5, 4),
    ),
    "group_norm_one": lambda: (
        lambda x, g, b: weighted(F.group_norm(x, 1, g, b)),
        randn(2, 6, 3, 5),
        *many(2, 6),
    ),
    "layer_norm_2d": lambda: (
        lambda x, g, b: weighted(F.layer_norm(x, (3, 8), g, b)),
        randn(2, 3, 8),
        *many(2, 3, 8),
    ),
    "rms_norm": lambda: (
        lambda x, g: weighted(F.rms_norm(x, (8,), g, 1e-5)),
        randn(4, 8),
        randn(8),
    ),
    "normalize": lambda: (lambda x: weighted(F.normalize(x, dim=-1)), randn(4, 8)),
}

ATTENTION = {
    "masked_attention": lambda: (
        masked_attention,
        *many(3, 2, 4, 6, 8),
        randint(0, 3, (2, 1, 6, 6)),
    ),
    "sdpa_masked": lambda: (
        sdpa_masked,
        *many(3, 2, 4, 6, 8),
        randint(0, 3, (2, 1, 6, 6)) | torch.eye(6, dtype=torch.long),
    ),
    "interleaved_rope": lambda: (interleaved_rope, randn(2, 5, 8), *many(2, 5, 4)),
    "scaled_bias": lambda: (
        lambda s, b: weighted(F.softmax(s + b[:, None, None] * s.sin(), -1)),
        randn(3, 5, 6),
        randn(3),
    ),
    "log_softmax": lambda: (lambda x: weighted(F.log_softmax(x, 1)), randn(3, 5, 4)),
    "glu": lambda: (lambda x: weighted(F.glu(x, -1)), randn(4, 10)),
    "geglu": lambda: (
        lambda x, w, v: weighted(F.gelu(x @ w) * (x @ v)),
        randn(4, 8),
        *many(2, 8, 6),
    ),
    "residual": lambda: (residual, randn(4, 8), randn(8, 16), randn(16, 8)),
    "lstm_cell": lambda: (
        lstm_cell,
        randn(3, 4),
        *many(2, 3, 5),
        randn(20, 4),
        randn(20, 5),
        randn(20),
    ),
    "recurrent": lambda: (
        recurrent,
        randn(4, 3, 4),
        randn(3, 5),
        randn(4, 5),
        randn(5, 5),
    ),
}

CONVOLUTION = {
    "conv1d": lambda: (
        lambda x, w, b: weighted(F.conv1d(x, w, b, padding=2, dilation=2)),
        randn(2, 3, 9),
        randn(4, 3, 3),
        randn(4),
    ),
    "conv1d_strided": lambda: (
        lambda x, w: weighted(F.conv1d(x, w, stride=3)),
        randn(2, 3, 11),
        randn(4, 3, 2),
    ),
    "conv2d_strided": lambda: (
        lambda x, w, b: weighted(F.conv2d(x, w, b, stride=(2, 1), padding=(1, 0))),
        randn(2, 3, 7, 6),
        randn(4, 3, 3, 2),
        randn(4),
    ),
    "conv2d_strided_dilated": lambda: (
        lambda x, w: weighted(F.conv2d(x, w, stride=2, dilation=(1, 3), padding=2)),
        randn(2, 3, 7, 10),
        randn(4, 3, 3, 3),
    ),
    "conv2d_grouped": lambda: (
        lambda x, w: weighted(F.conv2d(x, w, groups=2, padding=1)),
        randn(2, 4, 5, 5),
        randn(6, 2, 3, 3),
    ),
    "conv2d_depthwise": lambda: (
        lambda x, w: weighted(F.conv2d(x, w, groups=4, stride=2, padding=1)),
        randn(2, 4, 7, 7),
        randn(4, 1, 3, 3),
    ),
    "conv2d_pointwise": lambda: (
        lambda x, w: weighted(F.conv2d(x, w, stride=2)),
        randn(2, 3, 5, 5),
        randn(4, 3, 1, 1),
    ),
    "conv3d": lambda: (
        lambda x, w, b: weighted(F.conv3d(x, w, b, stride=(1, 2, 1), padding=1)),
        randn(1, 2, 4, 5, 4),
        randn(3, 2, 2, 3, 3),
        randn(3),
    ),
    "conv_transpose2d": lambda: (
        lambda x, w: weighted(F.conv_transpose2d(x, w, stride=2, padding=1)),
        randn(2, 3, 4, 4),
        randn(3, 2, 3, 3),
    ),
    "strided_block": lambda: (
        strided_block,
        randn(2, 4, 8, 8),
        randn(6, 4, 3, 3),
        randn(6, 6, 3, 3),
        randn(6, 4, 1, 1),
    ),
}

POOLING = {
    "max_pool1d": lambda: (lambda x: weighted(F.max_pool1d(x, 2)), randn(2, 3, 8)),
    "max_pool2d": lambda: (
        lambda x: weighted(F.max_pool2d(x, 3, 2, 1)),
        randn(2, 3, 8, 7),
    ),
    # Many windows with several maxima.
    "max_pool2d_ties": lambda: (
        lambda x: weighted(F.max_pool2d(x, 3, 2, 1)),
        randn(2, 3, 9, 9).round(),
    ),
    "max_pool2d_dilated": lambda: (
        lambda x: weighted(F.max_pool2d(x, 2, 1, dilation=2)),
        randn(2, 3, 6, 6),
    ),
    "max_pool3d": lambda: (
        lambda x: weighted(F.max_pool3d(x, 2)),
        randn(1, 2, 4, 4, 6),
    ),
    "avg_pool1d": lambda: (lambda x: weighted(F.avg_pool1d(x, 3, 2)), randn(2, 3, 9)),
    "avg_pool2d": lambda: (
        lambda x: weighted(F.avg_pool2d(x, 3, 2, 1)),
        randn(2, 3, 8, 7),
    ),
    "avg_pool3d": lambda: (
        lambda x: weighted(F.avg_pool3d(x, 2)),
        randn(1, 2, 4, 4, 6),
    ),
    "adaptive_avg_pool2d": lambda: (
        lambda x: weighted(F.adaptive_avg_pool2d(x, 1)),
        randn(2, 3, 4, 5),
    ),
}

REDUCTION = {
    "amax": lambda: (lambda x: weighted(x.amax(1)), randn(3, 5, 4)),
    "amax_ties": lambda: (
        lambda x: weighted(x.amax(1)),
        torch.tensor([[1.0, 2, 2], [3, 3, 3], [0, 2, 1], [0, 0, -1]]),
    ),
    "amin": lambda: (lambda x: weighted(x.amin(-1)), randn(3, 5, 4)),
    "max_dim": lambda: (lambda x: weighted(x.max(1).values), randn(3, 5, 4)),
    "min_dim": lambda: (lambda x: weighted(x.min(0).values), randn(3, 5, 4)),
    "max_all": lambda: (lambda x: x.max() * x.min(), randn(3, 5)),
    "prod": lambda: (lambda x: weighted(x.prod(1)), randn(3, 5, 4)),
    "prod_zeros": lambda: (
        lambda x: weighted(x.prod(1)),
        torch.tensor([[2.0, 0, 3], [0, 0, 4], [1, 2, 3]]),
    ),
    "logsumexp": lambda: (lambda x: weighted(x.logsumexp((0, 2))), randn(3, 5, 4)),
    "variance": lambda: (lambda x: weighted(x.var(1)), randn(3, 5, 4)),
    "deviation": lambda: (lambda x: x.std(), randn(3, 5)),
    "norm": lambda: (lambda x: weighted(x.norm(dim=-1)), randn(3, 5)),
    "mean_dims": lambda: (lambda x: weighted(x.mean((0, 2), True)), randn(3, 5, 4)),
}

REARRANGEMENT = {
    "concat": lambda: (
        lambda a, b: weighted(torch.cat((a, b, a), 1)),
        randn(3, 2),
        randn(3, 4),
    ),
    "stack": lambda: (lambda a, b: weighted(torch.stack((a, b), 1)), *many(2, 3, 2)),
    "slice": lambda: (lambda x: weighted(x[1:, ::2, -2:]), randn(3, 6, 4)),
    "pad": lambda: (lambda x: weighted(F.pad(x, (1, 2, 0, 3), value=0.5)), randn(3, 4)),
    "gather": lambda: (
        lambda x, i: weighted(x.gather(1, i)),
        randn(3, 6),
        randint(0, 6, (3, 8)),
    ),
    "index_select": lambda: (
        lambda x, i: weighted(x.index_select(1, i)),
        randn(3, 6, 2),
        randint(0, 6, (9,)),
    ),
    "advanced_index": lambda: (
        lambda x, i, j: weighted(x[i, j]),
        randn(4, 6, 2),
        randint(0, 4, (5,)),
        randint(0, 6, (5,)),
    ),
    "flip": lambda: (lambda x: weighted(x.flip(1)), randn(3, 4)),
    "roll": lambda: (lambda x: weighted(x.roll(1, 0)), randn(3, 4)),
    "repeat": lambda: (lambda x: weighted(x.repeat(2, 3)), randn(3, 4)),
    "expand": lambda: (lambda x: weighted(x[:, None].expand(3, 5, 4)), randn(3, 4)),
    "permute": lambda: (
        lambda x: weighted(x.permute(2, 0, 1).reshape(4, 6)),
        randn(2, 3, 4),
    ),
    "triangle": lambda: (lambda x: weighted(x.tril() + x.triu(1) ** 2), randn(4, 4)),
    "where": lambda: (
        lambda a, b, c: weighted(torch.where(c > 0, a, b)),
        *many(2, 3, 4),
        randint(0, 2, (3, 4)),
    ),
    "einsum": lambda: (
        lambda a, b: weighted(torch.einsum("bij,bkj->kbi", a, b)),
        randn(2, 3, 4),
        randn(2, 5, 4),
    ),
    "outer": lambda: (lambda a, b: weighted(torch.outer(a, b)), randn(3), randn(4)),
    "diagonal": lambda: (lambda x: weighted(x.diagonal(1)), randn(4, 5)),
    "upsample": lambda: (
        lambda x: weighted(F.interpolate(x, scale_factor=2, mode="nearest")),
        randn(1, 2, 3, 3),
    ),
}

LOSS = {
    "ignored_labels": lambda: (
        ignored_labels,
        randn(20, 8),
        randn(8, 7),
        randint(0, 20, (3, 5)),
        torch.where(randint(0, 3, (3, 5)) == 0, -100, randint(0, 7, (3, 5))),
    ),
    "smoothed_labels": lambda: (
        lambda x, y: F.cross_entropy(x, y, label_smoothing=0.1),
        randn(5, 7),
        randint(0, 7, (5,)),
    ),
    "image_labels": lambda: (
        lambda x, y: F.cross_entropy(x, y),
        randn(2, 5, 3, 3),
        randint(0, 5, (2, 3, 3)),
    ),
    "mse": lambda: (lambda a, b: F.mse_loss(a, b), *many(2, 3, 4)),
    "l1": lambda: (lambda a, b: F.l1_loss(a, b), *many(2, 3, 4)),
    "huber": lambda: (lambda a, b: F.huber_loss(a, b), *many(2, 3, 4)),
    "smooth_l1": lambda: (lambda a, b: F.smooth_l1_loss(a, b), *many(2, 3, 4)),
    "binary": lambda: (
        lambda a, b: F.binary_cross_entropy_with_logits(a, torch.sigmoid(b)),
        *many(2, 3, 4),
    ),
    "divergence": lambda: (
        lambda a, b: F.kl_div(a.log_softmax(-1), b.softmax(-1), reduction="batchmean"),
        *many(2, 3, 4),
    ),
    "cosine": lambda: (
        lambda a, b: weighted(F.cosine_similarity(a, b)),
        *many(2, 3, 4),
    ),
}

CASES = {
    "normalization": NORMALIZATION,
    "attention": ATTENTION,
    "convolution": CONVOLUTION,
    "pooling": POOLING,
    "reduction": REDUCTION,
    "rearrangement": REARRANGEMENT,
    "loss": LOSS,
}


def many(count, *shape):
    return (randn(shape) for _ in range(count))
