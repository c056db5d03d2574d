"""Layers and losses of PyTorch whose operations fad mostly does not know.

`CASES` has, by name, a function that makes a module and its inputs. The module
returns a tensor or a tuple of tensors."""

import math

import torch
import torch.nn.functional as F
from torch import nn, randint, randn


class Apply(nn.Module):
    """`function` of the input after a linear layer, and of more inputs."""

    def __init__(self, function, width=8):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.function = function

    def forward(self, x, *others):
        return self.function(self.linear(x), *others)


class Experts(nn.Module):
    """A mixture of experts, of which each token takes the best two."""

    def __init__(self, width=8, count=4):
        super().__init__()
        self.router = nn.Linear(width, count)
        self.up = nn.Parameter(randn(count, width, 16) / 4)
        self.down = nn.Parameter(randn(count, 16, width) / 4)

    def forward(self, x):
        weights, chosen = torch.topk(self.router(x).softmax(-1), 2)
        weights = weights / weights.sum(-1, keepdim=True)
        hidden = F.silu(torch.einsum("bi,bkio->bko", x, self.up[chosen]))
        y = torch.einsum("bko,bkoi->bki", hidden, self.down[chosen])
        return (y * weights.unsqueeze(-1)).sum(1)


class SortedExperts(nn.Module):
    """A mixture of experts that moves tokens to their experts and back."""

    def __init__(self, width=8, count=4):
        super().__init__()
        self.count = count
        self.router = nn.Linear(width, count)
        self.experts = nn.ModuleList(nn.Linear(width, width) for _ in range(count))

    def forward(self, x):
        weights, chosen = self.router(x).softmax(-1).max(-1)
        y = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            mask = F.one_hot(chosen, self.count)[:, number, None].to(x.dtype)
            y = y + mask * expert(x)
        order = chosen.argsort(stable=True)
        return torch.empty_like(y).index_copy(0, order, y[order]) * weights[:, None]


class Recurrent(nn.Module):
    def __init__(self, kind, **options):
        super().__init__()
        self.layer = kind(8, 6, num_layers=2, batch_first=True, **options)

    def forward(self, x):
        return self.layer(x)[0]


class Attention(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.layer = nn.MultiheadAttention(8, 2, batch_first=True, **options)

    def forward(self, x):
        y, weights = self.layer(x, x, x)
        return y, weights


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerDecoderLayer(8, 2, 16, 0.0, batch_first=True)

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        return self.layer(x, x.flip(1), tgt_mask=mask, tgt_is_causal=True)


class Bags(nn.Module):
    def __init__(self, mode):
        super().__init__()
        self.bag = nn.EmbeddingBag(20, 8, mode=mode)

    def forward(self, ids, offsets):
        return self.bag(ids, offsets)


class Convolutions(nn.Module):
    """`layer` between convolutions of images."""

    def __init__(self, layer, after=8):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.layer = layer
        self.second = nn.Conv2d(after, 4, 1)

    def forward(self, x):
        return self.second(self.layer(self.first(x)))


class Unpooled(nn.Module):
    def forward(self, x):
        y, places = F.max_pool2d(x, 2, return_indices=True)
        return F.max_unpool2d(y.sin(), places, 2)


class ComplexParameters(nn.Module):
    """Frequencies multiplied with weights, as in Fourier neural operators."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(6, 5, dtype=torch.complex64))

    def forward(self, x):
        return torch.fft.irfft(torch.fft.rfft(F.gelu(x)) * self.weight, n=8)


class StateSpace(nn.Module):
    """A linear recurrence by cumulative sums."""

    def __init__(self):
        super().__init__()
        self.decay = nn.Parameter(torch.rand(8))
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        steps = F.softplus(self.linear(x)) * self.decay.exp()
        total = steps.cumsum(1)
        return (torch.exp(-total) * (x * torch.exp(total)).cumsum(1)).tanh()


class Wrapped(nn.Module):
    """A loss, and a linear layer before it."""

    def __init__(self, loss, width=8):
        super().__init__()
        self.linear, self.loss = nn.Linear(width, width), loss

    def forward(self, x, *targets):
        return self.loss(self.linear(x), *targets)


def apply(function, *others):
    return lambda: (Apply(function), (randn(6, 8), *(other() for other in others)))


def apply3(function, *others):
    return lambda: (Apply(function), (randn(2, 6, 8), *(other() for other in others)))


def image(make, after=8):
    return lambda: (Convolutions(make(), after), (randn(2, 3, 8, 8),))


def loss(make, *targets):
    return lambda: (Wrapped(make()), (randn(6, 8), *(target() for target in targets)))


def square(x):
    """A symmetric positive definite matrix."""
    return x.T @ x + 3 * torch.eye(8)


def ctc(x):
    logits = x.log_softmax(-1).transpose(0, 1)
    targets = torch.tensor([[1, 2], [3, 1]])
    return F.ctc_loss(logits, targets, torch.tensor([6, 6]), torch.tensor([2, 2]))


def spectrum(x):
    window = torch.hann_window(8)
    y = torch.stft(x.flatten(), 8, 4, window=window, return_complex=True)
    return torch.view_as_real(y).square()


def sampled(x):
    grid = F.affine_grid(torch.eye(2, 3).repeat(2, 1, 1) * 0.9, (2, 8, 8, 8), False)
    return F.grid_sample(x, grid + x.mean() * 0.01, align_corners=False)


def put(x):
    y = torch.zeros(5, 8)
    return y.index_put((torch.tensor([0, 3, 3, 1, 2, 0]),), x.exp(), accumulate=True)


def in_place(x):
    y = x.clone()
    y[::2] *= 2
    y.neg_().add_(1)
    y[0, :4] = x[1, 4:]
    return y.clone() * x


def split_complex(x):
    z = torch.complex(x[:, :4], x[:, 4:])
    return (z * z.conj().sin()).abs(), z.angle()


def rotated(x):
    z = torch.view_as_complex(x.reshape(6, 4, 2))
    turn = torch.polar(torch.ones(6, 4), torch.arange(24.0).reshape(6, 4))
    return torch.view_as_real(z * turn).flatten(1)


def few_bits(x):
    return torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -128, 127) * x.sigmoid()


def eight_bits(x):
    # The cast is of constants: PyTorch has no derivative of it.
    scale = x.detach().to(torch.float8_e4m3fn).to(torch.float32)
    return F.silu(x) * scale


def half_complex(x):
    z = torch.view_as_complex(x.detach().reshape(6, 4, 2)).to(torch.complex32)
    return F.gelu(x) * torch.view_as_real(z).reshape(6, 8).float()


def labels(high, *shape):
    return lambda: randint(0, high, shape or (6,))


def signs():
    return torch.randint(0, 2, (6, 8)).float() * 2 - 1


def binary():
    return torch.randint(0, 2, (6, 8)).float()


def positive():
    return torch.rand(6, 8) + 0.1


MOVING = {
    "sort": apply(lambda x: torch.sort(x, -1)[0].cumsum(-1)),
    "argsort": apply(lambda x: x.gather(-1, x.argsort(-1)).tanh()),
    "topk": apply(lambda x: torch.topk(x, 3)[0].exp()),
    "kthvalue": apply(lambda x: torch.kthvalue(x, 2)[0] * x.amax(-1)),
    "median": apply(lambda x: x.median(-1)[0] + x.nanmedian(0)[0].sum()),
    "mode": apply(lambda x: torch.mode(x.round(), -1)[0] + x.sum(-1)),
    "quantile": apply(lambda x: torch.quantile(x, 0.3, dim=-1)),
    "cummax": apply(lambda x: torch.cummax(x, 0)[0] * torch.cummin(x, 0)[0]),
    "cumprod": apply(lambda x: x.sigmoid().cumprod(-1)),
    "logcumsumexp": apply(lambda x: x.logcumsumexp(-1)),
    "scatter": apply(lambda x: torch.zeros(6, 8).scatter(1, x.argsort(-1), x.sin())),
    "scatter_add": apply(
        lambda x, i: torch.zeros(4, 8).scatter_add(0, i, x.exp()), labels(4, 6, 8)
    ),
    "scatter_reduce": apply(
        lambda x, i: torch.ones(4, 8).scatter_reduce(0, i, x, "amax") * 2, labels(4, 6, 8)
    ),
    "scatter_mean": apply(
        lambda x, i: torch.ones(4, 8).scatter_reduce(0, i, x.tanh(), "mean"), labels(4, 6, 8)
    ),
    "index_add": apply(lambda x, i: torch.zeros(4, 8).index_add(0, i, x.sin()), labels(4)),
    "index_put": apply(put),
    "index_fill": apply(lambda x: x.sin().index_fill(0, torch.tensor([1, 3]), 2.0) * x),
    "masked_scatter": apply(lambda x: x.masked_scatter(x > 0, x.flatten().exp()) * x),
    "masked_select": apply(lambda x: x.masked_select(x > 0).exp()),
    "nonzero": apply(lambda x: x[x[:, 0].abs().argsort()[:3]].sin()),
    "take_along": apply(lambda x: torch.take_along_dim(x, x.argmax(-1, True), -1).exp()),
    "search": apply(lambda x: x * torch.searchsorted(torch.linspace(-1, 1, 5), x.detach())),
    "unfold": apply(lambda x: x.unfold(1, 3, 2).exp().prod(-1)),
    "in_place": apply(in_place),
    "roll_flip": apply(lambda x: x.roll(2, 1) * x.flip(0).rot90(2)),
    "kron": apply(lambda x: torch.kron(x[:2, :3], x[2:4, 3:6]).sin()),
    "repeat": apply(lambda x: x.repeat_interleave(torch.tensor([1, 2, 0, 1, 1, 3]), 0) ** 2),
    "distances": apply(lambda x: torch.cdist(x, x.flip(0)) + torch.pdist(x).sum()),
    "experts": lambda: (Experts(), (randn(6, 8),)),
    "sorted_experts": lambda: (SortedExperts(), (randn(6, 8),)),
    "bag_sum": lambda: (Bags("sum"), (randint(0, 20, (9,)), torch.tensor([0, 4]))),
    "bag_mean": lambda: (Bags("mean"), (randint(0, 20, (9,)), torch.tensor([0, 4]))),
    "bag_max": lambda: (Bags("max"), (randint(0, 20, (9,)), torch.tensor([0, 4]))),
    "segments": apply(
        lambda x: torch.segment_reduce(x, "mean", lengths=torch.tensor([2, 1, 3]), axis=0)
    ),
}

ALGEBRA = {
    "fft": apply(lambda x: torch.fft.fft2(x).abs()),
    "rfft": lambda: (ComplexParameters(), (randn(6, 8),)),
    "stft": apply(spectrum),
    "complex": apply(split_complex),
    "rotary_complex": apply(rotated),
    "half_complex": apply(half_complex),
    "cholesky": apply(lambda x: torch.linalg.cholesky(square(x))),
    "inverse": apply(lambda x: torch.linalg.inv(square(x))),
    "solve": apply(lambda x: torch.linalg.solve(square(x), x.T)),
    "triangular": apply(
        lambda x: torch.linalg.solve_triangular(square(x).triu(), x.T, upper=True)
    ),
    "determinant": apply(lambda x: torch.logdet(square(x)) + torch.det(square(x) / 9)),
    "qr": apply(lambda x: torch.linalg.qr(x.T)[1]),
    "svd": apply(lambda x: torch.linalg.svdvals(x).square()),
    "eigh": apply(lambda x: torch.linalg.eigh(square(x))[0].log()),
    "eig": apply(lambda x: torch.linalg.eigvals(square(x)).abs()),
    "pinv": apply(lambda x: torch.linalg.pinv(x)),
    "matrix_exp": apply(lambda x: torch.matrix_exp(square(x) / 99)),
    "matrix_power": apply(lambda x: torch.linalg.matrix_power(square(x) / 9, 3)),
    "norms": apply(lambda x: torch.linalg.norm(x, "nuc") + torch.linalg.norm(x, 2)),
    "cross": apply(lambda x: torch.linalg.cross(x[:, :3], x[:, 3:6])),
    "covariance": apply(lambda x: torch.cov(x.T) + torch.corrcoef(x.T)),
    "special": apply(
        lambda x: torch.lgamma(x.exp() + 1) + torch.digamma(x.exp() + 1) + torch.i0(x)
        + torch.special.i1e(x) + torch.special.entr(x.sigmoid()) + torch.erfinv(x.tanh() / 2)
        + torch.special.ndtri(x.sigmoid()) + torch.sinc(x) + torch.special.xlog1py(x, x.exp())
    ),
    "trigonometry": apply(
        lambda x: torch.asinh(x) + torch.atan(x) + torch.acos(x.tanh() / 2) + torch.cosh(x)
        + torch.asin(x.tanh() / 2) + torch.atanh(x.tanh() / 2) + torch.sinh(x) + x.deg2rad()
    ),
    "hypotenuse": apply(lambda x: torch.hypot(x, x.flip(0)) + torch.logaddexp(x, x.flip(1))),
    "remainder": apply(lambda x: x % 1.5 + torch.fmod(x, 0.7) + x.frac()),
    "blended": apply(
        lambda x: torch.lerp(x, x.sin(), 0.3) + torch.addcmul(x, x, x.cos(), value=0.5)
        + torch.addcdiv(x, x.sin(), x.exp() + 1) + torch.nan_to_num(1 / x.relu(), 0, 1, 1)
    ),
    "steps": apply(lambda x: torch.heaviside(x.detach(), x.detach()) + x.copysign(x.flip(0)) + x.sign() * x),
    "trapezoid": apply(lambda x: torch.trapezoid(x.exp()) + torch.cumulative_trapezoid(x).sum()),
    "products": apply(lambda x: torch.tensordot(x, x, ([1], [1])) * torch.einsum("ij,kj->ik", x, x)),
    "gradient": apply(lambda x: torch.gradient(x, dim=1)[0] * torch.diff(x, dim=0).sum()),
    "fake_quantize": apply(few_bits),
    "float8": apply(eight_bits),
    "state_space": lambda: (StateSpace(), (randn(2, 6, 8),)),
}  # fmt: skip

LAYERS = {
    # PyTorch has no compiled form of the operation that f32 takes on CPUs.
    "lstm": lambda: (
        Recurrent(nn.LSTM, bidirectional=True).double(), (randn(2, 4, 8).double(),)
    ),
    "gru": lambda: (Recurrent(nn.GRU), (randn(2, 4, 8),)),
    "rnn": lambda: (Recurrent(nn.RNN, nonlinearity="relu"), (randn(2, 4, 8),)),
    "attention": lambda: (Attention(), (randn(2, 6, 8),)),
    "attention_dropout": lambda: (Attention(dropout=0.2, add_bias_kv=True), (randn(2, 6, 8),)),
    "decoder": lambda: (Decoder(), (randn(2, 6, 8),)),
    "flash": apply3(lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True)),
    "grouped_heads": apply3(
        lambda x: F.scaled_dot_product_attention(
            x.view(2, 6, 4, 2).transpose(1, 2), x.view(2, 6, 4, 2).transpose(1, 2)[:, :2],
            x.view(2, 6, 4, 2).transpose(1, 2)[:, 2:], enable_gqa=True,
        )
    ),
    "relative": apply3(
        lambda x: (x @ x.mT + (torch.arange(6)[:, None] - torch.arange(6)).abs()).softmax(-1) @ x
    ),
    "linear_attention": apply3(lambda x: (F.elu(x) + 1) @ ((F.elu(x) + 1).mT @ x)),
    "bilinear": lambda: (nn.Bilinear(8, 8, 4), (randn(6, 8), randn(6, 8))),
    "weight_norm": lambda: (nn.utils.parametrizations.weight_norm(nn.Linear(8, 8)), (randn(6, 8),)),
    "spectral_norm": lambda: (
        nn.utils.parametrizations.spectral_norm(nn.Linear(8, 8)), (randn(6, 8),)
    ),
    "orthogonal": lambda: (nn.utils.parametrizations.orthogonal(nn.Linear(8, 8)), (randn(6, 8),)),
    "batch_norm": image(lambda: nn.BatchNorm2d(8)),
    "instance_norm": image(lambda: nn.InstanceNorm2d(8, affine=True, track_running_stats=True)),
    "response_norm": image(lambda: nn.LocalResponseNorm(3)),
    "rms_norm": apply(lambda x: F.rms_norm(x, (8,))),
    "max_pool": image(lambda: nn.MaxPool2d(3, 2, 1)),
    "max_pool_3d": lambda: (
        nn.Sequential(nn.Conv3d(1, 2, 3), nn.MaxPool3d(2)), (randn(1, 1, 6, 6, 6),)
    ),
    "adaptive_max_pool": image(lambda: nn.AdaptiveMaxPool2d((3, 5))),
    "adaptive_avg_pool": image(lambda: nn.AdaptiveAvgPool2d((3, 5))),
    "power_pool": image(lambda: nn.LPPool2d(2, 2)),
    "fractional_pool": image(lambda: nn.FractionalMaxPool2d(2, output_size=4)),
    "unpool": image(Unpooled),
    "bicubic": image(lambda: nn.Upsample(scale_factor=1.5, mode="bicubic")),
    "nearest": image(lambda: nn.Upsample(scale_factor=2)),
    "pixel_shuffle": image(lambda: nn.PixelShuffle(2), 2),
    "channel_shuffle": image(lambda: nn.ChannelShuffle(4)),
    "reflect": image(lambda: nn.ReflectionPad2d(2)),
    "circular": image(lambda: nn.CircularPad2d(1)),
    "grid_sample": lambda: (Convolutions(nn.Identity()), (sampled(randn(2, 8, 8, 8))[:, :3],)),
    "sampled": lambda: (
        nn.Sequential(nn.Conv2d(3, 8, 1), _Function(sampled)), (randn(2, 3, 8, 8),)
    ),
    "fold": image(lambda: nn.Sequential(nn.Unfold(3, padding=1), nn.GELU(), nn.Fold(8, 3, padding=1))),
    "transposed": image(lambda: nn.ConvTranspose2d(8, 8, 3, 2)),
    "dropout": apply(lambda x: F.dropout(F.gelu(x), 0.4)),
    "dropout_2d": image(lambda: nn.Dropout2d(0.4)),
    "alpha_dropout": apply(lambda x: F.alpha_dropout(F.selu(x), 0.3, True)),
    "rrelu": apply(lambda x: F.rrelu(x, training=True)),
    "gumbel": apply(lambda x: F.gumbel_softmax(x, tau=0.7)),
    "bernoulli": apply(lambda x: x * torch.bernoulli(x.sigmoid())),
    "normal": apply(lambda x: x + x.exp() * torch.randn_like(x)),
}  # fmt: skip

LOSSES = {
    "ctc": apply3(ctc),
    "nll": loss(lambda: nn.Sequential(nn.LogSoftmax(-1)), ),
    "nll_weighted": apply(
        lambda x, y: F.nll_loss(x.log_softmax(-1), y, torch.linspace(0.5, 2, 8)), labels(8)
    ),
    "cross_entropy": loss(lambda: nn.CrossEntropyLoss(label_smoothing=0.1), labels(8)),
    "soft_targets": apply(lambda x: F.cross_entropy(x, x.detach().flip(0).softmax(-1))),
    "binary": loss(nn.BCEWithLogitsLoss, binary),
    "binary_sigmoid": apply(lambda x, y: F.binary_cross_entropy(x.sigmoid(), y), binary),
    "focal": apply(
        lambda x, y: ((1 - torch.exp(-F.cross_entropy(x, y, reduction="none"))) ** 2).sum(),
        labels(8),
    ),
    "multi_margin": loss(nn.MultiMarginLoss, labels(8)),
    "multi_label_margin": loss(nn.MultiLabelMarginLoss, labels(8, 6, 8)),
    "multi_label": loss(nn.MultiLabelSoftMarginLoss, binary),
    "soft_margin": loss(nn.SoftMarginLoss, signs),
    "hinge": loss(nn.HingeEmbeddingLoss, signs),
    "poisson": loss(nn.PoissonNLLLoss, positive),
    "gaussian": apply(lambda x, y, v: F.gaussian_nll_loss(x, y, v + x.square()), binary, positive),
    "divergence": apply(
        lambda x, y: F.kl_div(x.log_softmax(-1), y.softmax(-1), reduction="batchmean"), binary
    ),
    "huber": loss(lambda: nn.HuberLoss(delta=0.3), binary),
    "smooth_l1": loss(nn.SmoothL1Loss, binary),
    "triplet": apply(lambda x: F.triplet_margin_loss(x, x.flip(0), x.roll(1, 0))),
    "ranking": apply(lambda x: F.margin_ranking_loss(x[0], x[1], torch.ones(8), 0.5)),
    "cosine": apply(lambda x: F.cosine_embedding_loss(x, x.flip(0), torch.tensor([1.0, -1] * 3))),
    "pairwise": apply(lambda x: F.pairwise_distance(x, x.flip(1), 3)),
    "adaptive": lambda: (_Adaptive(), (randn(6, 8), randint(0, 20, (6,)))),
    "contrastive": apply(
        lambda x: F.cross_entropy(F.normalize(x) @ F.normalize(x).T / 0.1, torch.arange(6))
    ),
    "dice": apply(lambda x, y: 1 - 2 * (x.sigmoid() * y).sum() / (x.sigmoid() + y).sum(), binary),
    "evidence": apply(lambda x: -0.5 * (1 + x[:, :4] - x[:, 4:] ** 2 - x[:, :4].exp()).sum()),
    "log_normal": apply(
        lambda x: -torch.distributions.Normal(x[:, :4], x[:, 4:].exp()).log_prob(
            torch.full((6, 4), math.pi)
        )
    ),
    "beta": apply(
        lambda x: -torch.distributions.Beta(x[:, :4].exp(), x[:, 4:].exp()).log_prob(
            torch.full((6, 4), 0.3)
        )
    ),
}  # fmt: skip


class _Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


class _Adaptive(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10])

    def forward(self, x, y):
        return self.loss(x, y).loss


def _make_activation(kind):
    options = {nn.Threshold: (0.1, 0.5), nn.GLU: (-1,)}.get(kind, ())
    return lambda: (Wrapped(kind(*options)), (randn(6, 8),))


ACTIVATIONS = {
    kind.__name__: _make_activation(kind)
    for kind in map(vars(nn).get, nn.modules.activation.__all__)
    if kind not in (nn.MultiheadAttention, nn.Softmax2d)
}

CASES = {**MOVING, **ALGEBRA, **LAYERS, **LOSSES, **ACTIVATIONS}
