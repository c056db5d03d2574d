# REQUIRES: ml_dtypes
# RUN: %python %s
"""Convolutions and their gradients by a library, and by the loops of the runtime where
that is missing, against numpy: all types, layouts, strides, dilations, paddings, groups,
sizes."""

import os
import pathlib
import subprocess
import sys
import unittest
import unittest.mock

import fad
import ml_dtypes
import numpy

# Dimensions of image, filter and result: n batch, g group, c and o channels, xyz the
# positions in the image, ijk in the filter, uvw in the result; then sizes, and for each
# window its stride, dilation and padding.
CASES = {
    "plain": ("ncxy", "ocij", "nouv", {}, [(1, 1, 0), (1, 1, 0)]),
    "padded": ("ncxy", "ocij", "nouv", {"u": 9, "v": 8}, [(1, 1, 1), (1, 1, 1)]),
    "strides": ("ncxy", "ocij", "nouv", {"u": 4, "v": 3}, [(2, 1, 1), (3, 1, 0)]),
    "dilations": ("ncxy", "ocij", "nouv", {"u": 5, "v": 4}, [(1, 2, 0), (1, 3, 1)]),
    "channels last": ("nxyc", "ijco", "nuvo", {}, [(1, 1, 0), (1, 1, 0)]),
    "mixed": ("xcyn", "ijoc", "ovun", {"u": 4}, [(2, 1, 1), (1, 1, 0)]),
    "large padding": ("ncxy", "ocij", "nouv", {"u": 14}, [(1, 1, 4), (1, 1, 0)]),
    "cropped": ("ncxy", "ocij", "nouv", {"u": 4, "v": 2}, [(1, 1, -2), (1, 1, -1)]),
    "cut": ("ncxy", "ocij", "nouv", {"u": 2, "v": 1}, [(2, 1, 0), (1, 1, 0)]),
    "one dimension": ("ncx", "oci", "nou", {"u": 9}, [(1, 1, 1)]),
    "three dimensions": ("ncxyz", "ocijk", "nouvw", {}, [(1, 1, 0)] * 3),
    "groups": ("ngcxy", "gocij", "ngouv", {}, [(1, 1, 0), (1, 1, 0)]),
    "groups inside": ("ncgxy", "gocij", "noguv", {}, [(1, 1, 0), (1, 1, 0)]),
    "depthwise": ("ngxy", "gij", "nguv", {"g": 16}, [(1, 1, 0), (1, 1, 0)]),
    "multiplier": ("nxyg", "ijgo", "nuvgo", {}, [(1, 1, 0), (1, 1, 0)]),
    "one channel": ("nxy", "oij", "nouv", {}, [(1, 1, 0), (1, 1, 0)]),
    "no batch": ("cxy", "ocij", "ouv", {}, [(1, 1, 0), (1, 1, 0)]),
    "two batches": ("nmcxy", "ocij", "nmouv", {}, [(1, 1, 0), (1, 1, 0)]),
    "two sums": ("ncdxy", "odcij", "nouv", {}, [(1, 1, 0), (1, 1, 0)]),
    "one element": ("ncxy", "ocij", "nouv", {"i": 1, "j": 1, "u": 5, "v": 4}, [(2, 1, 0)] * 2),
    "padded element": ("ncxy", "ocij", "nouv", {"i": 1, "j": 1, "u": 6, "v": 4}, [(2, 1, 0)] * 2),
    "cropped element": ("ncx", "oci", "nou", {"i": 1, "u": 3}, [(3, 1, -1)]),
    "window of one dimension": ("ncxy", "oci", "nouy", {}, [(1, 1, 0)]),
    "no images": ("ncxy", "ocij", "nouv", {"n": 0}, [(1, 1, 0), (1, 1, 0)]),
    "no channels": ("ncxy", "ocij", "nouv", {"c": 0}, [(1, 1, 0), (1, 1, 0)]),
    "no result": ("ncxy", "ocij", "nouv", {"u": 0}, [(1, 1, 0), (1, 1, 0)]),
    "no window": ("ncxy", "ocij", "nouv", {"i": 0}, [(1, 1, 0), (1, 1, 0)]),
    "no pixels": ("ncxy", "ocij", "nouv", {"x": 0, "u": 2}, [(1, 1, 2), (1, 1, 0)]),
    "only padding": ("ncxy", "ocij", "nouv", {"x": 1, "u": 2}, [(1, 1, 9), (1, 1, 0)]),
}
SIZES = dict(n=2, m=3, g=4, c=5, d=2, o=6, x=9, y=8, z=7, i=3, j=2, k=2, u=7, v=7, w=6)
TYPES = {
    "f32": (numpy.float32, 1e-5),
    "f64": (numpy.float64, 1e-13),
    "bf16": (ml_dtypes.bfloat16, 2e-2),
    "f16": (numpy.float16, 5e-3),
}
WINDOWS = ("xiu", "yjv", "zkw")


def write_function(name, case, output, factor, total, static, zero):
    """The operand number `output` of a convolution from the others."""
    dims, sizes, windows = CASES[case][:3], SIZES | CASES[case][3], CASES[case][4]
    loops = sorted(set("".join(dims)) - set("xyz"[: len(windows)]))
    index = {loop: loop for loop in loops}
    for (x, i, u), (stride, dilation, padding) in zip(WINDOWS, windows):
        index[x] = f"{u} * {stride} + {i} * {dilation} - ({padding})"
    order = [each for each in range(3) if each != output] + [output]
    maps = [
        f"affine_map<({','.join(loops)}) -> ({','.join(index[d] for d in dims[each])})>"
        for each in order
    ]
    types = [
        "tensor<" + "".join(f"{sizes[d] if static else '?'}x" for d in dims[each]) + f"{t}>"
        for each, t in zip(order, (factor, factor, total))
    ]
    before, start = "", "%c"
    if zero:
        before = f"""%z = arith.constant 0.0 : {total}
          %f = linalg.fill ins(%z : {total}) outs(%c : {types[2]}) -> {types[2]}\n"""
        start = "%f"
    return f"""
    func.func @{name}(%a: {types[0]}, %b: {types[1]}, %c: {types[2]}) -> {types[2]} {{
      {before}
      %r = fad.convolve %a, %b into {start} by [{", ".join(maps)}]
          : {", ".join(types)} -> {types[2]}
      return %r : {types[2]}
    }}"""


def make_windows(image, dims, windows, sizes):
    """The elements of `image` that each position of the result and of the filter has, with
    both in the place of the position in the image; and the index of each, or -1."""
    flat = numpy.arange(image.size).reshape(image.shape)
    flat = numpy.pad(flat, [(0, 1)] * flat.ndim, constant_values=-1)
    for (x, i, u), (stride, dilation, padding) in zip(WINDOWS, windows):
        at = (
            numpy.add.outer(numpy.arange(sizes[u]) * stride, numpy.arange(sizes[i]) * dilation)
            - padding
        )
        outside = (at < 0) | (at >= sizes[x])
        axis = dims.index(x)
        flat = numpy.take(flat, numpy.where(outside, sizes[x], at), axis=axis)
        dims = dims.replace(x, u + i)
    for axis, dim in enumerate(dims):
        if dim not in "ijkuvw" or flat.shape[axis] == sizes[dim] + 1:
            flat = numpy.take(flat, range(sizes[dim]), axis=axis)
    return flat, dims


def convolve(case, output, operands):
    dims, sizes, windows = CASES[case][:3], SIZES | CASES[case][3], CASES[case][4]
    flat, read = make_windows(operands[0], dims[0], windows, sizes)
    if output != 0:
        pixels = numpy.append(operands[0].ravel(), 0)[flat]
        other = 3 - output
        return numpy.einsum(f"{read},{dims[other]}->{dims[output]}", pixels, operands[other])
    parts = numpy.einsum(f"{dims[1]},{dims[2]}->{read}", operands[1], operands[2])
    total = numpy.zeros(operands[0].size + 1)
    numpy.add.at(total, flat, parts)
    return total[:-1].reshape(operands[0].shape)


class Convolutions(unittest.TestCase):
    def check(self, factor, total, static, zero):
        programs = [(case, output) for case in CASES for output in range(3)]
        text = "".join(
            write_function(f"f{i}", *each, factor, total, static, zero)
            for i, each in enumerate(programs)
        )
        program = fad.compile(fad.parse(text))
        random = numpy.random.default_rng(0)
        for i, (case, output) in enumerate(programs):
            sizes = SIZES | CASES[case][3]
            operands = [
                random.standard_normal([sizes[d] for d in dims]).astype(
                    TYPES[total if each == output else factor][0]
                )
                for each, dims in enumerate(CASES[case][:3])
            ]
            before = operands[output].astype(float)
            expected = convolve(case, output, [each.astype(float) for each in operands])
            expected = expected + (0 if zero else before)
            order = [each for each in range(3) if each != output] + [output]
            (got,) = program.call(f"f{i}", *(operands[each] for each in order))
            with self.subTest(case, output=output, factor=factor, total=total, zero=zero):
                self.assertEqual(got.shape, expected.shape)
                bound = TYPES[factor if factor == total else total][1]
                scale = numpy.abs(expected).max(initial=1)
                error = numpy.abs(got.astype(float) - expected).max(initial=0)
                self.assertLess(error / scale, bound)

    def test_types(self):
        self.check("f32", "f32", static=True, zero=True)
        self.check("f32", "f32", static=False, zero=False)
        self.check("bf16", "bf16", static=False, zero=True)
        few = {name: CASES[name] for name in ("padded", "mixed", "groups", "only padding")}
        with unittest.mock.patch.dict(CASES, few, clear=True):
            self.check("f64", "f64", static=True, zero=False)
            self.check("f16", "f16", static=True, zero=True)
            self.check("bf16", "bf16", static=True, zero=False)
            self.check("bf16", "f32", static=False, zero=True)
            self.check("f16", "f32", static=False, zero=False)

    def test_missing(self):
        """Without oneDNN the runtime has loops."""
        script = f"""
import sys; sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
import convolutions
convolutions.Convolutions().check("f32", "f32", static=False, zero=True)
"""
        subprocess.run(
            [sys.executable, "-c", script],
            env=os.environ | {"FAD_ONEDNN_LIBRARY": ""},
            check=True,
        )


if __name__ == "__main__":
    unittest.main()
