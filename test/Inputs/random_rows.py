"""Random programs whose rows are wide inside, for tests of chunks.

A program is a function of hidden states (batch, length, width), two weights (wide, width) and
(wide, wide), and a bias (wide). After a wide product come elementwise operations, reductions of rows,
views, casts, more products, and now and then an operation along the rows, which has no chunks. It ends in
losses of rows, in sums over them, or in rows of few elements, or in several of these."""

import random
from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

WIDTH, WIDE = 4, 24


class RowProgram:
    """The program of `seed`; `steps` has the names of its operations, those behind the product given or
    by chance."""

    def __init__(self, seed: int, steps: Sequence[str] = ()) -> None:
        choose = random.Random(seed)
        names = list(_STEPS)
        weights = [_WEIGHTS.get(name, 4) for name in names]
        chosen = steps or choose.choices(names, weights, k=5)
        self.steps = ["product", *chosen]
        self.ends = choose.sample(list(_ENDS), choose.choice([1, 1, 2]))
        self.has_bias = choose.random() < 0.5
        self.is_flat = choose.random() < 0.5
        # Which value is the other operand of each operation.
        self.others = [choose.randrange(place + 1) for place in range(len(chosen))]

    @property
    def rounds(self) -> bool:
        """Whether operations are in f32, or have constants that Inductor rounds."""
        return not {"cast", "kinks"}.isdisjoint(self.steps)

    def __call__(self, hidden: Tensor, weight: Tensor, square: Tensor, bias: Tensor) -> tuple:
        first = hidden.flatten(0, 1) if self.is_flat else hidden
        values = [F.linear(first, weight, bias if self.has_bias else None)]
        for name, other in zip(self.steps[1:], self.others):
            values.append(_STEPS[name](values[-1], values[other], square, bias))
        return tuple(_ENDS[end](values[-1], first, weight) for end in self.ends)


def make_rows(dtype: torch.dtype, batch: int, length: int) -> list[Tensor]:
    """Returns operands of programs, of a type of 64 bits where these cast."""
    shapes = (batch, length, WIDTH), (WIDE, WIDTH), (WIDE, WIDE), (WIDE,)
    return [torch.randn(shape, dtype=dtype) / 2 for shape in shapes]


Step = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]

_KINKS = (F.gelu, F.softplus, F.elu, F.hardsigmoid, F.hardswish, F.hardtanh, F.leaky_relu)
_STEPS: dict[str, Step] = {
    "tanh": lambda x, y, w, b: torch.tanh(x),
    "silu": lambda x, y, w, b: F.silu(x),
    "where": lambda x, y, w, b: torch.where(y > 0.1, x, 0.3 * x),
    "gate": lambda x, y, w, b: x * torch.sigmoid(y),
    "sum": lambda x, y, w, b: x + 0.5 * y,
    "scale": lambda x, y, w, b: x * b + 0.1,
    "softmax": lambda x, y, w, b: 4 * F.softmax(x, -1),
    "norm": lambda x, y, w, b: F.layer_norm(x, (WIDE,), b),
    "center": lambda x, y, w, b: x - y.mean(-1, keepdim=True),
    "largest": lambda x, y, w, b: x - x.amax(-1, keepdim=True),
    "logsumexp": lambda x, y, w, b: x - y.logsumexp(-1).unsqueeze(-1),
    "cast": lambda x, y, w, b: x.float().sin().double() + x,
    "views": lambda x, y, w, b: x.unflatten(-1, (2, -1)).transpose(-1, -2).flatten(-2) + y,
    "halves": lambda x, y, w, b: torch.cat([x[..., 8:], x[..., :8]], -1),
    "shift": lambda x, y, w, b: F.pad(x, (1, 0))[..., :-1],
    "pick": lambda x, y, w, b: x - x.gather(-1, (y[..., :1] > 0).long()),
    "parts": lambda x, y, w, b: torch.cat([y.split(16, -1)[1], x.split((16, 8), -1)[0].tanh()], -1),
    "select": lambda x, y, w, b: (
        torch.cat([y.unsqueeze(-2), x.sin().unsqueeze(-2)], -2).select(-2, 1) * y[..., 2, None] + y
    ),
    "mish": lambda x, y, w, b: F.mish(x),
    "biased norm": lambda x, y, w, b: F.layer_norm(x, (WIDE,), b, 0.5 * b) + y,
    "kinks": lambda x, y, w, b: sum(kink(x + y) for kink in _KINKS) / len(_KINKS),
    "square": lambda x, y, w, b: F.linear(x, w) / 3,
    # No chunks.
    "along rows": lambda x, y, w, b: x.cumsum(0) / 8,
    "of all rows": lambda x, y, w, b: x - y.mean(),
}
_WEIGHTS = {"square": 6, "along rows": 1, "of all rows": 1}

_ENDS: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "mean": lambda x, first, weight: x.square().mean(),
    "losses": lambda x, first, weight: (x.logsumexp(-1) - x[..., :1].sum(-1)).sum(),
    "columns": lambda x, first, weight: x.flatten(0, -2).sum(0).tanh(),
    "rows": lambda x, first, weight: x.mean(-1).sin(),
    "layer": lambda x, first, weight: first + x @ weight,
}
