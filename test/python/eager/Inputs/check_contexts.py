"""Nested sequences that go on in another context, under another policy or in another
thread, and backward in inference mode, compared with eager PyTorch; targets that nest
refuses."""

import itertools
import threading

import torch
from checks import Checks, raises
from torch import nn

import fad.torch

torch.manual_seed(0)
LEAF = torch.randn(8, 8, dtype=torch.double)
WEIGHT = torch.randn(8, 8, dtype=torch.double)
#: Each takes a sequence further.
PARTS = {
    "linear": lambda y: y * 2,
    "activation": lambda y: y * torch.sigmoid(y),
    "relu": torch.relu,
    "product": lambda y: y @ WEIGHT,
    "two uses": lambda y: (y.tanh() * 2 + y) @ WEIGHT,
}


def nest(policy):
    return fad.torch.nest(policy=policy, min_numel=0)


def gradient(value, x):
    return torch.autograd.grad(value.square().sum(), x)[0]


def changes_policy(parts, policies):
    x = LEAF.clone().requires_grad_()
    expected = nested = x
    for part, policy in zip(parts, policies):
        expected = PARTS[part](expected)
        with nest(policy):
            nested = PARTS[part](nested)
    return torch.allclose(gradient(nested, x), gradient(expected, x), 1e-12, 1e-12)


def changes_thread(policy):
    """The second thread has counted fewer operators than the first."""
    x = LEAF.clone().requires_grad_()
    with nest(policy):
        for _ in range(3):
            PARTS["activation"](x)
        value = PARTS["activation"](x)
    results = []

    def go_on():
        with nest(policy):
            results.append(PARTS["two uses"](value))

    thread = threading.Thread(target=go_on)
    thread.start()
    thread.join()
    expected = PARTS["two uses"](PARTS["activation"](x))
    return torch.allclose(gradient(results[0], x), gradient(expected, x), 1e-12, 1e-12)


def pulls_in_inference_mode(policy):
    x = LEAF.clone().requires_grad_()
    losses = [PARTS["activation"](x).tanh().sum()]
    with nest(policy):
        losses.append(PARTS["activation"](x).tanh().sum())
    with torch.inference_mode():
        expected, found = (torch.autograd.grad(loss, x)[0] for loss in losses)
    return torch.allclose(found, expected, 1e-12, 1e-12)


async def coroutine():
    pass


def compiled():
    model = nn.Linear(2, 2)
    model.compile(backend="eager")
    fad.torch.nest(model)


check = Checks()
for parts in itertools.product(PARTS, repeat=2):
    for policies in (("auto", "fad"), ("fad", "auto")):
        check(f"{parts} {policies}", lambda: changes_policy(parts, policies))
for parts in itertools.product(("activation", "relu"), PARTS, PARTS):
    for policies in (("auto", "fad", "auto"), ("fad", "auto", "fad")):
        check(f"{parts} {policies}", lambda: changes_policy(parts, policies))
for policy in ("auto", "fad"):
    check(f"thread {policy}", lambda: changes_thread(policy))
    check(f"inference {policy}", lambda: pulls_in_inference_mode(policy))
check("coroutine", lambda: raises("nest takes no coroutines",
                                  lambda: fad.torch.nest(coroutine)))
check("compiled", lambda: raises("model.compile() was called", compiled))
check("large", lambda: fad.torch.nest(min_numel=2**64).__enter__().__exit__() is None)
check.finish()
