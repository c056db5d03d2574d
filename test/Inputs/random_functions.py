"""Scalar functions of random programs, with their partial derivatives, in f64."""

import math

import numpy as np

import duals

erf, erfc = np.vectorize(math.erf, [float]), np.vectorize(math.erfc, [float])
ROOT = math.sqrt(2 / math.pi)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gaussian(x):
    return np.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def gelu_slope(x):
    """The slope of GELU by tanh."""
    s = sigmoid(2 * ROOT * (x + 0.044715 * x**3))
    return s + x * s * (1 - s) * 2 * ROOT * (1 + 3 * 0.044715 * x * x)


def mish_slope(x):
    t = np.tanh(np.logaddexp(0, x))
    return t + x * (1 - t * t) * sigmoid(x)


def gelu(x):
    return x * sigmoid(2 * ROOT * (x + 0.044715 * x**3))


# The domain of a function, to which its operand is taken.
POSITIVE, UNIT, ABOVE_ONE = "positive", "unit", "above one"

# Smooth functions: what follows the operand in the text, the function, its slope, and
# where it is defined.
SMOOTH = {
    "arith.negf": ("", np.negative, lambda x: -np.ones_like(x), None),
    "math.sin": ("", np.sin, np.cos, None),
    "math.cos": ("", np.cos, lambda x: -np.sin(x), None),
    "math.tan": ("", np.tan, lambda x: 1 / np.cos(x) ** 2, UNIT),
    "math.asin": ("", np.arcsin, lambda x: 1 / np.sqrt(1 - x * x), UNIT),
    "math.acos": ("", np.arccos, lambda x: -1 / np.sqrt(1 - x * x), UNIT),
    "math.atan": ("", np.arctan, lambda x: 1 / (1 + x * x), None),
    "math.sinh": ("", np.sinh, np.cosh, None),
    "math.cosh": ("", np.cosh, np.sinh, None),
    "math.tanh": ("", np.tanh, lambda x: 1 / np.cosh(x) ** 2, None),
    "math.asinh": ("", np.arcsinh, lambda x: 1 / np.sqrt(x * x + 1), None),
    "math.acosh": ("", np.arccosh, lambda x: 1 / np.sqrt(x * x - 1), ABOVE_ONE),
    "math.atanh": ("", np.arctanh, lambda x: 1 / (1 - x * x), UNIT),
    "math.exp": ("", np.exp, np.exp, None),
    "math.exp2": ("", np.exp2, lambda x: math.log(2) * np.exp2(x), None),
    "math.expm1": ("", np.expm1, np.exp, None),
    "math.log": ("", np.log, lambda x: 1 / x, POSITIVE),
    "math.log2": ("", np.log2, lambda x: 1 / (x * math.log(2)), POSITIVE),
    "math.log10": ("", np.log10, lambda x: 1 / (x * math.log(10)), POSITIVE),
    "math.log1p": ("", np.log1p, lambda x: 1 / (1 + x), POSITIVE),
    "math.sqrt": ("", np.sqrt, lambda x: 0.5 / np.sqrt(x), POSITIVE),
    "math.rsqrt": ("", lambda x: x**-0.5, lambda x: -0.5 * x**-1.5, POSITIVE),
    "math.cbrt": ("", np.cbrt, lambda x: 1 / (3 * np.cbrt(x) ** 2), POSITIVE),
    "math.erf": ("", erf, lambda x: 2 / math.sqrt(math.pi) * np.exp(-x * x), None),
    "math.erfc": ("", erfc, lambda x: -2 / math.sqrt(math.pi) * np.exp(-x * x), None),
    "fad.sigmoid": ("", sigmoid, lambda x: sigmoid(x) * sigmoid(-x), None),
    "fad.softplus": ("", lambda x: np.logaddexp(0, x), sigmoid, None),
    "fad.silu": ("", lambda x: x * sigmoid(x),
                 lambda x: sigmoid(x) * (1 + x * sigmoid(-x)), None),
    "fad.gelu": ("", lambda x: x * erfc(-x / math.sqrt(2)) / 2,
                 lambda x: erfc(-x / math.sqrt(2)) / 2 + x * gaussian(x), None),
    "fad.gelu approximate": (" approximate <tanh>", gelu, gelu_slope, None),
    "fad.mish": ("", lambda x: x * np.tanh(np.logaddexp(0, x)), mish_slope, None),
}  # fmt: skip


def piecewise(places, pieces):
    """A function of which each of `pieces`, (function, slope), holds up to the next of
    `places`, that included."""

    def compute(x):
        masks = [duals.compare(duals.constant(x.element, place, 1), x)[0] for place in places]
        made = [duals.elementwise(x.element, f, lambda v, d=d: [d(v)], x) for f, d in pieces]
        result = made[0]
        for mask, piece in zip(masks, made[1:]):
            result = duals.select(mask, piece, result)
        return result

    return compute


def line(slope, offset=0.0):
    return lambda x: slope * x + offset, lambda x: np.full_like(x, slope)


def step(function):
    """A function that is constant but for its steps, which are at multiples of 0.5."""

    def compute(x):
        twice = np.round(2 * x.value) / 2
        duals.compare(x, duals.constant(x.element, twice, 1))
        return duals.elementwise(x.element, function, lambda v: [np.zeros_like(v)], x, exact=True)

    return compute


def absolute(x):
    negative = duals.elementwise(
        x.element, np.negative, lambda v: [-np.ones_like(v)], x, exact=True
    )
    return duals.extremum(x, negative, least=False)


# Functions with kinks: what follows the operand, and the function of a dual number.
BENT = {
    "math.absf": ("", absolute),
    "math.floor": ("", step(np.floor)),
    "math.ceil": ("", step(np.ceil)),
    "math.trunc": ("", step(np.trunc)),
    "math.roundeven": ("", step(np.round)),
    "math.round": ("", step(lambda x: np.trunc(x + np.copysign(0.5, x)))),
    "fad.relu": ("", piecewise([0], [line(0), line(1)])),
    "fad.leaky_relu": (" slope 0.125", piecewise([0], [line(0.125), line(1)])),
    "fad.elu": (" alpha 0.5", piecewise(
        [0], [(lambda x: 0.5 * np.expm1(x), lambda x: 0.5 * np.exp(x)), line(1)])),
}  # fmt: skip


def hard_sigmoid(x):
    """Both kinks have the slope 0."""
    three = duals.constant(x.element, 3, 1)
    low, _ = duals.compare(duals.constant(x.element, -3, 1), x)
    high, _ = duals.compare(x, three)
    inner = duals.elementwise(
        x.element, lambda v: v / 6 + 0.5, lambda v: [np.full_like(v, 1 / 6)], x
    )
    outer = duals.elementwise(x.element, lambda v: (v > 0) * 1.0, lambda v: [np.zeros_like(v)], x)
    return duals.select(low & high, inner, outer)


def hard_swish(x):
    """Up to -3 it is 0, and from 3 on the identity."""
    low, _ = duals.compare(duals.constant(x.element, -3, 1), x)
    high, _ = duals.compare(x, duals.constant(x.element, 3, 1))
    inner = duals.elementwise(x.element, lambda v: v * (v + 3) / 6, lambda v: [v / 3 + 0.5], x)
    outer = duals.elementwise(x.element, lambda v: np.maximum(v, 0), lambda v: [(v > 0) * 1.0], x)
    return duals.select(low & high, inner, outer)


BENT |= {"fad.hardsigmoid": ("", hard_sigmoid), "fad.hardswish": ("", hard_swish)}


def smooth(function, partials):
    return lambda *arguments: duals.elementwise(
        arguments[0].element, function, partials, *arguments
    )


def copy_sign(x, sign):
    """Where the sign's operand is 0, either sign of its zero decides."""
    zero = duals.constant(x.element, np.zeros(x.shape), 1)
    duals.compare(sign, zero)
    duals.compare(x, zero)
    negate = np.signbit(x.value) != np.signbit(sign.value)
    factor = np.where(negate, -1.0, 1.0)
    result = duals.elementwise(
        x.element, lambda v: v * factor, lambda v: [factor * np.ones_like(v)], x, exact=True
    )
    # The derivative at 0 is that of an absolute value.
    result.slack = result.slack + np.where(x.value == 0, 2 * np.abs(result.tangent), 0)
    return result


def remainder(x, y):
    with np.errstate(all="ignore"):
        count = np.trunc(x.value / y.value)
        multiple = duals.elementwise(
            x.element,
            lambda v: v * np.round(x.value / y.value),
            lambda v: [np.round(x.value / y.value)],
            y,
        )
    if not np.all(np.isfinite(count)):
        raise duals.Unsuitable("not finite")
    duals.compare(x, multiple)
    return duals.elementwise(x.element, np.fmod, lambda a, b: (np.ones_like(a), -count), x, y)


def clamp(x, upper, lower):
    """As LLVM 22 documents it, with the upper bound first."""
    return duals.extremum(duals.extremum(x, upper, least=True), lower, least=False)


# Functions of two or three operands: whether the second must not be near 0, or the
# first must be positive, and the function of dual numbers.
SEVERAL = {
    "arith.addf": (2, None, smooth(np.add, lambda a, b: (np.ones_like(a), np.ones_like(b)))),
    "arith.subf": (2, None, smooth(np.subtract, lambda a, b: (np.ones_like(a), -np.ones_like(b)))),
    "arith.mulf": (2, None, smooth(np.multiply, lambda a, b: (b, a))),
    "arith.divf": (2, 1, smooth(np.divide, lambda a, b: (1 / b, -a / b / b))),
    "math.powf": (2, 0, smooth(np.power, lambda a, b: (b * a ** (b - 1), a**b * np.log(a)))),
    "math.atan2": (2, 1, smooth(
        np.arctan2, lambda a, b: (b / (a * a + b * b), -a / (a * a + b * b)))),
    "math.copysign": (2, None, copy_sign),
    "arith.remf": (2, 1, remainder),
    "arith.maximumf": (2, None, lambda a, b: duals.extremum(a, b, False)),
    "arith.minimumf": (2, None, lambda a, b: duals.extremum(a, b, True)),
    "arith.maxnumf": (2, None, lambda a, b: duals.extremum(a, b, False)),
    "arith.minnumf": (2, None, lambda a, b: duals.extremum(a, b, True)),
    "math.fma": (3, None, smooth(
        lambda a, b, c: a * b + c, lambda a, b, c: (b, a, np.ones_like(c)))),
    "math.clampf": (3, None, clamp),
}  # fmt: skip
