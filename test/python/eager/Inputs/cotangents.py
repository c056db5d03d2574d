"""Gradients for cotangents that are more than a tensor: a batch of them, as of
`is_grads_batched` and `jacobian(vectorize=True)`, and one with a forward-mode tangent."""

import torch
from torch.autograd import forward_ad


def is_linear(y, expected, x, tolerance=1e-12):
    """Whether gradients of `y` for a batch of cotangents and for a dual one are those of
    `expected`, cotangent by cotangent: a gradient is linear in its cotangent, so that its
    tangent is the gradient for the cotangent's."""

    def pull(result, cotangent, **options):
        return torch.autograd.grad(result, x, cotangent, retain_graph=True, **options)[0]

    # The gradient of a sum over rows is repeated in memory.
    y, expected = y.sum(0), expected.sum(0)
    cotangents = torch.randn(3, *y.shape, dtype=y.dtype)
    wanted = [pull(expected, each) for each in cotangents]
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(cotangents[0], cotangents[1])
        found = forward_ad.unpack_dual(pull(y, dual))
    every = [*pull(y, cotangents, is_grads_batched=True), *found]
    wanted += wanted[:2]
    torch.testing.assert_close(every, wanted, rtol=tolerance, atol=tolerance)
