"""Runs the functions of a test before and after raising and compares the numbers.

usage: check_raise.py FAD_OPT MLIR_RUNNER RUNTIME_LIBRARY TEST

Every function `@name(%x: f32) -> f32` of TEST is run as it is, raised, and both
differentiated, in f32 and in f64, at ordinary points and at zeros, subnormals,
powers that overflow on the way, the largest numbers, infinities, and NaN.

The test says in comments what functions compute:

  // VALUE: gelu(x) = x * ncdf(x)
        An expression over mpmath for @gelu and everything called @gelu_*.
  // AT: 0 -> 0.5
        Belongs to the VALUE before it: the derivative at a point where the
        expression has none.
  // BOUND: 8 + 2 * x * x
        Belongs to the VALUE before it: by how many units in the last place a
        raised value or derivative may err, whatever the spelled one does. It
        is 8 unless stated.
        Below 2^10 times the least normal number, units are no smaller than there:
        a factor that is subnormal has lost digits.

At an infinity, and for the value at NaN, nothing may change but from NaN.
Functions called @kept_* are not raised: nothing may change at all.
"""

import re
import subprocess
import sys

import mpmath
import numpy as np
from mpmath import mp

TYPES = {"f32": np.float32, "f64": np.float64}
BITS = {"f32": np.uint32, "f64": np.uint64}
PASSES = [
    "--test-fad-derivative",
    "--fad-expand-primitives",
    "--canonicalize",
    "--fad-math-to-libm",
    "--convert-vector-to-llvm",
    "--convert-scf-to-cf",
    "--convert-to-llvm",
    "--reconcile-unrealized-casts",
]


def sample(dtype):
    """The points at which a function of `dtype` is run."""
    info = np.finfo(dtype)
    positive = [info.smallest_subnormal, info.tiny, 1e-30, 1e-10, 1e-3, 0.1, 0.5]
    positive += [0.9, 1, 1.7, 2.5, 3, 3.1, 5, 5.9, 6, 7.5, 9, 12, 14, 16.6, 18, 20]
    positive += [20.1, 30, 37, 40, 88.5, 89, 104, 110, 1e3, 1e10, 1e13, 1e19, 1e30]
    positive += [np.log(info.max), info.max / 4, info.max]
    if dtype is np.float64:
        positive += [38.4, 709.5, 710, 745, 750, 1e103, 1e155, 1e300]
    values = np.array(positive, dtype)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan], dtype)
    return np.concatenate([values, -values, special])


# Far out, where results are 0 or 1 in every type, mpmath takes its time.


def ncdf(x):
    return mpmath.ncdf(max(min(x, 100), -100))


def sigmoid(x):
    return 1 / (1 + mp.exp(-max(min(x, 2000), -2000)))


def convert(exact, dtype):
    if not mp.mpf(10) ** -400 < abs(exact) < mp.mpf(10) ** 400:
        return dtype(0 if abs(exact) < 1 else mp.sign(exact) * mp.inf)
    with np.errstate(over="ignore"):
        return dtype(mp.nstr(exact, 30))


def function(text):
    return eval(f"lambda x: {text}", dict(vars(mpmath), ncdf=ncdf, sigmoid=sigmoid))


class Reference:
    """A function as the test states it."""

    def __init__(self, line):
        self.name, text = re.match(r"(\w+)\(x\) = (.*)$", line).groups()
        self.value = function(text)
        self.bound = lambda x: 8
        self.stated = {}
        self.known = {}

    def at(self, x):
        """The value and the derivative at `x`, a finite number."""
        key = float(x)
        if key not in self.known:
            # Far out, and over short steps, functions are all but constant.
            tiny = -np.log10(abs(key)) if key else 0
            mp.dps = 70 + int(min(abs(key), 760) / 2 + max(tiny, 0))
            exact = mp.mpf(key)
            step = mp.mpf(10) ** -25 * (abs(exact) or 1)
            rise = self.value(exact + step) - self.value(exact - step)
            slope = self.stated.get(key, rise / (2 * step))
            self.known[key] = mp.mpf(self.value(exact)), slope
        return self.known[key]


def parse(text):
    """The functions of the test, each with its reference, or None."""
    references = {}
    for key, rest in re.findall(r"^// (VALUE|AT|BOUND): (.*)$", text, re.M):
        if key == "VALUE":
            reference = Reference(rest)
            references[reference.name] = reference
        elif key == "BOUND":
            reference.bound = function(rest)
        else:
            point, slope = rest.split("->")
            reference.stated[float(point)] = mp.mpf(slope.split(":")[0])
    functions = {}
    pattern = r"^func\.func @((\w+?)_\w+)\(%x: f32\) -> f32 {$.*?^}$"
    for match in re.finditer(pattern, text, re.M | re.S):
        name, prefix = match.group(1, 2)
        assert prefix == "kept" or prefix in references, f"no VALUE for @{name}"
        functions[name] = references.get(prefix), match.group(0)
    return functions


def run(*command, text):
    result = subprocess.run(command, input=text, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(command)}\n{result.stderr}")
    return result.stdout


def driver(name, kind):
    """A function that prints what @name and its relatives give at each point."""
    points = sample(TYPES[kind])
    bits = points.view(BITS[kind])
    width = kind[1:]
    memref = f"memref<{len(points)}x{kind}>"
    values = ", ".join(hex(x) for x in bits)
    calls = []
    for index, suffix in enumerate(["", "_d0", "_raised", "_raised_d0"]):
        extend = f"%w{index} = arith.extui %b{index} : i32 to i64"
        calls += [
            f"%y{index} = func.call @{name}{suffix}(%x) : ({kind}) -> {kind}",
            f"%b{index} = arith.bitcast %y{index} : {kind} to i{width}",
            extend if width == "32" else f"%w{index} = arith.bitcast %b{index} : i64 to i64",
            f"vector.print %w{index} : i64",
        ]
    return "\n".join(
        [f"func.func private @{name}{suffix}_d0({kind}) -> {kind}" for suffix in ("", "_raised")]
        + [
            f'memref.global "private" constant @{name}_in : {memref} = dense<[{values}]>',
            f"func.func private @{name}_run() {{",
            "%c0 = arith.constant 0 : index",
            "%c1 = arith.constant 1 : index",
            f"%n = arith.constant {len(points)} : index",
            f"%m = memref.get_global @{name}_in : {memref}",
            "scf.for %i = %c0 to %n step %c1 {",
            f"%x = memref.load %m[%i] : {memref}",
        ]
        + calls
        + ["}", "return", "}"]
    )


def execute(fad_opt, runner, library, functions):
    """Output of the drivers, for `functions` by name and type."""
    plain = "\n".join(functions.values())
    raised = run(fad_opt, "--fad-raise", text=plain)
    body = raised.strip().removeprefix("module {").removesuffix("}")
    body = re.sub(r"func\.func @(\w+)", r"func.func @\1_raised", body)
    module = [plain, body]
    module += [driver(name, name[-3:]) for name in functions]
    module += ["func.func @main() {"]
    module += [f"func.call @{name}_run() : () -> ()" for name in functions]
    module += ["return", "}"]
    lowered = run(fad_opt, *PASSES, text="\n".join(module))
    return run(
        runner,
        "-e=main",
        "--entry-point-result=void",
        f"--shared-libs={library}",
        text=lowered,
    )


def error(got, want):
    """How far `got` is from the exact `want`, in units in the last place."""
    dtype = type(got)
    if np.isnan(got) or mp.isnan(want):
        return 0 if np.isnan(got) and mp.isnan(want) else mp.inf
    rounded = convert(want, dtype)
    if rounded == got:
        return 0
    if not np.isfinite(got) or not np.isfinite(rounded):
        return mp.inf
    info = np.finfo(dtype)
    # NumPy 1 and 2 differ in the type of such an expression.
    magnitude = dtype(np.clip(abs(rounded), info.tiny * 2**10, info.max / 2))
    return abs(mp.mpf(float(got)) - want) / mp.mpf(float(np.spacing(magnitude)))


def worse(reference, x, plain, raised, derivative):
    """Why `raised` is worse than `plain` at `x`, or None."""
    same = plain == raised or np.isnan(plain) and np.isnan(raised)
    if reference is None or not np.isfinite(x):
        # The derivative at NaN is as good as any other.
        free = reference and (np.isnan(plain) or derivative and np.isnan(x))
        return None if same or free else "it changed"
    want = reference.at(x)[derivative]
    before, after = error(plain, want), error(raised, want)
    if after <= reference.bound(mp.mpf(float(x))):
        return None
    return (
        f"expected {mp.nstr(want, 18)}; off by {mp.nstr(after, 4)} units, "
        f"before by {mp.nstr(before, 4)}"
    )


def main():
    fad_opt, runner, library, path = sys.argv[1:]
    tests = parse(open(path).read())
    functions = {}
    for name, (_, text) in tests.items():
        for kind in TYPES:
            typed = text.replace(f"@{name}(", f"@{name}_{kind}(")
            functions[f"{name}_{kind}"] = re.sub(r"\bf32\b", kind, typed)
    output = iter(execute(fad_opt, runner, library, functions).split())

    failures = 0
    for name in functions:
        kind = name[-3:]
        reference = tests[name[:-4]][0]
        for x in sample(TYPES[kind]):
            words = [int(next(output)) % 2**64 for _ in range(4)]
            numbers = np.array(words, np.uint64).astype(BITS[kind]).view(TYPES[kind])
            for derivative in 0, 1:
                plain, raised = numbers[derivative], numbers[2 + derivative]
                reason = worse(reference, x, plain, raised, derivative)
                if reason:
                    failures += 1
                    what = "derivative" if derivative else "value"
                    print(f"@{name}: {what} at {x!r} was {plain!r}, is {raised!r}: {reason}")
    sys.exit(f"{failures} failures" if failures else 0)


if __name__ == "__main__":
    main()
