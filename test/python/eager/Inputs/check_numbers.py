"""Compares the kernels of deferred sequences in 16 bits with eager PyTorch where operators have
numbers: some are rounded to the type of the tensor, and some are not, which decides about
elements at kinks.

usage: check_numbers.py [--every]

Without --every, each operator has one operator behind it: in bfloat16 the power, which shows all
digits, and in float16 a slope or a bound. The policy is `auto`."""

import itertools
import sys

import torch
import torch.nn.functional as F
from checks import Checks, raises

import fad.torch
from fad.torch.eager import _kernels

torch.manual_seed(0)
aten = torch.ops.aten
SIZE = 1024
NUMBER = torch.tensor(0.7)
# Operators, and where they or what follows have kinks.
OPERATORS = {
    "add": (lambda x: x + 0.7, [-0.7]),
    "sub": (lambda x: x - 0.7, [0.7]),
    "rsub": (lambda x: 0.7 - x, [0.7]),
    "add.Scalar": (lambda x: aten.add.Scalar(x, 0.7), [-0.7]),
    "sub.Scalar": (lambda x: aten.sub.Scalar(x, 0.7), [0.7]),
    "add, alpha": (lambda x: torch.add(x, 0.3, alpha=0.7), [-0.21]),
    "sub, alpha": (lambda x: torch.sub(x, 0.3, alpha=0.7), [0.21]),
    "rsub, alpha": (lambda x: torch.rsub(x, 0.3, alpha=0.7), [0.3 / 0.7]),
    "add, alpha of x": (lambda x: torch.add(torch.ones_like(x), x, alpha=0.7), [-1 / 0.7]),
    "add, exact alpha": (lambda x: torch.add(torch.ones_like(x), x, alpha=0.5), [-2]),
    "mul": (lambda x: x * 0.7, []),
    "mul.Scalar": (lambda x: aten.mul.Scalar(x, 0.7), []),
    "div": (lambda x: x / 0.7, []),
    "div.Scalar": (lambda x: aten.div.Scalar(x, 0.7), []),
    "add a tensor": (lambda x: x + NUMBER, [-0.7]),
    "a tensor minus": (lambda x: NUMBER - x, [0.7]),
    "mul by a tensor": (lambda x: x * NUMBER, []),
    "a tensor times": (lambda x: NUMBER * x, []),
    "a tensor divided by": (lambda x: NUMBER / x, []),
    "leaky_relu": (lambda x: F.leaky_relu(x, 0.3), [0]),
    "hardtanh": (lambda x: F.hardtanh(x, -0.3, 0.7), [-0.3, 0.7]),
    "hardtanh of others": (lambda x: F.hardtanh(x, -1.7, 0.1), [-1.7, 0.1]),
    "relu6": (F.relu6, [0, 6]),
    "clamp": (lambda x: x.clamp(0.1, 0.3), [0.1, 0.3]),
    "clamp of others": (lambda x: x.clamp(-1.7, 0.7), [-1.7, 0.7]),
    "clamp_min": (lambda x: x.clamp_min(0.7), [0.7]),
    "clamp_max": (lambda x: x.clamp_max(0.7), [0.7]),
    "elu": (lambda x: F.elu(x, 0.3), [0]),
    "scaled elu": (lambda x: aten.elu(x, 0.3, 1.7, 0.7), [0]),
    "selu": (F.selu, [0]),
    "softplus": (lambda x: F.softplus(x, 1.7, 0.3), [0.3 / 1.7]),
    "hardsigmoid": (F.hardsigmoid, [-3, 3]),
    "hardswish": (F.hardswish, [-3, 3]),
}
# The operator behind it decides by its value, or shows each digit of it.
FOLLOWING = {
    "power": lambda y: y**1,
    "slope": lambda y: F.leaky_relu(y, 0.25),
    "bound": lambda y: y.clamp(-1.25, 1.25),
}
# By as much, gradients may differ: a kernel rounds the derivative before it multiplies.
ROUNDING = {torch.bfloat16: 2**-7, torch.float16: 2**-10}


def place(kinks, dtype):
    """Random numbers that are not small, and those around kinks."""
    x = torch.randn(SIZE)
    x = (x + 0.1 * x.sign()).to(dtype)
    near = []
    for kink in kinks:
        below = above = torch.tensor(kink, dtype=dtype)
        near.append(below)
        for _ in range(3):
            below = torch.nextafter(below, torch.tensor(-torch.inf, dtype=dtype))
            above = torch.nextafter(above, torch.tensor(torch.inf, dtype=dtype))
            near += [below, above]
    if near:
        x[: len(near)] = torch.stack(near)
    return x


def evaluate(function, x, policy=None):
    leaf = x.clone().requires_grad_()
    source = leaf * 1
    if policy is None:
        y = function(source)
    else:
        with fad.torch.nest(policy=policy, min_numel=0, engine="deferred"):
            y = function(source)
    cotangent = torch.linspace(0.5, 1.5, SIZE).to(x.dtype)
    return y.detach(), *torch.autograd.grad(y, leaf, cotangent)


def agrees(name, following, x, policy):
    operator, _ = OPERATORS[name]

    def function(x):
        return FOLLOWING[following](operator(x))

    (value, gradient), (found, pulled) = (evaluate(function, x, each) for each in (None, policy))
    # These have other formulas in kernels, and values are not rounded before a slope.
    is_rounded = name in ("softplus", "hardswish") or following == "slope"
    rounding = ROUNDING[x.dtype] if is_rounded else 0
    torch.testing.assert_close(found, value, rtol=rounding, atol=0, equal_nan=True)
    # A bound beyond which a value rounds may have either derivative.
    is_bound = (value.abs() == 1.25) & (following == "bound")
    pulled, gradient = (each.masked_fill(is_bound, 0) for each in (pulled, gradient))
    rtol = ROUNDING[x.dtype] * (2 if name == "a tensor divided by" else 1)
    torch.testing.assert_close(pulled, gradient, rtol=rtol, atol=1e-6, equal_nan=True)


def choose_following(number, dtype):
    if dtype is torch.bfloat16:
        return ["power"]
    return ["slope" if number % 2 else "bound"]


def check_operators(check, every):
    cases = [
        (name, following, place(kinks, dtype), policy)
        for dtype in ROUNDING
        for number, (name, (_, kinks)) in enumerate(OPERATORS.items())
        for following in (FOLLOWING if every else choose_following(number, dtype))
        for policy in (("auto", "fad") if every else ("auto",))
    ]
    for name, following, x, policy in cases:
        for _ in range(2):
            evaluate(lambda x: FOLLOWING[following](OPERATORS[name][0](x)), x, policy)
    _kernels.wait()
    for case in cases:
        check(f"{case[0]}, {case[1]}, {case[2].dtype}, {case[3]}", lambda: agrees(*case))


def check_margin(check):
    def margin(x):
        ones = torch.ones_like(x)
        return F.margin_ranking_loss(x, 0 * ones, ones, 1.7, reduction="none")

    for policy, dtype in itertools.product(("auto", "fad"), ROUNDING):
        x = place([1.7], dtype)
        evaluate(margin, x, policy), evaluate(margin, x, policy)
        _kernels.wait()
        check(
            f"margin_ranking_loss, {policy}, {dtype}",
            lambda: all(map(torch.equal, evaluate(margin, x, policy), evaluate(margin, x))),
        )


def check_bounds(check):
    """A bound that the type has not is PyTorch's error, also where there is a kernel."""
    x = place([], torch.float16)

    def bounded(number):
        return lambda x: torch.clamp_max(x, number) ** 2

    for policy in ("auto", "fad"):
        evaluate(bounded(0.7), x, policy), evaluate(bounded(0.7), x, policy)
        _kernels.wait()
    for policy in (None, "auto", "fad"):
        check(
            f"a bound that is too large, {policy}",
            lambda: raises("without overflow", lambda: evaluate(bounded(1e6), x, policy)),
        )


if __name__ == "__main__":
    check = Checks()
    check_operators(check, "--every" in sys.argv)
    check_margin(check)
    check_bounds(check)
    check.finish()
