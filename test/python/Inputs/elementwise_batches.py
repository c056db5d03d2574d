"""Gradients of fad.torch.elementwise for batches of cotangents, and for their tangents."""

import warnings

import torch
from torch.autograd import forward_ad, functional

from fad.torch import elementwise


def gate(a, b):
    return a * torch.sigmoid(a) * b


def check_batches():
    """A batch of cotangents has the gradients of each, in every form of the saved tensors."""
    warnings.filterwarnings("ignore", "There is a performance drop", UserWarning)
    for keep in ("auto", "source", "derivative"):
        _check_batches(torch.tanh, keep, [torch.randn(4, 3).t()])
        broadcast = [torch.randn(3, 4, dtype=torch.float64), torch.randn((), dtype=torch.float64)]
        _check_batches(gate, keep, broadcast)
    own, x = elementwise(torch.tanh), torch.randn(5)
    for strategy in ("reverse-mode", "forward-mode"):
        found = functional.jacobian(own, x, vectorize=True, strategy=strategy)
        torch.testing.assert_close(found, functional.jacobian(torch.tanh, x))
    own = elementwise(torch.tanh, keep="source")
    found, expected = (
        functional.hessian(lambda x: f(x).sum(), x, vectorize=vectorize)
        for f, vectorize in ((own, True), (torch.tanh, False))
    )
    torch.testing.assert_close(found, expected)


def _check_batches(function, keep, tensors):
    leaves = [tensor.requires_grad_() for tensor in tensors]
    results = elementwise(function, keep=keep)(*leaves), function(*leaves)
    batch = torch.randn(*results[1].shape, 2, dtype=results[1].dtype).movedim(-1, 0)

    def compare(differentiate):
        found, expected = (
            differentiate(
                lambda c, **options: torch.autograd.grad(y, leaves, c, retain_graph=True, **options)
            )
            for y in results
        )
        torch.testing.assert_close(found, expected)

    compare(lambda f: f(batch, is_grads_batched=True))
    compare(lambda f: torch.func.vmap(f)(batch))
    # A batch in a batch, and tangents of the cotangent in both of PyTorch's ways.
    scales = torch.ones(2, dtype=batch.dtype)
    compare(lambda f: torch.func.vmap(lambda s: f(batch * s, is_grads_batched=True))(scales))
    compare(lambda f: torch.func.jvp(f, (batch[0],), (batch[1],)))

    def push(f):
        with forward_ad.dual_level():
            gradients = f(forward_ad.make_dual(batch[0], batch[1]))
            return [part for each in gradients for part in forward_ad.unpack_dual(each)]

    compare(push)
