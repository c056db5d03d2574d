# RUN: %torch_python %s
"""Arrays of other packages as arguments, and results for other packages, by DLPack."""

import gc
import importlib.util
import unittest
import weakref

import numpy as np

import fad

HAS_TORCH = importlib.util.find_spec("torch") is not None
HAS_BFLOAT16 = importlib.util.find_spec("ml_dtypes") is not None


def double(dtype):
    """A module in which @f returns its argument, and twice the argument."""
    type_ = f"tensor<?x3x{dtype}>"
    return fad.parse(f"""func.func @f(%x: {type_}) -> ({type_}, {type_}) {{
      %y = arith.addf %x, %x : {type_}
      return %x, %y : {type_}, {type_}
    }}""")


class Exporter:
    """An array that has DLPack alone, of the protocol before and after version 1.0."""

    def __init__(self, array, device=(1, 0), versions=True):
        self.array, self.device, self.versions = array, device, versions

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        if options and not self.versions:
            raise TypeError("unexpected arguments")
        return self.array.__dlpack__(**options)


class Arguments(unittest.TestCase):
    def setUp(self):
        self.x = np.arange(6, dtype=np.float32).reshape(2, 3)

    def test_shared(self):
        for versions in (False, True):
            same, twice = fad.run(double("f32"), "f", Exporter(self.x, versions=versions))
            self.assertTrue(np.shares_memory(same, self.x))
            np.testing.assert_array_equal(twice, 2 * self.x)

    def test_strides(self):
        wide = np.arange(24, dtype=np.float32).reshape(4, 6)
        _, twice = fad.run(double("f32"), "f", Exporter(wide[::2, ::2]))
        np.testing.assert_array_equal(twice, 2 * wide[::2, ::2])

    @unittest.skipUnless(HAS_TORCH, "no torch")
    def test_elements_that_are_not_in_memory(self):
        import torch

        x = torch.from_numpy(self.x)
        for tensor in (torch._neg_view(x), torch._efficientzerotensor(2, 3)):
            _, twice = fad.run(double("f32"), "f", tensor)
            np.testing.assert_array_equal(twice, (2 * tensor).numpy(force=True))

    def test_let_go(self):
        class Array(np.ndarray):
            pass

        x = self.x.view(Array)
        gone = weakref.ref(x)
        results = fad.run(double("f32"), "f", Exporter(x))
        del x
        gc.collect()
        np.testing.assert_array_equal(results[0], self.x)
        del results
        gc.collect()
        self.assertIsNone(gone())

    def check_error(self, kind, message, value):
        with self.assertRaises(kind) as caught:
            fad.run(double("f32"), "f", value)
        self.assertEqual(str(caught.exception), message)

    def test_errors(self):
        start = "argument 0 of f has the type tensor<?x3xf32>"
        self.check_error(
            TypeError,
            f"{start}: it is not in the memory of the host; copy it there",
            Exporter(self.x, device=(2, 0)),
        )
        self.check_error(
            TypeError,
            f"{start}, and the array given is of float64 with shape (2, 3); convert it with "
            ".astype('float32')",
            Exporter(self.x.astype(np.float64)),
        )
        self.check_error(
            ValueError,
            f"{start}, and the array given is of float32 with shape (3, 2)",
            Exporter(self.x.T),
        )


class Results(unittest.TestCase):
    def test_shared(self):
        x = np.ones((2, 3), np.float32)
        same, twice = fad.run(double("f32"), "f", x)
        again = np.from_dlpack(fad.to_dlpack(twice))
        self.assertTrue(np.shares_memory(again, twice))
        # One that is read-only, which numpy does not export before DLPack 1.0, stays so.
        handed = np.from_dlpack(fad.to_dlpack(same))
        self.assertTrue(np.shares_memory(handed, x))
        self.assertFalse(handed.flags.writeable)

    def test_outlives(self):
        _, twice = fad.run(double("f32"), "f", np.ones((2, 3), np.float32))
        exported = np.from_dlpack(fad.to_dlpack(twice))
        del twice
        gc.collect()
        np.testing.assert_array_equal(exported, np.full((2, 3), 2))


@unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
class Tensors(unittest.TestCase):
    def test_types(self):
        import torch

        types = [("f16", torch.float16), ("f32", torch.float32), ("f64", torch.float64)]
        if HAS_BFLOAT16:
            types.append(("bf16", torch.bfloat16))
        for name, dtype in types:
            x = torch.arange(6, dtype=dtype).reshape(2, 3)
            same, twice = fad.run(double(name), "f", x)
            self.assertEqual(same.ctypes.data, x.data_ptr())
            tensor = torch.from_dlpack(fad.to_dlpack(twice))
            self.assertEqual(tensor.data_ptr(), twice.ctypes.data)
            torch.testing.assert_close(tensor, 2 * x)

    def test_refused(self):
        masked = np.ma.masked_array([1.0, 2.0], [True, False])
        for value, message in (
            ([1.0], "the array is a list; pass a numpy array"),
            (masked, "the array has a mask"),
            (np.array(["2020-01-01"], "M8[D]"), r"elements of datetime64\[D\], which DLPack"),
            (np.ones(2, ">f4"), "elements of >f4"),
        ):
            with self.assertRaisesRegex(TypeError, message):
                fad.to_dlpack(value)

    def test_nested(self):
        import torch

        nested = fad.nest(double("f64"), results=[1])
        x = torch.linspace(-1, 1, 6, dtype=torch.float64).reshape(2, 3)
        (_, twice), pullback = nested(x)
        (gradient,) = pullback(torch.ones(2, 3, dtype=torch.float64))
        np.testing.assert_array_equal(twice, 2 * x.numpy())
        np.testing.assert_array_equal(gradient, np.full((2, 3), 2))

    def test_with_gradient(self):
        import torch

        with self.assertRaisesRegex(TypeError, "argument 0 of f has the type .*detach"):
            fad.run(double("f32"), "f", torch.ones(2, 3, requires_grad=True))


if __name__ == "__main__":
    unittest.main()
