"""Gradients at kinks and ties, under several policies, against eager PyTorch's.

usage: check_kinks.py PAGE [--every]

PAGE has a table of kinks whose first column names the operations that are checked
here: in f32 all of them, and, with --every, in each other type the elementwise
ones. Elementwise ones are under the policies that differ most, and others under one; with
--every, all under all. Elementwise gradients at infinities and NaN are PyTorch's where these are finite; elsewhere the
policies agree with each other. Exits with 1 where something is wrong."""

import logging
import math
import re
import sys
import warnings

import fad
import fad.torch
import ml_dtypes
import numpy as np
import torch
import torch.nn.functional as F
from operator_rows import check_rows

POLICIES = ("bp", "recompute", "fad", "auto")
# A tape sees a chain of operations, and the others the function that it is.
UNLIKE = ("bp", "auto")
# By how much a gradient may be off, of the gradient or of 1. In f64, PyTorch's own
# hardsigmoid has the sixth of f32.
BOUNDS = {
    torch.float32: 1e-5,
    torch.float64: 1e-7,
    torch.float16: 4e-3,
    torch.bfloat16: 2e-2,
}

POINTS = [-20, -6, -3, -1, -0.5, -0.3, -0.0, 0.0, 0.3, 0.5, 1, 3, 6, 20]
NAN = math.nan
PAIRS = [1, 2, 0, -0.0, 3, -2, 0.3, NAN, 1, NAN], [2, 1, 0, 0.0, 3, -2, 0.3, 1, NAN, NAN]
# These follow the points, of which there are more than numbers of a pair or rows.
EXTREMES = [math.inf, -math.inf, math.nan]
ROWS = [[1, 2, 2, 0], [0, 0, 0, 0], [-1, 1, 0, 0], [3, 3, 3, 3]]
OTHERS = [[1, 2, 2, 0], [1, 1, 0, 0], [-1, 1, 0, 0], [3, 2, 3, 1]]
SIGNS = torch.tensor([1.0, -1, 1, -1, 1, -1, 1, -1, 1, -1])
LABELS = torch.tensor([0, 1, 2, 3])


def along(function, *arguments, **keywords):
    """`function` of each element, or of each row."""
    return lambda *x: function(*x, *arguments, **keywords)


def losses(function, *arguments, **keywords):
    return along(function, *arguments, reduction="none", **keywords)


UNARY = {
    "abs": [torch.abs],
    "celu": [F.celu, along(F.celu, 2.0)],
    "clamp": [
        along(torch.clamp, -1, 1),
        along(torch.clamp, min=0),
        along(torch.clamp, max=0.3),
        along(torch.clamp, 0.5, -0.5),
    ],
    "elu": [F.elu, along(F.elu, 0.3)],
    "frac": [torch.frac],
    "gelu": [F.gelu],
    "hardshrink": [F.hardshrink, along(F.hardshrink, 0.3)],
    "hardsigmoid": [F.hardsigmoid],
    "hardswish": [F.hardswish],
    "hardtanh": [F.hardtanh, along(F.hardtanh, -0.3, 0.3)],
    "leaky_relu": [F.leaky_relu, along(F.leaky_relu, -0.5)],
    "logsigmoid": [F.logsigmoid],
    "mish": [F.mish],
    "nan_to_num": [torch.nan_to_num],
    "prelu": [lambda x: F.prelu(x, torch.full((), 0.25).to(x))],
    "relu": [F.relu, lambda x: F.relu(x).square()],
    "relu6": [F.relu6, lambda x: x * F.relu6(x + 3) / 6],
    "rrelu": [F.rrelu],
    "selu": [F.selu],
    "silu": [F.silu],
    "sinc": [torch.sinc],
    "softplus": [F.softplus, along(F.softplus, 1, 0.5)],
    "softshrink": [F.softshrink, along(F.softshrink, 0.3)],
    "softsign": [F.softsign],
    "threshold": [along(F.threshold, 0.3, -2.0)],
    "where": [
        lambda x: torch.where(x > 0, x, torch.zeros_like(x)),
        lambda x: torch.where(x >= 0.3, x, -x),
        lambda x: torch.where(x < 0, x, 0) - torch.where(x <= 0, 0, x),
    ],
    "xlogy": [lambda x: torch.xlogy(x, torch.full_like(x, 2))],
    "special.entr": [lambda x: torch.special.entr(torch.where(x < 0, 0.3, x))],
    "special.xlog1py": [lambda x: torch.special.xlog1py(x, torch.full_like(x, 2))],
}
BINARY = {
    "clamp": [
        lambda x, y: x.clamp(min=y),
        lambda x, y: x.clamp(max=y),
        lambda x, y: x.clamp(y, y + 1),
        lambda x, y: x.clamp(y + 1, y),
        lambda x, y: x.clamp(y, torch.ones_like(x)),
        lambda x, y: x.clamp(torch.ones_like(x), y),
    ],
    "atan2": [torch.atan2],
    "fmax": [torch.fmax],
    "fmin": [torch.fmin],
    "huber_loss": [losses(F.huber_loss), losses(F.huber_loss, delta=0.5)],
    "l1_loss": [losses(F.l1_loss)],
    "logaddexp": [torch.logaddexp],
    "logaddexp2": [torch.logaddexp2],
    "margin_ranking_loss": [lambda x, y: F.margin_ranking_loss(x, y, SIGNS.to(x))],
    "maximum": [
        torch.maximum,
        torch.max,
        lambda x, y: torch.maximum(x - y, torch.zeros_like(x)),
        lambda x, y: torch.maximum(x, y) + torch.minimum(x, y) / 2,
    ],
    "minimum": [torch.minimum],
    "smooth_l1_loss": [
        losses(F.smooth_l1_loss),
        losses(F.smooth_l1_loss, beta=0.0),
        losses(F.smooth_l1_loss, beta=1e-8),
    ],
    "binary_cross_entropy_with_logits": [
        lambda x, y: F.binary_cross_entropy_with_logits(x - y, torch.sigmoid(y)),
        lambda x, y: F.binary_cross_entropy_with_logits(
            x - y, torch.sigmoid(y), pos_weight=torch.full((), 2).to(x)
        ),
    ],
}
# Rows of the table of operators without kinks, and bounds that are cases of clamp.
ELSEWHERE = set(
    "acos acosh asin asinh atan atanh clamp_max clamp_min copysign cos cosh erf erfc exp exp2 "
    "expm1 fma fmod log log10 log1p log2 pow reciprocal rsqrt sigmoid sin sinh sqrt tan tanh".split()
)
check_rows({*UNARY, *BINARY}, ELSEWHERE)
ROWWISE = {
    "adaptive_max_pool2d": [lambda x: F.adaptive_max_pool2d(x[None, None], (2, 2))],
    "amax": [along(torch.amax, 1), along(torch.amax, (0, 1))],
    "amin": [along(torch.amin, 0)],
    "aminmax": [lambda x: torch.stack(torch.aminmax(x, dim=1))],
    "cumprod": [along(torch.cumprod, 1)],
    "logsumexp": [along(torch.logsumexp, 1)],
    "max": [
        torch.max,
        lambda x: x.max(1).values,
        lambda x: torch.max(x[0, 0], 0)[0],
        lambda x: x.max(-1, True)[0],
    ],
    "max_pool1d": [lambda x: F.max_pool1d(x[None], 2, 1)],
    "max_pool2d": [lambda x: F.max_pool2d(x[None, None], 2, 1, 1)],
    "min": [torch.min, lambda x: x.min(0).values],
    "multi_margin_loss": [
        losses(F.multi_margin_loss, LABELS),
        along(F.multi_margin_loss, LABELS, p=2),
        lambda x: F.multi_margin_loss(x, LABELS, weight=LABELS.to(x)),
    ],
    "multilabel_soft_margin_loss": [
        lambda x: F.multilabel_soft_margin_loss(x, (LABELS > 1).to(x).repeat(4, 1))
    ],
    "norm": [
        along(torch.norm, dim=1),
        along(torch.norm, p=1, dim=1),
        along(torch.norm, p=3, dim=1),
        along(torch.norm, p=1.5, dim=1),
        along(torch.norm, p=0.5, dim=1),
        along(torch.norm, p=math.inf, dim=1),
        along(torch.norm, p=-math.inf, dim=1),
        torch.linalg.vector_norm,
        lambda x: torch.linalg.matrix_norm(0 * x),
    ],
    "normalize": [F.normalize],
    "prod": [along(torch.prod, 1)],
    "std": [
        along(torch.std, 1),
        along(torch.std, 1, unbiased=False),
        lambda x: torch.std_mean(x[1])[0],
    ],
}
PAIRWISE = {
    "cosine_embedding_loss": [
        lambda x, y: F.cosine_embedding_loss(x, y, SIGNS[:4].to(x), margin=1.0)
    ],
    "cosine_similarity": [F.cosine_similarity],
    "dist": [torch.dist, lambda x, y: torch.dist(x[0], y[0])],
    "pairwise_distance": [along(F.pairwise_distance, eps=0)],
    "triplet_margin_loss": [
        lambda x, y: F.triplet_margin_loss(x, x, x + torch.eye(4).to(x), eps=0) + y.sum()
    ],
    "hinge_embedding_loss": [lambda x, y: losses(F.hinge_embedding_loss, SIGNS[:4].to(x))(x) * y],
}


def flatten(table, *arguments):
    return [
        (name, function, arguments) for name, functions in table.items() for function in functions
    ]


# Each list is one program: several small ones compile faster than a large one.
ELEMENTWISE = [flatten(UNARY, POINTS + EXTREMES), flatten(BINARY, *PAIRS)]
CASES = [*ELEMENTWISE, flatten(ROWWISE, ROWS), flatten(PAIRWISE, ROWS, OTHERS)]


class Program(torch.nn.Module):
    """The sum of the results of all cases, each of parameters of its own."""

    def __init__(self, cases, kind):
        super().__init__()
        self.functions = [function for _, function, _ in cases]
        self.arguments = torch.nn.ModuleList(
            torch.nn.ParameterList(torch.tensor(x, dtype=kind) for x in arguments)
            for _, _, arguments in cases
        )

    def forward(self, factor):
        total = 0
        for function, arguments in zip(self.functions, self.arguments):
            y = function(*arguments)
            weights = torch.linspace(0.5, 1.5, y.numel()).reshape(y.shape)
            total = total + (y * weights.to(y)).sum()
        return total * factor


def to_numpy(tensor):
    tensor = tensor.detach()
    if tensor.dtype is torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def get_gradients(program, kind, policies):
    """The gradients of eager PyTorch, and those under each policy, in one list for
    each case."""
    factor = torch.ones((), dtype=kind)
    program(factor).backward()
    eager = [[to_numpy(x.grad) for x in each] for each in program.arguments]
    exported = fad.torch.export(program, factor)
    request = {"wrt": exported.wrt, "results": exported.differentiated}
    parameters = [program.get_parameter(a.name) for a in exported.arguments[:-1]]
    inputs = [to_numpy(x) for x in (*parameters, factor)]
    found = {}
    for policy in policies:
        nested = fad.nest(exported.module, policy=policy, **request)
        executable = fad.compile(nested, check=False)
        _, *residuals = executable.call(nested.forward, *inputs)
        values = executable.call(nested.backward, *residuals, to_numpy(factor))
        remaining = iter(values)
        found[policy] = [[next(remaining) for _ in each] for each in program.arguments]
    return eager, found


def differ(got, expected, bound):
    got, expected = (np.asarray(each, np.float64) for each in (got, expected))
    return not np.allclose(got, expected, rtol=bound, atol=bound, equal_nan=True)


def get_expected(eager, auto):
    """PyTorch's gradients where they are finite, and elsewhere those under auto."""
    eager, auto = (np.asarray(each, np.float64) for each in (eager, auto))
    return np.where(np.isfinite(eager), eager, auto)


def check(cases, kind, policies):
    """The names of the operations whose gradients are wrong; says which."""
    eager, found = get_gradients(Program(cases, kind), kind, policies)
    failed = set()
    for i, (name, _, arguments) in enumerate(cases):
        finite = len(POINTS)
        for policy in policies:
            got = found[policy][i]
            wrong = any(
                differ(x[:finite], y[:finite], BOUNDS[kind])
                or differ(x[finite:], get_expected(y[finite:], z[finite:]), BOUNDS[kind])
                for x, y, z in zip(got, eager[i], found["auto"][i])
            )
            if wrong:
                failed.add(name)
                print(f"{name} of {kind} under {policy} at {arguments}:")
                print(f"{[x.tolist() for x in got]}")
                print(f"not {[x.tolist() for x in eager[i]]}")
    return failed


def main(page, *options):
    logging.disable(logging.WARNING)
    warnings.filterwarnings("ignore")
    with open(page) as file:
        section = file.read().split("## Kinks and ties")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \|", section, re.M)
    listed = set(re.findall(r"`([\w.]+)`", " ".join(rows)))
    failed = listed ^ {name for cases in CASES for name, _, _ in cases}
    if failed:
        print("in the table or checked, not both:", *sorted(failed))
    every = "--every" in options
    for kind in BOUNDS if every else [torch.float32]:
        for cases in CASES if kind is torch.float32 else ELEMENTWISE:
            policies = UNLIKE if cases in ELEMENTWISE else UNLIKE[-1:]
            failed |= check(cases, kind, POLICIES if every else policies)
    print(f"{len(listed)} operations, {len(failed)} failed:", *sorted(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
