# RUN: %fad_python %s
"""Memory reports: reasons, footprints, the largest batch, pictures, plots."""

import importlib.util
import json
import unittest

import fad
import fad.plot
from fad import _fad

WIDTH = 16
# Two layers, f32: x W sin(cos(.)) V. The derivative of the activation takes as
# much as its source, and its value is read by the adjoint of the second matmul.
LAYERS = """func.func @layers(%x: tensor<BATCHx16xf32>, %w: tensor<16x16xf32>,
    %v: tensor<16x16xf32>) -> tensor<BATCHx16xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<BATCHx16xf32>
  %dynamic = tensor.empty(%rows) : tensor<?x16xf32>
  %empty = tensor.cast %dynamic : tensor<?x16xf32> to tensor<BATCHx16xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<BATCHx16xf32>)
    -> tensor<BATCHx16xf32>
  %h = linalg.matmul ins(%x, %w : tensor<BATCHx16xf32>, tensor<16x16xf32>)
    outs(%init : tensor<BATCHx16xf32>) -> tensor<BATCHx16xf32>
  %c = math.cos %h : tensor<BATCHx16xf32>
  %a = math.sin %c : tensor<BATCHx16xf32>
  %y = linalg.matmul ins(%a, %v : tensor<BATCHx16xf32>, tensor<16x16xf32>)
    outs(%init : tensor<BATCHx16xf32>) -> tensor<BATCHx16xf32>
  return %y : tensor<BATCHx16xf32>
}
"""
ALL = ("bp", "recompute", "fad", "auto")
WEIGHTS = [1, 2]


def parse(batch="?"):
    return fad.parse(LAYERS.replace("BATCH", str(batch)))


def parse_bounded():
    """With derivatives between 0 and 1."""
    text = LAYERS.replace("math.cos", "math.tanh").replace("math.sin", "math.tanh")
    return fad.parse(text.replace("BATCH", "?"))


def report(module=None, **options):
    options.setdefault("policies", ALL)
    return fad.memory_report(module or parse(), wrt=WEIGHTS, **options)


class Reasons(unittest.TestCase):
    def test_derivative(self):
        kept = [v for v in report(sizes=8)["fad"].residuals if v.bytes]
        derivative, value = sorted(kept, key=lambda value: value.kind)
        self.assertEqual((derivative.kind, value.kind), ("derivative", "value"))
        self.assertEqual(derivative.bytes, 8 * WIDTH * 4)
        (other,) = derivative.instead_of
        self.assertEqual((other.operation, other.bytes), ("linalg.matmul", 512))
        self.assertEqual(derivative.because, "instead of 512 bytes of linalg.matmul")
        self.assertTrue(derivative.activation)
        self.assertFalse(value.activation)
        self.assertEqual((derivative.layer, value.layer), (1, 1))

    def test_refused(self):
        (kept,) = [v for v in report(sizes=8)["auto"].residuals if v.bytes]
        self.assertEqual(kept.operation, "linalg.matmul")
        self.assertTrue(kept.refused)
        self.assertIsNone(kept.allowed_by)
        self.assertEqual(kept.because, "linalg.matmul is not computed again: a contraction")
        self.assertRegex(kept.location, r":10:\d+$")

    def test_free(self):
        free = [v for v in report()["bp"].residuals if v.kind == "argument"]
        self.assertEqual([v.bytes for v in free], [0] * len(free))
        self.assertEqual({v.operation for v in free}, {""})

    def test_recomputed(self):
        policy = report(sizes=8)["recompute"]
        self.assertTrue(policy.recomputed)
        self.assertEqual(policy.recompute_time, sum(each.time for each in policy.recomputed))
        for each in policy.recomputed:
            self.assertEqual(each.operation, "fad.elementwise")
        # The kernel of the derivative returns its product with the cotangent alone.
        self.assertEqual([each.bytes for each in policy.recomputed], [512, 0])
        # At least a sine and a cosine of each element, eight bytes each.
        self.assertGreaterEqual(policy.recompute_time, 2 * 8 * 8 * WIDTH)
        self.assertEqual(report(sizes=8)["fad"].recomputed, ())

    def test_time_of_sizes(self):
        # Each of the eight sums takes a sine and an exponential of eight bytes for the
        # value and a cosine and a product for the derivative.
        sums = """func.func @sums(%x: tensor<?x?xf32>) -> tensor<f32> {
          %zero = arith.constant 0.0 : f32
          %c1 = arith.constant 1 : index
          %n = tensor.dim %x, %c1 : tensor<?x?xf32>
          %e = tensor.empty(%n) : tensor<?xf32>
          %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
          %s = linalg.reduce { arith.addf } ins(%x : tensor<?x?xf32>)
            outs(%i : tensor<?xf32>) dimensions = [0]
          %sine = math.sin %s : tensor<?xf32>
          %y = math.exp %sine : tensor<?xf32>
          %z = arith.constant dense<0.0> : tensor<f32>
          %r = linalg.dot ins(%y, %y : tensor<?xf32>, tensor<?xf32>) outs(%z : tensor<f32>)
            -> tensor<f32>
          return %r : tensor<f32>
        }"""
        sizes = {(0, 0): 4, (0, 1): 8}
        part = fad.memory_report(fad.parse(sums), policies=["recompute"], sizes=sizes)["recompute"]
        self.assertEqual([each.time for each in part.recomputed], [8 * 16, 8 * 8 + 1])

    def test_json(self):
        result = report(sizes=8)
        self.assertEqual(list(json.loads(result.json)["policies"]), list(ALL))
        self.assertEqual(json.loads(result.to_json()), result.to_dict())
        self.assertEqual(result.table(), str(result))
        self.assertEqual(json.loads(result.json)["entry"], "layers")

    def test_dictionary(self):
        found = report(sizes=8)
        data = found.to_dict()
        # Plain values, and all of them.
        self.assertEqual(json.loads(json.dumps(data)), data)
        self.assertEqual(list(data), ["entry", "symbols", "policies"])
        for name, part in found.policies.items():
            self.assertEqual(data["policies"][name], part.to_dict())
            for value, listed in zip(part.values, part.to_dict()["values"]):
                self.assertEqual(listed, value.to_dict())
                self.assertEqual(listed["type"], str(value.type))
                self.assertEqual(listed["needed_by"], list(value.needed_by))

    def test_errors_of_few_bits(self):
        options = {"policies": ["auto"], "recompute": "nothing", "sizes": 8}
        part = report(parse_bounded(), derivative_bits=3, **options)["auto"]
        (packed,) = [v for v in part.residuals if v.bits]
        self.assertEqual((packed.bits, packed.bytes), (3, 8 * WIDTH * 3 // 8))
        # Eight levels between 0 and 1.
        self.assertTrue(0 < packed.largest_error < 0.2)
        self.assertTrue(0 < packed.mean_square_error < packed.largest_error**2)
        fine = report(parse_bounded(), derivative_bits=8, **options)["auto"]
        (finer,) = [v for v in fine.residuals if v.bits]
        self.assertLess(finer.largest_error, packed.largest_error / 8)
        for value in report(parse_bounded(), **options)["auto"].residuals:
            self.assertIsNone(value.largest_error)
            self.assertIsNone(value.mean_square_error)

    def test_symbols(self):
        self.assertEqual(report().symbols, {"d0": "dimension 0 of argument 0"})
        self.assertEqual(report(parse(4)).symbols, {})


class Footprints(unittest.TestCase):
    def test_parts(self):
        policy = report(sizes=8, optimizer="adam")["fad"]
        footprint, weight = policy.footprint, 2 * WIDTH * WIDTH * 4
        tensor = 8 * WIDTH * 4
        self.assertEqual(footprint.activations, tensor)
        self.assertEqual(footprint.others, tensor)
        self.assertEqual(footprint.weights, weight)
        self.assertEqual(footprint.optimizer, 2 * weight)
        self.assertEqual(footprint.inputs, tensor)
        # The result and its cotangent are a part of it.
        self.assertGreaterEqual(footprint.workspace, 2 * tensor)
        parts = ("activations", "others", "weights", "optimizer", "inputs", "workspace")
        self.assertEqual(footprint.total, sum(getattr(footprint, p) for p in parts))
        self.assertAlmostEqual(sum(map(footprint.share, parts)), 1)
        self.assertGreaterEqual(policy.peak, 2 * tensor)

    def test_optimizers(self):
        weight = 2 * WIDTH * WIDTH * 4
        for optimizer, state in (("sgd", 0), ("none", 0), ("momentum", weight)):
            part = report(sizes=8, optimizer=optimizer)["fad"]
            self.assertEqual(part.footprint.optimizer, state)

    def test_unknown_sizes(self):
        part = report()["fad"]
        self.assertIsNone(part.footprint)
        self.assertIsNone(part.peak)
        self.assertIsNone(part.largest_batch)

    def test_largest_batch(self):
        for budget in (20_000, 123_456, 10_000_000):
            parts = report(memory_budget=budget, optimizer="adam").policies
            for policy, part in parts.items():
                largest = part.largest_batch
                self.assertGreater(largest, 0)
                totals = [
                    report(sizes=batch, optimizer="adam", policies=[policy])[policy].footprint.total
                    for batch in (largest, largest + 1)
                ]
                self.assertEqual(totals[0], part.batch_bytes)
                self.assertLessEqual(totals[0], budget)
                self.assertGreater(totals[1], budget)

    def test_none_fits(self):
        part = report(memory_budget="1KiB")["fad"]
        self.assertEqual(report(memory_budget="1K").json, report(memory_budget="1KiB").json)
        self.assertEqual(part.largest_batch, 0)
        self.assertEqual(part.batch_bytes, report(sizes=1)["fad"].footprint.total)
        self.assertIn("none: 1 takes", str(report(memory_budget="1KiB")))

    def test_units(self):
        for power, letter in enumerate("kmgt", 1):
            for unit, factor in (("b", 1000), ("ib", 1024), ("", 1024)):
                unit = letter + unit
                for text in (unit, unit.upper(), unit.title(), f" {unit}"):
                    found = _fad.parse_bytes("memory", f"1.5{text}")
                    self.assertEqual(found, int(1.5 * factor**power), text)

    def test_fixed_sizes(self):
        weight = 2 * WIDTH * WIDTH * 4
        for budget in ("1MB", "40KB", 3 * weight - 1):
            options = {"optimizer": "adam", "memory_budget": budget}
            for policy, part in report(parse(8), batch=8, **options).policies.items():
                dynamic = report(policies=[policy], **options)[policy]
                self.assertEqual(part.largest_batch, dynamic.largest_batch)
                if part.largest_batch:
                    self.assertEqual(part.batch_bytes, dynamic.batch_bytes)
        self.assertEqual(part.largest_batch, 0)

    def test_errors(self):
        for options, message in (
            (
                {"memory_budget": "much"},
                "memory_budget is 'much', which is no number of bytes; the units are B, KB, MB, "
                "GB, TB, KiB, MiB, GiB and TiB",
            ),
            (
                {"optimizer": "lamb"},
                "there is no optimizer 'lamb'; choose one of 'none', 'sgd', 'momentum', 'adam'",
            ),
            (
                {"optimizer": "Adam"},
                "there is no optimizer 'Adam'; choose one of 'none', 'sgd', 'momentum', 'adam'; "
                "did you mean 'adam'?",
            ),
            ({"batch": 0}, "batch is 0; give a number of samples of at least 1"),
        ):
            with self.assertRaises(ValueError) as caught:
                report(**options)
            self.assertEqual(str(caught.exception), message)
        for options, message in (
            ({"optimizer": 1}, "optimizer is a int; give its name"),
            ({"batch": 1.5}, "batch is 1.5, which is no integer"),
        ):
            with self.assertRaises(TypeError) as caught:
                report(**options)
            self.assertEqual(str(caught.exception), message)


class Pictures(unittest.TestCase):
    def test_residuals(self):
        text = fad.draw_residuals(parse(), wrt=WEIGHTS, policy="fad", size=8)
        self.assertEqual(text.count('\n512 B"'), 2)
        self.assertIn('\nalive anyway"', text)
        self.assertIn('label="What @layers keeps for backward, policy fad: 1.00 KiB"', text)

    def test_parts(self):
        text = fad.draw_residuals(parse(), wrt=WEIGHTS, policy="recompute")
        self.assertTrue(text.startswith('digraph "layers_joint" {\n'))
        for part in ("forward", "residuals", "backward"):
            self.assertIn(f"subgraph cluster_{part} {{", text)
        self.assertIn("64*d0 bytes", text)

    def test_groups(self):
        options = {"wrt": WEIGHTS, "policy": "fad", "size": 8}
        text = fad.draw_residuals(parse(), group=True, **options)
        self.assertIn("policy fad: 1.00 KiB", text)
        self.assertIn("subgraph cluster_residuals", text)
        self.assertEqual(
            fad.draw_residuals(parse(), group=False, **options),
            fad.draw_residuals(parse(), **options),
        )

    def test_options(self):
        options = {"wrt": WEIGHTS, "size": 8, "recompute": "nothing"}
        text = fad.draw_residuals(parse_bounded(), derivative_bits=3, **options)
        self.assertIn("3 bits an element", text)
        self.assertNotIn("3 bits", fad.draw_residuals(parse_bounded(), **options))
        options["recompute"] = "elementwise"
        for budget, total in ((512, "512 B"), (2000, "1.00 KiB")):
            text = fad.draw_residuals(parse(), residual_budget=budget, **options)
            self.assertIn(f"policy auto: {total}", text)

    def test_errors(self):
        with self.assertRaises(ValueError) as caught:
            fad.draw_residuals(parse(), policy="fad", derivative_bits=3)
        self.assertEqual(
            str(caught.exception),
            "derivative_bits is an option of the policy 'auto', which is not chosen",
        )


class Plots(unittest.TestCase):
    def test_bytes(self):
        sums = fad.plot.bytes_by_layer(report(sizes=8))
        self.assertEqual(sums["fad"], [0, 1024])
        self.assertEqual(sums["auto"], [0, 512])

    def test_unknown(self):
        with self.assertRaises(ValueError) as caught:
            fad.plot.bytes_by_layer(report())
        self.assertIn("give the sizes to fad.memory_report", str(caught.exception))

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "no matplotlib")
    def test_bars(self):
        axes = fad.plot.layers(report(sizes=8))
        self.assertEqual(len(axes.patches), len(ALL) * 2)
        self.assertEqual(axes.get_ylabel(), "kept for backward, KiB")
        heights = sorted(bar.get_height() * 2**10 for bar in axes.patches)
        self.assertEqual(heights[:4], [0, 0, 0, 0])
        self.assertEqual(heights[4], 512)
        # A policy has one color, whichever others are drawn.
        alone = fad.plot.layers(report(sizes=8, policies=["auto"]))
        self.assertEqual(alone.patches[0].get_facecolor(), axes.patches[-1].get_facecolor())


def curve(module=None, **options):
    return fad.time_memory_curve(module or parse(), wrt=WEIGHTS, **options)


class Curves(unittest.TestCase):
    def test_points(self):
        result = curve(assumed_size=8)
        self.assertEqual((result.entry, result.assumed_size), ("layers", 8))
        self.assertEqual(curve().assumed_size, 128)
        self.assertIsNone(curve(parse(8)).assumed_size)
        self.assertEqual(curve(parse(8)).points, result.points)
        for before, after in zip(result.points, result.points[1:]):
            self.assertGreater(before.bytes, after.bytes)
            self.assertLess(before.time, after.time)
        # The ends are what auto keeps for any budget and for the least.
        least = report(sizes=8)["auto"].bytes
        self.assertEqual(result.points[-1].bytes, least)
        most = report(sizes=8, policies=["auto"], residual_budget=10**9)
        self.assertEqual(result.points[0].bytes, most["auto"].bytes)
        self.assertGreater(result.points[0].bytes, least)

    def test_options(self):
        options = {"assumed_size": 8, "recompute": "nothing"}
        fewer = curve(parse_bounded(), derivative_bits=1, **options)
        exact = curve(parse_bounded(), **options)
        self.assertLess(fewer.points[-1].bytes, exact.points[-1].bytes)
        with self.assertRaises(ValueError) as caught:
            curve(assumed_size=0)
        self.assertEqual(str(caught.exception), "assumed_size is 0; give a size of at least 1")

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "no matplotlib")
    def test_plot(self):
        result = curve(assumed_size=8)
        (line,) = fad.plot.curve(result).lines
        self.assertEqual(line.get_label(), "auto, @layers")
        self.assertEqual(
            [x * 2**10 for x in line.get_xdata()],
            [point.bytes for point in reversed(result.points)],
        )
        self.assertEqual(
            [y * 2**10 for y in line.get_ydata()],
            [point.time for point in reversed(result.points)],
        )
        levels = ("nothing", "elementwise")
        curves = {level: curve(recompute=level) for level in levels}
        axes = fad.plot.curve(curves, axes=fad.plot.curve(result))
        labels = [line.get_label() for line in axes.lines]
        self.assertEqual(labels, ["auto, @layers", *levels])


if __name__ == "__main__":
    unittest.main()
