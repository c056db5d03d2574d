"""Comparisons of the tests of fad.torch.elementwise."""

import torch


def differentiate(function, *tensors):
    leaves = [tensor.detach().clone().requires_grad_() for tensor in tensors]
    result = function(*leaves)
    weights = torch.linspace(-1, 2, result.numel(), dtype=result.dtype).reshape(result.shape)
    return [result.detach(), *torch.autograd.grad(result, leaves, weights)]


def compare(own, function, *tensors, **tolerances):
    for one, other in zip(differentiate(own, *tensors), differentiate(function, *tensors)):
        torch.testing.assert_close(one, other, **tolerances)


def expect(kind, text, call):
    try:
        call()
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"no {kind.__name__}: {text}")
