# RUN: %fad_python %s
"""Elementwise operations, whose loops go over vectors, on sizes around those of
vectors and tiles, against numpy, element by element."""

import unittest

import fad
import numpy

SIZES = 0, 1, 2, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 16383, 16384, 16401, 40000

BODIES = {
    # numpy's name of the type, MLIR's, and operations that round as numpy's do.
    "float64": ("f64", "mulf", "addf"),
    "float32": ("f32", "mulf", "addf"),
    "float16": ("f16", "mulf", "addf"),
    "int64": ("i64", "muli", "addi"),
    "int32": ("i32", "muli", "addi"),
    "int8": ("i8", "muli", "addi"),
}

LINEAR = """
func.func @linear(%x: tensor<?x{t}>, %y: tensor<?x{t}>) -> tensor<?x{t}> {{
  %p = arith.{mul} %x, %y : tensor<?x{t}>
  %r = arith.{add} %p, %y : tensor<?x{t}>
  return %r : tensor<?x{t}>
}}
"""

PRODUCT = """
func.func @product(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %p = arith.mulf %x, %y : tensor<?xf32>
  return %p : tensor<?xf32>
}
"""

# A row, a column and a scalar, spread over a matrix; two results, one a mask.
SPREAD = """
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
#column = affine_map<(i, j) -> (i)>
#one = affine_map<(i, j) -> ()>
func.func @spread(%x: tensor<?x?xf32>, %r: tensor<?xf32>, %c: tensor<?xf32>, %s: tensor<f32>)
    -> (tensor<?x?xf32>, tensor<?x?xi1>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %x, %c0 : tensor<?x?xf32>
  %columns = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%rows, %columns) : tensor<?x?xf32>
  %m = tensor.empty(%rows, %columns) : tensor<?x?xi1>
  %y, %above = linalg.generic {
      indexing_maps = [#all, #row, #column, #one, #all, #all],
      iterator_types = ["parallel", "parallel"]}
    ins(%x, %r, %c, %s : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<f32>)
    outs(%e, %m : tensor<?x?xf32>, tensor<?x?xi1>) {
  ^bb0(%a: f32, %b: f32, %d: f32, %f: f32, %o: f32, %p: i1):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %0, %d : f32
    %2 = arith.subf %1, %f : f32
    %3 = arith.cmpf ogt, %2, %f : f32
    linalg.yield %2, %3 : f32, i1
  } -> (tensor<?x?xf32>, tensor<?x?xi1>)
  return %y, %above : tensor<?x?xf32>, tensor<?x?xi1>
}
func.func @values(%x: tensor<?x?xf32>, %r: tensor<?xf32>, %c: tensor<?xf32>, %s: tensor<f32>)
    -> tensor<?x?xf32> {
  %y, %above = call @spread(%x, %r, %c, %s)
    : (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<f32>) -> (tensor<?x?xf32>, tensor<?x?xi1>)
  return %y : tensor<?x?xf32>
}
"""

# Where each element is, and a value that is written over its source.
PLACES = """
#id = affine_map<(i) -> (i)>
func.func @places(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%x : tensor<?xf32>) {
  ^bb0(%a: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    %s = arith.addf %a, %f : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %1 = math.absf %0 : tensor<?xf32>
  return %1 : tensor<?xf32>
}
"""

# A normalization of channels as an exporter spells it, with dimensions of size 1, and its
# sums.
CHANNELS = """
#all = affine_map<(n, c, h, w) -> (n, c, h, w)>
#unit = affine_map<(n, c, h, w) -> (0, c, 0, 0)>
#scalar = affine_map<(n, c, h, w) -> (0, 0)>
func.func @channels(%x: tensor<?x?x?x?x{t}>, %m: tensor<1x?x1x1x{t}>, %s: tensor<1x1x{t}>)
    -> (tensor<?x?x?x?x{t}>, tensor<1x?x1x1x{t}>) {{
  %y = linalg.generic {{indexing_maps = [#all, #unit, #scalar, #all],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}}
    ins(%x, %m, %s : tensor<?x?x?x?x{t}>, tensor<1x?x1x1x{t}>, tensor<1x1x{t}>)
    outs(%x : tensor<?x?x?x?x{t}>) {{
  ^bb0(%a: {t}, %b: {t}, %c: {t}, %o: {t}):
    %0 = arith.subf %a, %b : {t}
    %1 = arith.mulf %0, %c : {t}
    linalg.yield %1 : {t}
  }} -> tensor<?x?x?x?x{t}>
  %sums = linalg.generic {{indexing_maps = [#all, #unit],
      iterator_types = ["reduction", "parallel", "reduction", "reduction"]}}
    ins(%y : tensor<?x?x?x?x{t}>) outs(%m : tensor<1x?x1x1x{t}>) {{
  ^bb0(%a: {t}, %o: {t}):
    %0 = arith.addf %o, %a : {t}
    linalg.yield %0 : {t}
  }} -> tensor<1x?x1x1x{t}>
  return %y, %sums : tensor<?x?x?x?x{t}>, tensor<1x?x1x1x{t}>
}}
"""


def make(dtype, size, random):
    if numpy.issubdtype(dtype, numpy.integer):
        return random.integers(-9, 9, size).astype(dtype)
    return random.standard_normal(size).astype(dtype)


class VectorLoops(unittest.TestCase):
    def setUp(self):
        self.random = numpy.random.default_rng(0)

    def test_sizes_and_types(self):
        for dtype, (t, mul, add) in BODIES.items():
            run = fad.compile(fad.parse(LINEAR.format(t=t, mul=mul, add=add)))
            for size in SIZES:
                with self.subTest(type=dtype, size=size):
                    x, y = (make(dtype, size, self.random) for _ in range(2))
                    (got,) = run.call("linear", x, y)
                    numpy.testing.assert_array_equal(got, x * y + y)

    def test_special_values(self):
        run = fad.compile(fad.parse(LINEAR.format(t="f32", mul="mulf", add="addf")))
        special = numpy.array([numpy.inf, -numpy.inf, numpy.nan, -0.0, 1e-45, 3e38], "f4")
        x, y = (each.ravel() for each in numpy.meshgrid(special, special))
        with numpy.errstate(all="ignore"):
            expected = x * y + y
        (got,) = run.call("linear", x, y)
        numpy.testing.assert_array_equal(got, expected)
        numpy.testing.assert_array_equal(
            numpy.signbit(got[expected == 0]), numpy.signbit(expected[expected == 0])
        )

    def test_past_the_cache(self):
        run = fad.compile(fad.parse(PRODUCT))
        for size in (1 << 22) - 1, 1 << 22, (1 << 22) + 16384 + 37:
            x, y = (make("f4", size, self.random) for _ in range(2))
            (got,) = run.call("product", x, y)
            numpy.testing.assert_array_equal(got, x * y)

    def test_broadcasts(self):
        run = fad.compile(fad.parse(SPREAD))
        for rows, columns in (3, 5), (0, 16), (16, 0), (1, 33), (7, 16), (300, 100), (2, 20000):
            with self.subTest(rows=rows, columns=columns):
                x = make("f4", (rows, columns), self.random)
                r, c = make("f4", columns, self.random), make("f4", rows, self.random)
                s = numpy.float32(0.25)
                expected = x * r + c[:, None] - s
                y, above = run.call("spread", x, r, c, s)
                numpy.testing.assert_array_equal(y, expected)
                numpy.testing.assert_array_equal(above, expected > s)
                (y,) = run.call("values", x, r, c, s)
                numpy.testing.assert_array_equal(y, expected)

    def test_channels(self):
        for dtype, t, bound in ("f4", "f32", 1e-5), ("f8", "f64", 1e-13), ("f2", "f16", 2e-2):
            run = fad.compile(fad.parse(CHANNELS.format(t=t)))
            for shape in (2, 3, 5, 7), (8, 40, 7, 7), (1, 1, 1, 1), (2, 0, 3, 3), (3, 70, 1, 40):
                with self.subTest(type=t, shape=shape):
                    x = make(dtype, shape, self.random)
                    m = make(dtype, (1, shape[1], 1, 1), self.random)
                    s = numpy.full((1, 1), 0.5, dtype)
                    y, sums = run.call("channels", x, m, s)
                    expected = (x - m) * s
                    numpy.testing.assert_array_equal(y, expected)
                    total = expected.astype("f8").sum((0, 2, 3), keepdims=True) + m
                    scale = abs(expected.astype("f8")).sum((0, 2, 3), keepdims=True) + 1
                    self.assertTrue((abs(sums - total) <= bound * scale).all())

    def test_places(self):
        run = fad.compile(fad.parse(PLACES))
        for size in SIZES:
            x = make("f4", size, self.random)
            (got,) = run.call("places", x)
            expected = abs(x + numpy.arange(size, dtype="f4"))
            numpy.testing.assert_array_equal(got, expected)


if __name__ == "__main__":
    unittest.main()
