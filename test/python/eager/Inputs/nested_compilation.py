"""Models with nested sequences under torch.compile and compiled autograd."""

import gc
import torch
from activations import gelu
from checks import raises
from comparisons import MODEL, X, agrees, gradients, nest
from torch import nn

import fad.torch
from fad.torch.eager import _state


def check_compile(check):
    def compiled(model, x):
        torch._dynamo.reset()
        return torch.compile(model, backend="aot_eager")(x)

    def within(model, x):
        torch._dynamo.reset()

        def function(x):
            with nest():
                return model(x)

        return torch.compile(function, backend="eager")(x)

    def sized(model, x):
        """Of the second size on, sizes are symbols."""
        torch._dynamo.reset()
        call = torch.compile(model, backend="aot_eager")
        return sum(call(part).sum() for part in x.split([1, 2, 1]))

    check("torch.compile", lambda: agrees(compiled))
    check("torch.compile, several sizes", lambda: agrees(sized, lambda m, x: m(x).sum()))
    check("nest in torch.compile", lambda: agrees(within))

    check_compiled_autograd(check)


def compiled_backward(graph=lambda graph: graph):
    return torch._dynamo.compiled_autograd._enable(graph)


def captures():
    return torch._dynamo.utils.counters["compiled_autograd"]["captures"]


def check_compiled_autograd(check):
    """Backward as a program that is kept, in which a sequence is a call."""

    def recurs(policy):
        """One program for all steps, with other numbers and sizes in each."""
        nested, before = nest(MODEL, policy), captures()
        for step in range(4):
            x = torch.randn(4 + step, 8, dtype=torch.double)
            expected = gradients(lambda model, _: model(x))
            with compiled_backward():
                found = gradients(lambda model, _: nested(x))
            for one, other in zip(found, expected, strict=True):
                torch.testing.assert_close(one, other)
        return captures() - before <= 2

    def configured(model):
        """Compiled autograd as torch.compile turns it on, for a backward in its function."""

        def step(x):
            model(x).sum().backward()

        torch._dynamo.reset()
        model.zero_grad()
        with torch._dynamo.config.patch(compiled_autograd=True):
            torch.compile(step, backend="aot_eager")(X)
        found = [parameter.grad.clone() for parameter in model.parameters()]
        model.zero_grad()
        model(X).sum().backward()
        for one, parameter in zip(found, model.parameters(), strict=True):
            torch.testing.assert_close(one, parameter.grad)

    def twice(policy):
        x = X.clone().requires_grad_()
        with nest(policy=policy):
            loss = gelu(x).sum()
        (expected,) = torch.autograd.grad(gelu(x).sum(), x)
        with compiled_backward():
            for retains in (True, False):
                (found,) = torch.autograd.grad(loss, x, retain_graph=retains)
                torch.testing.assert_close(found, expected)
            return raises("a second time", lambda: torch.autograd.grad(loss, x))

    def hooked(policy):
        x, seen = X.clone().requires_grad_(), []
        with nest(policy=policy):
            y = torch.sigmoid(x) * x
            y.register_hook(lambda gradient: seen.append(gradient) or gradient * 2)
            z = (y * torch.tanh(y)).sum()
        with compiled_backward():
            (found,) = torch.autograd.grad(z, x)
        y = torch.sigmoid(x) * x
        (expected,) = torch.autograd.grad((y * torch.tanh(y)).sum(), x)
        torch.testing.assert_close(found, 2 * expected)
        return len(seen) == 1

    def skipped(policy, ask):
        x = X.clone().requires_grad_()
        with nest(policy=policy):
            y = torch.sigmoid(x) * x
            loss = (y * torch.tanh(y)).sum() + y.sum()
        with compiled_backward():
            message = "the gradient of a value inside of a nested sequence"
            return raises(message, lambda: ask(loss, x, y))

    def retains(loss, x, y):
        y.retain_grad()
        loss.backward()

    def read_outside():
        """A node that a value's reader outside of the sequence reaches, too, is PyTorch's. In
        the deferred engine, the reader has ended the sequence of one operator."""
        is_deferred = getattr(fad.torch.nest, "keywords", {}).get("engine") == "deferred"
        x, weight = X.clone().requires_grad_(), torch.randn(8, 8, dtype=torch.double)
        with nest(policy="fad"):
            y = torch.tanh(x)
            other = y @ weight
            loss = (2 * y).sum()
        (expected,) = torch.autograd.grad((2 * torch.tanh(x)).sum(), x)
        with compiled_backward():
            if not is_deferred:
                text = "has read a value before; call backward without compiled autograd"
                return raises(text, lambda: torch.autograd.grad(loss, x))
            (found,) = torch.autograd.grad(loss, x)
        torch.testing.assert_close(found, expected)
        return other.shape == found.shape

    def releases():
        nested = nest(MODEL)
        with compiled_backward():
            nested(X).sum().backward()
        # Dynamo's tracer is a circle of objects that has the nodes.
        gc.collect()
        return _state.live_nodes() == 0

    def penalized(policy):
        """The gradient of a gradient is refused, and has not lost what a sequence adds."""
        x = X.clone().requires_grad_()
        with nest(policy=policy):
            loss = gelu(x).sum()
        with compiled_backward():
            return raises(
                "cannot differentiate the backward of a nested sequence again",
                lambda: torch.autograd.grad(loss, x, create_graph=True),
            )

    asks = {
        "of a result": lambda loss, x, y: torch.autograd.grad(loss, [x, y]),
        "of an input": lambda loss, x, y: loss.backward(inputs=[y]),
        "that is retained": retains,
    }
    for policy in ("auto", "fad"):
        check(f"compiled autograd, {policy}", lambda: recurs(policy))
        check(
            f"compiled autograd of torch.compile, {policy}", lambda: configured(nest(MODEL, policy))
        )
        check(f"compiled autograd twice, {policy}", lambda: twice(policy))
        check(f"compiled autograd with a graph, {policy}", lambda: penalized(policy))
        check(f"compiled autograd and a hook, {policy}", lambda: hooked(policy))
        for name, ask in asks.items():
            check(f"compiled autograd of a gradient {name}", lambda: skipped(policy, ask))
    check("compiled autograd of a value that others read", read_outside)
    check("compiled autograd leaves nothing", releases)
    own = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 8)).double()
    check("compiled autograd of PyTorch's nodes", lambda: configured(nest(own)))
