# RUN: %fad_python %s
"""Arrays as arguments and results: types, shapes, and where elements lie."""

import gc
import sys
import unittest
import weakref
from unittest import mock

import numpy as np

import fad

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None


def identity(*types):
    """A module in which @f returns its arguments, of `types`."""
    names = ", ".join(f"%a{i}: {type_}" for i, type_ in enumerate(types))
    values = ", ".join(f"%a{i}" for i in range(len(types)))
    results = ", ".join(types)
    return fad.parse(f"func.func @f({names}) -> ({results}) {{ return {values} : {results} }}")


def scale(shape, dtype, factor):
    """A module in which @f multiplies by a constant."""
    type_ = f"tensor<{''.join(f'{size}x' for size in shape)}{dtype}>"
    return fad.parse(f"""func.func @f(%x: {type_}) -> {type_} {{
          %c = arith.constant {factor} : {dtype}
          %r = linalg.map ins(%x : {type_}) outs(%x : {type_}) (%in: {dtype}, %out: {dtype}) {{
            %y = arith.mulf %in, %c : {dtype}
            linalg.yield %y : {dtype}
          }}
          return %r : {type_}
        }}""")


class Layout(unittest.TestCase):
    def setUp(self):
        self.module = scale((2, 3), "f32", 2.0)
        self.expected = np.arange(6, dtype=np.float32).reshape(2, 3)

    def check(self, array):
        before = array.copy()
        (result,) = fad.run(self.module, "f", array)
        np.testing.assert_array_equal(result, 2 * before)
        np.testing.assert_array_equal(array, before)
        self.assertEqual(result.dtype, np.float32)
        self.assertTrue(result.flags.c_contiguous and result.flags.writeable)

    def test_strides(self):
        wide = np.zeros((4, 9), np.float32)
        wide[:] = np.arange(36).reshape(4, 9)
        self.check(self.expected)
        self.check(np.asfortranarray(self.expected))
        self.check(np.ascontiguousarray(self.expected.T).T)
        self.check(wide[::2, 1::3])
        self.check(wide[::-2, ::-4])
        self.check(np.broadcast_to(np.float32(3), (2, 3)))
        self.check(np.broadcast_to(self.expected[:1], (2, 3)))

    def test_byte_order_and_alignment(self):
        self.check(self.expected.astype(">f4"))
        shifted = np.zeros(25, np.uint8)[1:].view(np.float32).reshape(2, 3)
        shifted[:] = self.expected
        self.assertFalse(shifted.flags.aligned)
        self.check(shifted)

    def test_read_only(self):
        self.expected.flags.writeable = False
        self.check(self.expected)

    def test_empty(self):
        for shape in ((0, 3), (3, 0), (0, 0)):
            module = scale(("?", "?"), "f64", 3.0)
            (result,) = fad.run(module, "f", np.zeros(shape))
            self.assertEqual((result.shape, result.dtype), (shape, np.float64))
        (result,) = fad.run(scale((0,), "f64", 3.0), "f", np.zeros(8)[8:])
        self.assertEqual(result.shape, (0,))

    def test_other_kinds_of_array(self):
        class Array:
            def __array__(self, dtype=None, copy=None):
                return np.full((2, 3), 4, np.float32)

        (result,) = fad.run(self.module, "f", Array())
        np.testing.assert_array_equal(result, np.full((2, 3), 8))


class Types(unittest.TestCase):
    def test_floats(self):
        for name, dtype in (
            ("f16", np.float16),
            ("f32", np.float32),
            ("f64", np.float64),
        ):
            values = np.array([[0.5, -3], [np.inf, np.nan]], dtype)
            (result,) = fad.run(scale((2, 2), name, 2.0), "f", values)
            self.assertEqual(result.dtype, dtype)
            np.testing.assert_array_equal(result, 2 * values)

    @unittest.skipUnless(ml_dtypes, "ml_dtypes is not installed")
    def test_bfloat16(self):
        values = np.array([0.5, -3, 1e38], ml_dtypes.bfloat16)
        (result,) = fad.run(scale((3,), "bf16", 2.0), "f", values[::-1])
        self.assertEqual(result.dtype, values.dtype)
        np.testing.assert_array_equal(result, 2 * values[::-1])
        (number,) = fad.run(identity("bf16"), "f", 1.00390625)
        self.assertEqual((number.dtype, number[()]), (values.dtype, 1))

    def test_bfloat16_needs_ml_dtypes(self):
        module = identity("tensor<2xbf16>")
        with mock.patch.dict(sys.modules, ml_dtypes=None):
            with self.assertRaises(ImportError) as caught:
                fad.run(module, "f", np.zeros(2, np.uint16))
        self.assertEqual(
            str(caught.exception),
            "numpy has no bfloat16; install one with: pip install ml_dtypes",
        )

    def test_integers(self):
        widths = (
            ("i8", np.int8),
            ("i16", np.int16),
            ("i32", np.int32),
            ("i64", np.int64),
        )
        for name, dtype in widths:
            module = fad.parse(
                f"""func.func @f(%x: tensor<?x{name}>) -> tensor<?x{name}> {{
                  %y = arith.addi %x, %x : tensor<?x{name}>
                  return %y : tensor<?x{name}>
                }}"""
            )
            values = np.array([1, -2, np.iinfo(dtype).max // 2], dtype)
            (result,) = fad.run(module, "f", values)
            self.assertEqual(result.dtype, dtype)
            np.testing.assert_array_equal(result, 2 * values)
            unsigned = values.view(f"u{dtype().itemsize}")
            np.testing.assert_array_equal(fad.run(module, "f", unsigned)[0], 2 * values)

    def test_index_and_unsigned(self):
        results = fad.run(
            identity("tensor<2xindex>", "tensor<1xui8>", "ui32"),
            "f",
            np.array([3, -4]),
            np.array([200], np.uint8),
            2**32 - 1,
        )
        self.assertEqual([each.dtype for each in results], [np.int64, np.uint8, np.uint32])
        self.assertEqual([each.tolist() for each in results], [[3, -4], [200], 2**32 - 1])

    def test_booleans(self):
        module = fad.parse(
            """func.func @f(%x: tensor<?xi1>, %y: tensor<?xi8>) -> tensor<?xi8> {
              %z = arith.extui %x : tensor<?xi1> to tensor<?xi8>
              %s = arith.addi %z, %y : tensor<?xi8>
              return %s : tensor<?xi8>
            }"""
        )
        # numpy takes any bits but 0 for True.
        odd = np.array([0, 1, 2, 255], np.uint8).view(bool)
        (result,) = fad.run(module, "f", odd, np.zeros(4, np.int8))
        np.testing.assert_array_equal(result, [0, 1, 1, 1])
        empty = np.zeros(0, bool)
        (result,) = fad.run(module, "f", empty, np.zeros(0, np.int8))
        self.assertEqual(result.shape, (0,))

    def test_scalars(self):
        module = identity("f16", "f32", "f64", "i1", "i8", "i64", "index", "tensor<f32>")
        arguments = (0.5, 1, np.float64(0.1), True, -128, 2**63 - 1, np.int64(5), 0.1)
        results = fad.run(module, "f", *arguments)
        self.assertEqual([each.shape for each in results], [()] * 8)
        self.assertEqual(
            [each.dtype.name for each in results],
            "float16 float32 float64 bool int8 int64 int64 float32".split(),
        )
        expected = [0.5, 1, 0.1, True, -128, 2**63 - 1, 5, np.float32(0.1)]
        self.assertEqual([each[()] for each in results], expected)


class Mismatches(unittest.TestCase):
    def check(self, kind, message, type_, *arguments):
        with self.assertRaises(kind) as caught:
            fad.run(identity(type_), "f", *arguments)
        self.assertEqual(str(caught.exception), message)

    def test_types(self):
        mismatch = (
            "argument 0 of f has the type {}, and the array given is of {} with shape "
            "{}; convert it with .astype({!r})"
        )
        for type_, array, dtype in (
            ("tensor<?xf32>", np.zeros(2), "float32"),
            ("tensor<?xf64>", np.zeros(2, np.float32), "float64"),
            ("tensor<?xi32>", np.zeros(2, np.int64), "int32"),
            ("tensor<?xi8>", np.zeros(2, bool), "int8"),
            ("tensor<?xi1>", np.zeros(2, np.uint8), "bool"),
            ("tensor<?xf32>", np.zeros(2, np.complex64), "float32"),
            ("tensor<?xf32>", np.zeros(2, np.int32), "float32"),
            ("tensor<?xf16>", np.zeros(2, np.uint16), "float16"),
            ("tensor<?xf32>", np.array(["a"]), "float32"),
            ("f32", np.float64(1), "float32"),
        ):
            message = mismatch.format(type_, array.dtype.name, array.shape, dtype)
            self.check(TypeError, message, type_, array)

    def test_shapes(self):
        mismatch = (
            "argument 0 of f has the type {}, and the array given is of float32 with shape {}"
        )
        for type_, shape in (
            ("tensor<2x?xf32>", (3, 2)),
            ("tensor<2x?xf32>", (2,)),
            ("tensor<2x?xf32>", (2, 1, 1)),
            ("tensor<f32>", (1,)),
            ("tensor<0xf32>", (1,)),
            ("f32", (1,)),
        ):
            message = mismatch.format(type_, shape)
            self.check(ValueError, message, type_, np.zeros(shape, np.float32))
        # A number is an array of rank 0.
        self.check(ValueError, mismatch.format("tensor<1xf32>", ()), "tensor<1xf32>", 1.0)

    def test_numbers(self):
        self.check(ValueError, "argument 0 of f is of int8, which does not hold 128", "i8", 128)
        self.check(ValueError, "argument 0 of f is of uint8, which does not hold -1", "ui8", -1)
        self.check(ValueError, "argument 0 of f is of bool, which does not hold 2", "i1", 2)
        self.check(TypeError, "argument 0 of f is of int32, and 1.0 is a float", "i32", 1.0)
        self.check(
            ValueError,
            f"argument 0 of f is of float32, which does not hold {10**400}",
            "f32",
            10**400,
        )

    def test_other_objects(self):
        for value in ([1.0], None, "x", 1j, (), object()):
            message = (
                "argument 0 of f has the type tensor<1xf32>, and what is given is a "
                f"{type(value).__name__}; pass a numpy array"
            )
            self.check(TypeError, message, "tensor<1xf32>", value)

    def test_not_converted(self):
        """As of a tensor on a GPU."""

        class Array:
            def __array__(self, dtype=None, copy=None):
                raise RuntimeError("copy it to the host")

        self.check(
            TypeError,
            "argument 0 of f has the type tensor<1xf32>: copy it to the host",
            "tensor<1xf32>",
            Array(),
        )

    def test_masks(self):
        self.check(
            TypeError,
            "argument 0 of f has a mask, which would be lost; pass .filled(...)",
            "tensor<2xf32>",
            np.ma.array(np.ones(2, np.float32), mask=[True, False]),
        )

    def test_too_many_dimensions(self):
        rank = 65
        type_ = f"tensor<{'1x' * rank}f32>"
        module = fad.parse(f"""func.func @f(%x: tensor<f32>) -> {type_} {{
          %y = tensor.expand_shape %x [] output_shape {[1] * rank}
            : tensor<f32> into {type_}
          return %y : {type_}
        }}""")
        with self.assertRaises(ValueError) as caught:
            fad.run(module, "f", 1.0)
        self.assertRegex(
            str(caught.exception),
            "^result 0 of f has rank 65, and arrays of numpy have at most (32|64) dimensions$",
        )

    def test_count_and_name(self):
        self.check(TypeError, "f takes 1 argument, not 2: f32", "f32", 1.0, 2.0)
        self.check(TypeError, "f takes 1 argument, not 0: f32", "f32")
        two = identity("f32", "tensor<2xi32>")
        with self.assertRaises(TypeError) as caught:
            fad.run(two, "f", 1.0)
        self.assertEqual(str(caught.exception), "f takes 2 arguments, not 1: f32, tensor<2xi32>")
        with self.assertRaises(ValueError) as caught:
            fad.run(identity("f32"), "g", 1.0)
        self.assertEqual(str(caught.exception), "there is no public function 'g', only f")
        with self.assertRaises(TypeError) as caught:
            fad.run(two, np.ones(2))
        self.assertEqual(
            str(caught.exception),
            "the name of a function goes before the arguments, and what is given is a "
            "ndarray; the public functions are: f",
        )

    def test_types_that_cannot_be_passed(self):
        with self.assertRaises(fad.Error) as caught:
            fad.compile(identity("tensor<2xcomplex<f32>>"))
        self.assertIn(
            "argument 0 has the type 'tensor<2xcomplex<f32>>', which cannot be passed",
            str(caught.exception),
        )


class Ownership(unittest.TestCase):
    TEXT = """func.func @f(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
      %y = arith.addf %x, %x : tensor<?xf32>
      return %x, %y, %y : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
    }"""

    def test_results_outlive_everything(self):
        module = fad.parse(self.TEXT)
        results = fad.run(module, "f", np.ones(1000, np.float32))
        del module
        gc.collect()
        for result, value in zip(results, (1, 2, 2)):
            np.testing.assert_array_equal(result, np.full(1000, value))

    def test_shared_results_are_read_only(self):
        x = np.ones(3, np.float32)
        same, once, again = fad.run(fad.parse(self.TEXT), "f", x)
        self.assertTrue(np.shares_memory(same, x))
        self.assertTrue(np.shares_memory(once, again))
        for array in (same, once, again):
            with self.assertRaises(ValueError):
                array[0] = 5
        self.assertTrue(x.flags.writeable)

    def test_memory_comes_back(self):
        def resident():
            with open("/proc/self/statm") as statm:
                return int(statm.read().split()[1]) * 4096

        module = fad.parse(self.TEXT)
        x = np.ones(1 << 20, np.float32)
        for _ in range(3):
            fad.run(module, "f", x)
        before = resident()
        for _ in range(50):
            fad.run(module, "f", x[::-1])
        # One call makes 8 MiB; 50 calls must not keep what two do.
        self.assertLess(resident() - before, 16 << 20)

    def test_arguments_are_let_go(self):
        class Array(np.ndarray):
            pass

        module = fad.parse(self.TEXT)
        x = np.ones(4, np.float32).view(Array)
        gone = weakref.ref(x)
        results = fad.run(module, "f", x)
        del x
        gc.collect()
        np.testing.assert_array_equal(results[0], np.ones(4))
        del results
        gc.collect()
        self.assertIsNone(gone())


if __name__ == "__main__":
    unittest.main()
