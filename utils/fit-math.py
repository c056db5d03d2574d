#!/usr/bin/env python3
"""Fits the polynomials of fad-approximate-math and fad-approximate-gpu-math, and prints
their table: a function, the precision that a use demands, the largest relative error
that the polynomial leaves in the function, before rounding, and coefficients, constant
first.

  utils/fit-math.py > lib/Codegen/Math/Polynomials.def
  utils/fit-math.py --check lib/Codegen/Math/Polynomials.def

--check compares a table with the fits, whose last digits depend on the machine. Each is
the best in the weighted maximum norm, found by Lawson's algorithm: least squares on
Chebyshev nodes, whose weights grow where the error is large. Takes numpy and mpmath."""

import re
import sys
import textwrap

import numpy
from mpmath import erf, erfc, expm1, exp, log, log1p, mp, mpf, pi, sqrt, tanh

mp.dps = 40


def fit(function, low, high, degree, weight, nodes=300, rounds=300):
    """Coefficients, constant first, of the polynomial nearest to `function` from `low`
    to `high`, where an error counts `weight` times, and that largest error."""
    middle, half = (low + high) / 2, (high - low) / 2
    unit = numpy.cos(numpy.pi * (numpy.arange(nodes) + 0.5) / nodes)
    points = [mpf(x) for x in unit * half + middle]
    values = numpy.array([float(function(x)) for x in points])
    weights = numpy.array([float(abs(weight(x))) for x in points])
    basis = numpy.polynomial.chebyshev.chebvander(unit, degree)
    importance = numpy.full(nodes, 1 / nodes)
    best = numpy.inf, None
    for _ in range(rounds):
        scale = numpy.sqrt(importance) * weights
        solution = numpy.linalg.lstsq(basis * scale[:, None], values * scale, rcond=None)
        errors = numpy.abs(basis @ solution[0] - values) * weights
        best = min(best, (errors.max(), solution[0].tolist()))
        importance *= errors
        importance /= importance.sum()
    series = numpy.polynomial.Chebyshev(best[1], domain=[low, high])
    return series.convert(kind=numpy.polynomial.Polynomial).coef, best[0]


# exp(r) = 1 + r + r^2 * P(r), |r| <= ln 2 / 2; of bf16, 1 + r * P(r). In the table,
# where 16 bits are enough, these begin with 1 and r.
HALF = float(log(2)) / 2 * 1.0001
# log(1 + m) = m + m^2 * (-1/2 + m * P(m)), sqrt(1/2) <= 1 + m <= sqrt(2); where 16
# bits are enough, m * P(m), 0 <= m <= 1.
ROOT = 2**-0.5 - 1.0001, 2**0.5 - 0.9999
# tanh(x) = x + x^3 * P(x^2), |x| <= 0.625.
TANH = 0.625
# erf(x) = x * (2 / sqrt(pi) + x^2 * P(x^2)), |x| <= 0.5.
ERF = 0.5
# erfc(x) = exp(-x^2) * t * P(t) with t = 1 / (1 + x / 2), 0.5 <= x <= 10.06, or
# from 0 on where 16 bits are enough.
ERFC = 0.5, 10.06


def fit_erfc(low, high, degree, scale=0.5):
    """Returns the function to fit for x from `low` to `high`, with t = 1 / (1 + scale * x)."""

    def function(t):
        x = (1 / t - 1) / scale
        return erfc(x) * exp(x * x) / t

    ends = 1 / (1 + scale * high), 1 / (1 + scale * low)
    return function, *ends, degree, lambda t: 1 / function(t)


EXP = lambda r: (expm1(r) - r) / r**2
LOG1P = lambda x: log1p(x) / x

# By function and precision: what to fit, the coefficients that stand before those of the
# fit, and, for erfc, the factor of x in t. On GPUs, where t costs little, the factors
# are those that leave the least error.
POLYNOMIALS = [
    ("exp", "F32", (EXP, -HALF, HALF, 4, lambda r: r**2 / exp(r)), [], 1),
    ("exp", "F16", (EXP, -HALF, HALF, 3, lambda r: r**2 / exp(r)), [1, 1], 1),
    ("exp", "BF16", (lambda r: expm1(r) / r, -HALF, HALF, 3, lambda r: r / exp(r)), [1], 1),
    (
        "log1p",
        "F32",
        (lambda m: (log1p(m) - m + m * m / 2) / m**3, *ROOT, 7, lambda m: m**3 / log1p(m)),
        [],
        1,
    ),
    ("log1p", "F16", (LOG1P, 1e-9, 1, 8, lambda x: x / log1p(x)), [], 1),
    ("log1p", "BF16", (LOG1P, 1e-9, 1, 6, lambda x: x / log1p(x)), [], 1),
    (
        "tanh",
        "F32",
        (
            lambda s: (tanh(sqrt(s)) / sqrt(s) - 1) / s,
            1e-12,
            TANH**2,
            4,
            lambda s: s * sqrt(s) / tanh(sqrt(s)),
        ),
        [],
        1,
    ),
    (
        "erf",
        "F32",
        (
            lambda s: (erf(sqrt(s)) / sqrt(s) - 2 / sqrt(pi)) / s,
            1e-12,
            ERF**2,
            3,
            lambda s: s * sqrt(s) / erf(sqrt(s)),
        ),
        [],
        1,
    ),
    ("erfc", "F32", fit_erfc(*ERFC, 8), [], 0.5),
    ("erfc", "F16", fit_erfc(0, ERFC[1], 8), [], 0.5),
    ("erfc", "BF16", fit_erfc(0, ERFC[1], 6), [], 0.5),
    ("erfcOnGPU", "F32", fit_erfc(0, 10.59, 8, 0.3), [], 0.3),
    ("erfcOnGPU", "F16", fit_erfc(0, 9.4, 5, 0.65), [], 0.65),
    ("erfcOnGPU", "BF16", fit_erfc(0, 9.4, 4, 0.55), [], 0.55),
]


def make_table():
    """Yields the rows of the table."""
    for function, precision, what, first, factor in POLYNOMIALS:
        coefficients, error = fit(*what)
        row = [function, precision, f"{error:.1e}", factor, *first]
        row += [f"{numpy.float32(number)!s}f" for number in coefficients]
        text = f"FAD_POLYNOMIAL({', '.join(map(str, row))})"
        yield textwrap.fill(text, 80, subsequent_indent=" " * 15)


def check(rows):
    """Exits unless the rows have the fits, up to their last digits."""
    for row, expected in zip(rows, make_table(), strict=True):
        found, fitted = (re.split(r"f?,\s*|f?\)|\(", text)[1:-1] for text in (row, expected))
        numbers = ([float(number) for number in fields[2:]] for fields in (found, fitted))
        if found[:2] != fitted[:2] or not numpy.allclose(*numbers, rtol=0.02, atol=0):
            sys.exit(f"error: the table has {row}, but the fit is {expected}")
    print(f"{len(rows)} polynomials are as fitted")


if sys.argv[1:2] == ["--check"]:
    check(re.findall(r"^FAD_POLYNOMIAL\([^()]*\)", open(sys.argv[2]).read(), re.MULTILINE))
else:
    print(*make_table(), sep="\n")
