# RUN: %python %s
"""fad.elementwise: activations as Python functions, on arrays and tensors."""

import importlib.util
import math
import unittest

import numpy as np

import fad

HAS_TORCH = importlib.util.find_spec("torch") is not None
HAS_BFLOAT16 = importlib.util.find_spec("ml_dtypes") is not None


@fad.elementwise
def gelu(x):
    """GELU as GPT-2 spells it."""
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


@fad.elementwise
def snake(x, frequency):
    return x + np.sin(frequency * x) ** 2 / frequency


@fad.elementwise
def bent(x, y):
    """Conditions, bounds, and two arguments."""
    inside = ((x > -1) & ~(y >= 1)) ^ (x > 1.5)
    return np.where(inside, np.clip(x, -0.5, 0.5) * y, np.maximum(x, 0.1 * y) - abs(y))


# Functions of one argument with the interval that they are compared on.
ONE = {
    "exponentials": (lambda x: np.exp(x) - np.expm1(-x) + np.exp2(x / 2), (-2, 2)),
    "logarithms": (lambda x: np.log(x) + np.log1p(x) * np.log2(x) - np.log10(x), (0.5, 3)),
    "roots": (lambda x: np.sqrt(x) / np.reciprocal(x) + x**-0.5 + x**1.5, (0.5, 3)),
    "powers": (lambda x: x**3 - np.square(x) + 2.0**x, (-2, 2)),
    "circular": (lambda x: np.sin(x) * np.cos(x) + np.tan(x / 2), (-1, 1)),
    "inverse": (lambda x: np.arcsin(x) + np.arccos(x) ** 2 + np.arctan(3 * x), (-0.9, 0.9)),
    "hyperbolic": (lambda x: np.sinh(x) - np.cosh(x) * np.tanh(x) + np.arcsinh(x), (-2, 2)),
    "sigmoid": (lambda x: x / (1 + np.exp(-x)), (-4, 4)),
    "signs": (lambda x: np.sign(x) * x**2 + np.copysign(2 * x, -1) * (x > 0), (0.1, 2)),
    "atan2": (lambda x: np.arctan2(x, 2) + np.arctan2(1, x), (0.3, 2)),
    "steps": (lambda x: np.floor(x) * x + np.rint(x) + np.fmod(x, 0.75), (0.1, 0.4)),
}


def differentiate(function, x, step=1e-6):
    return (function(x + step) - function(x - step)) / (2 * step)


class Arrays(unittest.TestCase):
    def test_values_and_derivatives(self):
        for name, (function, (least, most)) in ONE.items():
            x = np.linspace(least, most, 61)
            made = fad.elementwise(function)
            np.testing.assert_allclose(made(x), function(x), rtol=1e-12, err_msg=name)
            value, slope = made.with_derivatives(x)
            np.testing.assert_allclose(value, function(x), rtol=1e-12, err_msg=name)
            expected = differentiate(function, x)
            np.testing.assert_allclose(slope, expected, rtol=1e-6, atol=1e-8, err_msg=name)

    def test_several_arguments(self):
        rng = np.random.default_rng(0)
        x, y = rng.uniform(-2, 2, (4, 1, 5)), rng.uniform(-2, 2, (3, 1))
        function = bent.__wrapped__
        value, by_x, by_y = bent.with_derivatives(x, y)
        np.testing.assert_allclose(value, function(x, y), rtol=1e-12)
        np.testing.assert_allclose(
            by_x, differentiate(lambda x: function(x, y), x), rtol=1e-6, atol=1e-8
        )
        np.testing.assert_allclose(
            by_y, differentiate(lambda y: function(x, y), y), rtol=1e-6, atol=1e-8
        )

    def test_numbers_are_constants(self):
        x = np.linspace(-1, 1, 7)
        for frequency in (1, 2.5, np.float64(3)):
            expected = x + np.sin(frequency * x) ** 2 / frequency
            np.testing.assert_allclose(snake(x, frequency), expected)
        factor = 2
        scale = fad.elementwise(lambda x: factor * x)
        np.testing.assert_array_equal(scale(x), 2 * x)
        factor = 3
        np.testing.assert_array_equal(scale(x), 3 * x)

    def test_types(self):
        types = [np.float16, np.float32]
        if HAS_BFLOAT16:
            import ml_dtypes

            types.append(ml_dtypes.bfloat16)
        for dtype in types:
            x = np.linspace(-3, 3, 12).astype(dtype).reshape(3, 4)
            y = gelu(x[::2, ::-1])
            self.assertEqual((y.dtype, y.shape), (x.dtype, (2, 4)))
            wide = x[::2, ::-1].astype(np.float64)
            expected = gelu.__wrapped__(wide).astype(np.float64)
            error = 2.0 ** -{2: 7, 4: 20}[x.dtype.itemsize]
            np.testing.assert_allclose(y.astype(np.float64), expected, rtol=error, atol=error)

    def test_shapes(self):
        self.assertEqual(gelu(np.float64(0.5)).shape, ())
        self.assertEqual(gelu(np.zeros((0, 3))).shape, (0, 3))
        self.assertEqual(gelu.__doc__, "GELU as GPT-2 spells it.")

    def test_erf(self):
        exact = fad.elementwise(lambda x: x * (1 + fad.erf(x / math.sqrt(2))) / 2)
        x = np.linspace(-3, 3, 13)
        cdf = np.array([(1 + math.erf(each / math.sqrt(2))) / 2 for each in x])
        value, slope = exact.with_derivatives(x)
        np.testing.assert_allclose(value, x * cdf, rtol=1e-12)
        density = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
        np.testing.assert_allclose(slope, cdf + x * density, rtol=1e-10)
        self.assertEqual(fad.erf(0.5), math.erf(0.5))


class Refusals(unittest.TestCase):
    def check(self, message, function, *arguments):
        function.__qualname__ = "f"
        with self.assertRaises(TypeError) as caught:
            fad.elementwise(function)(*arguments)
        self.assertEqual(str(caught.exception), message)

    def test_functions(self):
        x = np.ones(3)
        for function, message in (
            (lambda x: x if x > 0 else -x, "f branches on an element; use numpy.where"),
            (
                lambda x: math.sin(x),
                "f needs a number, as the functions of math do; use those of numpy",
            ),
            (lambda x: np.sum(x), "f uses numpy.sum, which elements do not have"),
            (lambda x: x.mean(), "f uses .mean, which elements do not have"),
            (lambda x: np.gcd(x, x), "f uses numpy.gcd, which fad has no operation for"),
            (
                lambda x: np.add.reduce(x),
                "f uses numpy.add in a form that elements do not have",
            ),
            (lambda x: x + [1.0], "f reads a list; make arrays arguments"),
            (lambda x: x > 0, "f returns a condition; numpy.where makes numbers of it"),
            (lambda x: (x, x), "f returns a tuple; return one element"),
        ):
            self.check(message, function, x)

    def test_arguments(self):
        self.check("f has no array among its arguments", lambda x: x, 1.0)
        self.check(
            "argument 0 of f is of int64; convert it with .astype to one of float16, "
            "bfloat16, float32, float64",
            lambda x: x,
            np.arange(3),
        )
        self.check("argument 0 of f is a list; pass a numpy array", lambda x: x, [1.0])
        self.check(
            "the arguments of f are of float32 and float64; convert them to one type with .astype",
            lambda x, y: x * y,
            np.ones(2),
            np.ones(2, np.float32),
        )
        with self.assertRaisesRegex(TypeError, "a function is expected, not a int"):
            fad.elementwise(3)


@unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
class Tensors(unittest.TestCase):
    def test_activation(self):
        import torch

        x = torch.linspace(-3, 3, 24, dtype=torch.float64).reshape(4, 6).requires_grad_()
        y = gelu(x)
        expected = torch.nn.functional.gelu(x, approximate="tanh")
        torch.testing.assert_close(y, expected)
        cotangent = torch.linspace(1, 2, 24, dtype=torch.float64).reshape(4, 6)
        torch.testing.assert_close(
            *torch.autograd.grad(y, x, cotangent), *torch.autograd.grad(expected, x, cotangent)
        )

    def test_same_as_arrays(self):
        import torch

        x = torch.linspace(-1.9, 1.7, 20, dtype=torch.float64, requires_grad=True)
        y = torch.linspace(1.8, -1.6, 20, dtype=torch.float64, requires_grad=True)
        value, *slopes = bent.with_derivatives(x.detach().numpy(), y.detach().numpy())
        result = bent(x, y)
        np.testing.assert_allclose(result.detach().numpy(), value)
        result.sum().backward()
        for tensor, slope in zip((x, y), slopes):
            np.testing.assert_allclose(tensor.grad.numpy(), slope)


if __name__ == "__main__":
    unittest.main()
