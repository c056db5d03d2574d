"""Checks nested sequences with tensors of several types, beside eager PyTorch.

usage: check_mixed.py [--every]

Without --every, the policy `fad` has bfloat16, and not float16, too, kernels have one of the
types for each sequence and policy, and models under `fad` have one kind of autocast."""

import contextlib
import itertools
import sys
import threading

import torch
import torch.nn.functional as F
from checks import Checks
from cuda_autocast import CudaAutocast
from mixed_models import MODELS, make, sample

import fad.torch
from fad.torch.eager import _kernels, trace

MODES = list(itertools.product(("auto", "fad"), ("interactive", "deferred")))
NARROW = (torch.bfloat16, torch.float16)
torch.manual_seed(0)
MASK = (torch.rand(64, 128) < 0.9).float() / 0.9
WEIGHT = torch.randn(128, 32, dtype=torch.double)
ROW = torch.randn(128)


def new_gelu(h):
    return 0.5 * h * (1.0 + torch.tanh(0.8 * (h + 0.045 * h.float().pow(3.0))))


def rms_norm(x):
    wide = x.float()
    wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
    return ROW.to(x.dtype) * wide.to(x.dtype)


# Functions of a tensor in a narrow type.
CHAINS = {
    "at the start": lambda h: torch.tanh(h.float()) * 2,
    "inside": lambda h: torch.sigmoid((h.float().pow(3) * 0.04).to(h.dtype)),
    "at the end": lambda h: (F.silu(h) * 1.5).float(),
    "there and back": lambda h: h.float().to(h.dtype).float(),
    "several": lambda h: torch.exp(-h.double().abs().float().to(h.dtype)).float().tanh(),
    "alone": lambda h: h.float(),
    "with numbers": lambda h: (3 * h).float() * 0.3 + 1,
    "with a kink": lambda h: F.relu(h).float(),
    "promoted": new_gelu,
    "results of a wider type": lambda h: torch.sigmoid(2 - 3 * h.float()) * torch.exp(-h.float()),
    "a wide result twice": lambda h: (t := (h.float() * 0.5 + h).tanh()) * t - t,
    "a wide constant": lambda h: F.gelu(h) * MASK,
    "two constants": lambda h: h * MASK * MASK,
    "powers before a wide result": lambda h: torch.tanh(h.float().pow(3).mul(0.1) + h) * h,
    "a narrow value times a wide one": lambda h: h * torch.tanh(h.float()),
    "a view": lambda h: F.gelu(h.float()).view(2, -1, 128).flatten(0, 1).to(h.dtype),
    "a transposed view": lambda h: F.gelu(h.float()).t().tanh().t().contiguous(),
    "RMSNorm": rms_norm,
    "a norm in float32": lambda h: F.layer_norm(h.float(), (128,)).to(h.dtype),
    "after a norm": lambda h: F.silu((n := F.layer_norm(h.flip(0), (128,))) * 2).float() + n,
    "a norm of a sum": lambda h: F.layer_norm(3 * h, (128,), ROW.to(h.dtype)).float(),
    "PyTorch's RMSNorm": lambda h: F.rms_norm(h, (128,), ROW.to(h.dtype)).float(),
    "a gated RMSNorm": lambda h: F.rms_norm(h.float(), (128,)).to(h.dtype) * torch.sigmoid(h),
    "a norm of a value": lambda h: F.layer_norm(F.silu(h.float()), (128,)).to(h.dtype),
}


# Kernels have neither views nor functions of rows, and do not mix float64 with other types.
# Products with constants alone save nothing else.
WITHOUT_KERNEL = ["a view", "a transposed view", "several", "two constants"]
WITHOUT_KERNEL += [name for name in CHAINS if "RMSNorm" in name]


def nest(mode=None):
    if mode is None:
        return contextlib.nullcontext()
    return fad.torch.nest(policy=mode[0], engine=mode[1], min_numel=0)


def differentiate(chain, values, mode=None, reads=True):
    """The gradient of a chain before a product that saves its value, or before a sum."""
    x = values.detach().requires_grad_()
    h = x * 1
    with nest(mode):
        y = chain(h)
        y = y @ WEIGHT.to(y.dtype).requires_grad_() if reads else y.flip(0)
    del h
    cotangent = torch.linspace(-1, 1, y.numel(), dtype=torch.double).view_as(y).to(y.dtype)
    (gradient,) = torch.autograd.grad(y, x, cotangent)
    return gradient


def has_gradients(chain, dtype, mode, reads):
    """Under `auto` with the interactive engine, roundings are eager PyTorch's; other errors are
    of the same size."""
    values = torch.randn(64, 128, dtype=torch.double).to(dtype)
    expected = differentiate(chain, values, reads=reads)
    found = differentiate(chain, values, mode, reads)
    assert found.dtype == dtype
    if mode == ("auto", "interactive"):
        return torch.equal(found, expected)
    found, expected = found.double(), expected.double()
    scale = expected.abs().max()
    # Some derivatives of the policy fad are rounded once more.
    return bool((found - expected).abs().max() <= 8 * torch.finfo(dtype).eps * scale)


def has_kernels(chain, dtype, policy):
    """Kernels compute sequences from the second time on. They round where another type begins,
    and not between operators of one type of 16 bits."""
    mode = policy, "deferred"
    values = torch.randn(64, 128, dtype=torch.double).to(dtype)
    for _ in range(2):
        differentiate(chain, values, mode)
        _kernels.wait()
    h = values.requires_grad_() * 1

    def read():
        y = chain(h)
        return y @ WEIGHT.to(y.dtype).requires_grad_()

    lines = trace(read, policy=policy, engine="deferred")
    # The policy fad leaves a sequence with one operator that is not linear to PyTorch.
    is_computed = any("by a kernel" in line for line in lines)
    assert is_computed or policy == "fad", lines
    return has_gradients(chain, dtype, mode, True)


# Results in float64 of tensors of float32, also within.
NUMBER = torch.tensor(0.1, dtype=torch.double)
WIDENED = {
    "sums without dimensions": lambda x: (x[0, 0] + 1 + NUMBER) * 2,
    "float64 inside": lambda x: (torch.tanh(x.double()) - x.double()).float() * 3,
    "a number": lambda x: torch.tanh(x) + NUMBER,
}


def has_values(chain):
    """The deferred engine's, before and after there are kernels."""
    x = torch.linspace(-1, 1, 64).view(8, 8).requires_grad_()
    expected = chain(x)
    for _ in range(3):
        with nest(("auto", "deferred")):
            found = chain(x).clone()
        _kernels.wait()
        torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-7)


def count_kept(function, *inputs, mode=None):
    def run(*inputs):
        with nest(mode):
            return function(*inputs)

    run(*inputs)
    return fad.torch.saved_memory(run, *inputs, measure=False).bytes


def keeps_no_more(chain, mode, reads):
    def function(x):
        y = chain(x * 1)
        return y @ WEIGHT.to(y.dtype).requires_grad_() if reads else y.flip(0)

    x = torch.randn(64, 128).bfloat16().requires_grad_()
    found, expected = count_kept(function, x, mode=mode), count_kept(function, x)
    assert found <= expected, (found, expected)


# Models


def train(model, x, mode, context):
    model.zero_grad()
    x = x.clone().requires_grad_()
    with nest(mode), context():
        loss = model(x).float().square().mean()
    loss.backward()
    return [x.grad, *(parameter.grad for parameter in model.parameters())]


def has_gradients_of_model(make_model, mode, context, dtype=torch.float32):
    model, x = make(make_model).to(dtype), sample(dtype)
    expected, found = train(model, x, None, context), train(model, x, mode, context)
    # The gradient of a bias of keys is zero, but for rounding.
    scale = max(each.double().norm() for each in expected)
    for one, other in zip(found, expected, strict=True):
        error = (one.double() - other.double()).norm() / scale
        assert one.dtype == other.dtype and error < 0.01, error


def keeps_less(name):
    make_model, most = MODELS[name]
    model, x = make(make_model), sample().requires_grad_()

    def function(x):
        with CudaAutocast():
            return model(x)

    expected = count_kept(function, x)
    for mode in MODES:
        found = count_kept(function, x, mode=mode) / expected
        limit = most if mode[0] == "auto" else 1
        assert found <= limit, (mode, found)


class Square(torch.autograd.Function):
    """Casts its operand, and computes without autocast."""

    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.tanh() * x

    @staticmethod
    @torch.amp.custom_bwd(device_type="cpu")
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * (x.tanh() + x * (1 - x.tanh() ** 2))


def with_custom_function(h):
    return F.silu(Square.apply(F.silu(h))) * 2


def outside_of_autocast(h):
    with torch.autocast("cpu", enabled=False):
        wide = F.gelu(h.float()) * 2
    return F.silu(wide.to(h.dtype))


def inside_of_another(h):
    with torch.autocast("cpu", dtype=torch.float16):
        h = F.silu(F.linear(h, torch.eye(128)))
    return F.silu(F.linear(h, torch.eye(128)))


def scaled(mode):
    """A step with a GradScaler."""
    model, x = make(MODELS["GPT-2"][0]), sample()
    scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with nest(mode), CudaAutocast(torch.float16):
        loss = model(x).float().square().mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    return [parameter.detach().clone() for parameter in model.parameters()]


def steps_alike(mode):
    for one, other in zip(scaled(mode), scaled(None), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)


def has_second_derivatives(chain):
    def second(mode):
        x = values.clone().requires_grad_()
        with nest(mode):
            y = chain(x * 1).float().flip(0)
        (first,) = torch.autograd.grad(torch.sin(y).sum(), x, create_graph=True)
        return torch.autograd.grad(first.float().square().sum(), x)[0]

    values = torch.randn(64, 128).bfloat16()
    found, expected = (second(mode).double() for mode in (("auto", "interactive"), None))
    error = (found - expected).norm() / expected.norm()
    assert error < 0.03, error


def releases_as_it_goes():
    """Backward frees sources with the nodes that need them, also behind views."""
    model, x = make(MODELS["GPT-2"][0]), sample().requires_grad_()

    def function(x):
        with CudaAutocast():
            return model(x).float().square().mean()

    def run(x):
        with nest(("auto", "interactive")):
            return function(x)

    run(x)
    found, expected = (fad.torch.saved_memory(each, x).peak for each in (run, function))
    assert found < expected, (found, expected)


READ = {
    "a norm": (lambda x: F.layer_norm(x, (128,), ROW, ROW), "native_layer_norm"),
    "RMSNorm": (rms_norm, "rsqrt"),
    "a longer sequence": (lambda x: F.silu(torch.tanh(x) * x), "silu"),
    "a product": (lambda x: torch.sigmoid(x) * x, "sigmoid"),
}


def read_often(function, is_summed, mode, differentiate):
    """The gradients of a value that three products read, each in the narrow type, as those for
    queries, keys and values; where it `is_summed`, another operator does, too."""
    x = torch.linspace(-2, 2, 64 * 128).view(64, 128).requires_grad_()
    weights = [torch.eye(128, dtype=torch.bfloat16).requires_grad_() for _ in range(3)]

    def forward():
        value = function(x * 1)
        products = [value.bfloat16() @ weight for weight in weights]
        total = products[0].float() + products[1].float() * products[2].float()
        return total.flip(0) + value.flip(1) if is_summed else total.flip(0)

    with nest(mode):
        y = forward()
    cotangent = torch.linspace(-1, 1, y.numel()).view_as(y)
    return differentiate(y, [x, *weights], cotangent)


def has_gradients_of_readers(function, is_summed, differentiate):
    """In the deferred engine, first without kernels, and then with those that there are."""
    expected = read_often(function, is_summed, None, differentiate)
    found = read_often(function, is_summed, ("auto", "interactive"), differentiate)
    assert all(map(torch.equal, found, expected))
    for _ in range(3):
        found = read_often(function, is_summed, ("auto", "deferred"), differentiate)
        _kernels.wait()
        for one, other in zip(found, expected, strict=True):
            error = (one.double() - other.double()).abs().max() / other.double().abs().max()
            assert error < 4 * torch.finfo(torch.bfloat16).eps, error


def runs_again_once(function, is_summed, operator):
    """Backward runs operators again once for all readers of their value."""

    def differentiate(*arguments):
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as events:
            torch.autograd.grad(*arguments)
        names = [event.name for event in events.events()]
        return [names.count(f"aten::{operator}"), names.count(f"aten::{operator}_backward")]

    mode = "auto", "interactive"
    again, backward = read_often(function, is_summed, mode, differentiate)
    assert again == 1 and backward <= 1, (again, backward)


def differentiate_in_threads(*arguments):
    found = [None] * 3

    def run(i):
        for _ in range(10):
            found[i] = torch.autograd.grad(*arguments, retain_graph=True)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(found, ())


def differentiate_twice(*arguments):
    first = torch.autograd.grad(*arguments, retain_graph=True)
    torch.autograd.grad(*arguments, create_graph=True)
    return first + torch.autograd.grad(*arguments)


WAYS = {
    "once": torch.autograd.grad,
    "by one source": lambda y, inputs, gradient: torch.autograd.grad(y, inputs[:1], gradient),
    "by a weight": lambda y, inputs, gradient: torch.autograd.grad(y, inputs[1:2], gradient),
    "twice": differentiate_twice,
    "in threads": differentiate_in_threads,
}


def keeps_wide_results(dtype):
    """A CPU does not run a tanh of float32 again whose source is narrower, nor sums and powers
    before it, unless the result is written to."""

    def count(writes):
        x = torch.linspace(-2, 2, 64 * 128).view(64, 128).to(dtype).requires_grad_()
        h = x * 1
        with nest(("auto", "interactive")):
            wide = torch.tanh(h.float().pow(3) * 2 + 1)
            y = (wide * h.float()).to(torch.bfloat16) @ WEIGHT.bfloat16().requires_grad_()
            if writes:
                wide.detach().mul_(0)
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as events:
            (gradient,) = torch.autograd.grad(y.sum(), x)
        names = [event.name for event in events.events()]
        counts = [names.count(f"aten::{name}") for name in ("tanh", "add", "pow")]
        return counts, gradient

    (found, gradient), (expected, other) = count(False), count(True)
    assert torch.equal(gradient, other)
    # A power of the operand is its derivative.
    assert expected[0] == 1 and expected[2] == 2, expected
    fewer = int(dtype != torch.float32)
    return all(b - a == fewer for a, b in zip(found, expected, strict=True))


def refuses_written_weights():
    """A weight whose copy is made again must not change before backward."""
    weight = torch.randn(128, 128, requires_grad=True)
    x = torch.randn(64, 128, dtype=torch.bfloat16, requires_grad=True)
    with nest(("auto", "interactive")):
        y = x @ weight.to(torch.bfloat16)
    with torch.no_grad():
        weight.add_(1)
    try:
        y.float().sum().backward()
    except RuntimeError as error:
        return "from which a sequence is computed" in str(error)
    return False


EVERY = "--every" in sys.argv


def choose_types(policy):
    return NARROW if policy == "auto" or EVERY else NARROW[:1]


def choose_types_of_kernels(policy):
    """By name, in turn: each sequence has both types by day, too, under one policy each."""
    for number, name in enumerate(CHAINS):
        turn = (number + (policy == "fad")) % 2
        types = NARROW if EVERY else NARROW[turn : turn + 1]
        yield from ((name, dtype) for dtype in types if name not in WITHOUT_KERNEL)


def main():
    check = Checks()
    for (name, chain), mode, reads in itertools.product(CHAINS.items(), MODES, (True, False)):
        what = f"{name}, {mode}, reads {reads}"
        for dtype in choose_types(mode[0]) if reads else NARROW[:1]:
            check(f"{what}, {dtype}", lambda: has_gradients(chain, dtype, mode, reads))
        check(f"{what}: bytes", lambda: keeps_no_more(chain, mode, reads))
    for policy in ("auto", "fad"):
        for name, dtype in choose_types_of_kernels(policy):
            check(
                f"{name}, {dtype}, {policy}: kernels",
                lambda: has_kernels(CHAINS[name], dtype, policy),
            )
    for name in MODELS:
        check(f"{name}: bytes", lambda: keeps_less(name))
    for dtype in (*NARROW, torch.float32):
        check(f"wide results, {dtype}", lambda: keeps_wide_results(dtype))
    autocasts = {
        "lists of CUDA": (CudaAutocast, torch.float32),
        "lists of the CPU": (
            lambda: torch.autocast("cpu", dtype=torch.bfloat16),
            torch.float32,
        ),
        "bfloat16": (contextlib.nullcontext, torch.bfloat16),
    }
    for name, mode in itertools.product(MODELS, MODES):
        kinds = list(autocasts.items())
        for kind, (context, dtype) in kinds if EVERY or mode[0] == "auto" else kinds[:1]:
            check(
                f"{name}, {mode}, {kind}",
                lambda: has_gradients_of_model(MODELS[name][0], mode, context, dtype),
            )
    for function in (with_custom_function, outside_of_autocast, inside_of_another):

        def chain(h):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return function(h)

        for mode in MODES:
            check(
                f"{function.__name__}, {mode}",
                lambda: has_gradients(chain, torch.bfloat16, mode, True),
            )
    for mode in MODES:
        check(f"GradScaler, {mode}", lambda: steps_alike(mode))
    for name in ("at the start", "promoted", "RMSNorm", "a view", "a norm in float32"):
        check(f"{name}: second", lambda: has_second_derivatives(CHAINS[name]))
    for (name, (function, operator)), is_summed in itertools.product(READ.items(), (False, True)):
        what = f"{name}, read often, is summed {is_summed}"
        for way, differentiate in WAYS.items():
            check(
                f"{what}, {way}",
                lambda: has_gradients_of_readers(function, is_summed, differentiate),
            )
        check(f"{what}: operators", lambda: runs_again_once(function, is_summed, operator))
    for name, chain in WIDENED.items():
        check(f"{name}: widened", lambda: has_values(chain))
    check("released in backward", releases_as_it_goes)
    check("written weights", refuses_written_weights)
    check.finish()


if __name__ == "__main__":
    main()
