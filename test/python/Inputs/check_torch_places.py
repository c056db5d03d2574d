"""Sorts, scans, reads and writes at computed indices, and functions
that torch-mlir has no form of: gradients against PyTorch's.

usage: check_torch_places.py [--every]

Without --every, functions are of f64 and bf16, and not of f32 and f16, too; those that have a
case at numbers that are not finite have that alone; and cases that are like others, which are
those of NIGHTLY, are left out."""

import math
import sys
import unittest

import torch
from torch import nn
import torch.nn.functional as F

import fad
import fad.torch
from exported_step import export_step
from many import check

EVERY = False
NAN, INF = math.nan, math.inf
X = torch.tensor(
    [[0.3, -1.2, 0.3, 2.0, -0.4], [1.5, 0.1, -0.7, 0.9, -2.2], [0.6, 0.6, -1.1, 0.2, 1.3]]
)
SPECIAL = torch.tensor([[NAN, 1.0, -INF, 0.5], [INF, NAN, NAN, -1.0], [2.0, 2.0, 1.0, 1.0]])
ROWS = torch.tensor([2, 0, 2, -1])
COLUMNS = torch.tensor([[4, 0, 0], [1, 1, 3]])
PLACES = torch.tensor([0, 2, 1, 2])


def known(values):
    """Of values that may not be finite, those that are."""
    return torch.where(values.isfinite(), values, 0)


ORDERS = {
    "sort": lambda x: x.sort(1).values,
    "sort descending": lambda x: x.sort(0, descending=True).values,
    "sort stable": lambda x: torch.sort(x, stable=True, dim=1).indices * x,
    "argsort": lambda x: torch.argsort(x, stable=True) * x,
    # Of equal elements, PyTorch's are any.
    "topk": lambda x: x[:2, 1:].topk(2, 1).values,
    "least": lambda x: x.topk(2, 0, largest=False).values,
    "kthvalue": lambda x: x.kthvalue(2, 0).values,
    "median of rows": lambda x: x.median(1, keepdim=True).values,
    "nanmedian of rows": lambda x: x.nanmedian(0).values,
    "median": lambda x: torch.cat((x, x[:, :1]), 1).median(),
    "nanmedian": lambda x: x.nanmedian(),
    "quantile": lambda x: x.quantile(0.3, dim=1),
    "rank": lambda x: x.sum().sort().values,
    "one": lambda x: x.sum().softmax(0) + x.sum().log_softmax(-1) * x.sum().amax(0),
}

SCANS = {
    "cumsum": lambda x: x.cumsum(0),
    "cumprod": lambda x: x.cumprod(1),
    "cummax": lambda x: x.cummax(1).values,
    "cummin": lambda x: x.cummin(0).values,
    "cummax indices": lambda x: x.cummax(1).indices * x,
    "logcumsumexp": lambda x: x.logcumsumexp(1),
    "cumsum of one": lambda x: x[0, 0].cumsum(0),
    "cummax of one": lambda x: x[0, 0].cummax(0).values,
}

SCATTERS = {
    "index_add": lambda x: x.index_add(0, ROWS % 3, F.pad(x, (0, 0, 0, 1)).sin()),
    "index_add columns": lambda x: x.index_add(1, PLACES, x[:, 1:].exp(), alpha=-2),
    "scatter_add": lambda x: x.scatter_add(1, COLUMNS, x[:2, :3].exp()),
    "scatter_add rows": lambda x: x.scatter_add(0, COLUMNS % 3, x[1:, :3].exp()),
    "scatter": lambda x: x.sin().scatter(1, torch.tensor([[3, 1], [0, 2]]), x[:2, 1:3]),
    "scatter one": lambda x: x.scatter(1, torch.tensor([[3], [0], [2]]), x[:, :1].exp()),
    "scatter number": lambda x: x.scatter(0, COLUMNS % 3, 2.5),
    "scatter mean": lambda x: x.scatter_reduce(1, COLUMNS, x[1:, 2:].exp(), "mean"),
    "scatter sum": lambda x: x.scatter_reduce(
        1, COLUMNS, x[:2, :3].exp(), "sum", include_self=False
    ),
    "scatter amax": lambda x: x.scatter_reduce(
        0, ROWS[:, None].expand(4, 5) % 3, torch.cat((x, x[:1])).sin(), "amax"
    ),
    "scatter amin": lambda x: x.scatter_reduce(
        1, COLUMNS[[0, 1, 1]], x[:, :3] * 2, "amin", include_self=False
    ),
    "scatter prod": lambda x: x.scatter_reduce(1, COLUMNS[[0, 1, 1]], x[:, :3] * 2, "prod"),
    "assign row": lambda x: torch.index_put(x, (ROWS[:2],), x[1] * 3),
    "assign columns": lambda x: assign(x, (slice(None), PLACES[1:3]), x[:, :2].exp()),
    "assign elements": lambda x: assign(x, (ROWS[:2], PLACES[:2]), x[0, :2].exp()),
    "assign apart": lambda x: assign(
        x.reshape(3, 5, 1).expand(3, 5, 2), (ROWS[:2], slice(None), PLACES[:1]), x[:2].exp()
    ),
    "assign number": lambda x: assign(x, (ROWS[:2],), 7.0),
    "assign mask": lambda x: assign(x, (x > 0.5,), 7.0) * x,
    "add elements": lambda x: torch.index_put(
        x, (ROWS, PLACES), x.exp().reshape(-1)[:4], accumulate=True
    ),
    "add whole numbers": lambda x: (
        x
        * torch.zeros(3, 5, dtype=torch.long).index_add(0, ROWS % 3, torch.arange(20).reshape(4, 5))
    ),
    "put": lambda x: x.put(torch.tensor([1, -1, 7]), x[0, :3].exp()),
    "repeat": lambda x: x.repeat_interleave(PLACES[:3], 0, output_size=3) * x.exp(),
    "take": lambda x: x.take(torch.tensor([1, 14, 7, 1])),
    "index_copy": lambda x: x.index_copy(0, PLACES[:2], x[1:].exp()),
    "index_fill": lambda x: x.index_fill(1, PLACES, 3.0) * x,
    "masked_scatter": lambda x: x.masked_scatter(x > 0, x.exp()),
    "nothing": lambda x: x.index_add(0, ROWS[:0], x[:0]),
    "unpool": lambda x: F.max_unpool1d(*F.max_pool1d(x[None], 2, return_indices=True), 2),
}


def assign(x, places, values):
    x = x.clone()
    x[places] = values
    return x


POSITIVE = torch.tensor([0.02, 0.4, 1.0, 1.46163, 2.0, 3.7, 8.5, 40.0])
SIGNED = torch.tensor([-3.3, -2.6, -0.7, -0.1, 0.2, 0.5, 0.9, 1.8])
WIDE = torch.tensor([0.35])
UNIT = torch.tensor([-0.9999, -0.97, -0.5, -1e-3, 1e-4, 0.3, 0.9, 0.999])
FUNCTIONS = {
    "lgamma": (torch.lgamma, POSITIVE),
    "lgamma of negative": (torch.lgamma, SIGNED),
    "lgamma of large": (torch.lgamma, 1000 * POSITIVE),
    "digamma": (torch.digamma, POSITIVE),
    "digamma of negative": (torch.digamma, SIGNED),
    "polygamma": (lambda x: torch.polygamma(0, x), POSITIVE),
    "multigammaln": (lambda x: torch.special.multigammaln(x + 1, 2), POSITIVE),
    "erfinv": (torch.erfinv, UNIT),
    "erfc": (torch.erfc, SIGNED),
    "fmod": (lambda x: torch.fmod(x, 0.35), SIGNED),
    "fmod of tensors": (lambda x: torch.fmod(x, 0.3 * x[:1] - 0.17), SIGNED),
    "remainder": (lambda x: torch.remainder(x, 0.3 * x[:1] - 0.17), SIGNED),
    "hypot": (lambda x: torch.hypot(x, x.flip(0)), SIGNED),
    "hypot of large": (lambda x: torch.hypot(1e30 * x, 1e30 * x.flip(0)) / 1e30, SIGNED),
    # The result has the wider type.
    "hypot of types": (lambda x: torch.hypot(SIGNED.flip(0), x), SIGNED),
    "fmod of types": (lambda x: torch.fmod(SIGNED.float(), 0.41 * x.flip(0) - 0.173), SIGNED),
    "fmod of whole numbers": (
        lambda x: x * torch.fmod(torch.arange(8), 1.5) + torch.fmod(x.half(), WIDE[0]),
        SIGNED,
    ),
    "multilabel_margin": (
        lambda x: F.multilabel_margin_loss(
            x.reshape(2, 4), torch.tensor([[0, 2, -1, 0], [3, 1, -1, 0]])
        ),
        SIGNED,
    ),
    "multilabel_margin of one": (
        lambda x: F.multilabel_margin_loss(x, torch.tensor([3, 0, -1, 1, 1, 1, 1, 1])),
        SIGNED,
    ),
    # Whose strides are not those of its decomposition.
    "viewed attention": (
        lambda x: (
            F.scaled_dot_product_attention(
                *(each.reshape(2, 2, 2, 1).transpose(1, 2) for each in (x, x.sin(), x.cos()))
            )
            .transpose(1, 2)
            .reshape(2, 2, 2)
            .contiguous()
            .view(4, 2)
        ),
        SIGNED,
    ),
    "masked attention": (
        lambda x: F.scaled_dot_product_attention(
            *(each.reshape(1, 2, 4) for each in (x, x.sin(), x.cos())),
            attn_mask=torch.tensor([[True, False], [False, False]]),
        ),
        SIGNED,
    ),
}


def empty_bags(x, mode):
    bags = F.embedding_bag(ROWS[:0], x[0, 0], torch.tensor([0, 0]), mode=mode)
    return x[0, 0, :2] * (bags + 2)


IMAGE = torch.sin(1.7 * torch.arange(2 * 3 * 5 * 4.0)).reshape(2, 3, 5, 4)
POOLS = {
    "unbatched average": lambda x: F.avg_pool2d(x[0], 2),
    "unbatched average in 3d": lambda x: F.avg_pool3d(x, (1, 2, 2)),
    "unbatched maximum": lambda x: F.max_pool2d(x[0], 2),
    "unbatched maximum in 3d": lambda x: F.max_pool3d(x, (1, 2, 2)),
    "power average": lambda x: F.lp_pool2d(x[0] + 2, 2, 2),
    "adaptive maximum": lambda x: F.adaptive_max_pool2d(x, (3, 2)),
    "adaptive maximum, equal": lambda x: F.adaptive_max_pool2d(x.round(), (3, 3)) * x.sum(),
    "adaptive maximum in 1d": lambda x: F.adaptive_max_pool1d(x[0], 3),
    "adaptive average in 3d": lambda x: F.adaptive_avg_pool3d(x, (2, 3, 3)),
    "no elements": lambda x: F.layer_norm(x.reshape(30, 4)[:0], (4,)).reshape(2, 1, 0),
    "no elements in parts": lambda x: torch.cat((x[..., :0].flip(0), x[..., :0].exp()), 1),
    # The results are of the wider type, f32, though no number of it goes in.
    "no elements of two types": lambda x: (torch.cat((x[:0].half(), x[:0])).sum(0) + x.half()) / 3,
    "bags": lambda x: F.embedding_bag(ROWS % 3, x[0, 0], torch.tensor([0, 0, 3])),
    "bags of weights": lambda x: F.embedding_bag(
        COLUMNS % 3, x[0, 0], mode="sum", per_sample_weights=x[0, 1, :2, :3]
    ),
    "bags of maxima": lambda x: F.embedding_bag(
        ROWS % 3,
        x[0, 0],
        torch.tensor([0, 2, 4]),
        mode="max",
        include_last_offset=True,
        padding_idx=0,
    ),
    "bags without the last": lambda x: F.embedding_bag(
        ROWS % 3, x[0, 0], torch.tensor([0, 1]), padding_idx=-3
    ),
    "bags of sums": lambda x: F.embedding_bag(
        ROWS % 3, x[0, 0], torch.tensor([0, 0, 3, 4]), mode="sum", include_last_offset=True
    ),
    "bags of no sums": lambda x: empty_bags(x, "sum"),
    "bags of no means": lambda x: empty_bags(x, "mean"),
    "bags of no maxima": lambda x: empty_bags(x, "max"),
    "bags by frequency": lambda x: F.embedding_bag(
        ROWS % 3, x[0, 0], torch.tensor([0, 1]), scale_grad_by_freq=True, padding_idx=1
    ),
    "roll": lambda x: x.roll((10000, -7, 1), (2, 1, 0)) * x.roll(15, 2) * x.roll(37),
    "crop and pad": lambda x: F.pad(x, (1, -1, -2, 2), value=0.5) * x,
    "crop and pad more": lambda x: F.pad(x, (2, -1, 0, -3, 1, 0)),
    "crop and reflect": lambda x: F.pad(x, (-1, 1, 0, 0), mode="reflect") * x,
    "normal likelihood": lambda x: F.gaussian_nll_loss(
        x[0], x[1], (x[0] * x[1]).clamp_min(0), full=True, eps=0.1
    ),
    "normal likelihood of rows": lambda x: F.gaussian_nll_loss(
        x[0], x[1], x[0, :, :, 0].exp(), reduction="sum"
    ),
}


NIGHTLY = {
    "sort stable",
    "nanmedian",
    "cumsum of one",
    "index_add",
    "scatter_add rows",
    "scatter one",
    "scatter amin",
    "assign columns",
    "assign number",
    "lgamma of large",
    "polygamma",
    "fmod",
    "hypot of types",
    "multilabel_margin of one",
    "unbatched maximum",
    "unbatched average in 3d",
    "adaptive maximum",
    "bags",
    "bags of sums",
    "bags of no sums",
    "crop and pad more",
    "normal likelihood of rows",
}


def choose(table):
    return {k: v for k, v in table.items() if EVERY or k not in NIGHTLY}


def add_special(cases, table, special):
    """Adds the cases of SPECIAL to those of a table, or has these in their place."""
    for name, x in special.items():
        if not EVERY:
            del cases[name]
        cases[f"{name} of NaN"] = (lambda x, f=table[name]: known(f(x)), x)


class Gradients(unittest.TestCase):
    def test_pools(self):
        check(self, {name: (function, IMAGE) for name, function in choose(POOLS).items()})

    def test_orders(self):
        cases = {name: (function, X) for name, function in choose(ORDERS).items()}
        names = (
            "sort",
            "sort descending",
            "topk",
            "kthvalue",
            "median of rows",
            "nanmedian of rows",
        )
        add_special(cases, ORDERS, dict.fromkeys(names, SPECIAL))
        check(self, cases)

    def test_scans(self):
        cases = {name: (function, X) for name, function in choose(SCANS).items()}
        special = dict.fromkeys(("cummax", "cummin"), SPECIAL)
        special["logcumsumexp"] = SPECIAL.nan_to_num(0.3, 3, -INF)
        add_special(cases, SCANS, special)
        check(self, cases)

    def test_scatters(self):
        cases = {name: (function, X) for name, function in choose(SCATTERS).items()}
        check(self, cases)

    def test_functions(self):
        check(self, {k: v for k, v in FUNCTIONS.items() if EVERY or "attention" in k}, 2e-5)
        wide = {
            name: (function, x.double())
            for name, (function, x) in choose(FUNCTIONS).items()
            if "attention" not in name
        }
        # PyTorch's derivative of digamma is right to 1e-9.
        rough = {name: wide.pop(name) for name in list(wide) if "digamma" in name}
        rough |= {name: wide.pop(name) for name in list(wide) if name == "polygamma"}
        check(self, wide, 1e-12)
        check(self, rough, 1e-8)

    def test_half(self):
        names = ("lgamma", "digamma", "erfinv", "erfc", "hypot")
        cases = {name: FUNCTIONS[name] for name in names}
        cases["erfinv"] = (torch.erfinv, 0.9 * UNIT)
        for dtype in (torch.float16, torch.bfloat16) if EVERY else (torch.bfloat16,):
            half = {name: (f, x.to(dtype)) for name, (f, x) in cases.items()}
            check(self, half, 20 * torch.finfo(dtype).eps)

    def test_dynamic(self):
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(4, 6)

            def forward(self, x):
                y = self.linear(x)
                best = y.topk(2, 1).values + y.sort(0).values[:2].sum()
                bags = F.embedding_bag((3 * x).abs().long() % 6, self.linear.weight)
                return best.sum() + y.cummax(1).values.sum() + bags.sin().sum()

        model = Model()
        step = export_step(model, torch.randn(5, 4), dynamic_batch=True)
        for rows in (5, 2, 9):
            x = torch.randn(rows, 4)
            _, gradients = step(x)
            expected = torch.autograd.grad(model(x), list(model.parameters()))
            for got, reference in zip(gradients.values(), expected):
                torch.testing.assert_close(got, reference)

    def test_padding_out_of_range(self):
        """A row that is not there is refused, and counts from no end."""

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(3, 2))

            def forward(self, places):
                return torch.embedding_bag(
                    self.weight, places, places[:1], False, 0, False, None, False, 5
                )[0].sum()

        message = "padding_idx must be within the number of embeddings, -3 through 2"
        with self.assertRaisesRegex(fad.torch.ExportError, message):
            fad.torch.export(Model(), torch.tensor([0, 1]))

    def test_out_of_range(self):
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(3))

            def forward(self, places):
                return self.weight.index_add(0, places, self.weight).sum()

        step = export_step(Model(), torch.tensor([0, 1, 2]))
        with self.assertRaisesRegex(fad.Error, "index"):
            step(torch.tensor([0, 1, 3]))


if __name__ == "__main__":
    EVERY = "--every" in sys.argv
    unittest.main(argv=sys.argv[:1])
