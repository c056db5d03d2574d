# REQUIRES: ml_dtypes
# RUN: %fad_python %s
"""Elementwise operations on bf16 and f16, whose loops go over vectors: rounding
against ml_dtypes, and the same bits for the same numbers at every place."""

import unittest

import fad
import ml_dtypes
import numpy

TYPES = {"bf16": ml_dtypes.bfloat16, "f16": numpy.float16}

PRODUCT = """
func.func @f(%x: tensor<?x{t}>, %y: tensor<?x{t}>) -> tensor<?x{t}> {{
  %p = arith.mulf %x, %y : tensor<?x{t}>
  %r = arith.addf %p, %y : tensor<?x{t}>
  return %r : tensor<?x{t}>
}}
"""

ACTIVATIONS = "fad.gelu", "fad.silu", "fad.mish", "fad.softplus", "fad.elu", "math.tanh"


def all_numbers(t):
    return numpy.arange(1 << 16, dtype="u2").view(TYPES[t])


class NarrowTypes(unittest.TestCase):
    def test_rounding(self):
        random = numpy.random.default_rng(0)
        for t, dtype in TYPES.items():
            run = fad.compile(fad.parse(PRODUCT.format(t=t)))
            x, y = (random.permutation(all_numbers(t)) for _ in range(2))
            # Products of few bits, of which many are halfway between neighbors.
            near = random.integers(128, 256, (2, 9001)).astype(dtype)
            x, y = numpy.append(x, near[0]), numpy.append(y, near[1])
            with numpy.errstate(all="ignore"):
                product = (x.astype("f4") * y.astype("f4")).astype(dtype)
                expected = (product.astype("f4") + y.astype("f4")).astype(dtype)
            (got,) = run.call("f", x, y)
            numpy.testing.assert_array_equal(got.astype("f4"), expected.astype("f4"))
            zeros = expected == 0
            numpy.testing.assert_array_equal(
                numpy.signbit(got[zeros]), numpy.signbit(expected[zeros])
            )

    def test_same_at_every_place(self):
        for t in TYPES:
            x = all_numbers(t)[::3]
            for name in ACTIVATIONS:
                with self.subTest(type=t, activation=name):
                    module = fad.parse(
                        f"func.func @f(%x: tensor<?x{t}>) -> tensor<?x{t}> {{\n"
                        f"  %y = {name} %x : tensor<?x{t}>\n  return %y : tensor<?x{t}>\n}}\n"
                    )
                    nested = fad.nest(module, policy="fad")
                    run = fad.compile(nested)
                    whole = run.call(nested.forward, x)
                    # Fewer than a vector has; and the vectors elsewhere.
                    parts = [run.call(nested.forward, x[:12345])]
                    starts = range(12345, len(x) - 2, 61)
                    parts += [run.call(nested.forward, x[i : i + 3]) for i in starts]
                    places = [numpy.arange(12345), *(i + numpy.arange(3) for i in starts)]
                    places = numpy.concatenate(places)
                    for index, every in enumerate(whole):
                        each = every[places]
                        joined = numpy.concatenate([part[index] for part in parts])
                        # One NaN is as good as another.
                        number = ~numpy.isnan(each.astype("f4"))
                        numpy.testing.assert_array_equal(number, ~numpy.isnan(joined.astype("f4")))
                        same = each.view("u2") == joined.view("u2")
                        self.assertTrue(same[number].all())


if __name__ == "__main__":
    unittest.main()
