"""Checks gradients of values that a sequence reads in two types, its own and a wider one, by float64:
the cast's operand may have been computed within the sequence, from its source."""

import contextlib
import itertools

import torch
from checks import Checks

import fad.torch
from fad.torch.eager import _kernels

MODES = list(itertools.product(("auto", "fad"), ("interactive", "deferred")))
TYPES = torch.bfloat16, torch.float16
ROWS = 12


def widen(value):
    return value.float() if value.dtype in TYPES else value


def narrow(value, like):
    return value.to(like.dtype)


BEFORE = {
    "a source": lambda v: v,
    "a multiple": lambda v: v * 0.1,
    "minus a source": torch.neg,
    "a square": lambda v: v * v,
    "tanh": torch.tanh,
    "relu": torch.relu,
    "a multiple of exp": lambda v: torch.exp(v) * 0.3,
}
READERS = {
    "a sum": lambda s: widen(s) + s,
    "a sum with relu": lambda s: torch.relu(widen(s)) + s,
    "a product with relu": lambda s: torch.relu(widen(s)) * s,
    "a product with tanh": lambda s: torch.tanh(widen(s)) * s,
    "a product with tanh, narrow": lambda s: narrow(torch.tanh(widen(s)), s) * s,
    "two functions": lambda s: torch.exp(widen(s)) * torch.tanh(s),
    "two casts": lambda s: widen(s) * 2 + widen(s),
    "two casts, piecewise": lambda s: torch.relu(widen(s)) + torch.relu(widen(s) * 2),
    "a multiple, narrow": lambda s: narrow(widen(s) * 2, s) + s,
    "casts of casts": lambda s: widen(narrow(widen(s) * 3, s)) * s,
    "a choice": lambda s: torch.where(widen(s) > 0, widen(s), s * 0.1),
}


def differentiate(before, reader, dtype, mode=None):
    generator = torch.Generator().manual_seed(0)
    x, weight = (
        torch.rand(ROWS, ROWS, generator=generator, dtype=torch.float64) * 2 - 1 for _ in range(2)
    )
    x = x.to(torch.bfloat16).to(dtype).requires_grad_()
    nest = contextlib.nullcontext()
    if mode is not None:
        nest = fad.torch.nest(policy=mode[0], engine=mode[1], min_numel=0)
    with nest:
        y = reader(before(x.flip(1))).flip(0)
    return torch.autograd.grad((y * weight.to(y.dtype)).sum(), x)[0].double()


def is_right(before, reader, dtype, mode):
    exact = differentiate(before, reader, torch.float64)

    def error(found):
        return ((found - exact).abs().max() / exact.abs().max()).item()

    most = 2 * error(differentiate(before, reader, dtype)) + 2 * torch.finfo(dtype).eps
    # At first by operators, and then by a kernel.
    for _ in range(2 if mode[1] == "deferred" else 1):
        found = error(differentiate(before, reader, dtype, mode))
        _kernels.wait()
        assert found <= most, (found, most)


def main():
    check = Checks()
    for (first, before), (then, reader), dtype, mode in itertools.product(
        BEFORE.items(), READERS.items(), TYPES, MODES
    ):
        check(f"{first}, {then}, {dtype}, {mode}", lambda: is_right(before, reader, dtype, mode))
    check.finish()


if __name__ == "__main__":
    main()
