"""Differentiates every named operation of linalg and checks the gradients.

usage: named_ops.py --tools DIR --headers DIR --out DIR [--only REGEX] [--every]

The names come from the headers of the installed LLVM. Each either has cases here,
and then its gradients are compared with finite differences in f64 by fad-runner,
or is in `UNSUPPORTED`, and then fad has to say so in the words given there. A name
that is in neither is an error.

Operations are run with static and dynamic sizes; convolutions and sums over
windows at several strides, dilations and kernel sizes, with rows left over, sizes
of 1, and no elements at all. Of these cases each operation has some, unless `--every`
is given, and an operation of the same kind the others.
"""

import argparse
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from string import Template

import numpy as np

from many_checks import run_checks

POLICIES = ["fad", "bp", "recompute"]
HEADERS = ["LinalgStructuredOps.h.inc", "LinalgOps.h.inc", "LinalgRelayoutOps.h.inc"]
# Parts of other operations, and the one that has no name.
PARTS = {"index", "yield", "generic"}
SPATIAL = "dhw"
SIZES = {"n": 2, "c": 3, "f": 4, "g": 2, "m": 2}
# Kernel sizes, strides, dilations and output sizes for d, h, w, and how many rows
# of the input no window reaches.
WINDOWS = {
    "plain": ((2, 3, 2), (1, 1, 1), (1, 1, 1), (2, 3, 4), 0),
    "strided": ((2, 3, 2), (1, 2, 3), (2, 1, 2), (2, 3, 2), 1),
    "pointwise": ((1, 1, 1), (1, 2, 1), (1, 1, 1), (2, 3, 4), 0),
    "single": ((2, 2, 3), (2, 1, 2), (1, 1, 1), (1, 1, 1), 0),
}


@dataclass
class Case:
    """An operation on tensors of `shapes`, the last of which is the init.

    `text` computes %r from %x0, %x1 and so on; it may mention $t0, $t1 and so on,
    their types, and $b0, the first with elements of i1. `positive` operands are
    all between 0.6 and 1.9. Without `has_dynamic`, all sizes have to be static."""

    shapes: list
    text: str
    positive: bool = False
    has_dynamic: bool = True

    def emit(self, number, dynamic):
        """Arguments, operations, and the type of the result. All names end with
        `number`."""
        types = []
        for shape in self.shapes:
            sizes = "".join("?x" if dynamic else f"{size}x" for size in shape)
            types.append(f"tensor<{sizes}f64>")
        text = Template(self.text).substitute(
            {f"t{index}": kind for index, kind in enumerate(types)},
            b0=types[0].replace("f64", "i1"),
        )
        arguments = [f"%x{index}: {kind}" for index, kind in enumerate(types)]
        name = re.compile(r"(%[a-z0-9]+)")
        return (
            [name.sub(rf"\1_{number}", argument) for argument in arguments],
            name.sub(rf"\1_{number}", text),
            types[-1],
        )

    def arrays(self):
        generator = np.random.default_rng(len(self.text))
        for shape in self.shapes:
            if self.positive:
                yield generator.uniform(0.6, 1.9, shape)
            else:
                yield generator.normal(size=shape)


def build_function(cases, dynamic):
    """A function of all cases side by side."""
    emitted = [case.emit(number, dynamic) for number, case in enumerate(cases)]
    arguments = ", ".join(", ".join(part[0]) for part in emitted)
    results = ", ".join(part[2] for part in emitted)
    values = ", ".join(f"%r_{number}" for number in range(len(cases)))
    operations = "".join(f"  {part[1]}\n" for part in emitted)
    return (
        f"func.func @f({arguments}) -> ({results}) {{\n"
        f"{operations}  return {values} : {results}\n}}\n"
    )


def simple(name, shapes, attributes="", positive=False):
    """The usual form: inputs, and an init of the type of the result. Quantized
    operations have a zero point for each input."""
    last = len(shapes) - 1
    inputs = [f"%x{i}" for i in range(last)]
    types = [f"$t{i}" for i in range(last)]
    prefix = ""
    if name.endswith("_q") or name.startswith("quantized"):
        prefix = "%zero = arith.constant 2 : i32\n  "
        inputs += ["%zero"] * 2
        types += ["i32"] * 2
    text = (
        f"{prefix}%r = linalg.{name} {attributes} "
        f"ins({', '.join(inputs)} : {', '.join(types)}) "
        f"outs(%x{last} : $t{last}) -> $t{last}"
    )
    return Case(shapes, text, positive)


def windowed(name, layouts, window, has_strides, sizes):
    """The case of an operation on windows of one form."""
    image, kernel, output = layouts
    spatial = [axis for axis in SPATIAL if axis in image]
    kernels, strides, dilations, outputs = (dict(zip(SPATIAL, values)) for values in window[:4])
    attributes = ""
    if has_strides:
        attributes = "{{strides = dense<{}> : {t}, dilations = dense<{}> : {t}}}".format(
            [strides[a] for a in spatial],
            [dilations[a] for a in spatial],
            t=f"tensor<{len(spatial)}xi64>",
        )
    else:
        strides = dilations = dict.fromkeys(SPATIAL, 1)
    full = {
        axis: (outputs[axis] - 1) * strides[axis]
        + (kernels[axis] - 1) * dilations[axis]
        + 1
        + (window[4] if has_strides else 0)
        for axis in spatial
    }
    shapes = [
        [{**sizes, **full}[axis] for axis in image],
        [{**sizes, **kernels}[axis] for axis in kernel],
        [{**sizes, **outputs}[axis] for axis in output],
    ]
    return simple(name, shapes, attributes)


def all_windowed(name, *layouts):
    has_strides = "n" in layouts[0]
    cases = [windowed(name, layouts, window, has_strides, SIZES) for window in WINDOWS.values()]
    if has_strides:
        for sizes in [dict.fromkeys(SIZES, 1), {**SIZES, "n": 0}, {**SIZES, "c": 0}]:
            cases.append(windowed(name, layouts, WINDOWS["strided"], True, sizes))
    return cases


def convolution(name):
    """The cases of a convolution or sum over windows, whose name tells the
    layouts; nothing for another operation."""
    match = re.fullmatch(r"pooling_([a-z]+)_(sum|max|min)", name)
    if match:
        kernel = "".join(axis for axis in match[1] if axis in SPATIAL)
        return all_windowed(name, match[1], kernel, match[1])
    match = re.fullmatch(r"conv_([123])d", name)
    if match:
        axes = SPATIAL[-int(match[1]) :]
        return all_windowed(name, axes, axes, axes)
    match = re.fullmatch(r"(depthwise_)?conv_[123]d_([a-z]+)_([a-z]+)(_q)?", name)
    if not match:
        return None
    image, kernel = match[2], match[3]
    if match[1]:
        return all_windowed(name, image, kernel, image + "m" * ("m" in kernel))
    return all_windowed(name, image, kernel, image.replace("c", "f"))


def contraction(name, *layouts, attributes=""):
    cases = []
    for sizes in [
        dict(zip("bmnkpqr", (2, 3, 4, 5, 2, 3, 2))),
        dict.fromkeys("bmnkpqr", 1),
        dict(zip("bmnkpqr", (2, 3, 4, 0, 2, 3, 2))),
        dict(zip("bmnkpqr", (2, 0, 4, 5, 2, 3, 2))),
    ]:
        shapes = [[sizes[axis] for axis in layout] for layout in layouts]
        cases.append(simple(name, shapes, attributes))
    return cases


def elementwise(name, operands, attributes=""):
    """All operands are positive, where everything but the choice between equal
    operands is smooth."""
    return [
        simple(name, [shape] * (operands + 1), attributes, positive=True)
        for shape in ([3, 4], [1, 1], [0, 4], [])
    ]


MAPS = (
    "indexing_maps = [affine_map<(i, j, m, n, k) -> (k, i, m, j)>, "
    "affine_map<(i, j, m, n, k) -> (j, n, k, i)>, "
    "affine_map<(i, j, m, n, k) -> (n, i, j, m)>]"
)
TRANSPOSE = """%r = linalg.transpose ins(%x0 : $t0) outs(%x1 : $t1)
    permutation = [2, 0, 1]"""
BROADCAST = """%r = linalg.broadcast ins(%x0 : $t0) outs(%x1 : $t1)
    dimensions = [0, 2]"""
REDUCE = """%r = linalg.reduce ins(%x0 : $t0) outs(%x1 : $t1) dimensions = [1]
    (%in: f64, %out: f64) {
      %s = arith.addf %in, %out : f64
      linalg.yield %s : f64
    }"""
MAP = """%r = linalg.map ins(%x0, %x1 : $t0, $t1) outs(%x2 : $t2)
    (%a: f64, %b: f64, %out: f64) {
      %s = arith.mulf %a, %b : f64
      linalg.yield %s : f64
    }"""
SELECT = """%c = arith.cmpf olt, %x0, %x1 : $t0
  %r = linalg.select ins(%c, %x0, %x1 : $b0, $t0, $t1) outs(%x2 : $t2) -> $t2"""
SOFTMAX = """%r = linalg.softmax dimension(1)
    ins(%x0 : $t0) outs(%x1 : $t1) -> $t1"""
PACK = """%r = linalg.pack %x0 inner_dims_pos = [0, 1] inner_tiles = [2, 3]
    into %x1 : $t0 -> $t1"""
# The border is a differentiable scalar, and the outer dimensions change places.
PACK_BORDER = """%s = tensor.extract %x1[] : tensor<f64>
  %r = linalg.pack %x0 padding_value(%s : f64) outer_dims_perm = [1, 0]
    inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %x2 : $t0 -> $t2"""
UNPACK = PACK.replace("linalg.pack", "linalg.unpack")
WINOGRAD = """%r = linalg.winograd_{}_transform fmr(F_4_3)
    ins(%x0 : $t0) outs(%x1 : $t1) -> $t1"""
# Every element is the same differentiable scalar, which reaches the result.
FILL = """%s = tensor.extract %x0[] : tensor<f64>
  %f = linalg.fill ins(%s : f64) outs(%x1 : $t1) -> $t1
  %r = arith.mulf %f, %x1 : $t1"""
# Random numbers between two differentiable bounds.
RANDOM = """%a = tensor.extract %x0[] : tensor<f64>
  %b = tensor.extract %x1[] : tensor<f64>
  %seed = arith.constant 7 : i32
  %r = linalg.fill_rng_2d ins(%a, %b, %seed : f64, f64, i32) outs(%x2 : $t2) -> $t2"""

UNARY = "abs ceil erf exp floor log negf reciprocal round rsqrt sqrt square tanh copy"
BINARY = "add sub mul div max min powf"

CASES = {
    "matmul": contraction("matmul", "mk", "kn", "mn"),
    "batch_matmul": contraction("batch_matmul", "bmk", "bkn", "bmn"),
    "batch_reduce_matmul": contraction("batch_reduce_matmul", "bmk", "bkn", "mn"),
    "matvec": contraction("matvec", "mk", "k", "m"),
    "vecmat": contraction("vecmat", "k", "kn", "n"),
    "batch_matvec": contraction("batch_matvec", "bmk", "bk", "bm"),
    "batch_vecmat": contraction("batch_vecmat", "bk", "bkn", "bn"),
    "dot": contraction("dot", "k", "k", ""),
    "mmt4d": contraction("mmt4d", "mkpr", "nkqr", "mnpq"),
    "batch_mmt4d": contraction("batch_mmt4d", "bmkpr", "bnkqr", "bmnpq"),
    "contract": contraction("contract", "kbmp", "pnkb", "nbpm", attributes=MAPS),
    "transpose": [Case([[2, 3, 4], [4, 2, 3]], TRANSPOSE)],
    "broadcast": [Case([[3], [2, 3, 4]], BROADCAST)],
    "reduce": [Case([[3, 4, 2], [3, 2]], REDUCE), Case([[3, 0, 2], [3, 2]], REDUCE)],
    "map": [Case([[3, 4]] * 3, MAP)],
    "select": [Case([[3, 4]] * 3, SELECT)],
    "softmax": [Case([[3, 4]] * 2, SOFTMAX)],
    "pack": [
        Case([[4, 6], [2, 2, 2, 3]], PACK, has_dynamic=False),
        Case([[3, 7], [], [3, 2, 2, 3]], PACK_BORDER, has_dynamic=False),
    ],
    "unpack": [
        Case([[2, 2, 2, 3], [4, 6]], UNPACK, has_dynamic=False),
        Case([[2, 2, 2, 3], [3, 5]], UNPACK, has_dynamic=False),
    ],
    "fill": [Case([[], [3, 4]], FILL)],
    "fill_rng_2d": [Case([[], [], [3, 4]], RANDOM)],
    "quantized_matmul": contraction("quantized_matmul", "mk", "kn", "mn"),
    "quantized_batch_matmul": contraction("quantized_batch_matmul", "bmk", "bkn", "bmn"),
    "elementwise": elementwise("elementwise", 2, "kind=#linalg.elementwise_kind<div>"),
    **{name: elementwise(name, 1) for name in UNARY.split()},
    **{name: elementwise(name, 2) for name in BINARY.split()},
}

# An operation, and what is said about it.
# LLVM does not say of these that they have no side effects.
EFFECTS = "'linalg.{}' op has side effects on the path that is differentiated"
INTEGERS = "unsupported operation: unsigned {} not on uint"
UNSUPPORTED = {
    "winograd_filter_transform": (
        Case([[2, 3, 3, 5], [6, 6, 5, 2]], WINOGRAD.format("filter")),
        EFFECTS.format("winograd_filter_transform"),
    ),
    "winograd_input_transform": (
        Case([[2, 10, 10, 5], [6, 6, 2, 2, 2, 5]], WINOGRAD.format("input")),
        EFFECTS.format("winograd_input_transform"),
    ),
    "winograd_output_transform": (
        Case([[6, 6, 2, 2, 2, 5], [2, 8, 8, 5]], WINOGRAD.format("output")),
        EFFECTS.format("winograd_output_transform"),
    ),
    "div_unsigned": (simple("div_unsigned", [[4]] * 3), INTEGERS.format("div")),
    **{
        f"pooling_{layout}_{kind}_unsigned": (
            all_windowed(f"pooling_{layout}_{kind}_unsigned", layout, layout[1:-1], layout)[0],
            INTEGERS.format(kind),
        )
        for layout in ("nwc", "nhwc")
        for kind in ("max", "min")
    },
}


def find_names(headers):
    """The names of all operations that the headers in a folder define."""
    names = set()
    for header in HEADERS:
        with open(os.path.join(headers, header), encoding="utf-8") as file:
            names.update(re.findall(r'"linalg\.([a-z0-9_]+)"', file.read()))
    return sorted(names - PARTS)


class Checker:
    def __init__(self, tools, folder, every):
        self.tools, self.folder, self.every = tools, folder, every

    def run(self, tool, name, text, *arguments):
        """The exit status and what is printed."""
        path = os.path.join(self.folder, f"{name}.mlir")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        command = [os.path.join(self.tools, tool), path, *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def check_gradients(self, name, cases, policy, dynamic):
        """The error of the gradients of an operation, or nothing."""
        text = build_function(cases, dynamic)
        arguments = [f"--policy={policy}", "--check-gradients"]
        arguments += [f"--cotangent=random:{index}" for index in range(len(cases))]
        arrays = [array for case in cases for array in case.arrays()]
        for index, array in enumerate(arrays):
            path = os.path.join(self.folder, f"{name}-{policy}-{index}.npy")
            np.save(path, array)
            arguments.append(f"--arg={path}")
        status, output = self.run("fad-runner", f"{name}-{policy}", text, *arguments)
        return status and f"{name}, policy {policy}:\n{text}{output}"

    def check_unsupported(self, name, case, message):
        text = build_function([case], False)
        status, output = self.run("fad-opt", name, text, "--fad-nest")
        # A crash has a negative status.
        if status == 1 and message in output:
            return None
        return f'{name}: not rejected with "{message}":\n{text}{output}'

    def make_checks(self, number, name):
        """The checks of an operation, the `number` of which picks the policies."""
        if name in UNSUPPORTED:
            return [partial(self.check_unsupported, name, *UNSUPPORTED[name])]
        cases = CASES.get(name) or convolution(name)
        if cases is None:
            return [lambda: f"{name}: neither tested nor listed as unsupported"]
        policy, other = POLICIES[number % 3], POLICIES[(number + 1) % 3]
        static, dynamic = self.choose(number, cases)
        checks = [partial(self.check_gradients, name, static, policy, False)]
        if all(case.has_dynamic for case in dynamic):
            checks.append(partial(self.check_gradients, name, dynamic, other, True))
        return checks if self.every else [checks[number % len(checks)]]

    def choose(self, number, cases):
        """The cases for static and for dynamic sizes."""
        if self.every or len(cases) < 4:
            return cases, cases
        parts = 3 if len(cases) > 4 else 2
        return cases[number % parts :: parts], cases[(number + 1) % parts :: parts]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", required=True)
    parser.add_argument("--headers", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--every", action="store_true")
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    checker = Checker(options.tools, options.out, options.every)
    names = [n for n in find_names(options.headers) if re.search(options.only, n)]
    checks = [
        check for number, name in enumerate(names) for check in checker.make_checks(number, name)
    ]
    failed = run_checks(checks)
    print(f"{len(names)} operations, {len(checks)} functions, {failed} failures")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
