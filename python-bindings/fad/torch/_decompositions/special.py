"""Functions that torch-mlir has no form of, by formulas of those that it has."""

import math

from .idioms import find_operations, widen
from .operations import detach, erfc, fmod
from .._requirements import torch


def _in_f32(function):
    """`function` of tensors in the type that PyTorch promotes theirs to: f16 and bf16
    in f32 and rounded once, and integers as floats."""

    def compute(*operands):
        dtype = torch.result_type(operands[0], operands[-1])
        if not dtype.is_floating_point:
            dtype = torch.get_default_dtype()
        return function(*(widen(each.to(dtype)) for each in operands)).to(dtype)

    return compute


# Stirling's series: B(2k) / (2k (2k - 1)); the NIST handbook, 5.11.1.
_STIRLING = (
    1 / 12,
    -1 / 360,
    1 / 1260,
    -1 / 1680,
    1 / 1188,
    -691 / 360360,
    1 / 156,
)
_SHIFT = 8


def _shift(x):
    """`x`, where it is small `x + 8`, and whether it is."""
    is_small = x < _SHIFT
    return torch.where(is_small, x + _SHIFT, x), is_small


def _reflect(x):
    """`x`, or `1 - x`, whichever is at least a half; whether it is the second; and
    the angle `pi * x` between -pi / 2 and pi / 2, 1 where it is the first."""
    reflected = x < 0.5
    angle = math.pi * (x - torch.round(x))
    return torch.where(reflected, 1 - x, x), reflected, torch.where(reflected, angle, 1)


def _evaluate(coefficients, x):
    total = coefficients[-1]
    for each in reversed(coefficients[:-1]):
        total = total * x + each
    return total


@_in_f32
def _lgamma(x):
    """log |gamma(x)| by Stirling's formula, from 8 on; below by its recurrence, and
    below a half by its reflection (the NIST handbook, 5.11.1, 5.5.1 and 5.5.3)."""
    y, reflected, angle = _reflect(x)
    z, is_small = _shift(y)
    series = _evaluate(_STIRLING, 1 / (z * z)) / z
    value = (z - 0.5) * (torch.log(z) - 1) + (0.5 * math.log(2 * math.pi) - 0.5) + series
    factors = torch.where(is_small, y, 1)
    product = factors
    for each in range(1, _SHIFT):
        product = product * torch.where(is_small, y + each, 1)
    value = value - torch.log(product)
    sine = torch.sin(angle).abs()
    value = torch.where(reflected, math.log(math.pi) - torch.log(sine) - value, value)
    return torch.where(x.abs() == math.inf, math.inf, value)


@_in_f32
def _digamma(x):
    """Returns the derivative of `_lgamma`, by the same formulas."""
    y, reflected, angle = _reflect(x)
    z, is_small = _shift(y)
    square = 1 / (z * z)
    terms = [-(2 * k + 1) * each for k, each in enumerate(_STIRLING)]
    value = torch.log(z) - 0.5 / z + square * _evaluate(terms, square)
    for each in range(_SHIFT):
        value = value - torch.where(is_small, 1 / torch.where(is_small, y + each, 1), 0)
    value = torch.where(reflected, value - math.pi / torch.tan(angle), value)
    # As in PyTorch: the pole at 0 has a sign.
    return torch.where(x == 0, -math.inf, value)


@_in_f32
def _trigamma(x):
    y, reflected, angle = _reflect(x)
    z, is_small = _shift(y)
    square = 1 / (z * z)
    terms = [(2 * k + 1) * (2 * k + 2) * each for k, each in enumerate(_STIRLING)]
    value = 1 / z + 0.5 * square + square / z * _evaluate(terms, square)
    for each in range(_SHIFT):
        shifted = torch.where(is_small, y + each, 1)
        value = value + torch.where(is_small, 1 / (shifted * shifted), 0)
    sine = torch.sin(angle) / math.pi
    return torch.where(reflected, 1 / (sine * sine) - value, value)


def _polygamma(n, x):
    return {0: _digamma, 1: _trigamma}.get(n, lambda x: NotImplemented)(x)


# M. Giles, Approximating the erfinv function, GPU Computing Gems, 2011.
_ERFINV_MIDDLE = (
    1.50140941,
    0.246640727,
    -0.00417768164,
    -0.00125372503,
    0.00021858087,
    -4.39150654e-06,
    -3.5233877e-06,
    3.43273939e-07,
    2.81022636e-08,
)
_ERFINV_TAIL = (
    2.83297682,
    1.00167406,
    0.00943887047,
    -0.0076224613,
    0.00573950773,
    -0.00367342844,
    0.00134934322,
    0.000100950558,
    -0.000200214257,
)


@_in_f32
def _erfinv(x):
    """Giles' polynomials, in f64 with two steps of Newton's method after them, on
    the complement so that the tails stay exact. The derivative is that of the
    inverse function."""
    size = detach(x).abs()
    complement = 1 - size
    w = -torch.log(complement * (1 + size))
    tail = w >= 5
    middle = _evaluate(_ERFINV_MIDDLE, torch.where(tail, 0, w - 2.5))
    root = torch.sqrt(torch.where(tail, w, 9))
    outer = _evaluate(_ERFINV_TAIL, torch.where(tail & (w < math.inf), root - 3, 0))
    y = size * torch.where(tail, outer, middle)
    if x.dtype is torch.float64:
        for _ in range(2):
            slope = 2 / math.sqrt(math.pi) * torch.exp(-y * y)
            y = y + (erfc(y) - complement) / slope
    y = torch.where(size == 1, math.inf, y)
    y = detach(torch.where(x < 0, -y, y))
    slope = detach(math.sqrt(math.pi) / 2 * torch.exp(y * y))
    return y + torch.where(size < 1, slope, 0) * (x - detach(x))


@_in_f32
def _erfc(x):
    return erfc(x)


def _fmod(x, y):
    dtype = torch.result_type(x, y)
    if not isinstance(y, torch.Tensor):
        y = torch.full((), y, dtype=dtype, device=x.device)
    return fmod(*torch.broadcast_tensors(x.to(dtype), y.to(dtype)))


@_in_f32
def _hypot(x, y):
    """Scaled by the greater, which cancels from the derivative."""
    greater = detach(torch.maximum(x.abs(), y.abs()))
    is_plain = (greater > 0) & (greater < math.inf)
    scale = torch.where(is_plain, greater, 1)
    x, y = x / scale, y / scale
    infinite = (x.abs() == math.inf) | (y.abs() == math.inf)
    return torch.where(infinite, math.inf, scale * torch.sqrt(x * x + y * y))


def _isfinite(x):
    if not x.is_floating_point():
        return torch.ones_like(x, dtype=torch.bool)
    return x.abs() < math.inf


def get_special() -> dict:
    table = {
        "lgamma": _lgamma,
        "digamma": _digamma,
        "polygamma": _polygamma,
        "erfinv": _erfinv,
        "erfc": _erfc,
        "fmod.Scalar": _fmod,
        "fmod.Tensor": _fmod,
        "hypot": _hypot,
        "isfinite": _isfinite,
    }
    return find_operations(table)
