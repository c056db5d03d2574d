"""Differentiates random programs and checks that all policies agree.

usage: random_programs.py --fad-runner PATH [--count N] [--seed N] [--keep DIR]

Each program is a function of a few tensors, made of elementwise chains with
shared values, several sources, selects, broadcasts, reductions, transposes,
reshapes and contractions, with several results. In f64, its gradients under
policy fad are compared with finite differences (by fad-runner). Those under every
policy, in f32 or f64, are compared with them. Exits with 1 where any differ. A
seed names a program whatever the count; `--keep` writes the programs to a folder.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from functools import partial

import numpy as np

from many_checks import run_checks

# The options of each policy; `auto` at every level of recomputation.
LEVELS = ["nothing", "elementwise", "reductions", "all"]
POLICIES = {policy: [f"--policy={policy}"] for policy in ("fad", "bp", "recompute")}
POLICIES |= {
    f"auto-{level}": ["--policy=auto", f"--recompute={level}"] for level in LEVELS
}
# What gradients may differ from those under policy fad in f64 by, relative to the
# cotangents and to the largest gradient: a random program may lose digits.
BOUNDS = {"f64": 1e-11, "f32": 1e-3}
# Every dynamic dimension has this size.
DYNAMIC = 3


class Program:
    """A random function as text."""

    def __init__(self, seed, element):
        self.random = random.Random(seed)
        self.element = element
        self.lines = []
        self.count = 0
        # The name and the shape of each tensor; a size is a number or "?".
        self.values = []
        rows = self.random.choice(["?", DYNAMIC, 4])
        self.sizes = [rows, self.random.choice([1, 2, 5]), 4]

    def type(self, shape):
        return f"tensor<{''.join(f'{size}x' for size in shape)}{self.element}>"

    def emit(self, text):
        self.count += 1
        name = f"%v{self.count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def add(self, text, shape):
        self.values.append((self.emit(text), shape))
        return self.values[-1]

    def pick(self, accept=lambda shape: True):
        """A value, late ones more often, or nothing."""
        found = [value for value in self.values if accept(value[1])]
        if not found:
            return None
        recent = found[-4:]
        return self.random.choice(recent if self.random.random() < 0.7 else found)

    def scalar(self, value):
        return self.emit(f"arith.constant {value!r} : {self.element}")

    def splat(self, value, shape):
        """A tensor of one constant."""
        if "?" not in shape:
            return self.emit(f"arith.constant dense<{value!r}> : {self.type(shape)}")
        return self.fill(value, shape)

    def empty(self, shape):
        sizes = ", ".join("%rows" for size in shape if size == "?")
        return self.emit(f"tensor.empty({sizes}) : {self.type(shape)}")

    def fill(self, value, shape):
        init, scalar = self.empty(shape), self.scalar(value)
        kind = self.type(shape)
        return self.emit(
            f"linalg.fill ins({scalar} : {self.element}) outs({init} : {kind}) -> {kind}"
        )

    # Operations. Each appends one value, of moderate size, to those there are.

    def unary(self):
        name, shape = self.pick()
        kind = self.type(shape)
        op = self.random.choice(
            ["math.sin", "math.cos", "math.tanh", "math.erf", "math.atan", "arith.negf"]
            + ["fad.gelu", "fad.silu", "fad.sigmoid", "fad.softplus", "fad.elu"]
        )
        self.add(f"{op} {name} : {kind}", shape)

    def bounded(self):
        """A function that must be kept from growing or from its pole."""
        name, shape = self.pick()
        kind = self.type(shape)
        inner = self.emit(f"math.sin {name} : {kind}")
        op = self.random.choice(["math.exp", "math.exp2", "math.sinh", "math.cosh"])
        if self.random.random() < 0.5:
            two = self.splat(2.0, shape)
            inner = self.emit(f"arith.addf {inner}, {two} : {kind}")
            op = self.random.choice(["math.log", "math.sqrt", "math.rsqrt", "math.cbrt"])
        self.add(f"{op} {inner} : {kind}", shape)

    def bent(self):
        """A chain whose derivative takes few values: a slope, or none."""
        name, shape = self.pick()
        kind = self.type(shape)
        low, slope = self.splat(0.25, shape), self.splat(-1.5, shape)
        op = self.random.choice(["arith.maximumf", "arith.minimumf"])
        bent = self.emit(f"{op} {name}, {low} : {kind}")
        if self.random.random() < 0.5:
            bent = self.emit(f"math.absf {bent} : {kind}")
        self.add(f"arith.mulf {bent}, {slope} : {kind}", shape)

    def spelled(self):
        """x * sigmoid(x), written out, with an intermediate value in the pool."""
        name, shape = self.pick()
        kind = self.type(shape)
        one = self.splat(1.0, shape)
        minus = self.emit(f"arith.negf {name} : {kind}")
        power = self.emit(f"math.exp {minus} : {kind}")
        below = self.emit(f"arith.addf {power}, {one} : {kind}")
        sigmoid, _ = self.add(f"arith.divf {one}, {below} : {kind}", shape)
        self.add(f"arith.mulf {sigmoid}, {name} : {kind}", shape)

    def constant(self):
        """With a splat, or with a constant that is not one."""
        name, shape = self.pick()
        kind = self.type(shape)
        if "?" in shape or self.random.random() < 0.5:
            constant = self.splat(self.random.choice([0.5, -1.25, 2.0]), shape)
        else:
            values = np.linspace(-1, 1.5, int(np.prod(shape, dtype=int))).reshape(shape)
            constant = self.emit(f"arith.constant dense<{values.tolist()}> : {kind}")
        op = self.random.choice(["addf", "subf", "mulf"])
        self.add(f"arith.{op} {name}, {constant} : {kind}", shape)

    def binary(self):
        name, shape = self.pick()
        other, _ = self.pick(lambda candidate: candidate == shape)
        kind = self.type(shape)
        op = self.random.choice(["addf", "subf", "mulf", "mulf", "divf", "maximumf"])
        if op == "divf":
            sine = self.emit(f"math.sin {other} : {kind}")
            two = self.splat(2.0, shape)
            other = self.emit(f"arith.addf {sine}, {two} : {kind}")
        self.add(f"arith.{op} {name}, {other} : {kind}", shape)

    def select(self):
        name, shape = self.pick()
        other, _ = self.pick(lambda candidate: candidate == shape)
        tested, _ = self.pick(lambda candidate: candidate == shape)
        kind, bits = self.type(shape), self.type(shape).replace(self.element, "i1")
        zero = self.splat(0.0, shape)
        test = self.emit(f"arith.cmpf ogt, {tested}, {zero} : {kind}")
        self.add(f"arith.select {test}, {name}, {other} : {bits}, {kind}", shape)

    def generic(self):
        """Reads a second operand through a broadcasting or transposing map, and
        in some cases the init."""
        found = self.pick(lambda shape: len(shape) == 2)
        if not found:
            return
        name, shape = found
        maps = {
            shape[1:]: "(d1)",
            shape[:1]: "(d0)",
            (shape[0], 1): "(d0, 0)",
            (1, shape[1]): "(0, d1)",
            (): "()",
            shape[::-1]: "(d1, d0)",
        }
        other, other_shape = self.pick(lambda candidate: candidate in maps) or found
        access = maps.get(other_shape, "(d0, d1)")
        reads_init = self.random.random() < 0.3
        init, _ = found if reads_init else (self.empty(shape), shape)
        kind, other_kind = self.type(shape), self.type(other_shape)
        e = self.element
        inner = [
            f"    %p = {self.random.choice(['arith.mulf', 'arith.addf'])} %a, %b : {e}",
            f"    %q = math.sin %p : {e}",
            f"    %r = arith.mulf %q, {'%o' if reads_init else '%a'} : {e}",
            f"    linalg.yield {self.random.choice(['%p', '%q', '%r'])} : {e}",
        ]
        same = "affine_map<(d0, d1) -> (d0, d1)>"
        self.add(
            f"linalg.generic {{indexing_maps = [{same}, affine_map<(d0, d1) -> {access}>, {same}],"
            ' iterator_types = ["parallel", "parallel"]}\n'
            f"      ins({name}, {other} : {kind}, {other_kind}) outs({init} : {kind}) {{\n"
            f"  ^bb0(%a: {e}, %b: {e}, %o: {e}):\n" + "\n".join(inner) + f"\n  }} -> {kind}",
            shape,
        )

    def broadcast(self):
        found = self.pick(lambda shape: len(shape) == 1)
        if not found:
            return
        name, shape = found
        result = (self.random.choice(self.sizes), *shape)
        init = self.empty(result)
        self.add(
            f"linalg.broadcast ins({name} : {self.type(shape)})"
            f" outs({init} : {self.type(result)}) dimensions = [0]",
            result,
        )

    def reduce(self):
        found = self.pick(lambda shape: len(shape) > 0)
        if not found:
            return
        name, shape = found
        dim = self.random.randrange(len(shape))
        result = shape[:dim] + shape[dim + 1 :]
        init = self.fill(self.random.choice([0.0, 0.5]), result)
        total = self.emit(
            f"linalg.reduce {{ arith.addf }} ins({name} : {self.type(shape)})"
            f" outs({init} : {self.type(result)}) dimensions = [{dim}]"
        )
        self.add(f"math.sin {total} : {self.type(result)}", result)

    def transpose(self):
        found = self.pick(lambda shape: len(shape) == 2)
        if not found:
            return
        name, shape = found
        init = self.empty(shape[::-1])
        self.add(
            f"linalg.transpose ins({name} : {self.type(shape)})"
            f" outs({init} : {self.type(shape[::-1])}) permutation = [1, 0]",
            shape[::-1],
        )

    def matmul(self):
        left = self.pick(lambda shape: len(shape) == 2)
        right = left and self.pick(lambda shape: len(shape) == 2 and shape[0] == left[1][1])
        if not right:
            return
        result = (left[1][0], right[1][1])
        kinds = [self.type(shape) for shape in (left[1], right[1], result)]
        init = self.fill(0.0, result)
        product = self.emit(
            f"linalg.matmul ins({left[0]}, {right[0]} : {kinds[0]}, {kinds[1]})"
            f" outs({init} : {kinds[2]}) -> {kinds[2]}"
        )
        self.add(f"math.tanh {product} : {kinds[2]}", result)

    def collapse(self):
        found = self.pick(lambda shape: len(shape) == 2 and "?" not in shape)
        if not found:
            return
        name, shape = found
        result = (shape[0] * shape[1],)
        self.add(
            f"tensor.collapse_shape {name} [[0, 1]] : {self.type(shape)} into {self.type(result)}",
            result,
        )

    def cast(self):
        """Forgets a size and finds it again."""
        name, shape = self.pick()
        forgotten = tuple("?" for _ in shape)
        unknown = self.emit(
            f"tensor.cast {name} : {self.type(shape)} to {self.type(forgotten)}"
        )
        sine = self.emit(f"math.sin {unknown} : {self.type(forgotten)}")
        self.add(f"tensor.cast {sine} : {self.type(forgotten)} to {self.type(shape)}", shape)

    def text(self, operations):
        rows, inner, columns = self.sizes
        arguments = [(rows, inner), (inner, columns), (columns,), (rows, inner)]
        arguments.append(self.random.choice([(), (rows, 1), (1, inner), (rows,)]))
        self.values = [(f"%x{i}", shape) for i, shape in enumerate(arguments)]
        kinds = [self.unary, self.bounded, self.spelled, self.constant, self.select]
        kinds += [self.bent]
        kinds += [self.binary, self.generic] * 2
        kinds += [self.broadcast, self.reduce, self.transpose, self.matmul]
        kinds += [self.collapse, self.cast]
        for _ in range(operations):
            self.random.choice(kinds)()
        # The last value, others, an argument, and the same value again.
        results = [self.values[-1]] + self.random.sample(self.values, 2)
        results.append(self.random.choice(results))
        parameters = [f"%x{i}: {self.type(shape)}" for i, shape in enumerate(arguments)]
        types = [self.type(shape) for _, shape in results]
        head = [
            f"func.func @f({', '.join(parameters)}) -> ({', '.join(types)}) {{",
            "  %c0 = arith.constant 0 : index",
            f"  %rows = tensor.dim %x0, %c0 : {self.type(arguments[0])}",
        ]
        tail = [f"  return {', '.join(name for name, _ in results)} : {', '.join(types)}", "}"]
        return "\n".join(head + self.lines + tail) + "\n"


def run(runner, path, seed, policy, options=()):
    """Runs one program under one policy; returns its gradients, or why not."""
    out = f"{path}-{policy}"
    command = [runner, path, *POLICIES[policy], f"--size={DYNAMIC}", f"--out={out}"]
    command += [f"--arg=random:{seed * 10 + index}" for index in range(5)]
    command += ["--cotangent=random:77"] * 4 + list(options)
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode:
        return None, f"{' '.join(command)}\n{process.stdout}{process.stderr}"
    return [np.load(os.path.join(out, f"grad{index}.npy")) for index in range(5)], ""


def compare(reference, gradients, bound):
    """The arguments whose gradients differ."""
    scale = max(np.max(np.abs(gradient), initial=1) for gradient in reference)
    return [
        index
        for index, (a, b) in enumerate(zip(reference, gradients))
        if not np.max(np.abs(a - b), initial=0) <= bound * scale
    ]


def write(folder, seed, element):
    """Writes the program of a seed; returns its path and its text."""
    text = Program(seed, element).text(operations=4 + seed % 20)
    path = os.path.join(folder, f"{seed}-{element}.mlir")
    with open(path, "w") as file:
        file.write(text)
    return path, text


def find_fault(runner, folder, seed):
    """What is wrong with the program of a seed, or an empty string."""
    path, text = write(folder, seed, "f64")
    reference, error = run(runner, path, seed, "fad", ["--check-gradients"])
    if reference is None:
        return f"{error}\n{text}"
    element = "f32" if seed % 2 else "f64"
    path, text = write(folder, seed, element)
    for policy in POLICIES:
        if (element, policy) == ("f64", "fad"):
            continue
        gradients, error = run(runner, path, seed, policy)
        if gradients is None:
            return f"{error}\n{text}"
        wrong = compare(reference, gradients, BOUNDS[element])
        if wrong:
            return f"policy {policy}: the gradients of {wrong} differ\n{text}"
    return ""


def kept_bytes(reporter, path, level):
    """The bytes that each policy keeps, or why that cannot be told. A size that
    does not follow from the arguments is that of the dynamic dimensions."""
    command = [reporter, path, f"--size={DYNAMIC}", "--format=json"]
    command += [f"--recompute={level}"]
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode:
        return None, f"{' '.join(command)}\n{process.stderr}"
    kept = {}
    for policy, report in json.loads(process.stdout)["policies"].items():
        text = re.sub(r"\bu\d+\b", str(DYNAMIC), str(report["total_bytes"]))
        kept[policy] = eval(text, {"__builtins__": {}})  # sums of products
    return kept, ""


def find_waste(reporter, folder, seed):
    """Where the policy auto keeps more than it should, or an empty string."""
    path, text = write(folder, seed, "f32" if seed % 2 else "f64")
    before = None
    for level in LEVELS:
        kept, error = kept_bytes(reporter, path, level)
        if kept is None:
            return f"{error}\n{text}"
        others = [kept[policy] for policy in ("bp", "recompute", "fad")]
        if level != "nothing" and kept["auto"] > min(others):
            return f"auto, recompute={level}, keeps more than another: {kept}\n{text}"
        if before is not None and kept["auto"] > before:
            return f"recompute={level} keeps more than less of it: {kept}\n{text}"
        before = kept["auto"]
    return ""


def check(runner, folder, seed):
    reporter = os.path.join(os.path.dirname(runner), "fad-memory-report")
    fault = find_fault(runner, folder, seed) or find_waste(reporter, folder, seed)
    return fault and f"program {seed}: {fault}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fad-runner", required=True)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0, help="the first")
    parser.add_argument("--keep", help="where to write the programs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or temporary
        os.makedirs(folder, exist_ok=True)
        failed = run_checks(
            partial(check, options.fad_runner, folder, seed)
            for seed in range(options.seed, options.seed + options.count)
        )
    print(f"{options.count} programs under {len(POLICIES)} policies, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
