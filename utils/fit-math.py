#!/usr/bin/env python3
"""Fits the polynomials of fad-approximate-math and prints them, each with the largest
relative error that it leaves in the function it is for, before rounding.

  utils/fit-math.py

Each is the best in the weighted maximum norm, found by Lawson's algorithm: least
squares on Chebyshev nodes, whose weights grow where the error is large. Takes numpy
and mpmath."""

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


# exp(r) = 1 + r + r^2 * P(r), |r| <= ln 2 / 2; of bf16, 1 + r * P(r). In the source,
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
    """What to fit for x from `low` to `high`, with t = 1 / (1 + scale * x)."""

    def function(t):
        x = (1 / t - 1) / scale
        return erfc(x) * exp(x * x) / t

    ends = 1 / (1 + scale * high), 1 / (1 + scale * low)
    return function, *ends, degree, lambda t: 1 / function(t)


POLYNOMIALS = {
    "exp": (
        lambda r: (expm1(r) - r) / r**2,
        -HALF,
        HALF,
        4,
        lambda r: r**2 / exp(r),
    ),
    "exp of 16 bits": (
        lambda r: (expm1(r) - r) / r**2,
        -HALF,
        HALF,
        3,
        lambda r: r**2 / exp(r),
    ),
    "exp of bf16": (
        lambda r: expm1(r) / r,
        -HALF,
        HALF,
        3,
        lambda r: r / exp(r),
    ),
    "log1p": (
        lambda m: (log1p(m) - m + m * m / 2) / m**3,
        *ROOT,
        7,
        lambda m: m**3 / log1p(m),
    ),
    "log1p of 16 bits": (lambda x: log1p(x) / x, 1e-9, 1, 8, lambda x: x / log1p(x)),
    "log1p of bf16": (lambda x: log1p(x) / x, 1e-9, 1, 6, lambda x: x / log1p(x)),
    "tanh": (
        lambda s: (tanh(sqrt(s)) / sqrt(s) - 1) / s,
        1e-12,
        TANH**2,
        4,
        lambda s: s * sqrt(s) / tanh(sqrt(s)),
    ),
    "erf": (
        lambda s: (erf(sqrt(s)) / sqrt(s) - 2 / sqrt(pi)) / s,
        1e-12,
        ERF**2,
        3,
        lambda s: s * sqrt(s) / erf(sqrt(s)),
    ),
    "erfc": fit_erfc(*ERFC, 8),
    "erfc of 16 bits": fit_erfc(0, ERFC[1], 8),
    "erfc of bf16": fit_erfc(0, ERFC[1], 6),
    # On GPUs, where t costs little: scales that leave the least error.
    "erfc on GPUs": fit_erfc(0, 10.59, 8, 0.3),
    "erfc on GPUs of 16 bits": fit_erfc(0, 9.4, 5, 0.65),
    "erfc on GPUs of bf16": fit_erfc(0, 9.4, 4, 0.55),
}

for name, arguments in POLYNOMIALS.items():
    coefficients, error = fit(*arguments)
    rounded = ", ".join(f"{numpy.float32(c)!s}f" for c in coefficients)
    print(f"{name:23} {error:.1e}  {rounded}")
