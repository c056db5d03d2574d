# RUN: %fad_python %s
"""Modules: parsing, printing, passes, and what is said about them."""

import copy
import json
import logging
import os
import pathlib
import pickle
import tempfile
import unittest
import warnings

import fad
from fad import _fad

# Backward reads two values that are made of a product.
PROPOSED = """
    func.func @f(%x: tensor<64xf32>, %g: tensor<64xf32> {fad.cotangent = 0 : i64})
        -> (tensor<64xf32>, tensor<64xf32> {fad.gradient = 0 : i64})
        attributes {fad.fuses = #fad.fusion<>, fad.proposals = [["u"], ["k", "e"], ["unknown"]]} {
      %k = fad.opaque "product" contraction time 65536 (%x) {fad.nodes = ["k"]} : (tensor<64xf32>) -> tensor<64xf32>
      %u = fad.opaque "scale" elementwise (%k) {fad.nodes = ["u"]} : (tensor<64xf32>) -> tensor<64xf32>
      %e = fad.opaque "shift" elementwise (%k) {fad.nodes = ["e"]} : (tensor<64xf32>) -> tensor<64xf32>
      %y = fad.opaque "sum" keep (%u, %e) {fad.nodes = ["y"]} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
      %d = fad.opaque "adjoint" keep (%g, %u, %e) {fad.nodes = ["d"]} : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
      return %y, %d : tensor<64xf32>, tensor<64xf32>
    }"""

SQUARE = """func.func @square(%x: tensor<?x3xf32>, %n: index) -> (tensor<?x3xf32>, f64) {
  %y = arith.mulf %x, %x : tensor<?x3xf32>
  %z = arith.constant 1.5 : f64
  return %y, %z : tensor<?x3xf32>, f64
}
func.func private @other(tensor<*xf32>, complex<f32>, tensor<2xbf16>, i1, ui8)
"""


class Parsing(unittest.TestCase):
    def test_text_comes_back(self):
        module = fad.parse(SQUARE)
        self.assertEqual(module.functions, ("square", "other"))
        self.assertEqual(repr(module), "<fad.Module: square, other>")
        self.assertEqual(str(fad.parse(str(module))), str(module))
        module.verify()

    def test_signature(self):
        module = fad.parse(SQUARE)
        square = module.signature("square")
        matrix, number = square.arguments
        self.assertEqual(matrix, fad.ValueType("tensor<?x3xf32>", (None, 3), "float32", False))
        self.assertEqual(number, fad.ValueType("index", (), "int64", True))
        self.assertEqual(str(square.results[1]), "f64")
        others = module.signature("other").arguments
        self.assertEqual([type_.shape for type_ in others], [None, (), (2,), (), ()])
        self.assertEqual(
            [type_.dtype for type_ in others],
            ["float32", None, "bfloat16", "bool", "uint8"],
        )
        with self.assertRaises(fad.Error) as caught:
            module.signature("third")
        self.assertEqual(
            str(caught.exception),
            "<string>: error: there is no function @third; the module has @square, @other",
        )

    def test_without_function(self):
        for text in ("", "func.func private @f(f32) -> f32"):
            handle = fad.parse(text, "f.mlir")._handle
            for describe in (_fad.describe, lambda handle: _fad.plan(handle, "auto")):
                with self.assertRaises(fad.Error) as caught:
                    describe(handle)
                message = "f.mlir: error: there is no function of one block"
                self.assertEqual(str(caught.exception), message)

    def test_proposals(self):
        """The number of a proposal names it, and a number beyond them leaves the choice to fad. One
        that lacks what nothing repeats has it, too. The time of calls is that of the choice, which
        repeats a product where it may."""

        def plan(number, recompute):
            options = {"target": "gpu", "peak_budget": 2**62, "proposal": number}
            return json.loads(_fad.plan(handle, "auto", recompute=recompute, **options))

        handle = fad.parse(PROPOSED)._handle
        plans = [plan(number, "nothing") for number in range(4)]
        found = [sorted(each["name"] for each in plan["saved"]) for plan in plans]
        self.assertEqual(found, [["k", "u"], ["e", "k"], ["k"], ["e", "u"]])
        self.assertEqual({each["proposed_time"] for each in plans}, {plans[0]["time"]})
        repeated = [plan(number, "contractions")["calls"] for number in (0, 3)]
        # It reads a tensor of 256 bytes and writes one.
        product = 65536 + 8 * 2 * 256
        self.assertEqual(repeated, [plans[0]["calls"] + product, plans[3]["calls"]])

    def test_returned(self):
        """Properties of results, for code that takes over their memory."""
        handle = fad.parse("""
            func.func @f(%a: f32, %b: f32) -> (f32, f32, f32, f32) {
              %c = arith.addf %a, %b : f32
              %d = arith.mulf %a, %c : f32
              return %b, %d, %c, %d : f32, f32, f32, f32
            }
            func.func private @declared(f32) -> f32""")._handle
        self.assertEqual(handle.returned("f"), [1, 2, 3, 2])
        for name in ("declared", "third"):
            with self.assertRaisesRegex(fad.Error, f"there is no function @{name} of one block"):
                handle.returned(name)

    def test_error_is_escaped(self):
        """A terminal obeys nothing of a program."""
        with self.assertRaises(fad.Error) as caught:
            fad.parse(SQUARE, "\x1b.mlir").signature("\x1b[2J\x9b\tü\x7f")
        self.assertEqual(
            str(caught.exception),
            "\\1B.mlir: error: there is no function @\\1B[2J\\C2\\9B\tü\\7F; the module has "
            "@square, @other",
        )
        self.assertIn("\x1b[2J", caught.exception.diagnostics[0].message)

    def test_error_tells_the_place(self):
        text = "func.func @f() -> f32 {\n  return %x : f32\n}\n"
        with self.assertRaises(fad.Error) as caught:
            fad.parse(text, "here.mlir")
        place = fad.Location("here.mlir", 2, 10)
        said = fad.Diagnostic("error", "use of undeclared SSA value name", place, notes=())
        self.assertEqual(caught.exception.diagnostics, (said,))
        self.assertEqual(
            str(caught.exception),
            "here.mlir:2:10: error: use of undeclared SSA value name",
        )

    def test_notes(self):
        text = "func.func @f() { return }\nfunc.func @f() { return }\n"
        with self.assertRaises(fad.Error) as caught:
            fad.parse(text, "twice.mlir")
        (diagnostic,) = caught.exception.diagnostics
        self.assertEqual(diagnostic.location, fad.Location("twice.mlir", 2, 1))
        (note,) = diagnostic.notes
        self.assertEqual(note.severity, "note")
        self.assertEqual(note.location, fad.Location("twice.mlir", 1, 1))
        self.assertEqual(
            str(caught.exception),
            "twice.mlir:2:1: error: redefinition of symbol named 'f'\n"
            "twice.mlir:1:1: note: see existing symbol definition here",
        )

    def test_error_can_be_pickled(self):
        with self.assertRaises(fad.Error) as caught:
            fad.parse("nonsense")
        copy = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual(copy.diagnostics, caught.exception.diagnostics)

    def test_names_that_are_not_unicode(self):
        with self.assertRaises(fad.Error) as caught:
            fad.nest(fad.parse('func.func @"\\FF"() { return }'))
        self.assertIn("@\\xff has no", str(caught.exception))

    def test_odd_texts(self):
        self.assertEqual(fad.parse("").functions, ())
        self.assertEqual(repr(fad.parse("")), "<fad.Module: no functions>")
        for text in ("func.func", "module {", b"ML\xefR", "ä"):
            with self.assertRaises(fad.Error):
                fad.parse(text)
        with self.assertRaises(UnicodeEncodeError):
            fad.parse("\ud800")
        with self.assertRaises(TypeError) as caught:
            fad.parse(bytearray(b"module {}"))
        self.assertEqual(str(caught.exception), "a str or bytes is expected, not a bytearray")


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "ä.mlir"

    def test_text(self):
        module = fad.parse(SQUARE)
        module.write(self.path)
        self.assertEqual(self.path.read_text(), str(module) + "\n")
        self.assertEqual(str(fad.parse_file(self.path)), str(module))
        self.assertEqual(str(fad.parse_file(str(self.path))), str(module))

    def test_path_that_is_not_unicode(self):
        path = os.fsdecode(os.fsencode(self.path.parent) + b"/\xff.mlir")
        fad.parse(SQUARE).write(path)
        self.assertEqual(str(fad.parse_file(path)), str(fad.parse(SQUARE)))
        os.unlink(path)
        with self.assertRaises(FileNotFoundError) as caught:
            fad.parse_file(path)
        self.assertEqual(caught.exception.filename, path)

    def test_bytecode(self):
        module = fad.parse(SQUARE)
        module.write(self.path, bytecode=True)
        data = self.path.read_bytes()
        self.assertEqual(data[:4], b"ML\xefR")
        self.assertEqual(str(fad.parse(data)), str(module))
        self.assertEqual(str(fad.parse_file(self.path)), str(module))

    def test_errors(self):
        with self.assertRaises(FileNotFoundError) as caught:
            fad.parse_file(self.path)
        self.assertEqual(caught.exception.filename, str(self.path))
        with self.assertRaises(IsADirectoryError):
            fad.parse_file(self.path.parent)
        with self.assertRaises(FileNotFoundError):
            fad.parse(SQUARE).write(self.path / "below")
        for use in (fad.parse_file, fad.parse("").write):
            with self.assertRaises(ValueError) as caught:
                use("a\0b")
            self.assertEqual(str(caught.exception), "the path 'a\\x00b' has a null byte")
        self.path.write_text("func.func @f( {")
        with self.assertRaises(fad.Error) as caught:
            fad.parse_file(self.path)
        (diagnostic,) = caught.exception.diagnostics
        self.assertEqual(diagnostic.location.file, str(self.path))

    @unittest.skipUnless(os.path.exists("/dev/full"), "there is no /dev/full")
    def test_full_disk(self):
        with self.assertRaises(OSError) as caught:
            fad.parse(SQUARE).write("/dev/full")
        self.assertIn("No space left", str(caught.exception))


class Text(unittest.TestCase):
    CONSTANT = """func.func @f() -> tensor<4xf32> {
      %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
      return %c : tensor<4xf32>
    }"""

    def test_large_constants_are_left_out(self):
        module = fad.parse(self.CONSTANT)
        self.assertIn("dense<[1.0", module.text(max_elements=4))
        self.assertIn("dense_resource<__elided__>", module.text(max_elements=3))
        self.assertIn("dense<[1.0", str(module))

    def test_locations(self):
        module = fad.parse(self.CONSTANT, "c.mlir")
        self.assertNotIn("c.mlir", module.text())
        self.assertIn('loc("c.mlir":2:12)', module.text(locations=True))


class Passes(unittest.TestCase):
    def test_pipelines(self):
        for pipeline in (
            "fad-nest{policy=bp wrt=0},canonicalize",
            "builtin.module(fad-nest{policy=bp wrt=0}, canonicalize)",
            "inline,fad-nest,func.func(cse)",
        ):
            module = fad.parse(SQUARE)
            module.run(pipeline)
            self.assertEqual(module.functions, ("square_forward", "square_backward", "other"))

    def test_unknown_attributes(self):
        for name, hint in (
            ("nothing", ""),
            ("memory_reprot", "; did you mean 'memory_report'?"),
            ("torch", " before it is imported; write: import fad.torch"),
        ):
            with self.assertRaises(AttributeError) as caught:
                getattr(fad, name)
            self.assertEqual(str(caught.exception), f"module 'fad' has no attribute {name!r}{hint}")

    def test_unknown_pipelines(self):
        module = fad.parse(SQUARE)
        for pipeline, message in (
            ("nope", "'nope' does not refer to a registered pass or pass pipeline"),
            ("cse,", "'' does not refer to a registered pass or pass pipeline"),
            ("fad-nest{policy=x}", "policy: 'x' is none of its values: bp, recompute, fad, auto"),
            (
                "fad-nest{policy=Fads}",
                "policy: 'Fads' is none of its values: bp, recompute, fad, auto; did you mean "
                "'fad'?",
            ),
            ("fad-nest{assumed-size=x}", "assumed-size: 'x' is no integer"),
            (
                "fad-nest{peak-budget=x}",
                "peak-budget: the value is 'x', which is no number of bytes; the units are B, KB, "
                "MB, GB, TB, KiB, MiB, GiB and TiB",
            ),
            ("fad-nest{polcy=fad}", "there is no option 'polcy'; did you mean 'policy'?"),
            ("fad-to-iree{speed=1}", "there is no option 'speed'; there are none"),
            (
                "canonicalize{top-down=x}",
                "failed to add `canonicalize` with options `top-down=x`",
            ),
            (
                "func.func(fad-nest)",
                "'fad-nest' is a pipeline for 'builtin.module', not for 'func.func'",
            ),
        ):
            with self.assertRaises(fad.Error) as caught:
                module.run(pipeline)
            (diagnostic,) = caught.exception.diagnostics
            self.assertEqual(
                diagnostic.message,
                f"cannot read the pipeline '{pipeline}': {message}",
            )

    def test_failure_leaves_the_module(self):
        module = fad.parse(SQUARE, "square.mlir")
        before = str(module)
        with self.assertRaises(fad.Error) as caught:
            module.run("fad-nest,fad-nest{wrt=1}")
        self.assertEqual(str(module), before)
        self.assertTrue(caught.exception.diagnostics)

    def test_clones_are_apart(self):
        module = fad.parse(SQUARE)
        copy = module.clone()
        copy.run("fad-nest")
        self.assertEqual(module.functions, ("square", "other"))
        del module
        self.assertIn("square_forward", str(copy))

    def test_copies_are_clones(self):
        module = fad.parse(SQUARE, "square.mlir")
        before = module.text(locations=True)
        nested = fad.nest(module, "square")
        copies = [
            copy.copy(module),
            copy.deepcopy([module])[0],
            pickle.loads(pickle.dumps(module)),
        ]
        for each in copies:
            self.assertEqual(each.text(locations=True), before)
            each.run("fad-nest")
            self.assertEqual(module.text(locations=True), before)
        again = pickle.loads(pickle.dumps(nested))
        self.assertEqual(str(again.module), str(nested.module))
        self.assertEqual(again.residuals, nested.residuals)


class Reports(unittest.TestCase):
    """Messages of calls that succeed."""

    REMARK = """module attributes {transform.with_named_sequence} {
      transform.named_sequence @__transform_main(%m: !transform.any_op) {
        transform.debug.emit_remark_at %m, "noted" : !transform.any_op
        transform.yield
      }
    }"""

    def test_remarks(self):
        module = fad.parse(self.REMARK, "r.mlir")
        with self.assertLogs("fad", logging.INFO) as logs:
            module.run("transform-interpreter")
        self.assertEqual(logs.output, ["INFO:fad:r.mlir:1:1: remark: noted"])

    SUM = """func.func @sum(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2xf32> {
      %e = tensor.empty() : tensor<2xf32>
      %r = linalg.matvec ins(%x, %y : tensor<2x3xf32>, tensor<3xf32>)
        outs(%e : tensor<2xf32>) -> tensor<2xf32>
      return %r : tensor<2xf32>
    }"""

    def test_undefined_sum(self):
        expected = (
            "s.mlir:3:12: warning: 'linalg.matvec' op adds to tensor.empty, whose elements "
            "are undefined; fill it with zeros"
        )
        for call in fad.nest, fad.compile, fad.memory_report:
            with self.subTest(call.__name__), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("default")
                call(fad.parse(self.SUM, "s.mlir"))
                self.assertEqual([str(warning.message) for warning in caught], [expected])

    def test_warnings(self):
        # With a note, as no pass at hand has one, so this is what C++ would call.
        said = [("warning", "odd", "w.mlir", 3, 4, [("note", "see", "", 0, 0, [])])]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fad._diagnostics.report(said)
        (warning,) = caught
        self.assertIs(warning.category, fad.DiagnosticWarning)
        self.assertEqual(str(warning.message), "w.mlir:3:4: warning: odd\nnote: see")
        self.assertEqual(warning.message.diagnostic.location.column, 4)


if __name__ == "__main__":
    unittest.main()
