"""The formulas of operators, with PyTorch's derivative at kinks: `fad` differentiates them,
and a point has the derivative of the branch that a comparison takes there.

An operand is a value of the writer or a number, which the writer makes a value of."""

import math
from collections.abc import Callable
from typing import Any

from .writer import Value, Writer

Formula = Callable[..., Value]


def _scaled(write: Writer, op: str, a: Any, b: Any, alpha: Any) -> Value:
    """`a op alpha * b`."""
    a, b = write.round(a), write.round(b)
    return write.apply(op, a, b if _is(alpha, 1) else write.apply("arith.mulf", b, alpha))


def _is(value: Any, number: float) -> bool:
    return isinstance(value, (int, float)) and value == number


def add(write: Writer, a: Any, b: Any, alpha: Any = 1) -> Value:
    return _scaled(write, "arith.addf", a, b, alpha)


def subtract(write: Writer, a: Any, b: Any, alpha: Any = 1) -> Value:
    return _scaled(write, "arith.subf", a, b, alpha)


def subtract_from(write: Writer, a: Any, b: Any, alpha: Any = 1) -> Value:
    return subtract(write, b, a, alpha)


def divide(write: Writer, a: Any, b: Any) -> Value:
    return write.apply("arith.divf", write.round(a), b)


def reciprocal(write: Writer, x: Any) -> Value:
    return write.apply("arith.divf", 1, x)


def _root(write: Writer, x: Any, exponent: float) -> Value:
    """Returns the power of a half or its inverse, which PyTorch computes as a root, but for
    `float16`: powers of C are of the size where zeros and infinities are negative. Powers that
    derivatives have are that size for all types."""
    if write.body.is_f16:
        x = write.apply("arith.addf", x, 0)
    if write.body.is_f16 or exponent < 0:
        value = math.inf if write.body.is_f16 else math.nan
        x = write.select(write.compare("oeq", x, -math.inf), value, x)
    if exponent > 0:
        return write.apply("math.sqrt", x)
    root = write.apply("math.rsqrt", x)
    return write.select(write.compare("oeq", x, 0), reciprocal(write, x), root)


def power(write: Writer, x: Any, exponent: Any) -> Value:
    """Powers by products, quotients and roots, as PyTorch computes them."""
    if not isinstance(exponent, (int, float)) or exponent not in EXPONENTS:
        return write.apply("math.powf", x, exponent)
    if exponent == 1:
        return x
    if exponent in (0.5, -0.5):
        return _root(write, x, exponent)
    if exponent == -1:
        return reciprocal(write, x)
    square = write.apply("arith.mulf", x, x)
    if exponent == 2:
        return square
    return write.apply("arith.mulf", square, x if exponent == 3 else square)


#: The exponents whose powers are no `math.powf`.
EXPONENTS = (1, 2, 3, 4, -1, 0.5, -0.5)


def gelu(write: Writer, x: Any, approximate: str | None = None) -> Value:
    return write.apply("fad.gelu", x, approximate=approximate or "none")


def softplus(write: Writer, x: Any, beta: Any = 1, threshold: Any = 20) -> Value:
    scaled = write.apply("arith.mulf", x, beta)
    smooth = write.apply("arith.divf", write.apply("fad.softplus", scaled), beta)
    return write.select(write.compare("ogt", scaled, threshold), x, smooth)


def elu(write: Writer, x: Any, alpha: Any = 1, scale: Any = 1, input_scale: Any = 1) -> Value:
    grown = write.apply("math.expm1", write.apply("arith.mulf", x, input_scale))
    negative = write.apply("arith.mulf", grown, write.apply("arith.mulf", alpha, scale))
    positive = write.apply("arith.mulf", x, scale)
    return write.select(write.compare("ule", x, 0), negative, positive)


def celu(write: Writer, x: Any, alpha: Any = 1) -> Value:
    grown = write.apply("math.expm1", write.apply("arith.divf", x, alpha))
    negative = write.apply("arith.mulf", grown, alpha)
    return write.select(write.compare("ule", x, 0), negative, x)


def _still_nan(write: Writer, x: Any, value: Any, other: Any = None) -> Value:
    """`value`, but NaN with the gradient zero where `x` or `other` is NaN, as comparisons of
    PyTorch's formulas are false there."""
    return write.select(write.compare("uno", x, x if other is None else other), math.nan, value)


def absolute(write: Writer, x: Any) -> Value:
    negative = write.select(write.compare("olt", x, 0), write.apply("arith.negf", x), x)
    return _still_nan(write, x, write.select(write.compare("oeq", x, 0), 0, negative))


def relu(write: Writer, x: Any) -> Value:
    return write.select(write.compare("ole", x, 0), 0, x)


def leaky_relu(write: Writer, x: Any, slope: Any = 0.01) -> Value:
    return write.select(write.compare("ogt", x, 0), x, write.apply("arith.mulf", x, slope))


def _bounded(below: str, above: str, is_rounded: bool) -> Formula:
    """Between two bounds, where comparisons say which derivative the bounds have. The one
    with the lower bound is true of NaN, so that a bound that is NaN is the value. A value is a
    bound in the type of the tensor, and comparisons are with that or with the number."""

    def formula(write: Writer, x: Any, low: Any = None, high: Any = None) -> Value:
        value = x
        if low is not None:
            bound = write.round(low)
            is_below = write.compare(below, x, bound if is_rounded else low)
            value = write.select(is_below, bound, value)
        if high is not None:
            bound = write.round(high)
            is_above = write.compare(above, value, bound if is_rounded else high)
            value = write.select(is_above, bound, value)
        return _still_nan(write, x, value, high)

    return formula


clamp = _bounded("ule", "oge", is_rounded=True)
_open_clamp = _bounded("ult", "ogt", is_rounded=True)
_hardtanh = _bounded("ule", "oge", is_rounded=False)


def clamp_max(write: Writer, x: Any, high: Any) -> Value:
    return clamp(write, x, None, high)


#: Formulas of `clamp` and its parts whose derivative at a bound is one.
OPEN = {
    "clamp": _open_clamp,
    "clamp_min": _open_clamp,
    "clamp_max": lambda write, x, high: _open_clamp(write, x, None, high),
}


def hardtanh(write: Writer, x: Any, low: Any = -1, high: Any = 1) -> Value:
    return _hardtanh(write, x, low, high)


def _sixth(write: Writer, x: Any) -> Value:
    return write.apply("arith.addf", write.apply("arith.mulf", x, 1 / 6), 0.5)


def hardsigmoid(write: Writer, x: Any) -> Value:
    inner = write.select(write.compare("oge", x, 3), 1, _sixth(write, x))
    return _still_nan(write, x, write.select(write.compare("ole", x, -3), 0, inner))


def hardswish(write: Writer, x: Any) -> Value:
    inner = write.apply("arith.mulf", x, _sixth(write, x))
    inner = write.select(write.compare("oge", x, 3), x, inner)
    # Not a number at -inf, and -0.0 from there.
    zero = write.apply("arith.mulf", x, 0)
    return write.select(write.compare("ole", x, -3), zero, inner)


def _choose(order: str) -> Formula:
    """Returns the number that is greater or less; the other one beside NaN."""

    def formula(write: Writer, x: Any, y: Any) -> Value:
        chosen = write.select(write.compare(order, x, y), x, y)
        return write.select(write.compare("uno", y, y), x, chosen)

    return formula


fmax, fmin = _choose("oge"), _choose("ole")
