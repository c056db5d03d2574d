# RUN: %fad_python %s
"""fad.memory_report: bytes by policy, with and without sizes."""

import unittest

import fad

# A tape keeps both activations; their source, or their derivative, is one
# tensor. The argument is alive anyway.
CHAIN = """func.func @chain(%x: tensor<?x8xf32>, %w: tensor<8x?xf32>) -> tensor<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %x, %c0 : tensor<?x8xf32>
  %columns = tensor.dim %w, %c1 : tensor<8x?xf32>
  %empty = tensor.empty(%rows, %columns) : tensor<?x?xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %y = linalg.matmul ins(%x, %w : tensor<?x8xf32>, tensor<8x?xf32>)
    outs(%init : tensor<?x?xf32>) -> tensor<?x?xf32>
  %z = math.sin %y : tensor<?x?xf32>
  %u = math.cos %z : tensor<?x?xf32>
  %v = math.sin %u : tensor<?x?xf32>
  return %v : tensor<?x?xf32>
}
"""

# Sines, times the sums of their rows.
ROWS = """#same = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @rows(%x: tensor<?x64xf32>, %w: tensor<64x64xf32>) -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %size = tensor.dim %x, %c0 : tensor<?x64xf32>
  %empty = tensor.empty(%size) : tensor<?x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = linalg.matmul ins(%x, %w : tensor<?x64xf32>, tensor<64x64xf32>)
    outs(%init : tensor<?x64xf32>) -> tensor<?x64xf32>
  %z = math.sin %y : tensor<?x64xf32>
  %column = tensor.empty(%size) : tensor<?xf32>
  %none = linalg.fill ins(%zero : f32) outs(%column : tensor<?xf32>) -> tensor<?xf32>
  %sums = linalg.reduce ins(%z : tensor<?x64xf32>) outs(%none : tensor<?xf32>)
    dimensions = [1]
    (%in: f32, %out: f32) {
      %s = arith.addf %in, %out : f32
      linalg.yield %s : f32
    }
  %u = linalg.generic {indexing_maps = [#same, #row, #same],
                       iterator_types = ["parallel", "parallel"]}
    ins(%z, %sums : tensor<?x64xf32>, tensor<?xf32>) outs(%empty : tensor<?x64xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      linalg.yield %p : f32
  } -> tensor<?x64xf32>
  return %u : tensor<?x64xf32>
}
"""


class MemoryReport(unittest.TestCase):
    def test_bytes(self):
        module = fad.parse(CHAIN)
        before = str(module)
        report = fad.memory_report(module, sizes=16)
        self.assertEqual(str(module), before)
        self.assertEqual(report.entry, "chain")
        self.assertEqual(list(report.policies), ["bp", "recompute", "fad", "auto"])
        tensor = 16 * 16 * 4
        self.assertEqual(report["bp"].bytes, 3 * tensor)
        self.assertEqual(report["recompute"].bytes, tensor)
        self.assertEqual(report["fad"].bytes, tensor)
        self.assertEqual(report["fad"].size, str(tensor))

    def test_values(self):
        (policy,) = fad.memory_report(fad.parse(CHAIN), policies=["fad"]).policies.values()
        self.assertEqual(policy.policy, "fad")
        arguments = [each for each in policy.values if each.reason.startswith("argument")]
        (derivative,) = [each for each in policy.values if each not in arguments]
        self.assertEqual([each.bytes for each in arguments], [0, 0])
        self.assertEqual(derivative.reason, "derivative of a region")
        self.assertEqual(derivative.needed_by, ("fad.elementwise",))
        self.assertEqual(derivative.type.shape, (None, None))

    def test_sizes(self):
        module = fad.parse(CHAIN)
        unknown = fad.memory_report(module)["fad"]
        self.assertEqual((unknown.bytes, unknown.size), (None, "4*d0*d1"))
        partly = fad.memory_report(module, sizes={(0, 0): 3})["fad"]
        self.assertEqual((partly.bytes, partly.size), (None, "12*d1"))
        fully = fad.memory_report(module, sizes={(0, 0): 3, (1, 1): 5})["fad"]
        self.assertEqual(fully.bytes, 3 * 5 * 4)
        self.assertEqual(fad.memory_report(module, sizes=0)["bp"].bytes, 0)

    def test_table(self):
        table = str(fad.memory_report(fad.parse(CHAIN), policies=("bp",), sizes=2))
        self.assertIn("What crosses from forward to backward of @chain", table)
        self.assertRegex(table, r"bp +48 +total")

    def test_recompute(self):
        # Backward reads sin(y), cos(y) and the sums of rows; y gives all of them.
        module = fad.parse(ROWS)
        tensor, sums = 64 * 64 * 4, 64 * 4
        for level, size in (
            ("nothing", 2 * tensor + sums),
            ("elementwise", tensor + sums),
            (None, tensor + sums),
            ("reductions", tensor),
            ("all", tensor),
        ):
            for options in ({"sizes": 64}, {"sizes": 64, "assumed_size": 7}):
                report = fad.memory_report(
                    module, policies=["fad", "auto"], recompute=level, **options
                )
                self.assertEqual(report["auto"].bytes, size, level)

    def test_residual_budget(self):
        # Within the budget it takes the least time, and computes nothing again.
        module, tensor = fad.parse(ROWS), 64 * 64 * 4
        reports = [
            fad.memory_report(
                module,
                policies=["auto"],
                sizes=64,
                recompute="all",
                residual_budget=budget,
            )["auto"]
            for budget in (None, tensor, 4 * tensor)
        ]
        self.assertEqual([each.bytes for each in reports[:2]], [tensor, tensor])
        self.assertGreater(reports[2].bytes, tensor)
        self.assertLessEqual(reports[2].bytes, 4 * tensor)
        self.assertLess(reports[2].recompute_time, reports[1].recompute_time)

    def test_choices(self):
        module = fad.parse(CHAIN)
        values = fad.memory_report(module, wrt=[0], results=[0])["bp"].values
        types = [each.type.text for each in values]
        self.assertIn("tensor<8x?xf32>", types)
        self.assertNotIn("tensor<?x8xf32>", types)

    def test_unknown_policies(self):
        report = fad.memory_report(fad.parse(CHAIN), policies=["bp", "recompute"], sizes=8)
        self.assertEqual(list(report), ["bp", "recompute"])
        self.assertTrue("bp" in report and "fad" not in report)
        for policy, hint in (
            ("foo", ""),
            (0, ""),
            ("recomptue", "; did you mean 'recompute'?"),
            ("fad", "; list it in policies of fad.memory_report"),
        ):
            with self.assertRaises(KeyError) as caught:
                report[policy]
            self.assertEqual(
                caught.exception.args,
                (f"the report on chain has no policy {policy!r}, only 'bp', 'recompute'{hint}",),
            )
        footprint = report["bp"].footprint
        self.assertEqual(footprint.share("total"), 1.0)
        with self.assertRaises(ValueError) as caught:
            footprint.share("weight")
        self.assertEqual(
            str(caught.exception),
            "there is no part 'weight'; choose one of 'activations', 'others', 'weights', "
            "'optimizer', 'inputs', 'workspace', 'total'; did you mean 'weights'?",
        )

    def test_errors(self):
        module = fad.parse(CHAIN)
        with self.assertRaises(fad.Error) as caught:
            fad.memory_report(module, "no")
        self.assertIn("there is no function @no", str(caught.exception))
        with self.assertRaises(fad.Error) as caught:
            fad.memory_report(module, sizes=2**40)
        self.assertIn("2^64 bytes or more", str(caught.exception))
        for options, message in (
            ({"policies": ["best"]}, "there is no policy 'best'; choose one of"),
            (
                {"policies": ["fad"], "recompute": "all"},
                "recompute is an option of the policy 'auto', which is not chosen",
            ),
            ({"policies": ["auto"], "recompute": "some"}, "recompute is 'some'; "),
            ({"policies": ["auto"], "assumed_size": 0}, "assumed_size is 0; give"),
            ({"sizes": -1}, "a size is -1, which is negative"),
            (
                {"sizes": {(0, 1): 4}},
                "(0, 1) is no dynamic dimension of an argument of chain; these are: (0, 0), (1, 1)",
            ),
            ({"sizes": 2**63}, f"a size is {2**63}, which is too large"),
            ({"sizes": {(-1, 0): 4}}, "(-1, 0) is no dynamic dimension"),
            ({"entry": ""}, "entry is empty; name a function"),
        ):
            with self.assertRaises(ValueError) as caught:
                fad.memory_report(module, **options)
            self.assertIn(message, str(caught.exception))
        for options, message in (
            ({"sizes": "a"}, "a size is 'a', which is no integer"),
            ({"sizes": {(0, 0): 1.5}}, "a size is 1.5, which is no integer"),
            (
                {"sizes": {0: 4}},
                "sizes are given by argument and dimension, such as (0, 0), not by 0",
            ),
            ({"policies": "fad"}, "policies is 'fad'; list it: ['fad']"),
            ({"policies": [None]}, "a policy is a NoneType; give its name"),
        ):
            with self.assertRaises(TypeError) as caught:
                fad.memory_report(module, **options)
            self.assertEqual(str(caught.exception), message)


if __name__ == "__main__":
    unittest.main()
