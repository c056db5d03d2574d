"""Runs functions of one number on the host and checks their values.

usage: check_values.py FAD_OPT LLVM_TOOLS_DIR LIBRARY_DIR CXX TEST

Each function of TEST is run in f64, f32, f16 and bf16, which take the place of
`f32` in its text. The test says in comments what the functions compute:

  // VALUE: relu = max(x, 0)
        Function @relu, as an expression over mpmath.
  // BOUND: 4 + abs(x)
        Belongs to the VALUE before it: the error allowed, in units in the last
        place of the value; 4 unless stated. In f16 and bf16, which are computed
        in f32 and rounded once, it is this many units of f32, and 0.5 of the
        type; and in bf16, for which formulas are shorter, 2^-18 of the value.
  // RANGE: [-1, 1]
        Belongs to the VALUE before it: where to sample; everywhere unless
        stated.
  // AT: inf -> 1
        The value at a point, exactly. At NaN it is NaN.
"""

import functools
import math
import re
import sys

import mpmath
import numpy as np
from float_formats import FORMATS
from host_module import HostModule
from mpmath import mp

DTYPES = {"f64": np.uint64, "f32": np.uint32, "f16": np.uint16, "bf16": np.uint16}
KEYS = re.compile(r"^// (VALUE|BOUND|RANGE|AT): *(.*)$", re.M)
mp.prec = 1200
# Where the exponential function overflows or underflows in no type any more.
FAR = 1000


# Names in expressions, of which `x` is the number.
NAMES = {**vars(mpmath), "abs": abs, "max": max, "min": min}


@functools.cache
def parse_expression(text):
    return compile(text, text, "eval")


def evaluate(text, x=None):
    NAMES["x"] = x
    return eval(parse_expression(text), NAMES)


class Function:
    def __init__(self, name, value):
        self.name, self.value = name, value
        self.bound = "4"
        self.range = [-math.inf, math.inf]
        self.points = [("nan", "nan")]


def parse(source):
    functions = []
    for key, text in KEYS.findall(source):
        if key == "VALUE":
            functions.append(Function(*text.split(" = ", 1)))
        elif key == "BOUND":
            functions[-1].bound = text
        elif key == "RANGE":
            functions[-1].range = [float(limit) for limit in evaluate(text)]
        else:
            functions[-1].points.append(tuple(text.split(" -> ")))
    return functions


def sample(format):
    """Points at which every function is run: fractions, integers, powers of two
    of all magnitudes, and the largest and smallest numbers."""
    largest = math.ldexp(2 - 2.0**-format.fraction, format.emax)
    values = [0, largest, math.ldexp(1, format.emin - format.fraction)]
    values += [i / 7 for i in range(1, 100)]
    values += [1.0 + i for i in range(25)]
    values += [math.ldexp(1.3, e) for e in range(format.emin, format.emax, 1 + format.emax // 25)]
    values += [i * 7.7 for i in range(12)]
    rounded = {format.round(mp.mpf(v)) for v in values}
    return [s * v for v in sorted(rounded) if math.isfinite(v) for s in (1.0, -1.0)]


def expected(function, x):
    """The exact value at `x`. Far out, mpmath takes its time: there, functions
    without a range are 0, constant or linear."""
    if abs(x) <= FAR or math.isfinite(function.range[1]):
        return mp.mpf(evaluate(function.value, x))
    near = mp.mpf(evaluate(function.value, mp.sign(x) * FAR))
    return near * x / (mp.sign(x) * FAR) if abs(near) > 2 else near


def check(function, kind, points, got):
    """The greatest error relative to the bound, after printing those above it."""
    format, worst = FORMATS[kind], 0
    computed = FORMATS["f32" if kind in ("f16", "bf16") else kind]
    for x, have in zip(points, got):
        want = expected(function, mp.mpf(x))
        bound = float(evaluate(function.bound, mp.mpf(min(abs(x), FAR))))
        allowed = bound * computed.unit(want, computed.emin)
        if computed is not format:
            allowed += format.unit(want, format.emin) / 2
        if kind == "bf16":
            allowed += abs(want) * 2.0**-18
        rounded = format.round(want)
        error = abs(mp.mpf(have) - want)
        if math.isinf(rounded) or math.isinf(have):
            fine = have == rounded
        else:
            fine = error <= allowed
            worst = max(worst, float(error / allowed) if allowed else 0)
        if not fine:
            print(f"{function.name}_{kind}({x!r}) is {have!r}, not {mp.nstr(want, 20)}")
            worst = math.inf
    return worst


def check_points(function, kind, call):
    """Whether the values that the test states are right."""
    texts, wants = zip(*function.points)
    got = call([float(evaluate(text)) for text in texts])
    fine = True
    for text, want, have in zip(texts, wants, got):
        want = FORMATS[kind].round(evaluate(want))
        if have != want and not (math.isnan(have) and math.isnan(want)):
            print(f"{function.name}_{kind}({text}) is {have!r}, not {want!r}")
            fine = False
    return fine


def main(*arguments):
    *tools, test = arguments
    with open(test) as file:
        source = file.read()
    functions = parse(source)
    module = []
    for function in functions:
        pattern = rf"^func\.func @{function.name}\(%x: f32\) -> f32 {{\n(.*?)^}}$"
        body = re.search(pattern, source, re.M | re.S).group(1)
        for kind in DTYPES:
            module.append(loop(f"{function.name}_{kind}", body, kind))
    compiled = HostModule(tools, "\n".join(module))
    failures = 0
    for function in functions:
        for kind, dtype in DTYPES.items():
            format = FORMATS[kind]

            def call(points):
                bits = np.array([format.encode(x) for x in points], dtype)
                name = f"{function.name}_{kind}"
                (result,) = compiled.call(name, bits, results=[(dtype, 1)])
                return [format.decode(int(b)) for b in result]

            low, high = function.range
            points = [x for x in sample(format) if low <= x <= high]
            worst = check(function, kind, points, call(points))
            fine = check_points(function, kind, call)
            print(f"{function.name}_{kind}: {worst:.2f} of the error allowed")
            failures += worst > 1 or not fine
    sys.exit(failures != 0)


def loop(name, body, kind):
    """A function on tensors that applies `body` to each element."""
    text = re.sub(r"\bf32\b", kind, body).replace("return", "fad.yield")
    return f"""
func.func @{name}(%t: tensor<?x{kind}>) -> tensor<?x{kind}> {{
  %r = fad.elementwise ins(%t : tensor<?x{kind}>) -> tensor<?x{kind}> {{
  ^bb0(%x: {kind}):
{text}
  }}
  return %r : tensor<?x{kind}>
}}"""


if __name__ == "__main__":
    main(*sys.argv[1:])
