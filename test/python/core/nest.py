# RUN: %python %s
"""fad.nest: what it says of the functions it makes, and their numbers."""

import re
import unittest
from typing import get_args

import numpy as np

import fad

LAYER = """func.func @layer(%x: tensor<?x3xf64>, %w: tensor<3x4xf64>, %n: i32)
    -> (tensor<?x4xf64>, tensor<f64>) {
  %zero = arith.constant 0.0 : f64
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x3xf64>
  %empty = tensor.empty(%rows) : tensor<?x4xf64>
  %init = linalg.fill ins(%zero : f64) outs(%empty : tensor<?x4xf64>) -> tensor<?x4xf64>
  %xw = linalg.matmul ins(%x, %w : tensor<?x3xf64>, tensor<3x4xf64>)
    outs(%init : tensor<?x4xf64>) -> tensor<?x4xf64>
  %y = math.tanh %xw : tensor<?x4xf64>
  %z = math.exp %y : tensor<?x4xf64>
  %scalar = tensor.empty() : tensor<f64>
  %first = linalg.fill ins(%zero : f64) outs(%scalar : tensor<f64>) -> tensor<f64>
  %sum = linalg.reduce ins(%z : tensor<?x4xf64>) outs(%first : tensor<f64>)
    dimensions = [0, 1]
    (%in: f64, %out: f64) {
      %s = arith.addf %in, %out : f64
      linalg.yield %s : f64
    }
  return %z, %sum : tensor<?x4xf64>, tensor<f64>
}
"""

X = np.linspace(-1, 1, 6).reshape(2, 3)
W = np.linspace(-0.5, 1.5, 12).reshape(3, 4)


def layer_by_numpy(x, w, cotangent, sum_cotangent):
    """Results and gradients of LAYER, by hand."""
    y = np.tanh(x @ w)
    z = np.exp(y)
    before = (cotangent + sum_cotangent) * z * (1 - y * y)
    return (z, z.sum()), (before @ w.T, x.T @ before)


class Description(unittest.TestCase):
    def test_functions_and_values(self):
        module = fad.parse(LAYER)
        before = str(module)
        nested = fad.nest(module)
        self.assertEqual(str(module), before)
        self.assertEqual((nested.forward, nested.backward), ("layer_forward", "layer_backward"))
        self.assertIn(nested.forward, nested.module.functions)
        self.assertEqual([each.shape for each in nested.arguments], [(None, 3), (3, 4), ()])
        self.assertEqual([each.dtype for each in nested.arguments], ["float64", "float64", "int32"])
        self.assertEqual([each.index for each in nested.results], [0, 1])
        self.assertEqual([each.shape for each in nested.results], [(None, 4), ()])
        self.assertEqual([each.result for each in nested.cotangents], [0, 1])
        self.assertEqual([each.argument for each in nested.gradients], [0, 1])
        self.assertEqual(nested.gradients[1].type.text, "tensor<3x4xf64>")

    def test_residuals_tell_why(self):
        kept = {
            policy: {
                residual.reason: residual.needed_by
                for residual in fad.nest(fad.parse(LAYER), policy=policy).residuals
            }
            for policy in ("bp", "recompute", "fad")
        }
        self.assertEqual(kept["fad"]["argument"], ("linalg.matmul",))
        self.assertEqual(kept["fad"]["derivative of a region"], ("fad.elementwise",))
        self.assertEqual(kept["recompute"]["source of a region"], ("fad.elementwise",))
        self.assertIn("value on the tape", kept["bp"])

    def test_signatures_are_those_of_the_functions(self):
        nested = fad.nest(fad.parse(LAYER))
        forward = nested.module.signature(nested.forward)
        backward = nested.module.signature(nested.backward)
        types = lambda values: tuple(value.type for value in values)
        self.assertEqual(forward.arguments, types(nested.arguments))
        self.assertEqual(forward.results, types(nested.results + nested.residuals))
        self.assertEqual(backward.arguments, types(nested.residuals + nested.cotangents))
        self.assertEqual(backward.results, types(nested.gradients))

    def test_choices(self):
        module = fad.parse(LAYER)
        nested = fad.nest(module, entry="layer", wrt=[1], results=[1])
        self.assertEqual([each.argument for each in nested.gradients], [1])
        self.assertEqual([each.result for each in nested.cotangents], [1])
        nested = fad.nest(module, entry="layer", wrt=np.array([0, 1]), results=(i for i in [0]))
        self.assertEqual([each.argument for each in nested.gradients], [0, 1])
        self.assertEqual([each.result for each in nested.cotangents], [0])

    def test_assumed_size(self):
        module = fad.parse(BORDER)
        for assumed, kept in (
            (4, "tensor<?xf64>"),
            (128, "tensor<64xf64>"),
            (None, "tensor<64xf64>"),
        ):
            nested = fad.nest(module, wrt=[1], policy="auto", assumed_size=assumed)
            types = [
                each.type.text for each in nested.residuals if each.reason == "read by an adjoint"
            ]
            self.assertEqual(types, [kept])
            report = fad.memory_report(module, wrt=[1], policies=["auto"], assumed_size=assumed)
            self.assertIn(kept, [v.type.text for v in report["auto"].values])

    def test_few_bits(self):
        module = fad.parse(CHAIN_OF_TWO)
        for options, kept in (
            ({}, "tensor<8x8xf32>"),
            ({"derivative_bits": 3}, "tensor<24xi8>"),
            ({"derivative_bits": 8}, "tensor<64xi8>"),
            ({"derivative_from_output": True}, "tensor<8xi8>"),
        ):
            options |= {"policy": "auto", "recompute": "nothing"}
            nested = fad.nest(module, **options)
            reasons = {each.type.text: each.reason for each in nested.residuals}
            self.assertIn(kept, reasons)
            self.assertEqual("off by at most" in reasons[kept], kept.endswith("i8>"))
            del options["policy"]
            report = fad.memory_report(module, policies=["auto"], **options)
            self.assertIn(kept, [v.type.text for v in report["auto"].values])

    def test_private_function(self):
        text = """func.func private @f(%x: tensor<f64>) -> tensor<f64> {
          %y = math.sin %x : tensor<f64>
          return %y : tensor<f64>
        }"""
        module = fad.parse(text)
        nested = fad.nest(module, "f")
        _, *residuals = fad.run(nested, nested.forward, 0.5)
        (gradient,) = fad.run(nested, nested.backward, *residuals, 1.0)
        np.testing.assert_allclose(gradient, np.cos(0.5))
        (kept,) = fad.memory_report(module, "f")["fad"].values
        self.assertEqual(kept.type.text, "tensor<f64>")
        self.assertIn("func.func private @f(", str(module))


# Which of two tensors is smaller, what is padded or what comes out, depends on a
# size that is known at run time.
# The results of an activation are kept for the gradient of the second factor.
CHAIN_OF_TWO = """
func.func @f(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %h = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>)
      outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = fad.gelu %h : tensor<8x8xf32>
  %z = linalg.matmul ins(%y, %w : tensor<8x8xf32>, tensor<8x8xf32>)
      outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %z : tensor<8x8xf32>
}
"""
BORDER = """func.func @border(%w: tensor<?x8xf64>, %x: tensor<8xf64>,
    %init: tensor<?xf64>, %k: index) -> tensor<f64> {
  %zero = arith.constant 0.0 : f64
  %h = linalg.matvec ins(%w, %x : tensor<?x8xf64>, tensor<8xf64>)
    outs(%init : tensor<?xf64>) -> tensor<?xf64>
  %y = tensor.pad %h low[0] high[%k] {
  ^bb0(%i: index):
    tensor.yield %zero : f64
  } : tensor<?xf64> to tensor<64xf64>
  %e = tensor.empty() : tensor<f64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<f64>) -> tensor<f64>
  %r = linalg.dot ins(%y, %y : tensor<64xf64>, tensor<64xf64>)
    outs(%f : tensor<f64>) -> tensor<f64>
  return %r : tensor<f64>
}
"""

# The policies, with options of one of them.
CHOICES = (
    *({"policy": policy} for policy in ("bp", "recompute", "fad", "auto")),
    *(
        {"policy": "auto", "recompute": level}
        for level in ("nothing", "elementwise", "reductions", "all", "contractions")
    ),
    {"policy": "auto", "assumed_size": 1},
    {"policy": "auto", "residual_budget": 1 << 20},
    {"policy": "auto", "peak_budget": "1MB", "recompute": "contractions"},
)


class Numbers(unittest.TestCase):
    def test_gradients(self):
        cotangent = np.linspace(2, -1, 8).reshape(2, 4)
        expected, gradients = layer_by_numpy(X, W, cotangent, 0.25)
        for choice in CHOICES:
            nested = fad.nest(fad.parse(LAYER), **choice)
            results = fad.run(nested, nested.forward, X, W, 7)
            for given, value in zip(results[:2], expected):
                np.testing.assert_allclose(given, value, rtol=1e-14)
            given = fad.run(nested, nested.backward, *results[2:], cotangent, 0.25)
            self.assertEqual(len(given), 2)
            for ours, theirs in zip(given, gradients):
                np.testing.assert_allclose(ours, theirs, rtol=1e-13, atol=1e-14)


class Errors(unittest.TestCase):
    def check(self, message, *arguments, **options):
        with self.assertRaises(fad.Error) as caught:
            fad.nest(fad.parse(LAYER, "layer.mlir"), *arguments, **options)
        self.assertIn(message, str(caught.exception))

    def test_choices_that_are_not_there(self):
        self.check("there is no function @no with a body; name one of @layer", "no")
        self.check(
            "layer.mlir:1:1: error: cannot differentiate with respect to argument 3: "
            "@layer has 3 arguments",
            wrt=[3],
        )
        self.check("argument 2 of type 'i32'", wrt=[2])
        self.check("error: argument 0 is listed twice in 'wrt'", wrt=[0, 0])
        self.check("result 2", results=[2])

    def test_values(self):
        module = fad.parse(LAYER)
        with self.assertRaises(ValueError) as caught:
            fad.nest(module, policy="best")
        self.assertEqual(
            str(caught.exception),
            "there is no policy 'best'; choose one of 'bp', 'recompute', 'fad', 'auto'",
        )
        for name in ("wrt", "results"):
            with self.assertRaises(ValueError) as caught:
                fad.nest(module, **{name: []})
            self.assertEqual(
                str(caught.exception),
                f"{name} is empty, so there is nothing to differentiate",
            )
        with self.assertRaises(ValueError) as caught:
            fad.nest(module, wrt=[2**70])
        self.assertEqual(str(caught.exception), f"wrt has the number {2**70}, which is too large")
        with self.assertRaises(ValueError) as caught:
            fad.nest(module, "")
        self.assertEqual(
            str(caught.exception),
            "entry is empty; name a function, or None for the only one",
        )
        for options, message in (
            ({"wrt": ["x"]}, "wrt is ['x']; list integers, such as [0]"),
            ({"wrt": 0}, "wrt is 0; list integers, such as [0]"),
            ({"results": [0.0]}, "results is [0.0]; list integers, such as [0]"),
            ({"entry": 3}, "entry is a int; name a function"),
            ({"policy": None}, "a policy is a NoneType; give its name"),
        ):
            with self.assertRaises(TypeError) as caught:
                fad.nest(module, **options)
            self.assertEqual(str(caught.exception), message)

    def test_options_of_auto(self):
        module = fad.parse(LAYER)
        for error, options, message in (
            (
                ValueError,
                {"policy": "auto", "recompute": "some"},
                "recompute is 'some'; choose one of 'nothing', 'elementwise', "
                "'reductions', 'all', 'contractions'",
            ),
            (
                ValueError,
                {"policy": "fad", "target": "tpu"},
                "target is 'tpu'; choose one of 'cpu', 'gpu'",
            ),
            (
                ValueError,
                {"policy": "fad", "recompute": "all"},
                "recompute is an option of the policy 'auto', which is not chosen",
            ),
            (
                ValueError,
                {"policy": "bp", "assumed_size": 4},
                "assumed_size is an option of the policy 'auto', which is not chosen",
            ),
            (
                ValueError,
                {"policy": "auto", "assumed_size": 0},
                "assumed_size is 0; give a size of at least 1",
            ),
            (
                ValueError,
                {"policy": "fad", "derivative_bits": 3},
                "derivative_bits is an option of the policy 'auto', which is not chosen",
            ),
            (
                ValueError,
                {"policy": "fad", "derivative_from_output": True},
                "derivative_from_output is an option of the policy 'auto', which is not chosen",
            ),
            (
                ValueError,
                {"policy": "fad", "residual_budget": 0},
                "residual_budget is an option of the policy 'auto', which is not chosen",
            ),
            (
                ValueError,
                {"policy": "auto", "derivative_bits": 9},
                "derivative_bits is 9; give 1 to 8 bits, or None",
            ),
            (
                TypeError,
                {"policy": "auto", "derivative_bits": 2.5},
                "derivative_bits is 2.5, which is no integer",
            ),
            (
                ValueError,
                {"policy": "auto", "assumed_size": 2**63},
                f"assumed_size is {2**63}, which is too large",
            ),
            (
                TypeError,
                {"policy": "auto", "assumed_size": 1.5},
                "assumed_size is 1.5, which is no integer",
            ),
            (
                TypeError,
                {"policy": "auto", "target": 1},
                "a target is a int; give its name",
            ),
            (
                TypeError,
                {"policy": "auto", "recompute": 1},
                "recompute is a int; name what backward may compute again, such as 'elementwise'",
            ),
        ):
            with self.assertRaises(error) as caught:
                fad.nest(module, **options)
            self.assertEqual(str(caught.exception), message)

    def test_residual_budget(self):
        module = fad.parse(LAYER)
        with self.assertRaises(ValueError) as caught:
            fad.nest(module, residual_budget=1, peak_budget=1)
        self.assertEqual(
            str(caught.exception),
            "residual_budget and peak_budget are alternatives; give one of them",
        )
        with self.assertRaises(fad.Error) as caught:
            fad.nest(module, policy="auto", residual_budget=1)
        self.assertIn("the least is", str(caught.exception))
        for budget, error, message in (
            (-1, ValueError, "residual_budget is -1; give a number of bytes"),
            (2**63, ValueError, f"residual_budget is {2**63}, which is too large"),
            (0.5, TypeError, "residual_budget is 0.5, which is no integer"),
            (True, TypeError, "residual_budget is True; give a number of bytes"),
            (
                "much",
                ValueError,
                "residual_budget is 'much'; give a number of bytes, such as '11GB' or '8GiB'",
            ),
        ):
            with self.assertRaises(error) as caught:
                fad.nest(module, policy="auto", residual_budget=budget)
            self.assertEqual(str(caught.exception), message)

    def test_everything_missing_is_listed(self):
        text = """func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = "tosa.reverse"(%x) {axis = 0 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  %z = "tosa.reciprocal"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}"""
        with self.assertRaises(fad.Error) as caught:
            fad.nest(fad.parse(text, "f.mlir"))
        errors = caught.exception.diagnostics
        self.assertEqual(
            sorted(each.location.line for each in errors if each.severity == "error"),
            [2, 3],
        )


class Call(unittest.TestCase):
    """A nested function is called as a function, and returns its pullback."""

    def test_values_and_gradients(self):
        nested = fad.nest(fad.parse(LAYER), wrt=[0, 1])
        (z, total), pullback = nested(X, W, 3)
        cotangent = np.linspace(0.5, 2, 8).reshape(2, 4)
        expected, gradients = layer_by_numpy(X, W, cotangent, 0.25)
        np.testing.assert_allclose(z, expected[0])
        np.testing.assert_allclose(total, expected[1])
        # The pullback has the residuals, and can be called again.
        for _ in range(2):
            for found, wanted in zip(pullback(cotangent, 0.25), gradients):
                np.testing.assert_allclose(found, wanted)
        self.assertEqual(len(pullback.residuals), len(nested.residuals))

    def test_loss(self):
        nested = fad.nest(fad.parse(LAYER), wrt=[1], results=[1])
        (_, total), pullback = nested(X, W, 3)
        (gradient,) = pullback()
        _, (_, expected) = layer_by_numpy(X, W, 0, 1)
        np.testing.assert_allclose(gradient, expected)

    def test_one_result(self):
        module = fad.parse("""func.func @square(%x: tensor<3xf64>) -> tensor<3xf64> {
          %y = arith.mulf %x, %x : tensor<3xf64>
          return %y : tensor<3xf64>
        }""")
        value, pullback = fad.nest(module)(np.arange(3.0))
        np.testing.assert_array_equal(value, [0, 1, 4])
        np.testing.assert_array_equal(pullback(np.ones(3))[0], [0, 2, 4])
        with self.assertRaises(TypeError) as caught:
            pullback()
        self.assertEqual(
            str(caught.exception),
            "a pullback takes a cotangent for each differentiated result: 1, not 0",
        )
        with self.assertRaisesRegex(ValueError, "argument 1 of square_backward has the type"):
            pullback(np.ones(2))


class Choices(unittest.TestCase):
    """The names for type checkers are those that C++ has."""

    def test_policies(self):
        module = fad.parse(LAYER)
        for policy in get_args(fad.Policy):
            fad.nest(module, policy=policy)
        for level in get_args(fad.Recompute):
            fad.nest(module, recompute=level)
        for target in get_args(fad.Target):
            fad.nest(module, target=target)
        for optimizer in get_args(fad.Optimizer):
            fad.memory_report(module, policies=["fad"], sizes=2, optimizer=optimizer)

    def test_no_others(self):
        # The error lists what there is.
        for option, choices in (
            ("policy", fad.Policy),
            ("recompute", fad.Recompute),
            ("target", fad.Target),
        ):
            with self.assertRaises(ValueError) as caught:
                fad.nest(fad.parse(LAYER), **{option: "none such"})
            listed = str(caught.exception).partition("none such")[2]
            self.assertEqual(
                set(re.findall(r"\w+", listed)) & set(get_args(choices)), set(get_args(choices))
            )


if __name__ == "__main__":
    unittest.main()
