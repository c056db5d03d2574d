"""Compares gradients under `derivative_bits` with exact ones: within the errors that
docs/Residuals.md has for the compiler, or equal, where nothing is approximated."""

import math
import warnings

import torch
import torch.nn.functional as F
from activations import gelu, mish, silu
from checks import Checks, raises
from cotangents import is_linear

import fad.torch
from fad.torch.eager import _kernels, _levels, report

# The largest errors of 1, 2, 3, 4 and 8 bits.
BITS = 1, 2, 3, 4, 8
ENGINES = "interactive", "deferred"
ERRORS = {
    "sigmoid": (torch.sigmoid, (0.079, 0.043, 0.020, 0.0096, 0.00061)),
    "tanh": (torch.tanh, (0.33, 0.16, 0.076, 0.037, 0.0022)),
    "softplus": (F.softplus, (0.25, 0.17, 0.072, 0.034, 0.0022)),
    "GELU": (F.gelu, (0.46, 0.17, 0.10, 0.047, 0.0031)),
    "GELU by tanh": (gelu, (0.46, 0.17, 0.10, 0.047, 0.0031)),
    "SiLU": (silu, (0.40, 0.17, 0.10, 0.043, 0.0027)),
    "Mish": (mish, (0.43, 0.17, 0.10, 0.048, 0.0029)),
}
EXACT = {
    "unbounded": lambda x: x**3,
    "without limits": lambda x: torch.sin(x) * torch.exp(-x * x) + torch.sin(x),
    "a pole": lambda x: torch.reciprocal(x),
    "a constant": lambda x: torch.sigmoid(x) * CONSTANT.reshape(x.shape),
    "two values": F.relu,
    "linear": lambda x: 2 * x + 1,
}
torch.manual_seed(0)
POINTS = torch.linspace(-14, 14, 4099, dtype=torch.float64)
CONSTANT = torch.rand(4099, dtype=torch.float64)
WEIGHT = torch.randn(8, 8, dtype=torch.float64, requires_grad=True)


def nest(bits, policy, engine="interactive"):
    return fad.torch.nest(policy=policy, derivative_bits=bits, min_numel=0, engine=engine)


def pull(function, points, inputs=()):
    x = points.clone().requires_grad_()
    return torch.autograd.grad(function(x).sum(), (x, *inputs))


def is_within(function, error, bits, policy, dtype, engine="interactive"):
    points = POINTS.to(dtype)
    (exact,) = pull(function, points)
    (found,) = pull(nest(bits, policy, engine)(function), points)
    # The documented errors have two digits, and rounding adds the type's.
    bound = error * 1.05 + 4 * torch.finfo(dtype).eps
    largest = (found - exact).abs().max().item()
    is_few = len(found.unique()) <= 2**bits
    if largest <= bound and is_few:
        return True
    print(largest, bound, len(found.unique()))
    return False


def is_exact(function, bits, policy, engine="interactive"):
    found, exact = pull(nest(bits, policy, engine)(function), POINTS), pull(function, POINTS)
    torch.testing.assert_close(found, exact, rtol=1e-12, atol=1e-12)


def is_saturated(policy):
    """From two bits on, the limits are levels."""
    far = torch.tensor([-60.0, 60.0])
    return all(
        torch.equal(pull(nest(bits, policy)(function), far)[0], torch.tensor([0.0, 1.0]))
        for function in (silu, F.gelu, mish)
        for bits in (2, 3)
    )


def keeps_what_is_read(engine):
    """The gradient of weights is exact under both; under "auto", so is that of the source,
    which takes fewer bytes than the value and few bits."""
    points = torch.randn(16, 8, dtype=torch.float64)

    def layer(x):
        return silu(x) @ WEIGHT

    exact = pull(layer, points, (WEIGHT,))
    for policy, decision, size in (
        ("auto", "source, value recomputed", 1024),
        ("fad", "few bits", 1024 + 48),
    ):
        nested = nest(3, policy, engine)(layer)
        found = pull(nested, points, (WEIGHT,))
        made = report(nested, points.clone().requires_grad_())
        assert (made.sequences[0].decision, made.bytes) == (decision, size), made
        # A kernel may be there by now.
        rounding = 1e-12 if engine == "deferred" else 0
        torch.testing.assert_close(found[1], exact[1], rtol=rounding, atol=rounding)
        scale = WEIGHT.abs().sum().item()
        bound = 0.105 if policy == "fad" else rounding
        assert (found[0] - exact[0]).abs().max() <= bound * scale


def goes_on(policy, engine):
    """A value that few bits lead to is read by a product and by other operators."""

    def function(x):
        y = silu(x)
        return (y @ WEIGHT).sum() + (torch.tanh(y) * y).sum() + y.t().exp().sum()

    points = torch.randn(16, 8, dtype=torch.float64)
    (exact,) = pull(function, points)
    (found,) = pull(nest(8, policy, engine)(function), points)
    return (found - exact).abs().max() <= 0.01 * exact.abs().max()


def is_laid_out(policy, engine):
    """Layouts of the source and of the gradient."""
    points = torch.randn(6, 10).t()
    (exact,) = pull(lambda x: (silu(x) * 1).t() @ torch.arange(10.0), points)
    nested = nest(8, policy, engine)(lambda x: (silu(x) * 1).t() @ torch.arange(10.0))
    (found,) = pull(nested, points)
    return (found - exact).abs().max() <= 0.03


def shows_nan(policy, engine):
    x = torch.randn(64, requires_grad=True)
    with nest(2, policy, engine):
        total = silu(x).sum()
    total.backward(torch.tensor(float("nan")))
    return bool(x.grad.isnan().all())


def shows_own_nan(policy, engine):
    """A derivative that is no number is no level."""
    points = torch.cat([torch.randn(63), torch.tensor([math.nan])])
    weights = torch.linspace(0, 1, 64)
    (exact,) = pull(lambda x: silu(x) * weights, points)
    (found,) = pull(lambda x: nest(2, policy, engine)(silu)(x) * weights, points)
    torch.testing.assert_close(found, exact, equal_nan=True)


def numbers(policy):
    """Numbers that levels are multiplied by need no search, and of others there are few."""
    searches = []

    def find(*arguments):
        searches.append(arguments)
        return find_levels(*arguments)

    _levels.find_levels, find_levels = find, _levels.find_levels
    try:
        for factor in (1.7, -3, 0.4, 0):
            (exact,) = pull(lambda x: silu(x) * factor, POINTS)
            (found,) = pull(nest(4, policy)(lambda x: 1 - silu(x) * factor), POINTS)
            if factor:
                error = (found + exact).abs().max().item()
                assert 0 < error <= 0.045 * abs(factor), (factor, error)
            else:
                torch.testing.assert_close(found, -exact)
        assert len(searches) <= 1, len(searches)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for number in range(1, 20):

                def function(x):
                    return torch.sigmoid(torch.sigmoid(x * number))

                found, exact = (pull(f, POINTS)[0] for f in (nest(2, policy)(function), function))
                assert (number > 16) == torch.allclose(found, exact, atol=1e-12), number
        assert len(searches) <= 17
        return len(caught) <= 1 and all("stay exact" in str(each.message) for each in caught)
    finally:
        _levels.find_levels = find_levels


def second(policy, engine):
    x = torch.randn(64, requires_grad=True)
    (first,) = torch.autograd.grad(nest(2, policy, engine)(silu)(x).sum(), x, create_graph=True)
    first.sum().backward()


def takes_cotangents(policy, engine):
    """Gradients are approximate and linear."""
    x = POINTS[:64].reshape(8, 8).clone().requires_grad_()
    y = nest(3, policy, engine)(silu)(x)
    found = report(lambda: nest(3, policy, engine)(silu)(x).sum(0))
    is_linear(y, y, x)
    return "few bits" in str(found)


def changed_source():
    """Where a source was changed, there is no derivative to approximate."""
    x = POINTS.clone().requires_grad_()
    with nest(2, "auto"):
        source = x * 1
        y = silu(source + 0)
    with torch.no_grad():
        x.add_(1)
    y.sum().backward()


def check_deferred(check):
    """One by one, and by kernels."""
    for run in ("one by one", "by kernels"):
        for policy in ("auto", "fad"):
            for name, (function, errors) in ERRORS.items():
                for bits in (1, 4) if run == "by kernels" else (3,):
                    check(
                        f"{name}, {bits} bits, {policy}, {run}",
                        lambda: is_within(
                            function,
                            errors[BITS.index(bits)],
                            bits,
                            policy,
                            torch.float32,
                            "deferred",
                        ),
                    )
            for name, function in EXACT.items():
                check(f"{name}, {policy}, {run}", lambda: is_exact(function, 3, policy, "deferred"))
        _kernels.wait()


if __name__ == "__main__":
    check = Checks()
    for policy in ("auto", "fad"):
        for name, (function, errors) in ERRORS.items():
            for bits, error in zip(BITS, errors):
                for dtype in (torch.float64, torch.float32, torch.bfloat16):
                    check(
                        f"{name}, {bits} bits, {policy}, {dtype}",
                        lambda: is_within(function, error, bits, policy, dtype),
                    )
        for name, function in EXACT.items():
            check(f"{name}, {policy}", lambda: is_exact(function, 3, policy))
        check(f"limits, {policy}", lambda: is_saturated(policy))
        for engine in ENGINES:
            check(f"another sequence, {policy}, {engine}", lambda: goes_on(policy, engine))
            check(f"layouts, {policy}, {engine}", lambda: is_laid_out(policy, engine))
            check(f"no number, {policy}, {engine}", lambda: shows_nan(policy, engine))
            check(
                f"no number of its own, {policy}, {engine}", lambda: shows_own_nan(policy, engine)
            )
            check(
                f"second derivative, {policy}, {engine}",
                lambda: raises("there is no second derivative", lambda: second(policy, engine)),
            )
            check(f"cotangents, {policy}, {engine}", lambda: takes_cotangents(policy, engine))
        check(f"numbers, {policy}", lambda: numbers(policy))
    for engine in ENGINES:
        check(f"what is kept, {engine}", lambda: keeps_what_is_read(engine))
    check_deferred(check)
    check("changed source", lambda: raises("Write to a copy", changed_source))
    for bits in (0, 9):
        check(f"{bits} bits", lambda: raises("give 1 to 8 bits", lambda: nest(bits, "fad")))
    check("a truth value", lambda: raises("derivative_bits is True", lambda: nest(True, "fad")))
    check.finish()
