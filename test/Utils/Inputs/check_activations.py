"""Checks the formulas of utils/activations.py, with numpy and, where it is, PyTorch,
against mpmath.

usage: check_activations.py UTILS"""

import math
import sys

import mpmath
import numpy

sys.path.insert(0, sys.argv[1])
from activations import ACTIVATIONS

mpmath.mp.dps = 60
mpf = mpmath.mpf


def sigmoid(x):
    return 1 / (1 + mpmath.exp(-x))


def gelu_tanh(x):
    factor, cubic = mpmath.sqrt(2 / mpmath.pi), mpf(0.044715)
    return x / 2 * (1 + mpmath.tanh(factor * (x + cubic * x**3)))


VALUES = {
    "sigmoid": sigmoid,
    "tanh": mpmath.tanh,
    "softplus": lambda x: x if x > 20 else mpmath.log1p(mpmath.exp(x)),
    "elu": lambda x: x if x > 0 else mpmath.expm1(x),
    "silu": lambda x: x * sigmoid(x),
    "gelu": lambda x: x * mpmath.ncdf(x),
    "gelu_tanh": gelu_tanh,
    "mish": lambda x: x * mpmath.tanh(mpmath.log1p(mpmath.exp(x))),
    "relu": lambda x: max(x, mpf(0)),
    "leaky_relu": lambda x: max(x, mpf(0.01) * x),
    "softsign": lambda x: x / (1 + abs(x)),
    "logsigmoid": lambda x: -mpmath.log1p(mpmath.exp(-x)),
    "hardtanh": lambda x: min(max(x, mpf(-1)), mpf(1)),
    "celu": lambda x: x if x > 0 else 2 * mpmath.expm1(x / 2),
    "hardsigmoid": lambda x: min(max(x + 3, mpf(0)), mpf(6)) / 6,
    "hardswish": lambda x: x * min(max(x + 3, mpf(0)), mpf(6)) / 6,
}
# Finite numbers, up to where f64 has denormal results, and near zeros of slopes.
POSITIVE = 1e-300, 1e-8, 0.3, 0.7517, 1.19, 2.5, 5.9, 15.0, 25.5
POINTS = [sign * point for point in POSITIVE for sign in (1, -1)]


def get_modules():
    yield numpy, lambda x: numpy.array(x), lambda x: x
    try:
        import torch

        yield torch, lambda x: torch.tensor(x, dtype=torch.float64), lambda x: x.numpy()
    except ImportError:
        pass


def differentiate(name, value, x):
    # Steps that stay on one side of zero.
    step = {"h": abs(x) / 10**20} if name in ("relu", "leaky_relu") else {}
    return mpmath.diff(value, x, **step)


assert VALUES.keys() == ACTIVATIONS.keys()
worst = 0.0
for name, value in VALUES.items():
    exact = [value(mpf(x)) for x in POINTS], [differentiate(name, value, mpf(x)) for x in POINTS]
    for module, to_array, from_array in get_modules():
        with numpy.errstate(all="ignore"):
            got = ACTIVATIONS[name].reference(to_array(POINTS), module)
            extremes = ACTIVATIONS[name].reference(
                to_array([math.inf, -math.inf, math.nan]), module
            )
        for computed, expected in zip(got, exact):
            for x, y, reference in zip(POINTS, from_array(computed), expected):
                error = abs(mpf(float(y)) - reference) / max(abs(reference), mpf(10) ** -2)
                worst = max(worst, float(error))
                assert error < 1e-14, (module.__name__, name, x, y, reference)
        # An infinite argument has a derivative; what is no number stays that.
        _, slope = (from_array(each) for each in extremes)
        expected = {
            "sigmoid": (0, 0),
            "tanh": (0, 0),
            "hardsigmoid": (0, 0),
            "hardtanh": (0, 0),
            "softsign": (0, 0),
            "logsigmoid": (0, 1),
            "leaky_relu": (1, 0.01),
        }.get(name, (1, 0))
        assert (slope[0], slope[1]) == expected, (module.__name__, name, slope)
        assert numpy.isnan(from_array(extremes[0])[2]), (module.__name__, name)
print(f"{len(VALUES)} activations, {worst:.1e}")
