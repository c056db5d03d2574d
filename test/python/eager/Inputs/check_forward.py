"""Compares nested functions under forward-mode derivatives, vmap, the other transforms of
torch.func and mixtures of them with eager PyTorch: what transforms return, and the gradients
of parameters that the functions have closed over."""

import itertools
import sys

import torch
import torch.func as functional
import torch.nn.functional as F
from activations import gelu
from checks import Checks
from torch import nn
from torch.autograd import forward_ad
from torch.utils._pytree import tree_leaves

import fad.torch
from fad.torch.eager import _kernels

torch.manual_seed(0)
DOUBLE = {"dtype": torch.double}
X, T = torch.randn(2, 4, 6, **DOUBLE)
UP, DOWN = (torch.randn(6, 6, **DOUBLE).requires_grad_() for _ in range(2))
SCALE, SHIFT = (torch.randn(6, **DOUBLE).requires_grad_() for _ in range(2))
CONSTANT = torch.rand(6, **DOUBLE) + 0.5
ZEROS = torch._efficientzerotensor((6,), **DOUBLE)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(6), nn.Linear(6, 8), nn.Linear(8, 6)

    def forward(self, x):
        return self.down(gelu(self.up(self.norm(x))))


NET = Net().double()
PARAMETERS = [UP, DOWN, SCALE, SHIFT, *NET.parameters()]
FUNCTIONS = {
    "GELU": gelu,
    "gate": lambda x: torch.sigmoid(x @ UP) * (x @ DOWN),
    "norm": lambda x: F.layer_norm(x @ UP, (6,), SCALE, SHIFT),
    "norm of constants": lambda x: gelu(F.layer_norm(gelu(x @ UP), (6,), CONSTANT)) @ DOWN,
    "sum": lambda x: torch.cumsum(torch.erf(x @ UP) * 2, -1) @ DOWN,
    "convolution": lambda x: F.gelu(F.conv1d(x.reshape(-1, 1, 6), UP[:2, None, :3], padding=1)),
    "constants": lambda x: torch.tanh(x * CONSTANT) * CONSTANT * torch.sin(x @ UP),
    "zeros": lambda x: (x @ UP).relu() * ZEROS,
    "slopes": lambda x: torch.relu(x @ UP) * 2 - F.leaky_relu(x @ UP),
}


def add(function):
    return lambda x: function(x).sum()


def jvp(function):
    return functional.jvp(function, (X,), (T,))


def linearize(function):
    value, push = functional.linearize(function, X)
    return value, push(T)


def vjp(function):
    value, pull = functional.vjp(function, X)
    return value, pull(torch.ones_like(value))


def take_dual(function):
    with forward_ad.dual_level():
        return tuple(forward_ad.unpack_dual(function(forward_ad.make_dual(X, T))))


def take_dual_of_leaf(function):
    x = X.clone().requires_grad_()
    with forward_ad.dual_level():
        tangent = forward_ad.unpack_dual(function(forward_ad.make_dual(x, T))).tangent
        return tangent, *torch.autograd.grad(
            tangent.sum(), x, retain_graph=True, allow_unused=True, materialize_grads=True
        )


def take_dual_of_gradient(function):
    x = X.clone().requires_grad_()
    with forward_ad.dual_level():
        value = function(forward_ad.make_dual(x, T))
        (gradient,) = torch.autograd.grad(value.sum(), x, create_graph=True)
        return tuple(forward_ad.unpack_dual(gradient))


def take_jacobian(function):
    """By the older vmap, on dual numbers."""
    return torch.autograd.functional.jacobian(function, X, vectorize=True, strategy="forward-mode")


TRANSFORMS = {
    "jvp": jvp,
    "jvp of jvp": lambda f: jvp(lambda x: functional.jvp(f, (x,), (T,))[1]),
    "jvp of grad": lambda f: jvp(functional.grad(add(f))),
    "jvp of vmap": lambda f: jvp(functional.vmap(f)),
    "linearize": linearize,
    "vjp": vjp,
    "grad": lambda f: functional.grad(add(f))(X),
    "grad of grad": lambda f: functional.grad(add(lambda x: functional.grad(add(f))(x) ** 2))(X),
    "grad of jvp": lambda f: functional.grad(add(lambda x: functional.jvp(f, (x,), (T,))[1]))(X),
    "grad of vmap": lambda f: functional.grad(add(functional.vmap(f)))(X),
    "jacfwd": lambda f: functional.jacfwd(f)(X),
    "jacrev": lambda f: functional.jacrev(f)(X),
    "hessian": lambda f: functional.hessian(add(f))(X[0]),
    "vmap": lambda f: functional.vmap(f)(X),
    "vmap of vmap": lambda f: functional.vmap(functional.vmap(f))(torch.stack([X, T])),
    "vmap of grad": lambda f: functional.vmap(functional.grad(add(f)))(X),
    "vmap of jvp": lambda f: functional.vmap(lambda x, t: functional.jvp(f, (x,), (t,)))(X, T),
    "vmap of hessian": lambda f: functional.vmap(functional.hessian(add(f)))(X),
    "dual numbers": take_dual,
    "a dual number of a leaf": take_dual_of_leaf,
    "a dual number of a gradient": take_dual_of_gradient,
    "jacobian": take_jacobian,
}


def make_parameters():
    return {name: each.detach() for name, each in NET.named_parameters()}


def call_net(model, parameters, x=X):
    return functional.functional_call(model, parameters, (x,))


def take_sample_gradients(model):
    def loss(parameters, x):
        return call_net(model, parameters, x[None]).square().sum()

    return functional.vmap(functional.grad(loss), (None, 0))(make_parameters(), X)


def take_ensemble(model):
    stacked = {name: torch.stack([each, -each]) for name, each in make_parameters().items()}
    return functional.vmap(lambda each: call_net(model, each))(stacked)


def take_hessian_product(model):
    parameters = make_parameters()
    gradient = functional.grad(lambda each: call_net(model, each).square().sum())
    return functional.jvp(gradient, (parameters,), (parameters,))


MODEL_TRANSFORMS = {
    "gradients of samples": take_sample_gradients,
    "an ensemble": take_ensemble,
    "a product with the Hessian": take_hessian_product,
    "a dual number": take_dual,
}


def read_open(make, transform):
    """A value that may not be computed yet, within a transform."""
    with make():
        value = gelu(X.clone().requires_grad_() @ UP)
        return transform(value * torch.sigmoid(value))


OPEN = {
    "closed over": lambda value: functional.jvp(lambda x: gelu(x * value), (X,), (T,)),
    "a point": lambda value: functional.jvp(gelu, (value,), (T,)),
    "a tangent": lambda value: functional.jvp(gelu, (X,), (value,)),
    "a batch": lambda value: functional.vmap(lambda row: gelu(row) * row)(value),
    "functionalized": lambda value: functional.functionalize(lambda x: gelu(x * value).mul_(2))(X),
}


def measure(results):
    """All results, and the gradients of parameters."""
    results = tree_leaves(results)
    total = sum(
        (each * torch.linspace(0.5, 1.5, len(each.ravel()), **DOUBLE).view_as(each)).sum()
        for each in results
    )
    gradients = (
        torch.autograd.grad(total, PARAMETERS, allow_unused=True, materialize_grads=True)
        if total.requires_grad
        else []
    )
    return [*(each.detach().clone() for each in results), *gradients]


MODES = [
    ({"engine": engine, "policy": policy, "min_numel": 0}, is_outside)
    for is_outside, engine, policy in itertools.product(
        (False, True), ("deferred", "interactive"), ("auto", "fad")
    )
]


def agrees(transform, function, mode, is_outside):
    """Whether a transform of a nested function, or in a block, has eager's results, also by
    kernels, once those are there."""
    expected = measure(transform(function))
    for _ in range(2 if mode["engine"] == "deferred" else 1):
        if is_outside:
            with fad.torch.nest(**mode):
                found = transform(function)
        else:
            found = transform(fad.torch.nest(function, **mode))
        torch.testing.assert_close(measure(found), expected, rtol=1e-9, atol=1e-10)
        _kernels.wait()


def is_open_read(transform, mode):
    expected = measure(read_open(torch.enable_grad, transform))
    found = measure(read_open(lambda: fad.torch.nest(**mode), transform))
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-10)


if __name__ == "__main__":
    check = Checks()
    cases = [
        (f"{name}, {of}", transform, function)
        for table, targets in ((TRANSFORMS, FUNCTIONS), (MODEL_TRANSFORMS, {"a model": NET}))
        for (name, transform), (of, function) in itertools.product(table.items(), targets.items())
    ]
    every = "--every" in sys.argv
    for number, (name, transform, function) in enumerate(cases):
        # Nine functions and eight modes: a transform's functions meet all modes.
        for mode, is_outside in MODES if every else [MODES[number % len(MODES)]]:
            check(
                f"{name}, {mode}, {is_outside}",
                lambda: agrees(transform, function, mode, is_outside),
            )
    for (name, transform), (mode, _) in itertools.product(OPEN.items(), MODES[:4]):
        check(f"an open value is {name}, {mode}", lambda: is_open_read(transform, mode))
    check.finish()
