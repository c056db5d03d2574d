# RUN: %fad_python %s
"""fad.nest: what it says of the functions it makes, and their numbers."""

import unittest

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


if __name__ == "__main__":
    unittest.main()
