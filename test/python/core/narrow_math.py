# RUN: %fad_python %s
"""Short formulas of functions in 16 bits, in one loop with what they are part of, for
all numbers of bf16 and f16, against numpy in f64: what a difference leaves of a result
that saturates, exponentials of multiples, log1p of numbers from 0 to 1."""

import unittest

import fad
import numpy

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

LOOP = """
#id = affine_map<(i) -> (i)>
func.func @f(%x: tensor<?x{t}>) -> tensor<?x{t}> {{
  %zero = arith.constant 0 : index
  %n = tensor.dim %x, %zero : tensor<?x{t}>
  %empty = tensor.empty(%n) : tensor<?x{t}>
  %y = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel"]}}
    ins(%x : tensor<?x{t}>) outs(%empty : tensor<?x{t}>) {{
  ^bb0(%narrow: {t}, %o: {t}):
    %half = arith.constant 0.5 : f32
    %minus = arith.constant -0.5 : f32
    %odd = arith.constant -0.69 : f32
    %one = arith.constant 1.0 : f32
    %limit = arith.constant 64.0 : f32
    %a = arith.extf %narrow : {t} to f32
    {body}
    %r = arith.truncf %v : f32 to {t}
    linalg.yield %r : {t}
  }} -> tensor<?x{t}>
  return %y : tensor<?x{t}>
}}
"""

# The type; bits of its fraction; its least exponent; the relative error that
# fad-approximate-math allows a function, of f16 four units of f32.
TYPES = {"f16": (numpy.float16, 10, -14, 2.0**-21)}
if ml_dtypes:
    TYPES["bf16"] = ml_dtypes.bfloat16, 7, -126, 2.0**-18


def get_unit(values, fraction, least):
    """The unit in the last place of each of `values`."""
    exponents = numpy.maximum(numpy.frexp(values)[1] - 1, least)
    return numpy.ldexp(1.0, exponents - fraction)


class NarrowMath(unittest.TestCase):
    def check(self, body, reference, get_allowed):
        """`body` makes %v of %a. It may err by half a unit of the type and by what
        `get_allowed` makes of the number, the value, and the error of a function."""
        for kind, (dtype, fraction, least, error) in TYPES.items():
            narrow = numpy.arange(1 << 16, dtype=numpy.uint16).view(dtype)
            compiled = fad.compile(fad.parse(LOOP.format(t=kind, body=body)))
            (got,) = compiled.call("f", narrow)
            with numpy.errstate(all="ignore"):
                got, x = got.astype("f8"), narrow.astype("f8")
                want = reference(x)
                rounded = want.astype(dtype).astype("f8")
                allowed = get_allowed(x, want, error) + get_unit(want, fraction, least) / 2
            numpy.testing.assert_array_equal(numpy.isnan(got), numpy.isnan(rounded))
            for value in numpy.inf, -numpy.inf:
                numpy.testing.assert_array_equal(got == value, rounded == value)
            finite = numpy.isfinite(rounded)
            self.assertGreater(finite.sum(), 31000)
            with numpy.errstate(invalid="ignore"):
                excess = numpy.where(finite, abs(got - want) - allowed * (1 + 1e-9), -1)
            at = numpy.argmax(excess)
            self.assertLessEqual(excess[at], 0, f"{kind}: {got[at]} at {x[at]}, not {want[at]}")

    def test_gate(self):
        self.check(
            """%t = math.tanh %a : f32
            %s = arith.addf %one, %t : f32
            %v = arith.mulf %a, %s : f32""",
            lambda x: x * (1 + numpy.tanh(x)),
            # Below -10 it is zero.
            lambda x, y, error: numpy.where(x < -10, 1e-7, 2 * error * (abs(y) + abs(x))),
        )

    def test_rest(self):
        self.check(
            """%m = arith.negf %a : f32
            %b = arith.minimumf %m, %limit : f32
            %e = math.exp %b : f32
            %d = arith.addf %e, %one : f32
            %q = arith.divf %one, %d : f32
            %s = arith.subf %one, %q : f32
            %v = arith.mulf %a, %s : f32""",
            lambda x: x * (1 - 1 / (1 + numpy.exp(numpy.minimum(-x, 64)))),
            lambda x, y, error: numpy.where(x > 18, 1e-6, 3 * error * (abs(y) + abs(x))),
        )

    def test_tanh_of_product(self):
        self.check(
            """%p = arith.mulf %a, %odd : f32
            %v = math.tanh %p : f32""",
            lambda x: numpy.tanh(x * float(numpy.float32(-0.69))),
            lambda x, y, error: error * abs(y),
        )

    def test_exp_of_multiples(self):
        for name, factor in ("minus", -0.5), ("odd", float(numpy.float32(-0.69))):
            self.check(
                f"""%s = arith.mulf %a, %a : f32
                %p = arith.mulf %{name}, %s : f32
                %v = math.exp %p : f32""",
                lambda x: numpy.exp(factor * x * x),
                # The product is rounded.
                lambda x, y, error: y * (error + numpy.minimum(x * x, 200) * 2.0**-24),
            )

    def test_log1p_of_exp(self):
        self.check(
            """%s = math.absf %a : f32
            %m = arith.negf %s : f32
            %e = math.exp %m : f32
            %v = math.log1p %e : f32""",
            lambda x: numpy.log1p(numpy.exp(-abs(x))),
            lambda x, y, error: 2 * error * y,
        )


if __name__ == "__main__":
    unittest.main()
