# RUN: %torch_python %s
"""fad.elementwise: activations as Python functions, on arrays and tensors."""

import importlib.util
import itertools
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


@fad.elementwise
def swish(x, steepness):
    return x / (1 + np.exp(-steepness * x))


# Functions of one argument with the interval that they are compared on.
ONE = {
    "exponentials": (lambda x: np.exp(x) - np.expm1(-x) + np.exp2(x / 2), (-2, 2)),
    "logarithms": (lambda x: np.log(x) + np.log1p(x) * np.log2(x) - np.log10(x), (0.5, 3)),
    "roots": (lambda x: np.sqrt(x) / np.reciprocal(x) + x**-0.5 + x**1.5, (0.5, 3)),
    "powers": (lambda x: x**3 - np.square(x) + 2.0**x, (-2, 2)),
    "circular": (lambda x: np.sin(x) * np.cos(x) + np.tan(x / 2), (-1, 1)),
    "inverse": (lambda x: np.arcsin(x) + np.arccos(x) ** 2 + np.arctan(3 * x), (-0.9, 0.9)),
    "hyperbolic": (lambda x: np.sinh(x) - np.cosh(x) * np.tanh(x) + np.arcsinh(x), (-2, 2)),
    "areas": (lambda x: np.arccosh(x) - np.arctanh(x / 4), (1.2, 3)),
    "sigmoid": (lambda x: x / (1 + np.exp(-x)), (-4, 4)),
    "signs": (lambda x: np.sign(x) * x**2 + np.copysign(2 * x, -1) * (x > 0), (0.1, 2)),
    "atan2": (lambda x: np.arctan2(x, 2) + np.arctan2(1, x), (0.3, 2)),
    "bounds": (lambda x: np.clip(x, max=1) * np.clip(2 * x, a_min=-1, a_max=3), (-0.4, 0.9)),
    "rest of a number": (lambda x: np.copysign(1.5, x) * np.fmod(3, x), (0.8, 0.95)),
    "known conditions": (
        lambda x: (
            np.where(True, x, 2) ** 2 * np.where(~np.bool_(True), 5, 3)
            + np.where(np.logical_and(x > 0, True) | False, x, 0)
            + np.where(np.logical_or(x > 0, True) ^ (x > 0.5), np.sin(x), x)
            + np.where(~np.logical_and(x > 0, False), np.exp(x), x)
        ),
        (0.1, 0.4),
    ),
    "sums of conditions": (
        lambda x: (
            ((x > 0.1) + (x < 0.3)) * x
            + ((x > 0.1) * (x < 0.3)) * x**2
            + np.where(np.maximum(x > 0.2, True), x, 0)
            + np.where(np.minimum(x > 0.2, x < 0.3), x, 0)
        ),
        (0.21, 0.29),
    ),
    "constant": (lambda x: np.where(False, x, 3.0), (0.1, 0.4)),
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

    def test_one_in_another(self):
        x = np.linspace(-2, 2, 15)
        inner = swish.__wrapped__
        outer = fad.elementwise(lambda x: 1 + x * swish(2 * x, 1.5) + swish(x, x))
        value, slope = outer.with_derivatives(x)

        def expected(x):
            return 1 + x * inner(2 * x, 1.5) + inner(x, x)

        np.testing.assert_allclose(value, expected(x), rtol=1e-12)
        np.testing.assert_allclose(slope, differentiate(expected, x), rtol=1e-6, atol=1e-8)

    def test_keywords(self):
        x = np.linspace(-2, 2, 7)
        expected = snake(x, 3)
        for found in (snake(x, frequency=3), snake(x=x, frequency=3), snake(frequency=3, x=x)):
            np.testing.assert_array_equal(found, expected)
        value, slope = snake.with_derivatives(frequency=3, x=x)
        np.testing.assert_array_equal(value, expected)
        np.testing.assert_array_equal(slope, snake.with_derivatives(x, 3)[1])
        # Derivatives are in the order of the parameters.
        _, by_x, by_y = fad.elementwise(lambda x, y: x * y).with_derivatives(y=x, x=x + 1)
        np.testing.assert_array_equal(by_x, x)
        np.testing.assert_array_equal(by_y, x + 1)

        @fad.elementwise
        def bounded(x, low=-1, *, high=1, **others):
            return snake(np.clip(x, low, high), frequency=others.get("frequency", 2))

        clipped = np.clip(x, -1, 0.5)
        np.testing.assert_array_equal(bounded(x, high=0.5), snake(clipped, 2))
        np.testing.assert_array_equal(bounded(x, high=0.5, frequency=3), snake(clipped, 3))
        for keywords, message in (
            ({"frequence": 3}, "snake: missing a required argument: 'frequency'"),
            ({"frequency": 3, "low": 0}, "snake: got an unexpected keyword argument 'low'"),
            ({"x": x, "frequency": 3}, "snake: multiple values for argument 'x'"),
            ({"frequency": "3"}, "argument 1 of snake is a str; pass a numpy array"),
        ):
            with self.assertRaises(TypeError) as caught:
                snake(x, **keywords)
            self.assertTrue(str(caught.exception).startswith(message), caught.exception)
        with self.assertRaises(TypeError) as caught:
            bounded(x, high=np.arange(7))
        self.assertEqual(
            str(caught.exception),
            f"argument high of {bounded.__qualname__} is of int64; convert it with .astype to one "
            "of float16, bfloat16, float32, float64",
        )

    def test_methods(self):
        class Activation:
            def __init__(self, frequency):
                self.frequency = frequency

            @fad.elementwise
            def call(self, x, scale=1):
                return scale * snake(x, self.frequency)

            plain = staticmethod(snake)
            sine = fad.elementwise(np.sin)

        x = np.linspace(-2, 2, 7)
        three, four = Activation(3), Activation(4)
        np.testing.assert_array_equal(three.call(x), snake(x, 3))
        np.testing.assert_array_equal(four.call(x, scale=2), 2 * snake(x, 4))
        np.testing.assert_array_equal(
            three.call.with_derivatives(x)[1], snake.with_derivatives(x, 3)[1]
        )
        np.testing.assert_array_equal(three.plain(x, 3), snake(x, 3))
        np.testing.assert_allclose(three.sine(x), np.sin(x), rtol=1e-14)
        self.assertEqual(Activation.call.__name__, "call")

    def test_memory(self):
        # Neither results nor derivatives share memory with an argument or each other.
        x = np.linspace(-2, 2, 15)
        for function in (lambda x: x, lambda x: x + 1, np.exp, lambda x: x * 1.0):
            made = fad.elementwise(function)
            arrays = [x, made(x), *made.with_derivatives(x)]
            for one, other in itertools.combinations(arrays, 2):
                self.assertFalse(np.shares_memory(one, other))
            for array in arrays:
                array += 1
            x -= 1

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
                lambda x: ((x > 0) - (x < 1)) * x,
                "f uses numpy.subtract of conditions, which numpy does not have",
            ),
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
            (lambda x: x % 2, "f uses numpy.remainder, which fad has no operation for"),
            (
                lambda x: np.clip(x, 0, 1, out=x),
                "f uses numpy.clip with out, which elements do not have",
            ),
            (
                lambda x: np.where(np.logical_or(x > 0, True), True, x) > 0,
                "f returns a condition; numpy.where makes numbers of it",
            ),
        ):
            self.check(message, function, x)

    def test_arguments(self):
        self.check(
            "f has no array among its arguments; pass one, such as numpy.float32(1)",
            lambda x: x,
            1.0,
        )
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
        with self.assertRaises(ValueError) as caught:
            bent(np.ones(3), np.ones((2, 4)))
        self.assertEqual(
            str(caught.exception),
            "the arguments of bent have the shapes (3,) and (2, 4), which do not broadcast",
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

    def test_keywords_and_methods(self):
        import torch

        class Activation:
            @fad.elementwise
            def call(self, x, frequency):
                return snake(x, frequency=frequency)

        x = torch.linspace(-2, 2, 7, requires_grad=True)
        expected = snake(x, 3)
        (gradient,) = torch.autograd.grad(expected.sum(), x)
        for found in (snake(frequency=3, x=x), Activation().call(x, frequency=np.float32(3))):
            torch.testing.assert_close(found, expected, rtol=0, atol=0)
            torch.testing.assert_close(torch.autograd.grad(found.sum(), x)[0], gradient)
        with self.assertRaises(TypeError) as caught:
            snake(x, frequency=None)
        self.assertEqual(
            str(caught.exception),
            "argument 1 of snake is a NoneType beside a tensor; pass a tensor or a number",
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
        for name, (function, (least, most)) in ONE.items():
            made = fad.elementwise(function)
            x = torch.linspace(least, most, 20, dtype=torch.float64, requires_grad=True)
            value, slope = made.with_derivatives(x.detach().numpy())
            result = made(x)
            np.testing.assert_allclose(result.detach().numpy(), value, 1e-12, err_msg=name)
            (gradient,) = torch.autograd.grad(result.sum(), x)
            np.testing.assert_allclose(gradient.numpy(), slope, 1e-9, 1e-12, err_msg=name)

    def test_one_in_another(self):
        import torch

        import fad.torch

        x = torch.linspace(-2, 2, 15, dtype=torch.float64)
        expected = 1 + torch.nn.functional.silu(x)
        torch.testing.assert_close(fad.elementwise(lambda x: 1 + swish(x, 1.0))(x), expected)
        outer = fad.torch.elementwise(lambda x: 1 + swish(x, 1.0))
        torch.testing.assert_close(outer(x), expected)

    def test_refusals(self):
        import torch

        x = torch.ones(3)
        types = "convert it with .to to one of float16, bfloat16, float32, float64"
        for arguments, message in (
            ((torch.arange(3), x), f"argument 0 of f is of int64; {types}"),
            ((x, x > 0), f"argument 1 of f is of bool; {types}"),
            (
                (x, x.double()),
                "the arguments of f are of float32 and float64; convert them to one type with .to",
            ),
            (
                (np.ones(3), x),
                "argument 0 of f is a ndarray beside a tensor; pass a tensor or a number",
            ),
            (
                (x, None),
                "argument 1 of f is a NoneType beside a tensor; pass a tensor or a number",
            ),
        ):
            function = lambda x, y: x * y
            function.__qualname__ = "f"
            with self.assertRaises(TypeError) as caught:
                fad.elementwise(function)(*arguments)
            self.assertEqual(str(caught.exception), message)
        with self.assertRaises(TypeError) as caught:
            fad.elementwise(lambda x: torch.tanh(x))(x)
        self.assertEqual(
            str(caught.exception),
            "torch.tanh does not take an element; use numpy's function, or decorate with "
            "fad.torch.elementwise",
        )
        torch.testing.assert_close(swish(x, np.float32(1)), torch.nn.functional.silu(x))


if __name__ == "__main__":
    unittest.main()
