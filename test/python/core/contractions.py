# REQUIRES: ml_dtypes
# RUN: %fad_python %s %if nightly %{ --every %}
"""Products of matrices by a library, whatever it is, against numpy and fad's loops: all
types, strides, sizes; and where the library is missing. With --every, as in
check-fad-nightly, all types have all kinds of programs, and all cases are computed in 16 bits
and without the libraries; else, some."""

import os
import pathlib
import subprocess
import sys
import unittest

import fad
import ml_dtypes
import numpy

# Left factor, right factor and sum by their loops, sizes of the loops.
CASES = {
    "product": ("mk", "kn", "mn", {}),
    "left transposed": ("km", "kn", "mn", {}),
    "right transposed": ("mk", "nk", "mn", {}),
    "result transposed": ("mk", "kn", "nm", {}),
    "batch": ("bmk", "bkn", "bmn", {}),
    "batch inside": ("mbk", "nbk", "bmn", {}),
    "batch last": ("mkb", "knb", "mnb", {}),
    "two batches": ("bmck", "bnck", "bcmn", {}),
    "result apart": ("bmck", "bcnk", "mbnc", {}),
    "two reductions": ("kmj", "jkn", "mn", {}),
    "rows in two": ("amk", "kn", "man", {}),
    "columns in two": ("mk", "cnk", "mcn", {}),
    "row": ("mk", "kn", "mn", {"m": 1}),
    "column": ("mk", "kn", "mn", {"n": 1}),
    "outer": ("mk", "kn", "mn", {"k": 1}),
    "one": ("mk", "kn", "mn", {"m": 1, "n": 1}),
    "rows of a page": ("mk", "kn", "mn", {"n": 3072, "k": 3}),
    "columns of a page": ("mk", "nk", "nm", {"m": 3072, "k": 3}),
    "no rows": ("mk", "kn", "mn", {"m": 0}),
    "no reduction": ("bmk", "bkn", "bmn", {"k": 0}),
    "no batch": ("bmk", "bkn", "bmn", {"b": 0}),
}
# Of the cases, those that are computed by day in 16 bits and without the libraries.
SAMPLE = "product", "right transposed", "batch inside", "row", "no reduction"
EVERY = "--every" in sys.argv
SIZES = dict(a=2, b=3, c=4, j=3, m=17, n=33, k=20)
TYPES = {
    "f32": (numpy.float32, 1e-5),
    "f64": (numpy.float64, 1e-13),
    # Sums are bf16, too, as the program says: up to 20 roundings of 2**-9 each.
    "bf16": (ml_dtypes.bfloat16, 2e-2),
    "f16": (numpy.float16, 5e-3),
}


def write_function(name, case, factor, total, static, zero):
    """A function that adds products to its last argument, or to zero."""
    left, right, output, sizes = CASES[case]
    sizes = SIZES | sizes
    loops = "".join(dict.fromkeys(output + left + right))
    maps = [f"affine_map<({','.join(loops)}) -> ({','.join(o)})>" for o in (left, right, output)]
    kinds = ", ".join('"parallel"' if loop in output else '"reduction"' for loop in loops)
    types = [
        "tensor<" + "".join(f"{sizes[d] if static else '?'}x" for d in dims) + f"{t}>"
        for dims, t in ((left, factor), (right, factor), (output, total))
    ]
    widen = factor != total
    body = "".join(f"%w{x} = arith.extf %{x} : {factor} to {total}\n" for x in "xy" if widen)
    x, y = ("%wx", "%wy") if widen else ("%x", "%y")
    start = "%c"
    before = ""
    if zero:
        sizes_of = "" if static else ", ".join(f"%d{i}" for i in range(len(output)))
        if not static:
            before = "".join(
                f"%i{i} = arith.constant {i} : index\n%d{i} = tensor.dim %c, %i{i} : {types[2]}\n"
                for i in range(len(output))
            )
        before += f"""%e = tensor.empty({sizes_of}) : {types[2]}
          %z = arith.constant 0.0 : {total}
          %f = linalg.fill ins(%z : {total}) outs(%e : {types[2]}) -> {types[2]}\n"""
        start = "%f"
    return f"""
    func.func @{name}(%a: {types[0]}, %b: {types[1]}, %c: {types[2]}) -> {types[2]} {{
      {before}
      %r = linalg.generic {{indexing_maps = [{", ".join(maps)}], iterator_types = [{kinds}]}}
          ins(%a, %b : {types[0]}, {types[1]}) outs({start} : {types[2]}) {{
      ^bb0(%x: {factor}, %y: {factor}, %s: {total}):
        {body}%p = arith.mulf {x}, {y} : {total}
        %t = arith.addf %s, %p : {total}
        linalg.yield %t : {total}
      }} -> {types[2]}
      return %r : {types[2]}
    }}"""


class Contractions(unittest.TestCase):
    def check(self, factor, total, static, zero, contractions="library", cases=tuple(CASES)):
        text = "".join(
            write_function(f"f{i}", case, factor, total, static, zero)
            for i, case in enumerate(cases)
        )
        program = fad.compile(fad.parse(text), contractions=contractions)
        random = numpy.random.default_rng(0)
        for i, case in enumerate(cases):
            left, right, output, sizes = CASES[case]
            sizes = SIZES | sizes
            a, b, c = (
                random.standard_normal([sizes[d] for d in dims]).astype(TYPES[t][0])
                for dims, t in ((left, factor), (right, factor), (output, total))
            )
            expected = numpy.einsum(
                f"{left},{right}->{output}", a.astype(float), b.astype(float)
            ) + (0 if zero else c.astype(float))
            (got,) = program.call(f"f{i}", a, b, c)
            with self.subTest(case, factor=factor, total=total, static=static, zero=zero):
                bound = max(TYPES[factor if factor == total else total][1], 1e-13)
                scale = numpy.abs(expected).max(initial=1)
                self.assertEqual(got.shape, expected.shape)
                error = numpy.abs(got.astype(float) - expected).max(initial=0)
                self.assertLess(error / scale, bound)

    def test_all(self):
        narrow = tuple(CASES) if EVERY else SAMPLE
        for t in ("f32", "f64") if EVERY else ("f64",):
            self.check(t, t, static=True, zero=True)
        for t in ("bf16", "f16") if EVERY else ("f16",):
            self.check(t, t, static=True, zero=True, cases=narrow)
        self.check("f32", "f32", static=False, zero=False)
        if EVERY:
            self.check("bf16", "bf16", static=False, zero=False)
        self.check("bf16", "f32", static=False, zero=True, cases=narrow)

    def test_infinities(self):
        program = fad.compile(
            fad.parse(write_function("f", "product", "f32", "f32", False, True)),
            contractions="library",
        )
        a = numpy.zeros((17, 20), numpy.float32)
        b = numpy.ones((20, 33), numpy.float32)
        a[0, 0], a[1, 1], b[0, 0] = numpy.inf, numpy.nan, 0
        (got,) = program.call("f", a, b, numpy.full((17, 33), 7, numpy.float32))
        numpy.testing.assert_array_equal(got, a @ b)

    def test_invalid(self):
        text = write_function("f", "product", "f32", "f32", False, True)
        message = "contractions is 'blas'; choose one of 'auto', 'library', 'loops'$"
        with self.assertRaisesRegex(ValueError, message):
            fad.compile(fad.parse(text), contractions="blas")

    def test_missing(self):
        """Without oneDNN, without OpenBLAS, and without both."""
        script = f"""
import sys; sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
import contractions
cases = tuple(contractions.CASES) if {EVERY} else contractions.SAMPLE
test = contractions.Contractions()
test.check("f32", "f32", static=False, zero=True, contractions="auto", cases=cases)
"""
        for absent in (["ONEDNN"], ["OPENBLAS"], ["ONEDNN", "OPENBLAS"]):
            hidden = {f"FAD_{name}_LIBRARY": "" for name in absent}
            done = subprocess.run(
                [sys.executable, "-c", script], env=os.environ | hidden,
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            # Said once, though there are many contractions.
            said = done.stderr.count("so contractions are loops")
            self.assertEqual(said, len(absent) == 2, done.stderr)
        script = script.replace('"auto"', '"library"')
        done = subprocess.run(
            [sys.executable, "-c", script], env=os.environ | hidden,
            capture_output=True, text=True,
        )  # fmt: skip
        self.assertIn("there is neither oneDNN (libdnnl.so.2 or .3) nor OpenBLAS", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[each for each in sys.argv if each != "--every"])
