# RUN: %fad_python %s
# RUN: %fad_python %s --print | FileCheck %s
"""Modules that Python builds operation by operation, and what is said about wrong ones."""

import gc
import sys
import unittest

import fad
from fad import _fad
from fad._operators.writer import Body, Unsupported

MATRIX, ROW = ((2, 3), "f32"), ((3,), "f32")


def write_body():
    """A function of an f32 and an i8 that has attributes of each kind."""
    body = Body()
    x, n = body.add_argument("f32"), body.add_argument("i8")
    y = body.apply("fad.gelu", x, approximate="tanh")
    order = body.compare("arith.cmpf", "olt", y, body.constant(-0.0, "f32"))
    count = body.compare("arith.cmpi", "sge", n, body.constant(-128, "i8"))
    both = body.apply_logic("arith.andi", order, count)
    return body.finish(body.apply("arith.select", both, y, body.convert(n, "f32")))


# CHECK-LABEL: func.func @joint(
# CHECK-SAME: %[[X:.*]]: tensor<2x3xf32> {fad.nodes = ["x"]},
# CHECK-SAME: %[[N:.*]]: tensor<2x3xi8>, %[[R:.*]]: tensor<3xi8>,
# CHECK-SAME: %[[G:.*]]: tensor<2x3xf32> {fad.cotangent = 0 : i64})
# CHECK-SAME: -> (tensor<2x3xf32>, tensor<2x3xf32> {fad.gradient = 0 : i64})
# CHECK-SAME: attributes {fad.fuses = #fad.fusion<reads = 12, operations = 100, shared_reads = 4,
# CHECK-SAME: shared_operations = 50, split_rows = 32, split_sums = 64, once = ["math.exp"]>,
# CHECK-SAME: fad.proposals = {{\[\["x", "y"\], \[\]\]}}} {
# CHECK-NEXT: %[[EMPTY:.*]] = tensor.empty() : tensor<2x3xf32>
# CHECK-NEXT: %[[Y:.*]] = fad.elementwise ins(%[[X]], %[[N]] : tensor<2x3xf32>, tensor<2x3xi8>)
# CHECK-SAME: attributes {fad.nodes = ["y"]} -> tensor<2x3xf32> {
# CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: i8):
# CHECK-NEXT:   %[[GELU:.*]] = fad.gelu %[[A]] approximate <tanh> : f32
# CHECK-NEXT:   %[[ZERO:.*]] = arith.constant -0.000000e+00 : f32
# CHECK-NEXT:   %[[ORDER:.*]] = arith.cmpf olt, %[[GELU]], %[[ZERO]] : f32
# CHECK-NEXT:   %[[LEAST:.*]] = arith.constant -128 : i8
# CHECK-NEXT:   %[[COUNT:.*]] = arith.cmpi sge, %[[B]], %[[LEAST]] : i8
# CHECK-NEXT:   %[[BOTH:.*]] = arith.andi %[[ORDER]], %[[COUNT]] : i1
# CHECK-NEXT:   %[[FLOAT:.*]] = arith.sitofp %[[B]] : i8 to f32
# CHECK-NEXT:   %[[CHOSEN:.*]] = arith.select %[[BOTH]], %[[GELU]], %[[FLOAT]] : f32
# CHECK-NEXT:   fad.yield %[[CHOSEN]] : f32
# CHECK-NEXT: }
# CHECK-NEXT: %[[Z:.*]] = linalg.generic
# CHECK-SAME: iterator_types = ["parallel", "parallel"]}
# CHECK-SAME: ins(%[[Y]], %[[R]] : tensor<2x3xf32>, tensor<3xi8>)
# CHECK-SAME: outs(%[[EMPTY]] : tensor<2x3xf32>) {
# CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: i8, %{{.*}}: f32):
# CHECK:        linalg.yield
# CHECK:      %[[O:.*]]:2 = fad.opaque "split" contraction time 7 (%[[G]], %[[Z]])
# CHECK-SAME: {fad.overwrites} : (tensor<2x3xf32>, tensor<2x3xf32>)
# CHECK-SAME: -> (tensor<2x3xf32>, tensor<?xf16>)
# CHECK-NEXT: return %[[Z]], %[[O]]#0 : tensor<2x3xf32>, tensor<2x3xf32>
def build():
    builder = _fad.Builder("joint")
    x = builder.argument(MATRIX, {"fad.nodes": ["x"]})
    n, row = builder.argument(((2, 3), "i8")), builder.argument(((3,), "i8"))
    g = builder.argument(MATRIX, {"fad.cotangent": 0})
    y = builder.map([x, n], write_body(), MATRIX, {"fad.nodes": ["y"]})
    z = builder.map([y, row], write_body(), MATRIX)
    attributes = {"name": "split", "kind": "contraction", "time": 7, "fad.overwrites": None}
    types = [MATRIX, ((None,), "f16")]
    gradient, _ = builder.create("fad.opaque", [g, z], types, attributes)
    builder.fuse(12, 100, 4, 50, ["math.exp"], split_rows=32, split_sums=64)
    marks = {"fad.proposals": [["x", "y"], []]}
    return fad._module.Module(builder.finish([z, gradient], [{}, {"fad.gradient": 0}], marks))


class Invalid(unittest.TestCase):
    def setUp(self):
        self.builder = _fad.Builder("f")
        self.x = self.builder.argument(MATRIX)

    def refuse(self, message, call, *arguments):
        with self.assertRaises(fad.Error) as caught:
            call(*arguments)
        self.assertEqual(str(caught.exception), message)

    def create(self, name, operands=(), types=(), attributes=None):
        return self.builder.create(name, operands, [*types], attributes or {})

    def test_names(self):
        for name in ("arith.addg", "none.at.all", "nothing", ""):
            self.refuse(f"error: there is no operation '{name}'", self.create, name)
        for name in ("f33", "", "tensor<", "f32 f32"):
            self.refuse(f"error: there is no type '{name}'", self.create, "math.exp", [], [name])
        self.refuse(
            "error: invalid tensor element type: 'tensor<1xf32>'",
            self.builder.argument,
            ((2,), "tensor<1xf32>"),
        )
        self.refuse(
            "error: invalid tensor dimension size", self.builder.argument, ((-3,), "f32")
        )

    def test_attributes(self):
        cases = [
            ({"kind": "always"}, "'always' is no kind of 'fad.opaque'"),
            ({"kind": 3}, "'fad.opaque' op attribute 'kind' failed to satisfy constraint: "
             "what backward may do with an opaque operation"),
            ({"time": -1}, "'fad.opaque' op attribute 'time' failed to satisfy constraint: "
             "64-bit signless integer attribute whose value is non-negative"),
        ]  # fmt: skip
        self.builder.locate("mul_3")
        for attributes, message in cases:
            attributes = {"name": "n", "kind": "keep", **attributes}
            self.refuse(
                f"mul_3: error: {message}", self.create, "fad.opaque", [self.x], [ROW], attributes
            )
        for bits, type in ((2, "i1"), (-129, "i8"), (1 << 32, "f32"), (0, "f80")):
            self.refuse(
                f"mul_3: error: {bits} is no number of the type '{type}'",
                self.create, "arith.constant", [], [type], {"value": bits},
            )  # fmt: skip
        self.refuse(
            "mul_3: error: a limit of #fad.fusion is -1; give at least 0, or leave it out",
            self.builder.fuse, -1, 0, 0, 0,
        )  # fmt: skip
        for value in (1.5, 1 << 63, {}, [[1]]):
            with self.assertRaisesRegex(TypeError, "create.*: incompatible function arguments"):
                self.create("fad.opaque", [], [ROW], {"time": value})

    def test_bodies(self):
        body = write_body()
        late = body._replace(operations=body.operations[1:])
        self.refuse(
            "error: a body reads value 3 where it has 3", self.builder.map, [self.x], late, MATRIX
        )
        wrong = Body()
        x = wrong.add_argument("f32")
        wrong = wrong.finish(wrong.compare("arith.cmpf", "less", x, x))
        self.refuse(
            "error: 'less' is no predicate of 'arith.cmpf'",
            self.builder.map, [self.x], wrong, MATRIX,
        )  # fmt: skip
        other = self.builder.argument(((1, 2, 3), "i8"))
        self.refuse(
            "error: an operand of a body has more dimensions than the result",
            self.builder.map, [self.x, other], body, MATRIX,
        )  # fmt: skip
        self.refuse(
            "error: the result of a body is a tensor", self.builder.map, [self.x], body, "f32"
        )

    def test_constants_of_bodies(self):
        for value, type in ((128, "i8"), (-129, "i8"), (1 << 63, "i64"), (0.1, "bf16")):
            with self.assertRaises(Unsupported):
                Body().constant(value, type)

    def test_values(self):
        other = _fad.Builder("g").argument(ROW)
        gc.collect()
        problem = "error: value 1 is one of another builder"
        self.refuse(problem, self.create, "arith.addf", [self.x, other], [MATRIX])
        self.refuse(problem, self.builder.finish, [self.x, other])

    def test_finished(self):
        module = self.builder.finish([self.x])
        problem = (
            "error: the module is finished; make another builder for another module"
        )
        for call, *arguments in (
            (self.builder.argument, ROW),
            (self.builder.create, "math.exp", [self.x], [MATRIX]),
            (self.builder.map, [self.x], write_body(), MATRIX),
            (self.builder.fuse, 1, 1, 1, 1),
            (self.builder.finish, [self.x]),
        ):
            self.refuse(problem, call, *arguments)
        # The module outlives its builder, and a value outlives both.
        del self.builder
        gc.collect()
        self.assertIn("return %arg0 : tensor<2x3xf32>", module.print(None, False))
        del module
        gc.collect()
        self.refuse(
            "error: value 0 is one of another builder", _fad.Builder("g").finish, [self.x]
        )

    def test_verified(self):
        """Errors that no call sees are of the whole module, at the place of the operation."""
        cases = {
            "'fad.opaque' op requires attribute 'kind'": (
                "fad.opaque", [], [ROW], {"name": "n"}),
            "'fad.opaque' op is a view, but has no operand whose memory it shares": (
                "fad.opaque", [], [ROW], {"name": "n", "kind": "view"}),
            "'arith.addf' op expected 2 operands, but found 1": ("arith.addf", [0], [MATRIX]),
            "'scf.if' op expected 2 regions": ("scf.if", [], []),
            "'func.return' op must be the last operation in the parent block": (
                "func.return", [], []),
        }  # fmt: skip
        for message, (name, operands, *rest) in cases.items():
            self.setUp()
            self.builder.locate("mul_3")
            self.create(name, [self.x for _ in operands], *rest)
            self.refuse(f"mul_3: error: {message}", self.builder.finish, [self.x])
            with self.assertRaises(fad.Error):
                self.builder.finish([self.x])


if __name__ == "__main__":
    if "--print" in sys.argv:
        print(build())
    else:
        unittest.main()
