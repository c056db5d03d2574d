"""Decompositions of activations that cost one exponential, for Inductor's graphs.

Those of PyTorch compute Mish by `exp`, `log1p` and `tanh`, and the GELU of tanh by
`tanh`, and again in backward. Here value and derivative share one exponential and one
quotient, so that one kernel that computes both costs little more than either.

Arguments are clamped to where the function is not yet its asymptote in any type: so
nothing overflows, and infinities have the values of the limits."""

import math
from typing import Any, Callable

import torch

from ._pytorch import get_decompositions, pw_cast_for_opmath, select_decomp_table

aten = torch.ops.aten

# exp of the negative is zero in every type.
_LOW = -800.0
# exp(80) is finite in f32, and no type tells 1 - 2 * exp(-80) from one.
_MISH_HIGH = 40.0


def _share_mish(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """`tanh(softplus(x))` is `n / (n + 2)` with `n = e * (e + 2)`, `e = exp(x)`."""
    x = x.clamp(_LOW, _MISH_HIGH)
    e = x.exp()
    n = e * (e + 2)
    quotient = 1 / (n + 2)
    return x, e, quotient, n / (n + 2)


@pw_cast_for_opmath
def _mish(x: torch.Tensor) -> torch.Tensor:
    _, _, _, factor = _share_mish(x)
    return x.clamp_min(_LOW) * factor


@pw_cast_for_opmath
def _mish_backward(gradient: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    x, e, quotient, factor = _share_mish(x)
    # n' = 2 * e * (e + 1); quotients come first, as the product would overflow.
    slope = 4 * (e * quotient) * ((e + 1) * quotient)
    return gradient * (factor + x * slope)


# (1 + tanh(u)) / 2 is sigmoid(2 * u), here of 2 * u = a * x * (1 + b * x * x).
_GELU_A, _GELU_B = 2 * math.sqrt(2 / math.pi), 0.044715
# The sigmoid is zero or one there in every type.
_GELU_BOUND = 40.0


def _share_gelu(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    x = x.clamp(-_GELU_BOUND, _GELU_BOUND)
    square = x * x
    # Of the negative magnitude, so that nothing overflows or cancels.
    e = (x.abs() * (-_GELU_A * _GELU_B * square - _GELU_A)).exp()
    quotient = 1 / (1 + e)
    lower = e * quotient
    return x, square, quotient * lower, torch.where(x < 0, lower, quotient)


@pw_cast_for_opmath
def _gelu(x: torch.Tensor) -> torch.Tensor:
    _, _, _, sigmoid = _share_gelu(x)
    return x.clamp_min(-_GELU_BOUND) * sigmoid


@pw_cast_for_opmath
def _gelu_backward(gradient: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    x, square, slope, sigmoid = _share_gelu(x)
    inner = x * (3 * _GELU_A * _GELU_B * square + _GELU_A)
    return gradient * (sigmoid + inner * slope)


class _Table(dict):
    """A table of decompositions that PyTorch's caches can identify: what they compile
    is known by its pickled form, and functions in a function have none. `Partitioner.uuid`
    stands for the content."""

    def __reduce__(self) -> Any:
        return _make_table, ()


def _make_table() -> dict[Any, Callable]:
    return make_decompositions(select_decomp_table())


def find_decompositions() -> dict[Any, Callable]:
    """Inductor's decompositions under its options of now, with those of this module."""
    return make_decompositions(select_decomp_table())


def make_decompositions(table: dict[Any, Callable]) -> dict[Any, Callable]:
    """`table`, Inductor's, with the decompositions of this module."""
    gelu, gelu_backward = table[aten.gelu.default], table[aten.gelu_backward.default]

    def any_gelu(x, *, approximate="none"):
        return _gelu(x) if approximate == "tanh" else gelu(x, approximate=approximate)

    def any_gelu_backward(gradient, x, *, approximate="none"):
        if approximate == "tanh":
            return _gelu_backward(gradient, x)
        return gelu_backward(gradient, x, approximate=approximate)

    added = {
        aten.mish.default: _mish,
        aten.mish_backward.default: _mish_backward,
        aten.gelu.default: any_gelu,
        aten.gelu_backward.default: any_gelu_backward,
    }
    return _Table(table | added)


# Operators that autograd calls for the gradients of activations, where PyTorch's decomposition is
# a product of the cotangent and a factor.
_PRODUCTS = ("gelu", "mish", "sigmoid", "silu", "tanh")


@pw_cast_for_opmath
def _softplus_backward(
    gradient: torch.Tensor, x: torch.Tensor, beta: float, threshold: float
) -> torch.Tensor:
    # PyTorch's decomposition has the cotangent in both cases.
    x = x * beta
    return gradient * torch.where(x > threshold, 1.0, x.sigmoid())


def decompose_gradients() -> dict[Any, Callable]:
    """Decompositions of the gradients of activations, of which fad finds the factors of a
    cotangent. Values are computed by PyTorch's own operators."""
    products = [getattr(aten, f"{name}_backward") for name in _PRODUCTS]
    table = get_decompositions(products)
    return {**table, aten.softplus_backward.default: _softplus_backward}
