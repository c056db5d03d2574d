"""Runs the derivatives of the functions of a test and checks the numbers.

usage: check_rule.py FAD_OPT MLIR_RUNNER RUNTIME_LIBRARY TEST

The test says in comments what its functions compute. What follows a VALUE line
belongs to it; TYPES between a key and its colon narrow the line to these types.

  // VALUE: tanh(x) = tanh(x)
        The function @tanh as an expression over mpmath; several, separated by
        commas, where it has several results. In its text, `f32` stands for
        each type that it is run in.
  // TYPES: f64 f32 f16 bf16
        The types to run it in (these are the default), or `fixed` to run it
        with the types as they are written.
  // RANGE: x in [-10, 10], y in [1, 2]
        Sample points, evenly spaced and spaced by magnitude. The reference is
        the derivative that mpmath takes of the expression by differences,
        with hundreds of digits.
  // AT: inf, 1 -> 0, nan
        The derivatives at one point, for each argument and then each result.
  // BOUND: 4 [absolute]
        The error allowed, in units in the last place of the derivative, or of
        1 where the derivative is smaller and the bound `absolute`.
  // FROM-RESULT: 4 [absolute]
        Also check the form that reads results, within this bound.
  // PASSES: --convert-math-to-llvm
        What to run, for all functions, before math is lowered to calls.

Points are rounded to the type first. A derivative below 2^8 times the least
normal number of the type that it is computed in counts in units of that number.
"""

import math
import re
import subprocess
import sys

import mpmath
from float_formats import FORMATS
from mpmath import mp

BOUNDS = {"f64": 4, "f32": 4, "f16": 0.51, "bf16": 0.51, "fixed": 0.51}
# Precision that suffice to difference functions that are close to a constant.
DIGITS = {"f64": 340, "f32": 70, "f16": 70, "bf16": 70}
SAMPLES = 20
KEYS = re.compile(
    r"^// (VALUE|TYPES|RANGE|AT|BOUND|FROM-RESULT|PASSES)(?: ([\w ]+))?: *(.*)$", re.M
)
SIMPLIFY = ["--symbol-dce", "--fad-expand-primitives", "--canonicalize", "--cse"]
LOWER = [
    "--arith-expand=include-bf16=true",
    "--math-expand-ops=ops=clampf,rsqrt",
    "--convert-math-to-libm",
    "--convert-scf-to-cf",
    "--convert-to-llvm",
    "--reconcile-unrealized-casts",
]


def split(text):
    """Splits at the commas that are not in parentheses."""
    return [part.strip() for part in re.split(r",(?![^(]*\))", text)]


def evaluate(text):
    return eval(text, dict(vars(mpmath), inf=math.inf, nan=math.nan))


class Function:
    """A function of the test with what is said about it."""

    def __init__(self, value, source):
        self.name, names, values = re.match(r"(\w+)\((.*?)\) = (.*)$", value).groups()
        self.arguments = split(names)
        self.values = [evaluate(f"lambda {names}: {part}") for part in split(values)]
        pattern = rf"^func\.func @{self.name}\((.*?)\) -> (.*?) {{$.*?^}}$"
        self.definition = re.search(pattern, source, re.M | re.S)
        self.types = ["f64", "f32", "f16", "bf16"]
        self.passes = []
        self.ranges, self.points = [], []
        self.bounds, self.result_bounds = dict(BOUNDS), {}
        self.absolute = {"d": False, "r": False}

    def add(self, key, types, text):
        types = types.split() if types else list(BOUNDS)
        if key == "TYPES":
            self.types = text.split()
        elif key == "PASSES":
            self.passes = text.split()
        elif key == "RANGE":
            intervals = re.findall(r"(\w+) in \[(.*?), *(.*?)\]", text)
            assert [name for name, _, _ in intervals] == self.arguments, text
            limits = [(evaluate(low), evaluate(high)) for _, low, high in intervals]
            self.ranges.append((types, limits))
        elif key == "AT":
            point, expected = text.split("->")
            point = [float(evaluate(part)) for part in split(point)]
            expected = [mp.mpf(evaluate(part)) for part in split(expected)]
            self.points.append((types, point, expected))
        else:
            bounds = self.bounds if key == "BOUND" else self.result_bounds
            bounds.update(dict.fromkeys(types, float(text.split()[0])))
            self.absolute["d" if key == "BOUND" else "r"] |= "absolute" in text


class Run:
    """A function in one type, and the points at which it is run."""

    def __init__(self, function, kind):
        def substitute(text):
            return text if kind == "fixed" else re.sub(r"\bf32\b", kind, text)

        text, arguments, results = map(substitute, function.definition.group(0, 1, 2))
        self.function, self.kind = function, kind
        self.name = f"{function.name}_{kind}"
        # Private, so that only its derivatives remain to be lowered.
        self.text = text.replace(f"@{function.name}(", f"private @{self.name}(")
        self.arguments = re.findall(r"%\w+: (\w+)", arguments)
        self.results = re.findall(r"\w+", results)
        self.active = [i for i, type in enumerate(self.arguments) if type in FORMATS]
        # The forms of the derivative, with what they may err.
        self.forms = {"d": function.bounds[kind]}
        if function.result_bounds:
            self.forms["r"] = function.result_bounds[kind]
        self.calls = [f"{self.name}_{f}{i}" for f in self.forms for i in self.active]
        self.cases = [
            (self.round(point), expected)
            for types, point, expected in function.points
            if kind in types
        ] + [
            (point, None)
            for types, limits in function.ranges
            if kind in types
            for point in self.sample(limits)
        ]

    def round(self, point):
        """`point` as the arguments hold it, signs of zeros included."""
        return [
            math.copysign(FORMATS[type].round(mp.mpf(x)), x) if type in FORMATS else int(x)
            for x, type in zip(point, self.arguments)
        ]

    def sample(self, limits):
        """Points within `limits`."""
        for spread in lambda x: x, lambda x: math.asinh(x * 1e3):
            for i in range(SAMPLES):
                point = []
                # Strides coprime to the number of samples mix the arguments.
                for (low, high), stride in zip(limits, (1, 7, 11)):
                    share = i * stride % SAMPLES / (SAMPLES - 1)
                    x = spread(low) + (spread(high) - spread(low)) * share
                    point.append(x if spread(1) == 1 else math.sinh(x) / 1e3)
                point = self.round(point)
                if all(map(math.isfinite, point)):
                    yield point

    def reference(self, point):
        """The derivatives at `point`, for each argument and each result."""
        mp.dps = max(DIGITS[self.arguments[i]] for i in self.active)
        exact = tuple(map(mp.mpf, point))
        if len(exact) == 1:
            return [mp.diff(value, exact[0]) for value in self.function.values]
        return [
            mp.diff(value, exact, tuple(int(i == j) for j in range(len(exact))))
            for i in self.active
            for value in self.function.values
        ]

    def check(self, numbers):
        """Yields the error, the bound and a description of each of `numbers`,
        an iterator over the bits that the run printed."""
        for point, stated in self.cases:
            expected = stated or self.reference(point)
            for form, bound in self.forms.items():
                absolute = self.function.absolute[form]
                for index, want in enumerate(expected):
                    format = FORMATS[self.results[index % len(self.results)]]
                    got = format.decode(next(numbers) & ((1 << format.width) - 1))
                    error = measure(format, got, want, bool(stated), absolute)
                    yield (
                        form,
                        error,
                        bound,
                        (
                            f"{self.name}_{form}{self.active[index // len(self.results)]}"
                            f" at {point}: got {got!r}, expected {mp.nstr(want, 20)}"
                        ),
                    )


def measure(format, got, want, exact_zero, absolute):
    """The error of `got` in units in the last place."""
    rounded = format.round(want)
    if math.isnan(rounded) or math.isinf(rounded) or (exact_zero and want == 0):
        same = got == rounded or (math.isnan(got) and math.isnan(rounded))
        return 0 if same else math.inf
    if not math.isfinite(got):
        return math.inf
    unit = format.unit(want, 0 if absolute else format.tiny)
    return float(abs(mp.mpf(got) - want) / unit)


def emit(run):
    """The function of `run`, and a function that prints its derivatives."""
    types = ", ".join(run.arguments)
    results = f"({', '.join(run.results)})"
    globals, body = [], [f"%n = arith.constant {len(run.cases)} : index"]
    loop = []
    for i, type in enumerate(run.arguments):
        column = [encode(type, point[i]) for point, _ in run.cases]
        memref = f"memref<{len(column)}xi64>"
        name = f"@{run.name}_{i}"
        globals.append(f'memref.global "private" constant {name} : {memref} = dense<{column}>')
        body.append(f"%column{i} = memref.get_global {name} : {memref}")
        loop.append(f"%bits{i} = memref.load %column{i}[%i] : {memref}")
        loop += from_bits(f"%bits{i}", f"%x{i}", type)
    operands = ", ".join(f"%x{i}" for i in range(len(run.arguments)))
    for i, call in enumerate(run.calls):
        globals.append(f"func.func private @{call}({types}) -> {results}")
        count = len(run.results)
        loop.append(f"%y{i}:{count} = func.call @{call}({operands})")
        loop.append(f"  : ({types}) -> {results}")
        for j, type in enumerate(run.results):
            loop += show(f"%y{i}#{j}", f"%y{i}_{j}", type)
    lines = [run.text, *globals, f"func.func private @run_{run.name}() {{"]
    lines += ["%c0 = arith.constant 0 : index", "%c1 = arith.constant 1 : index"]
    lines += [*body, "scf.for %i = %c0 to %n step %c1 {", *loop, "}", "return", "}"]
    return "\n".join(lines)


def encode(type, value):
    """`value` as a signed 64-bit integer."""
    bits = FORMATS[type].encode(value) if type in FORMATS else value
    return bits - (bits >> 63 << 64) if bits >= 0 else bits


def from_bits(bits, result, type):
    """Turns an i64 into a value of `type`."""
    if type == "f64":
        return [f"{result} = arith.bitcast {bits} : i64 to f64"]
    if type not in FORMATS:
        return [f"{result} = arith.trunci {bits} : i64 to {type}"]
    integer = f"i{FORMATS[type].width}"
    return [
        f"{result}_bits = arith.trunci {bits} : i64 to {integer}",
        f"{result} = arith.bitcast {result}_bits : {integer} to {type}",
    ]


def show(value, name, type):
    """Prints the bits of `value` on a line."""
    integer = f"i{FORMATS[type].width}"
    lines = [f"{name}_bits = arith.bitcast {value} : {type} to {integer}"]
    wide = f"{name}_bits"
    if type != "f64":
        wide = f"{name}_wide"
        lines.append(f"{wide} = arith.extui {name}_bits : {integer} to i64")
    return lines + [
        f"func.call @printI64({wide}) : (i64) -> ()",
        "func.call @printNewline() : () -> ()",
    ]


def execute(runs, fad_opt, mlir_runner, library):
    """The bits that the derivatives of `runs` print."""
    calls = "\n".join(f"func.call @run_{run.name}() : () -> ()" for run in runs)
    module = (
        "\n".join(map(emit, runs))
        + f"""
func.func private @printI64(i64)
func.func private @printNewline()
func.func @main() {{
{calls}
return
}}
"""
    )
    derive = "--test-fad-derivative"
    if any("r" in run.forms for run in runs):
        derive += "=from-results=true"
    passes = dict.fromkeys(name for run in runs for name in run.function.passes)
    lowered = subprocess.run(
        [fad_opt, derive, *SIMPLIFY, *passes, *LOWER],
        input=module,
        text=True,
        stdout=subprocess.PIPE,
    )
    if lowered.returncode:
        sys.exit("fad-opt failed on the functions of the test")
    command = [mlir_runner, "-e", "main", "-entry-point-result=void", "-O0"]
    printed = subprocess.run(
        command + [f"-shared-libs={library}"],
        input=lowered.stdout,
        text=True,
        stdout=subprocess.PIPE,
        check=True,
    )
    return map(int, printed.stdout.split())


def main(fad_opt, mlir_runner, library, test):
    with open(test) as file:
        source = file.read()
    functions = []
    for key, types, text in KEYS.findall(source):
        if key == "VALUE":
            functions.append(Function(text, source))
        else:
            functions[-1].add(key, types, text)
    runs = [Run(function, kind) for function in functions for kind in function.types]
    numbers = execute(runs, fad_opt, mlir_runner, library)
    failures = 0
    for run in runs:
        worst = {}
        for form, error, bound, description in run.check(numbers):
            worst[form] = max(worst.get(form, 0), error)
            if error > bound:
                failures += 1
                print(f"{description}: {error:.3g} units, allowed {bound:g}")
        for form, error in worst.items():
            print(f"{run.name}_{form}: {len(run.cases)} points, {error:.3g} units")
    sys.exit(failures != 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
