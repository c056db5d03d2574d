"""Values that functions of fad.torch.elementwise read besides their arguments."""

import collections
import types

import torch
from elementwise_checks import compare, expect

import fad.torch
from fad.torch import elementwise

SCALE, SETTINGS = 2.0, {"scale": 2.0}
NUMBERS = types.SimpleNamespace(one=1.0, other=2.0)


def by_global(x):
    return x * SCALE


def by_helper(x):
    return by_global(x) + SETTINGS["scale"] + NUMBERS.one * by_other(x)


def by_other(x):
    return x * NUMBERS.other


class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.factor, self.inner = 3.0, torch.nn.Sequential(torch.nn.LeakyReLU(0.5))
        self.weight = torch.nn.Parameter(torch.ones(3))

    @property
    def half(self):
        return self.factor / 2

    def multiply(self, x):
        return x * self.half

    @elementwise
    def scale(self, x):
        return self.multiply(self.inner(x))

    def forward(self, x):
        return self.multiply(self.inner(x)) if self.training else self.inner(x)


def check_reads():
    """Results are those of the function's present inputs."""
    global SCALE
    x = torch.tensor([-2.0, 0.5, 3.0], requires_grad=True)
    captured, listed = 2.0, [1.0, (2.0,)]

    def by_cell(x):
        return x * captured + listed[1][0]

    def compare_all():
        for own, function in pairs:
            compare(own, function, x)

    module = Scaled()
    wrapped = fad.torch.nn.ElementwiseModule(module)
    pairs = [(elementwise(f), f) for f in (by_cell, by_global, by_helper)]
    pairs += [(wrapped, module), (module.scale, lambda x: module.multiply(module.inner(x)))]
    compare_all()
    result = elementwise(by_cell, keep="source")(x)
    captured, listed[1], SCALE, SETTINGS["scale"] = 3.0, (4.0,), 5.0, 6.0
    compare_all()
    call = lambda: torch.autograd.grad(result.sum(), x, create_graph=True)  # noqa: E731
    expect(RuntimeError, "has changed since its call", call)
    NUMBERS.other = 5.0
    compare_all()
    module.factor, module.inner[0].negative_slope = 7.0, 0.25
    compare_all()
    wrapped.eval()
    compare_all()
    by_default = elementwise(lambda x: x * torch.tensor(0.1).double().to(x.dtype))
    y = torch.ones(3, dtype=torch.float64)
    for dtype in (torch.float32, torch.float64):
        torch.set_default_dtype(dtype)
        assert torch.equal(by_default(y), torch.full_like(y, torch.tensor(0.1).item()))
    torch.set_default_dtype(torch.float32)
    number, numbers = torch.tensor(2.0), collections.deque([2.0])
    for function in (lambda x: x * number.item(), lambda x: x * float(number)):
        expect(TypeError, "make the tensor an argument", lambda: elementwise(function)(x))
    expect(TypeError, "an object of deque", lambda: elementwise(lambda x: x * numbers[0])(x))
