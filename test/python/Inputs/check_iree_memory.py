"""fad.iree: nobody sees what a function writes but those who read its results."""

import gc
import unittest

import numpy

import fad
import fad.iree

# Each returns a sum that is added up on its last argument.
WRITERS = """
ml_program.global private mutable @state(dense<1.0> : tensor<4xf32>) : tensor<4xf32>
func.func @reduction(%x: tensor<4x4xf32>, %s: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = linalg.reduce {arith.addf} ins(%x : tensor<4x4xf32>) outs(%s : tensor<4xf32>) dimensions = [1]
  return %0, %s : tensor<4xf32>, tensor<4xf32>
}
func.func @unreturned(%x: tensor<?x?xf32>, %s: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.reduce {arith.addf} ins(%x : tensor<?x?xf32>) outs(%s : tensor<?xf32>) dimensions = [1]
  return %0 : tensor<?xf32>
}
func.func @views(%x: tensor<4x4xf32>, %s: tensor<4xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %v = tensor.expand_shape %s [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  %w = tensor.collapse_shape %v [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
  %0 = linalg.reduce {arith.addf} ins(%x : tensor<4x4xf32>) outs(%w : tensor<4xf32>) dimensions = [1]
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  return %1, %v : tensor<2x2xf32>, tensor<2x2xf32>
}
func.func @branch(%p: i1, %x: tensor<4x4xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %0 = scf.if %p -> tensor<4xf32> {
    scf.yield %s : tensor<4xf32>
  } else {
    %1 = linalg.reduce {arith.mulf} ins(%x : tensor<4x4xf32>) outs(%s : tensor<4xf32>) dimensions = [1]
    scf.yield %1 : tensor<4xf32>
  }
  %2 = linalg.reduce {arith.addf} ins(%x : tensor<4x4xf32>) outs(%0 : tensor<4xf32>) dimensions = [1]
  return %2 : tensor<4xf32>
}
func.func @loop(%n: i64, %x: tensor<4x4xf32>, %s: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.index_cast %n : i64 to index
  %0 = scf.for %i = %c0 to %end step %c1 iter_args(%sum = %s) -> tensor<4xf32> {
    %1 = linalg.reduce {arith.addf} ins(%x : tensor<4x4xf32>) outs(%sum : tensor<4xf32>) dimensions = [1]
    scf.yield %1 : tensor<4xf32>
  }
  return %0, %s : tensor<4xf32>, tensor<4xf32>
}
func.func @slice(%x: tensor<2xf32>, %s: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = tensor.insert_slice %x into %s[1] [2] [1] : tensor<2xf32> into tensor<?xf32>
  return %0, %s : tensor<?xf32>, tensor<?xf32>
}
func.func @element(%x: i1, %s: tensor<4xi1>) -> (tensor<4xi1>, tensor<4xi1>) {
  %c2 = arith.constant 2 : index
  %0 = tensor.insert %x into %s[%c2] : tensor<4xi1>
  return %0, %s : tensor<4xi1>, tensor<4xi1>
}
func.func @integers(%x: tensor<4xi64>, %s: tensor<i64>) -> (tensor<i64>, tensor<i64>) {
  %0 = linalg.reduce {arith.addi} ins(%x : tensor<4xi64>) outs(%s : tensor<i64>) dimensions = [0]
  return %0, %s : tensor<i64>, tensor<i64>
}
func.func @parallel(%x: tensor<?x?xf32>, %s: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %0 = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (b, a)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x?xf32>) outs(%s : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<?x?xf32>
  return %0, %s : tensor<?x?xf32>, tensor<?x?xf32>
}
func.func @global(%x: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %s = ml_program.global_load @state : tensor<4xf32>
  %0 = linalg.reduce {arith.addf} ins(%x : tensor<4x4xf32>) outs(%s : tensor<4xf32>) dimensions = [1]
  return %0, %s : tensor<4xf32>, tensor<4xf32>
}
"""

STORE = """
ml_program.global private mutable @state(dense<0.0> : tensor<4xf32>) : tensor<4xf32>
func.func @step(%s: tensor<4xf32>) -> tensor<4xf32> {
  %old = ml_program.global_load @state : tensor<4xf32>
  ml_program.global_store @state = %s : tensor<4xf32>
  return %old : tensor<4xf32>
}
"""

# The gradient of a maximum reads its operands again.
MAXIMUM = """
func.func @maximum(%x: tensor<4x5xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.reduce {arith.maximumf} ins(%x : tensor<4x5xf32>) outs(%s : tensor<4xf32>) dimensions = [1]
  return %0 : tensor<4xf32>
}
"""

NAMED = """
func.func @named(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.sub ins(%0, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
"""


def aligned(array):
    """`array` where IREE can read it in place."""
    memory = numpy.empty(array.nbytes + 64, numpy.uint8)
    start = -memory.ctypes.data % 64
    copy = memory[start : start + array.nbytes].view(array.dtype)
    copy = copy.reshape(array.shape)
    copy[...] = array
    return copy


def make_argument(kind, random):
    if kind.dtype == "bool":
        return True if kind.is_scalar else numpy.zeros(kind.shape, bool)
    if kind.is_scalar:
        return 3
    shape = [4 if size is None else size for size in kind.shape]
    if kind.dtype == "int64":
        return aligned(numpy.array(random.integers(-9, 9, shape)))
    return aligned(random.standard_normal(shape, numpy.float32))


class Memory(unittest.TestCase):
    def test_arguments_stay(self):
        module = fad.parse(WRITERS)
        executable = fad.iree.compile(module)
        random = numpy.random.default_rng(0)
        for name in module.functions:
            with self.subTest(function=name):
                kinds = module.signature(name).arguments
                arguments = [make_argument(kind, random) for kind in kinds]
                before = [numpy.copy(argument) for argument in arguments]
                expected = fad.run(module, name, *arguments)
                device = [
                    argument
                    if kind.is_scalar
                    else executable._arrays.to_device(argument, copy=False)
                    for kind, argument in zip(kinds, arguments)
                ]
                # The second call would read the results of the first.
                for _ in range(2):
                    got = executable.call(name, *device)
                    for one, other in zip(got, expected, strict=True):
                        numpy.testing.assert_allclose(one, other, 1e-5, 1e-5)
                for one, other in zip(arguments, before):
                    numpy.testing.assert_array_equal(one, other)

    def test_state_is_no_argument(self):
        executable = fad.iree.compile(fad.parse(STORE))
        array = aligned(numpy.ones(4, "f4"))
        device = executable._arrays.to_device(array, copy=False)
        (first,) = executable.call("step", device)
        # A call goes on until its result is read.
        numpy.testing.assert_array_equal(first, numpy.zeros(4))
        array[...] = 2
        (old,) = executable.call("step", device)
        numpy.testing.assert_array_equal(old, numpy.ones(4))

    def test_special_values(self):
        """Copies are exact."""
        executable = fad.iree.compile(fad.parse(WRITERS))
        s = numpy.array([-0.0, numpy.nan, -numpy.inf, 3e38], "f4")
        _, got = executable.call("reduction", numpy.zeros((4, 4), "f4"), s)
        numpy.testing.assert_array_equal(got, s)
        x = numpy.full((4, 4), -0.0, "f4")
        total, _ = executable.call("reduction", x, s)
        numpy.testing.assert_array_equal(total, s)
        self.assertEqual(numpy.signbit(total[0]), True)

    def test_residuals_that_are_arguments(self):
        random = numpy.random.default_rng(1)
        x = random.standard_normal((4, 5), numpy.float32)
        s = x.max(1) + numpy.array([1, -1, 1, -1], "f4")
        for policy in ("bp", "recompute", "fad"):
            with self.subTest(policy=policy):
                nested = fad.nest(fad.parse(MAXIMUM), policy=policy)
                executable = fad.iree.compile(nested)
                (y,), residuals = executable.forward(x, s)
                dx, ds = executable.backward(residuals, numpy.ones_like(y))
                numpy.testing.assert_array_equal(y, numpy.maximum(x.max(1), s))
                numpy.testing.assert_array_equal(ds, [1, 0, 1, 0])
                largest = (x == x.max(1, keepdims=True)) * numpy.c_[[0, 1, 0, 1]]
                numpy.testing.assert_array_equal(dx, largest)

    def test_residuals_outlive_the_executable(self):
        nested = fad.nest(fad.parse(MAXIMUM))
        x, s = numpy.ones((4, 5), "f4"), numpy.zeros(4, "f4")
        residuals = fad.iree.compile(nested).forward(x, s).residuals
        gc.collect()
        values = [each.to_host().copy() for each in residuals]
        del residuals
        gc.collect()
        self.assertTrue(any(numpy.array_equal(value, x) for value in values))

    def test_named_operations(self):
        """IREE's version of MLIR has no linalg.exp."""
        executable = fad.iree.compile(fad.parse(NAMED))
        x, y = numpy.arange(4, dtype="f4"), numpy.ones(4, "f4")
        (got,) = executable.call("named", x, y)
        numpy.testing.assert_allclose(got, numpy.exp(x) - y, 1e-5)


if __name__ == "__main__":
    unittest.main()
