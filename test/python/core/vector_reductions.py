# RUN: %fad_python %s
"""Reductions along rows and columns, whose loops go over vectors, against numpy, on
sizes around those of vectors; and their order, which threads do not change."""

import os
import subprocess
import sys
import unittest

import fad
import numpy

SIZES = 0, 1, 3, 7, 8, 9, 15, 16, 17, 40, 64, 1001

REDUCE = """
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
func.func @rows(%x: tensor<?x?x{t}>, %i: tensor<?x{t}>) -> tensor<?x{t}> {{
  %y = linalg.generic {{indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}}
    ins(%x : tensor<?x?x{t}>) outs(%i : tensor<?x{t}>) {{
  ^bb0(%a: {t}, %s: {t}):
    %0 = arith.{op} %s, %a : {t}
    linalg.yield %0 : {t}
  }} -> tensor<?x{t}>
  return %y : tensor<?x{t}>
}}
func.func @columns(%x: tensor<?x?x{t}>, %i: tensor<?x{t}>) -> tensor<?x{t}> {{
  %y = linalg.generic {{indexing_maps = [#all, #column], iterator_types = ["reduction", "parallel"]}}
    ins(%x : tensor<?x?x{t}>) outs(%i : tensor<?x{t}>) {{
  ^bb0(%a: {t}, %s: {t}):
    %0 = arith.{op} %s, %a : {t}
    linalg.yield %0 : {t}
  }} -> tensor<?x{t}>
  return %y : tensor<?x{t}>
}}
"""

# Two results, of a function of two operands, one of which is the same for a row; in
# memory, one is narrower.
MOMENTS = """
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @moments(%x: tensor<?x?xf16>, %m: tensor<?xf32>, %a: tensor<?xf32>, %b: tensor<?xf32>)
    -> (tensor<?xf32>, tensor<?xf32>) {
  %y:2 = linalg.generic {indexing_maps = [#all, #row, #row, #row], iterator_types = ["parallel", "reduction"]}
    ins(%x, %m : tensor<?x?xf16>, tensor<?xf32>) outs(%a, %b : tensor<?xf32>, tensor<?xf32>) {
  ^bb0(%n: f16, %middle: f32, %s: f32, %t: f32):
    %w = arith.extf %n : f16 to f32
    %d = arith.subf %w, %middle : f32
    %e = math.exp %d : f32
    %p = arith.mulf %d, %d : f32
    %0 = arith.addf %e, %s : f32
    %1 = arith.maximumf %t, %p : f32
    linalg.yield %0, %1 : f32, f32
  } -> (tensor<?xf32>, tensor<?xf32>)
  return %y#0, %y#1 : tensor<?xf32>, tensor<?xf32>
}
"""

# numpy's function, the operation, the type, where to start.
CASES = [
    (numpy.add.reduce, "addf", "f32", 0.5),
    (numpy.multiply.reduce, "mulf", "f64", 2),
    (numpy.maximum.reduce, "maximumf", "f32", -9),
    (numpy.fmin.reduce, "minnumf", "f32", 9),
    (numpy.add.reduce, "addi", "i32", 3),
    (numpy.maximum.reduce, "maxsi", "i8", -100),
    (numpy.bitwise_and.reduce, "andi", "i32", -1),
    (numpy.bitwise_xor.reduce, "xori", "i16", 5),
]


class VectorReductions(unittest.TestCase):
    def setUp(self):
        self.random = numpy.random.default_rng(0)

    def make(self, kind, shape):
        if kind.startswith("i"):
            return self.random.integers(-99, 99, shape).astype(f"i{int(kind[1:]) // 8}")
        return self.random.uniform(0.5, 2, shape).astype(f"f{int(kind[1:]) // 8}")

    def test_kinds(self):
        for reduce, op, kind, start in CASES:
            run = fad.compile(fad.parse(REDUCE.format(op=op, t=kind)))
            for size in SIZES:
                for name, axis, shape in ("rows", 1, (5, size)), ("columns", 0, (3, size)):
                    with self.subTest(op=op, name=name, size=size):
                        x = self.make(kind, shape)
                        init = numpy.full(shape[1 - axis], start, x.dtype)
                        (got,) = run.call(name, x, init)
                        first = numpy.expand_dims(init, axis)
                        with numpy.errstate(over="ignore"):
                            expected = reduce(numpy.concatenate([first, x], axis), axis=axis)
                        self.assertEqual(got.dtype, x.dtype)
                        numpy.testing.assert_allclose(got, expected, rtol=2e-6, atol=0)

    def test_not_a_number(self):
        x = numpy.ones((2, 40), "f4")
        x[0, 21] = numpy.nan
        for op, expected in ("maximumf", numpy.nan), ("minnumf", 1), ("addf", numpy.nan):
            run = fad.compile(fad.parse(REDUCE.format(op=op, t="f32")))
            (got,) = run.call("rows", x, numpy.full(2, numpy.nan if op == "minnumf" else 0, "f4"))
            numpy.testing.assert_array_equal(got[0], numpy.float32(expected))

    def test_two_results(self):
        run = fad.compile(fad.parse(MOMENTS))
        for size in SIZES[1:]:
            x = self.random.standard_normal((7, size)).astype("f2")
            middle = x.astype("f4").mean(axis=1)
            zero = numpy.zeros(7, "f4")
            total, most = run.call("moments", x, middle, zero, zero)
            d = x.astype("f8") - middle[:, None]
            numpy.testing.assert_allclose(total, numpy.exp(d).sum(axis=1), rtol=1e-5)
            numpy.testing.assert_allclose(most, (d * d).max(axis=1), rtol=1e-5)

    def test_threads_change_nothing(self):
        program = (
            "import fad, numpy, sys\n"
            f"run = fad.compile(fad.parse('''{REDUCE.format(op='addf', t='f32')}'''))\n"
            "x = numpy.random.default_rng(1).standard_normal((600, 1003)).astype('f4')\n"
            "(y,) = run.call('rows', x, numpy.zeros(600, 'f4'))\n"
            "sys.stdout.buffer.write(y.tobytes())\n"
        )
        outputs = {
            subprocess.run(
                [sys.executable, "-c", program],
                env=os.environ | {"OMP_NUM_THREADS": str(threads)},
                check=True,
                capture_output=True,
            ).stdout
            for threads in (1, 2, 3)
        }
        self.assertEqual(len(outputs), 1)
        self.assertEqual(len(outputs.pop()), 2400)


if __name__ == "__main__":
    unittest.main()
