"""Functions that fad.torch.elementwise refuses."""

import torch
import torch.nn.functional as F
from elementwise_checks import expect

from fad.torch import elementwise


class Reversed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, gradient):
        return -gradient


class Bounded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clamp(-127, 127)

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class Straight(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, gradient):
        return gradient


def check_errors():
    x = torch.randn(5, requires_grad=True)
    weight = torch.randn(5, requires_grad=True)

    def untracked(x):
        with torch.no_grad():
            y = x * x
        return y * x

    def untracked_beyond(x):
        with torch.no_grad():
            factor = (x.abs() - 20).clamp(min=0)
        return x * (1 + factor)

    for function, text in (
        (lambda x: x / x.sum(), "which fad has no kernel"),
        (lambda x: x.reshape(1, -1), "so it is not elementwise"),
        (lambda x: x > 0, "torch.bool"),
        (lambda x: (x, x), "a tuple"),
        (lambda x: x * weight, "make the tensor an argument"),
        (lambda x: F.dropout(x, 0.5), "which fad has no kernel"),
        (lambda x: x if x.sum() > 0 else -x, "cannot be traced"),
        (lambda x: x.detach() * x, "detach"),
        (Straight.apply, "a gradient of their own"),
        (Bounded.apply, "a gradient of their own"),
        (lambda x: Reversed.apply(x) * 2, "a gradient of their own"),
        (untracked, "a gradient of their own"),
        (untracked_beyond, "a gradient of their own"),
    ):
        expect(TypeError, text, lambda: elementwise(function)(x))
    expect(TypeError, "positional", lambda: elementwise(torch.mul)(x, other=x))
    expect(ValueError, "choose one of", lambda: elementwise(torch.tanh, keep="x"))
    expect(ValueError, "did you mean 'source'", lambda: elementwise(torch.tanh, keep="sources"))
    expect(ValueError, "choose 1 to 8", lambda: elementwise(torch.tanh, derivative_bits=0))
    expect(ValueError, "keep is", lambda: elementwise(keep="source", derivative_bits=1)(F.silu))
