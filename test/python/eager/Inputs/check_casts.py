"""Checks casts to a wider type, whose result several sequences read, beside eager PyTorch: gradients
are summed in the wider type, and no bytes are kept for it."""

import contextlib
import itertools
import weakref

import torch
import torch.nn.functional as F
from checks import Checks
from cuda_autocast import CudaAutocast, find_missing

import fad.torch
from fad.torch.eager import _kernels

MODES = list(itertools.product(("auto", "fad"), ("interactive", "deferred")))
torch.manual_seed(0)
WEIGHT = torch.randn(64, 64)
LEAF = WEIGHT.clone().requires_grad_()


def nest(mode=None):
    if mode is None:
        return contextlib.nullcontext()
    return fad.torch.nest(policy=mode[0], engine=mode[1], min_numel=0)


def norm(x, widen=torch.Tensor.float):
    """As Llama spells it."""
    wide = widen(x)
    wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
    return wide.to(x.dtype)


def twice(x, widen=torch.Tensor.float):
    """Casts of casts, and a narrow value that is read in both types."""
    wide = widen(x)
    widest = wide.double()
    value = torch.tanh(wide).mean(-1, keepdim=True) * wide + torch.sigmoid(widest).float()
    return value.to(x.dtype) * x


READ = {
    "a norm": norm,
    "a norm of a multiple": lambda x, *widen: norm(x * 2, *widen),
    "a norm of a sum": lambda x, *widen: norm(x + x.flip(0), *widen),
    "a norm of a norm": lambda x, *widen: norm(norm(x, *widen), *widen),
    "a norm of a value": lambda x, *widen: norm(F.silu(x), *widen),
    "casts of casts": twice,
    "a gate": lambda x, *widen: norm(x, *widen) * torch.sigmoid(x),
}


# There, the cast is a part of the sequence before it, and has readers in two others. The policy
# fad, and kernels of the deferred engine, have a gradient in the narrow type for each of them.
WITHIN = READ["a norm of a value"]


def differentiate(function, x, cotangent, mode=None):
    x = x.detach().requires_grad_()
    with nest(mode):
        y = function(x).flip(0)
    return torch.autograd.grad(y, x, cotangent)[0]


def is_as_exact(function, dtype, mode):
    """Beside gradients in float64. Those of the interactive engine are eager PyTorch's under
    `auto`; others have no larger error but for the rounding of a derivative."""
    x, cotangent = (torch.randn(64, 64).to(dtype) for _ in range(2))

    def wide(x):
        return function(x, torch.Tensor.double)

    exact = differentiate(wide, x.double(), cotangent.double())
    eager = differentiate(function, x, cotangent)

    def error(found):
        return ((found.double() - exact).norm() / exact.norm()).item()

    for _ in range(3 if mode[1] == "deferred" else 1):
        found = differentiate(function, x, cotangent, mode)
        _kernels.wait()
        assert found.dtype == dtype
        if mode == ("auto", "interactive"):
            assert torch.equal(found, eager)
        most = 1.5 if function is WITHIN else 1.1
        assert error(found) <= most * error(eager), (error(found), error(eager))


def is_finite(mode):
    """Gradients of the readers overflow in float16, and their sum does not."""
    values = torch.randn(64, 256) * 0.1

    def differentiate(mode=None):
        x = values.half().requires_grad_()
        with nest(mode):
            y = norm(x)
            loss = y.float().square().mean() * 2**24
        loss.backward()
        return x.grad.float()

    expected, found = differentiate(), differentiate(mode)
    assert expected.isfinite().all()
    torch.testing.assert_close(found, expected, rtol=2e-2, atol=expected.abs().max() * 2e-3)


def has_hooks(mode, kind):
    """The gradient of the cast's result may be asked for before and after sequences read it."""

    def run(mode=None):
        x, seen = values.clone().requires_grad_(), []
        with nest(mode):
            wide = x.float()
            if kind == "retain_grad":
                wide.retain_grad()
            if kind == "hook before":
                wide.register_hook(lambda gradient: seen.append(gradient))
            y = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
            if kind == "hook after":
                wide.register_hook(lambda gradient: seen.append(gradient))
            y = y.to(x.dtype).flip(0)
        found = torch.autograd.grad if kind == "inputs" else None
        if found:
            return found(y, [wide, x], cotangent)
        y.backward(cotangent)
        return [wide.grad if kind == "retain_grad" else seen[0], x.grad]

    values, cotangent = (torch.randn(64, 64).bfloat16() for _ in range(2))
    for one, other in zip(run(mode), run(), strict=True):
        assert one.dtype == other.dtype
        torch.testing.assert_close(one, other, rtol=2e-2, atol=2e-2)


def has_second_derivatives(function, engine):
    def second(mode):
        x = values.clone().requires_grad_()
        with nest(mode):
            y = function(x).float().flip(0)
        (first,) = torch.autograd.grad(torch.sin(y).sum(), x, create_graph=True)
        return torch.autograd.grad(first.float().square().sum(), x)[0]

    values = torch.randn(64, 64).bfloat16()
    found, expected = (second(mode).double() for mode in (("auto", engine), None))
    error = (found - expected).norm() / expected.norm()
    assert error < 0.03, error


def survives_writes(mode):
    """To the operand, which is copied, and to the result, after sequences have read it."""

    def run(mode=None):
        x = values.clone().requires_grad_()
        with nest(mode):
            h = x * 1
            wide = h.float()
            y = torch.sigmoid(wide) * wide
            z = y.flip(0)
            if mode is None or mode[1] == "interactive":
                h.mul_(2)
            wide = wide + 1
            wide.mul_(2)
            z = z + torch.tanh(wide)
        return torch.autograd.grad(z.sum(), x)[0]

    values = torch.randn(64, 64).bfloat16()
    torch.testing.assert_close(run(mode), run(), rtol=2e-2, atol=2e-2)


def rotate(x):
    heads = (x @ WEIGHT.to(x.dtype)).float()
    halves = torch.cat((-heads[..., 32:], heads[..., :32]), -1)
    return heads * torch.cos(WEIGHT) + halves * torch.sin(WEIGHT)


def scan(x):
    wide, state, states = (x @ WEIGHT.to(x.dtype)).float(), 0, []
    for i in range(4):
        state = torch.exp(wide[i]) * state + wide[i + 1]
        states.append(state.to(x.dtype))
    return torch.stack(states)


def write(x):
    wide = (x @ WEIGHT.to(x.dtype)).float()
    wide.mul_(2)
    y = F.silu(wide)
    y += 1
    return y.to(x.dtype)


def select(x):
    value, state = torch.exp(x @ WEIGHT.to(x.dtype)), 0
    for i in range(4):
        state = value[i] * (state + x[i])
    return state


# Functions of which eager PyTorch keeps little.
KEPT = {
    "a part": lambda x: -(x @ WEIGHT.to(x.dtype)).float()[..., 32:],
    "a rotation": rotate,
    "a scan": scan,
    "parts of a saved value": select,
    "parts": lambda x: torch.cat([(h := x.float() * 1)[:32] * 2, h[32:] * 3]).to(x.dtype),
    "in place": write,
    "a norm": norm,
    "a norm of a multiple": lambda x: norm((x @ WEIGHT.to(x.dtype)) * 8),
    "a norm in float32": lambda x: norm((x @ WEIGHT.to(x.dtype)).float() * 2) @ WEIGHT,
    "a norm of a value in float32": lambda x: norm(norm(x.float() @ WEIGHT) * 2),
    "a cast that a product saves": lambda x: (x * 1).float() @ WEIGHT.clone().requires_grad_(),
}


# Operators of autocast's lists on CUDA: in the narrow type, in float32, and in the widest.
LISTED = {
    "acos": lambda h: torch.acos(torch.sigmoid(h)),
    "asin": lambda h: torch.asin(torch.sigmoid(h) * 0.5),
    "cosh": lambda h: torch.cosh(h) * h,
    "sinh": lambda h: torch.sinh(torch.tanh(h)),
    "erfinv": lambda h: torch.erfinv(torch.sigmoid(h) * 0.5),
    "cumprod": lambda h: torch.cumprod(torch.sigmoid(h), 0) * h,
    "prelu": lambda h: F.prelu(torch.sin(h.float()), WEIGHT[0, :1].clone().requires_grad_()),
    "addcmul": lambda h: torch.addcmul(h, torch.tanh(h), h, value=2),
    "addcdiv": lambda h: torch.addcdiv(h.float(), h, torch.sigmoid(h), value=2),
    "addcdiv of a saved result": lambda h: torch.addcdiv(h.float(), h, torch.exp(h)),
    "addcdiv of two": lambda h: torch.addcdiv(h.float(), v := torch.exp(h * 2), v),
    "addcmul of a view": lambda h: torch.addcmul(h, torch.exp(h).view(64, 64), h),
}


def has_listed(function, mode):
    """Gradients of a product and a function under autocast, which the engines keep no more of."""

    def run(x, mode=None):
        with nest(mode), CudaAutocast():
            return function(x @ WEIGHT).float().flip(0)

    def differentiate(mode=None):
        x = values.clone().requires_grad_()
        return torch.autograd.grad(run(x, mode).sum(), x)[0]

    values = torch.randn(64, 64) * 0.1
    found, expected = differentiate(mode), differentiate()
    error = (found - expected).norm() / expected.norm()
    assert error < 0.02, error
    x = values.clone().requires_grad_()
    found, most = (
        fad.torch.saved_memory(lambda x: run(x, each), x, measure=False).bytes
        for each in (mode, None)
    )
    assert found <= most, (found, most)


# Results in float32 that operators save, and whether they are kept: where a reader of which nothing
# is known saves them, too.
RESULTS = {
    "a reader that saves nothing": (lambda x: torch.exp(x.float()).flip(0), False),
    "a sum": (lambda x: torch.tanh(x.float() * 2).sum(0), False),
    "a reader that saves two": (
        lambda x: torch.addcdiv(x.float(), r := torch.sqrt(x.float().abs() + 1), r),
        True,
    ),
    "a reader that saves it": (
        lambda x: torch.addcdiv(x.float() * 2, torch.ones(64, 64), torch.exp(x.float())),
        True,
    ),
    "readers one after another": (
        lambda x: [e := torch.exp(x.float()), e.flip(0), torch.cumsum(e, 0)],
        False,
    ),
    "a product": (lambda x: torch.exp(x.float()) @ LEAF, False),
    "a product of several": (lambda x: torch.exp(x.float() * 2) @ LEAF, False),
    "a product last": (lambda x: [e := torch.exp(x.float()), e.flip(0), e @ LEAF], False),
    "a product first": (lambda x: [e := torch.exp(x.float()), e @ LEAF, e.flip(0)], False),
    "a product with two sources": (
        lambda x: [e := torch.exp(x.float() + x.flip(0).float()), e.flip(0), e @ LEAF],
        True,
    ),
    "a product of a kept result": (lambda x: torch.tanh(torch.exp(x.float())) @ LEAF, True),
}


def keeps_source(function, is_kept, engine):
    """The source in the narrow type takes the place of a result that no reader saves, and
    second derivatives are there."""

    def run(x, mode=None):
        with nest(mode):
            found = function(x.flip(1))
        return sum(each.sum() for each in found) if isinstance(found, list) else found

    def second(mode=None):
        x = values.clone().requires_grad_()
        y = run(x, mode).square().sum()
        (first,) = torch.autograd.grad(y, x, create_graph=True)
        return first, torch.autograd.grad(first.float().square().sum(), x)[0]

    values, mode = torch.randn(64, 64).bfloat16(), ("auto", engine)
    x = values.clone().requires_grad_()
    found, most = (
        fad.torch.saved_memory(lambda x: run(x, each), x, measure=False).bytes
        for each in (mode, None)
    )
    assert found <= (most if is_kept else values.nbytes + 8), (found, most)
    for one, other in zip(second(mode), second(), strict=True):
        torch.testing.assert_close(one, other, rtol=3e-2, atol=3e-2)


# A cast, or what it casts, and values of sequences that have the operand of all as a source in its
# place, or not.
JOINED = {
    "a product": lambda x: [v := x.float(), F.silu(v * x)],
    "a later product": lambda x: [v := x.float(), F.silu(v * v * x)],
    "a reader after it": lambda x: [v := x.float(), F.silu(v * x) + v.flip(0)],
    "a reader before it": lambda x: [v := x.float(), v.flip(0) + F.silu(v * x)],
    "a multiple": lambda x: [v := x * 2, F.silu(v.float()) * x],
    "a multiple of a multiple": lambda x: [v := x * 2, F.silu((v + 1).float()) * x],
    "a difference of multiples": lambda x: [v := x * 2, F.silu((v - x).float()) * (x * x)],
    "a view of a multiple": lambda x: [v := x * 2, F.silu((v.view(8, 8) + 1).float()) * x],
    "a cast of a cast": lambda x: [v := x.float(), F.silu(v.double()) * x],
}


def is_asked(function, ask, mode):
    """The gradient of a value is eager PyTorch's, or an error, and none of a part of the readers."""

    def run(mode=None):
        x = values.clone().requires_grad_()
        with nest(mode):
            value, result = function(x * 1)
            loss = result.sum()
        return ask(value, loss)

    values = torch.randn(8, 8).half()
    try:
        found = run(mode)
    except RuntimeError as error:
        assert "of a value inside of a nested sequence" in str(error), error
        return
    torch.testing.assert_close(found, run(), rtol=1e-3, atol=1e-3)


def ask_hook(value, loss):
    found = []
    value.register_hook(found.append)
    loss.backward()
    return found[0]


def ask_retained(value, loss):
    value.retain_grad()
    loss.backward()
    return value.grad


def ask_directly(value, loss):
    return torch.autograd.grad(loss, value, allow_unused=True)[0]


def keeps_no_more(function, mode):
    def run(x, mode=None):
        with nest(mode):
            return function(x)

    def count(mode=None):
        for _ in range(3):
            run(x, mode)
            _kernels.wait()
        return fad.torch.saved_memory(lambda x: run(x, mode), x, measure=False).bytes

    x = torch.randn(64, 64).bfloat16().requires_grad_()
    found, most = count(mode), count()
    assert found <= most, (found, most)


def frees_source(mode):
    """After an error of the operator that reads a sequence."""
    x = (WEIGHT * 0.01).bfloat16().requires_grad_()
    with nest(mode):
        source = torch.cumsum(x, 0)
        memory = weakref.ref(source.untyped_storage())
        value = torch.exp(source.float())
        try:
            torch.cat([value, WEIGHT[0]])
        except RuntimeError:
            del source
        is_freed = memory() is None
        (gradient,) = torch.autograd.grad(value.sum(), x)
    expected = torch.cumsum(x, 0).float().exp().sum()
    torch.testing.assert_close(gradient, torch.autograd.grad(expected, x)[0])
    return is_freed


def reports_error(mode):
    """The error of a reader, while sequences are reported."""
    x = (WEIGHT * 0.01).bfloat16().requires_grad_()

    def refuse(tensor):
        raise ValueError("this is the reader's")

    def fails(x):
        with nest(mode):
            value = torch.exp(x.cumsum(0).float())
            with torch.autograd.graph.saved_tensors_hooks(refuse, lambda tensor: tensor):
                return value.cumprod(0)

    try:
        fad.torch.eager.report(fails, x)
    except ValueError as error:
        return "this is the reader's" in str(error)


def main():
    check = Checks()
    types = torch.bfloat16, torch.float16
    for (name, function), dtype, mode in itertools.product(READ.items(), types, MODES):
        check(f"{name}, {dtype}, {mode}", lambda: is_as_exact(function, dtype, mode))
    for mode in MODES:
        check(f"overflow, {mode}", lambda: is_finite(mode))
        for kind in ("hook before", "hook after", "retain_grad", "inputs"):
            check(f"{kind}, {mode}", lambda: has_hooks(mode, kind))
        check(f"writes, {mode}", lambda: survives_writes(mode))
        check(f"an error, {mode}", lambda: frees_source(mode))
        check(f"an error, reported, {mode}", lambda: reports_error(mode))
    for (name, function), engine in itertools.product(READ.items(), ("interactive", "deferred")):
        check(f"{name}: second, {engine}", lambda: has_second_derivatives(function, engine))
    for (name, function), mode in itertools.product(KEPT.items(), MODES):
        check(f"{name}: bytes, {mode}", lambda: keeps_no_more(function, mode))
    for (name, arguments), engine in itertools.product(
        RESULTS.items(), ("interactive", "deferred")
    ):
        check(f"{name}: results, {engine}", lambda: keeps_source(*arguments, engine))
    for (name, function), ask, mode in itertools.product(
        JOINED.items(), (ask_hook, ask_retained, ask_directly), MODES
    ):
        check(f"{name}: {ask.__name__}, {mode}", lambda: is_asked(function, ask, mode))
    assert not (missing := find_missing()), missing
    for (name, function), mode in itertools.product(LISTED.items(), MODES):
        check(f"{name}, {mode}", lambda: has_listed(function, mode))
    check.finish()


if __name__ == "__main__":
    main()
