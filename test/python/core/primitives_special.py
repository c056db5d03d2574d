# REQUIRES: ml_dtypes
# RUN: %fad_python %s %if nightly %{ --every %}
"""Derivatives of the primitives at kinks, zeros, infinities and NaN are what the
dialect says: in f32 under two policies, in bf16 under another. With --every, as in
check-fad-nightly, they are so in f32 under every policy, and in the other types under two."""

import math
import sys
import unittest

import fad
import ml_dtypes
import numpy

TYPES = {
    "f64": (numpy.float64, 1e-12),
    "f32": (numpy.float32, 1e-5),
    "f16": (numpy.float16, 2e-3),
    "bf16": (ml_dtypes.bfloat16, 2e-2),
}
EVERY = "--every" in sys.argv
POINTS = [-math.inf, -3, -0.0, 0.0, 3, math.inf, math.nan]


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def slope(f, x):
    """The derivative of `f`, which is smooth, by differences."""
    h = 1e-5
    return (f(x + h) - f(x - h)) / (2 * h)


def smooth(f, least, greatest):
    """The derivatives at the points, with the limits at the infinities."""
    inside = [slope(f, x) for x in POINTS[1:5]]
    return [least, *inside, greatest, math.nan]


def gelu_tanh(x):
    return x / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


E3 = math.exp(-3)
EXPECTED = {
    "fad.relu %x": [0, 0, 0, 0, 1, 1, 1],
    "fad.leaky_relu %x slope 0.25": [0.25, 0.25, 0.25, 0.25, 1, 1, 0.25],
    "fad.leaky_relu %x slope -0.5": [-0.5, -0.5, -0.5, -0.5, 1, 1, -0.5],
    "fad.elu %x": [0, E3, 1, 1, 1, 1, 1],
    "fad.elu %x alpha 0.5": [0, E3 / 2, 0.5, 0.5, 1, 1, 1],
    "fad.elu %x alpha -1.0": [0, -E3, -1, -1, 1, 1, 1],
    "fad.celu %x": [0, E3, 1, 1, 1, 1, 1],
    "fad.celu %x alpha 2.0": [0, math.exp(-1.5), 1, 1, 1, 1, 1],
    "fad.celu %x alpha -2.0": [math.inf, math.exp(1.5), 1, 1, 1, 1, 1],
    "fad.hardtanh %x": [0, 0, 1, 1, 0, 0, 1],
    "fad.hardsigmoid %x": [0, 0, 1 / 6, 1 / 6, 0, 0, 0],
    "fad.hardswish %x": [0, 0, 0.5, 0.5, 1, 1, 1],
    "fad.sigmoid %x": smooth(sigmoid, 0, 0),
    "fad.logsigmoid %x": smooth(lambda x: -math.log1p(math.exp(-x)), 1, 0),
    "fad.softsign %x": [math.nan, 1 / 16, 1, 1, 1 / 16, math.nan, math.nan],
    "fad.softplus %x": smooth(lambda x: math.log1p(math.exp(x)), 0, 1),
    "fad.softplus %x threshold 3.0": smooth(lambda x: math.log1p(math.exp(x)), 0, 1),
    "fad.softplus %x threshold 2.0": [0, sigmoid(-3), 0.5, 0.5, 1, 1, math.nan],
    "fad.silu %x": smooth(lambda x: x * sigmoid(x), 0, 1),
    "fad.gelu %x": smooth(lambda x: x * math.erfc(-x / math.sqrt(2)) / 2, 0, 1),
    "fad.gelu %x approximate <tanh>": smooth(gelu_tanh, 0, 1),
    "fad.mish %x": smooth(lambda x: x * math.tanh(math.log1p(math.exp(x))), 0, 1),
    "math.absf %x": [-1, -1, 0, 0, 1, 1, 0],
}


def make_module(t):
    count = range(len(EXPECTED))
    body = "".join(
        f"  %y{i} = {text.replace('%x', f'%x{i}')} : tensor<?x{t}>\n"
        for i, text in enumerate(EXPECTED)
    )
    arguments = ", ".join(f"%x{i}: tensor<?x{t}>" for i in count)
    results = ", ".join(f"%y{i}" for i in count)
    types = ", ".join(f"tensor<?x{t}>" for i in count)
    return fad.parse(
        f"func.func @f({arguments}) -> ({types}) {{\n{body}  return {results} : {types}\n}}"
    )


class Special(unittest.TestCase):
    def test_derivatives(self):
        for t in TYPES if EVERY else ("f32", "bf16"):
            dtype, bound = TYPES[t]
            x = numpy.array(POINTS, dtype)
            ones = [numpy.ones_like(x)] * len(EXPECTED)
            # A tape sees a chain of operations, and the others the function it is.
            policies = ("bp", "auto") if EVERY else ("auto",)
            if t == "f32":
                policies = ("bp", "recompute", "fad", "auto") if EVERY else ("bp", "fad")
            for policy in policies:
                nested = fad.nest(make_module(t), policy=policy)
                run = fad.compile(nested, check=False)
                values = run.call(nested.forward, *[x] * len(EXPECTED))
                residuals = values[len(EXPECTED) :]
                gradients = run.call(nested.backward, *residuals, *ones)
                for (name, expected), got in zip(EXPECTED.items(), gradients):
                    with self.subTest(type=t, policy=policy, primitive=name):
                        numpy.testing.assert_allclose(
                            got.astype("f8"), expected, bound, max(bound, 1e-9)
                        )


if __name__ == "__main__":
    unittest.main(argv=[each for each in sys.argv if each != "--every"])
