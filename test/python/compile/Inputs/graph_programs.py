"""Random programs of operations of PyTorch, as modules to train.

A program computes values one after another, each from earlier ones, of few shapes that
can be broadcast to one another, in f64 and, here and there, f32, bf16 and integers."""

import random

import torch
import torch.nn.functional as F
from torch import nn

ROWS, COLUMNS = 4, 6

# Functions of one tensor. None has kinks where random numbers fall.
UNARY = (
    torch.sin, torch.cos, torch.tanh, torch.sigmoid, F.gelu, F.silu, F.mish, F.softplus,
    F.relu, F.elu, F.hardswish, F.hardsigmoid, F.leaky_relu, F.relu6, F.logsigmoid, F.selu,
    torch.abs, torch.neg, torch.square, torch.erf, torch.atan, F.hardtanh, F.celu, F.softsign,
    lambda x: torch.exp(x.clamp(max=2.0)), lambda x: torch.log1p(x.abs()),
    lambda x: torch.sqrt(x.abs() + 0.5), lambda x: torch.rsqrt(x * x + 1.0),
    lambda x: 1.0 / (x.abs() + 1.0), lambda x: x**3, lambda x: x * 2.0 - 1.0,
    lambda x: 3.0 - x, lambda x: F.gelu(x, approximate="tanh"), lambda x: x.clamp(-0.5, 0.8),
    lambda x: F.threshold(x, 0.1, 0.3), lambda x: x.reciprocal().clamp(-2, 2),
    lambda x: torch.where(x > 0.2, x * x, x.sin()), lambda x: x.masked_fill(x > 0.7, 0.0),
    lambda x: torch.expm1(x.clamp(-1, 1)), lambda x: x.sign() * x, lambda x: x.pow(2.0).exp().log(),
    lambda x: x.detach() * x, lambda x: x.clone(), lambda x: torch.floor(x) + x,
)  # fmt: skip
BINARY = (
    torch.add, torch.sub, torch.mul, torch.maximum, torch.minimum, torch.atan2,
    lambda x, y: x / (y.abs() + 0.5), lambda x, y: torch.add(x, y, alpha=0.3),
    lambda x, y: torch.where(x > y, x, y * 0.5), lambda x, y: x * torch.sigmoid(y),
    lambda x, y: torch.lerp(x, y, 0.25), lambda x, y: torch.addcmul(x, x, y, value=0.5),
    lambda x, y: (x > y) * x, lambda x, y: torch.hypot(x, y + 3.0), lambda x, y: x - y * (x < 0.5),
)  # fmt: skip
# Functions that keep the shape, with other things than elements.
SHAPED = (
    lambda x: x.softmax(-1), lambda x: x.log_softmax(0), lambda x: x - x.mean(-1, keepdim=True),
    lambda x: F.layer_norm(x, x.shape[-1:]), lambda x: x / (x.var(0, keepdim=True) + 1.0),
    lambda x: x.flip(0), lambda x: x.roll(1, -1), lambda x: x.cumsum(0) * 0.3,
    lambda x: x.sort(-1)[0], lambda x: x.amax(0, keepdim=True) * x, lambda x: x.T.contiguous().T.exp().log(),
    lambda x: torch.cat([x[1:], x[:1]]), lambda x: F.rms_norm(x, x.shape[-1:]),
    lambda x: x.gather(0, x.argsort(0)), lambda x: F.pad(x, (1, 1))[:, 1:-1],
    lambda x: x.reshape(-1).view(x.shape), lambda x: x.unsqueeze(0).expand(2, *x.shape).sum(0),
    lambda x: torch.stack([x, x.sin()]).prod(0), lambda x: x.triu(), lambda x: x.logsumexp(0) + x,
)  # fmt: skip


def mixed(x, dtype):
    """Through a type of few digits and back."""
    return (torch.tanh(x.to(dtype)) * 0.5).to(x.dtype) + x


def counted(x):
    """Integers and comparisons of them."""
    i = (x.detach() * 3).round().to(torch.int32)
    return x * ((i % 2 == 0) & (i > -4)) + i.bitwise_and(1)


def expand(x):
    return x.expand(ROWS, COLUMNS)


class Program(nn.Module):
    """A program of `seed`."""

    def __init__(self, seed):
        super().__init__()
        self.random = random.Random(seed)
        torch.manual_seed(seed)
        choose = self.random.choice
        # PyTorch omits random numbers that nothing reads, and so has to be compared
        # with itself; but it fails where forward changes what backward reads.
        self.is_random = choose((False, True))
        self.is_changing = False
        shapes = (ROWS, COLUMNS), (ROWS, COLUMNS), (COLUMNS,), (ROWS, 1), ()
        self.values = nn.ParameterList(
            nn.Parameter(torch.randn(shape, dtype=torch.float64)) for shape in shapes
        )
        for value in self.values[2:]:
            value.requires_grad_(self.random.random() < 0.8)
        self.register_buffer("state", torch.rand(ROWS, COLUMNS, dtype=torch.float64))
        self.steps = [self.make_step(choose) for _ in range(self.random.randint(4, 16))]
        self.returns = [choose((0, 0, 1)) for _ in self.steps]

    def make_step(self, choose):
        """A function of the values before it."""
        # The latest values are read most.
        first, second = (min(int(self.random.expovariate(0.5)), 5) for _ in range(2))
        kind = self.random.random()
        if kind < 0.42:
            f = choose(UNARY)
            return lambda _, values: f(values[-1 - first])
        if kind < 0.68:
            f = choose(BINARY)
            return lambda _, values: f(values[-1 - first], values[-1 - second])
        if kind < 0.80:
            f = choose(SHAPED)
            return lambda _, values: f(expand(values[-1 - first]))
        if kind < 0.86:
            return lambda _, values: (
                expand(values[-1 - first])
                @ (expand(values[-1 - second]).T @ expand(values[0]) * 0.1)
            )
        if kind < 0.90 and self.is_random:
            rate = choose((0.1, 0.5))
            return lambda _, values: F.dropout(values[-1 - first], rate)
        if kind < 0.94:
            dtype = choose((torch.float32, torch.bfloat16))
            return lambda _, values: mixed(values[-1 - first], dtype)
        if kind < 0.96:
            return lambda _, values: counted(values[-1 - first])
        if kind < 0.98 or self.is_random:
            return lambda _, values: (
                values[-1 - first].sum(-1, keepdim=True)
                if values[-1 - first].ndim
                else values[-1 - first].exp()
            )

        self.is_changing = True

        def change(program, values):
            read = program.state.sin() * values[-1 - first]
            program.state.mul_(0.5).add_(values[-1 - second].detach().mean())
            return read * program.state.cos()

        return change

    def forward(self, x):
        # Goes with PyTorch 2.11, which cannot unpack the values.
        values = [x] + list(self.values)
        # The last values are those of the largest shape.
        values = values[2:] + values[:2]
        results = []
        for step, returned in zip(self.steps, self.returns):
            values.append(step(self, values))
            if returned:
                results.append(values[-1])
        # At least one result has a derivative.
        return *results, values[-1] + self.values[0].sin()
