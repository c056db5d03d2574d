"""Models with nested sequences under the transforms of torch.func."""

import contextlib
import itertools

import torch
import torch.func as functional
from activations import gelu
from comparisons import MODEL, X, nest
from torch.fx.experimental.proxy_tensor import make_fx

import fad.torch


def check_traces(check):
    x = X[0].clone()

    def traced(function, mode="real"):
        made = make_fx(lambda x: torch.autograd.grad(function(x).sum(), x)[0], None, mode)
        leaf = x.clone().requires_grad_()
        return made(leaf)(leaf)

    def symbolic(function):
        return traced(function, "symbolic")

    traces = {"make_fx": traced, "make_fx of sizes": symbolic}
    for name, transform in traces.items():

        def both(policy):
            with nest(policy=policy):
                found = transform(gelu)
            torch.testing.assert_close(found, transform(gelu))

        for policy in ("auto", "fad"):
            check(f"{name}, {policy}", lambda: both(policy))


def check_transformed_backward(check):
    """Backward of a nested function from before, as a function of the cotangent, in transforms."""
    tangent, other = torch.randn(2, 4, 8, dtype=torch.double)

    def jvp(pull):
        return functional.jvp(pull, (other,), (tangent,))

    def second(pull):
        return functional.jvp(lambda c: functional.jvp(pull, (c,), (tangent,)), (other,), (c,))

    c = torch.ones_like(tangent)
    transforms = {
        "jvp": jvp,
        "jvp of jvp": second,
        "vmap of jvp": lambda pull: functional.vmap(
            lambda c: functional.jvp(pull, (c,), (tangent,))
        )(torch.stack([tangent, other])),
        "jacfwd": lambda pull: functional.jacfwd(pull)(other),
        "grad": lambda pull: functional.grad(lambda c: sum(g.sum() for g in pull(c)))(other),
        "vjp": lambda pull: functional.vjp(pull, other)[1](pull(tangent)),
    }

    def run(transform, options, create_graph):
        x = X.clone().requires_grad_()
        # One sequence ends in a linear layer, and one with a product of two.
        hidden = MODEL(x) if options is None else fad.torch.nest(MODEL, **options)(x)
        with contextlib.nullcontext() if options is None else fad.torch.nest(**options):
            value = torch.tanh(hidden) * torch.sigmoid(hidden) * torch.sin(x).relu()
            value = value @ torch.eye(8, dtype=torch.double)
        inputs = [x, *MODEL.parameters()]

        def pull(c):
            return torch.autograd.grad(
                value, inputs, c, retain_graph=True, create_graph=create_graph
            )

        return transform(pull)

    for (name, transform), policy, bits, create_graph in itertools.product(
        transforms.items(), ("auto", "fad"), (None, 8), (False, True)
    ):
        if name in ("grad", "vjp") and not create_graph:
            continue
        options = {"policy": policy, "derivative_bits": bits, "min_numel": 0}
        close = {"rtol": 1e-12, "atol": 1e-12} if bits is None else {"rtol": 0.1, "atol": 0.1}

        def both():
            torch.testing.assert_close(
                run(transform, options, create_graph), run(transform, None, create_graph), **close
            )

        check(f"{name} of backward, {policy}, {bits} bits, graph {create_graph}", both)
