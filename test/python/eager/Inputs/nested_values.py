"""Values of nested sequences that hooks, writes and others reach, compared with eager
PyTorch."""

import contextlib
import gc
import weakref

import torch
import torch.nn.functional as F
from activations import silu
from checks import raises
from comparisons import MODEL, X, nest
from torch import nn
from torch.autograd import forward_ad

import fad.torch


def check_values(check):
    def after_use(ask):
        x = X.clone().requires_grad_()
        with nest():
            s = torch.sigmoid(x)
            y = x * s
        ask(s, y)

    def grad(s, y):
        torch.autograd.grad(y.sum(), s)

    def hook(s, y):
        s.register_hook(lambda g: None)
        y.sum().backward()

    def retained(s, y):
        s.retain_grad()
        y.sum().backward()

    for ask in (grad, hook, retained):
        check(
            f"gradient of a skipped value, {ask.__name__}",
            lambda: raises("before the value is used", lambda: after_use(ask)),
        )

    def gradient(make, policy, bits):
        """Gradients whose memory is not what they are: zeros without any, and negatives."""
        pulled = []
        # Few bits are of one engine, and the others of that which the script is run with.
        options = {"derivative_bits": bits, "engine": "interactive"} if bits else {}
        for context in (
            contextlib.nullcontext(),
            fad.torch.nest(policy=policy, min_numel=0, **options),
        ):
            x = X.clone().requires_grad_()
            with context:
                y = F.relu(x * 2).view(-1) if bits is None else torch.sigmoid(silu(x)).view(-1)
            pulled += torch.autograd.grad(y, x, make(y))
        return torch.allclose(*pulled, atol=0 if bits is None else 0.05)

    def zeros(y):
        return torch._efficientzerotensor(y.shape, dtype=y.dtype)

    def negatives(y):
        return torch.complex(y.detach(), -y.detach()).conj().imag

    for policy in ("auto", "fad"):
        for make in (zeros, negatives):
            for bits in (None, 6):
                check(
                    f"a gradient of {make.__name__}, {policy}, {bits}",
                    lambda: gradient(make, policy, bits),
                )

    def before_use():
        x = X.clone().requires_grad_()
        with nest():
            s = torch.sigmoid(x)
            s.retain_grad()
            (x * s).sum().backward()
        return torch.equal(s.grad, X)

    def changed_source():
        x = X * 1
        x.requires_grad_()
        with nest():
            h = x * 1
            y = silu(h * 1) @ MODEL.up.weight.t()
        with torch.no_grad():
            x.add_(1)
        y.sum().backward()

    def changed_value(write):
        """A write to what a reader has saved: eager refuses, this is right."""
        x = X.clone().requires_grad_()
        weight = MODEL.up.weight.detach().t().clone().requires_grad_()
        with nest():
            value = silu(x)
            z = value @ weight
        write(value)
        z.sum().backward()
        expected = silu(X).t() @ torch.ones(4, 16, dtype=torch.double)
        torch.testing.assert_close(weight.grad, expected)

    def written_before(write):
        """A write before the reader saves it is what the reader saves."""
        x = X.clone().requires_grad_()
        weight = MODEL.up.weight.detach().t().clone().requires_grad_()
        with nest():
            value = silu(x)
            write(value)
            (value @ weight).sum().backward()
        expected = value.detach().t() @ torch.ones(4, 16, dtype=torch.double)
        torch.testing.assert_close(weight.grad, expected)

    def add(value):
        with torch.no_grad():
            value.add_(1)

    writes = {
        "in place": add,
        "through data": lambda value: value.data.add_(1),
        "through numpy": lambda value: value.detach().numpy().__iadd__(1),
    }
    check("hook before use", before_use)
    check("changed source", lambda: raises("Write to a copy", changed_source))
    for name, write in writes.items():
        check(f"changed value, {name}", lambda: changed_value(write))
        check(f"written before, {name}", lambda: written_before(write))

    def other_memory():
        """A parameter gets other memory, and keeps its node."""
        found = []
        for context in (nest, contextlib.nullcontext):
            parameter = nn.Parameter(X.clone())
            with context():
                half = parameter * 0.5
                parameter.data = X + 1
                (half * parameter.tanh()).sum().backward()
            found.append(parameter.grad)
        torch.testing.assert_close(*found)

    def infinite_gradient():
        found = []
        for context in (nest, contextlib.nullcontext):
            x = X.clone().requires_grad_()
            with context():
                total = F.relu(x).sum()
            total.backward(torch.tensor(float("inf"), dtype=torch.double))
            found.append(x.grad)
        torch.testing.assert_close(*found)

    def outlives():
        x = (X * 1).requires_grad_()
        with nest():
            source = x * 1
            kept = F.layer_norm(source, (8,))
            value = silu(kept)
            (value @ MODEL.up.weight.t()).sum().backward()
        reference = weakref.ref(kept.untyped_storage())
        del source, kept
        gc.collect()
        return reference() is None and value.shape == X.shape

    def tangent_of_constant():
        x = X.clone().requires_grad_()
        found = []
        with forward_ad.dual_level():
            scale = forward_ad.make_dual(X, torch.ones_like(X))
            for context in (nest, contextlib.nullcontext):
                with context():
                    y = torch.sigmoid(x * scale) * x
                (gradient,) = torch.autograd.grad(y.sum(), x)
                found.append(forward_ad.unpack_dual(gradient).tangent)
        torch.testing.assert_close(*found)

    check("other memory", other_memory)
    check("infinite gradient", infinite_gradient)
    check("a value that outlives backward", outlives)
    check("tangent of a constant", tangent_of_constant)
    check("twice", lambda: raises("second time", twice))
    check("custom function", custom_function)


def twice():
    loss = nest(MODEL)(X).sum()
    loss.backward()
    loss.backward()


class Identity(torch.autograd.Function):
    """Reads its operand where no dispatcher sees it."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient


def custom_function():
    expected = torch.autograd.functional.jacobian(lambda x: F.silu(x).sum(), X)
    for policy in ("auto", "fad"):
        x = X.clone().requires_grad_()
        with nest(policy=policy):
            y = Identity.apply(silu(x))
        y.sum().backward()
        torch.testing.assert_close(x.grad, expected)
