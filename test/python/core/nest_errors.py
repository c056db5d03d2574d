# RUN: %fad_python %s
"""fad.nest: what it refuses, and the names of its choices."""

import re
import unittest
from typing import get_args

import fad

LAYER = """func.func @layer(%x: tensor<2x2xf64>, %w: tensor<2x2xf64>, %n: i32)
    -> (tensor<2x2xf64>, tensor<2x2xf64>) {
  %zero = arith.constant dense<0.0> : tensor<2x2xf64>
  %h = linalg.matmul ins(%x, %w : tensor<2x2xf64>, tensor<2x2xf64>)
    outs(%zero : tensor<2x2xf64>) -> tensor<2x2xf64>
  %y = math.tanh %h : tensor<2x2xf64>
  %z = math.exp %y : tensor<2x2xf64>
  return %z, %x : tensor<2x2xf64>, tensor<2x2xf64>
}
"""


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
        with self.assertRaises(ValueError) as caught:
            fad.nest(module, policy="Recompte", recompute="all")
        self.assertEqual(
            str(caught.exception),
            "there is no policy 'Recompte'; choose one of 'bp', 'recompute', 'fad', 'auto'; "
            "did you mean 'recompute'?",
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
                {"policy": "auto", "recompute": "reduction"},
                "recompute is 'reduction'; choose one of 'nothing', 'elementwise', "
                "'reductions', 'all', 'contractions'; did you mean 'reductions'?",
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
                "residual_budget is 'much', which is no number of bytes; the units are B, KB, MB, "
                "GB, TB, KiB, MiB, GiB and TiB",
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
            fad.memory_report(module, policies=["fad"], optimizer=optimizer)
        for contractions in get_args(fad.Contractions):
            fad.compile(module, contractions=contractions)

    def test_no_others(self):
        # The error lists what there is.
        for function, option, choices in (
            (fad.nest, "policy", fad.Policy),
            (fad.nest, "recompute", fad.Recompute),
            (fad.nest, "target", fad.Target),
            (fad.compile, "contractions", fad.Contractions),
        ):
            with self.assertRaises(ValueError) as caught:
                function(fad.parse(LAYER), **{option: "none such"})
            listed = str(caught.exception).partition("none such")[2]
            self.assertEqual(
                set(re.findall(r"\w+", listed)) & set(get_args(choices)), set(get_args(choices))
            )


if __name__ == "__main__":
    unittest.main()
