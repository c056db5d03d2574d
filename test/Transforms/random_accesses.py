"""Differentiates random operations and compares gradients with differences.

usage: random_accesses.py --fad-runner PATH --out DIR [--count N] [--seed N]

Each operation is a linalg.generic whose operands are read through random maps:
loops, constants, strides, windows, diagonals, reversed and divided indices, in any
mixture. What it adds up is a product or not, and may depend on the position. A
seed names an operation whatever the count.
"""

import argparse
import os
import random
import subprocess
import sys
from functools import partial

from many_checks import run_checks

POLICIES = ["fad", "bp", "recompute"]


class Operation:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.extents = [
            self.random.choice([1, 2, 3, 4]) for _ in range(self.random.randint(1, 4))
        ]
        self.loops = range(len(self.extents))

    def index(self):
        """An index expression and the least size that it needs; exactly this size
        where it is a loop."""
        kind = self.random.choice(
            ["loop"] * 4 + ["window"] * 4 + ["stride", "reverse", "constant", "divide"]
        )
        loop = self.random.choice(self.loops)
        last = self.extents[loop] - 1
        offset = self.random.choice([0, 0, 1, 2])
        if kind == "loop":
            return f"d{loop}", last + 1
        if kind == "constant":
            return str(offset), offset + 1 + self.random.choice([0, 1])
        if kind == "divide":
            return f"d{loop} floordiv 2", last // 2 + 1
        slack = self.random.choice([0, 0, 1])
        if kind == "reverse":
            return f"{last + offset} - d{loop}", last + offset + 1 + slack
        if kind == "stride":
            stride = self.random.choice([2, 3])
            return f"d{loop} * {stride} + {offset}", last * stride + offset + 1 + slack
        if len(self.loops) == 1:
            return self.index()
        count = 3 if len(self.loops) > 2 and self.random.random() < 0.2 else 2
        chosen = self.random.sample(self.loops, count)
        terms, size = [], offset + 1 + slack
        for loop in chosen:
            factor = self.random.choice([1, 1, 2, 3])
            terms.append(f"d{loop} * {factor}")
            size += factor * (self.extents[loop] - 1)
        return " + ".join(terms + [str(offset)]), size

    def operand(self):
        """A map and a shape."""
        indices = [self.index() for _ in range(self.random.randint(1, 3))]
        return [index[0] for index in indices], [index[1] for index in indices]

    def body(self, count):
        """The lines of a body of `count` inputs; the last defines %r."""
        lines, names = [], []
        for number in range(count):
            name = f"%x{number}"
            if self.random.random() < 0.4:
                function = self.random.choice(["sin", "exp", "tanh"])
                lines.append(f"%y{number} = math.{function} {name} : f64")
                name = f"%y{number}"
            names.append(name)
        if self.random.random() < 0.3:
            loop = self.random.choice(self.loops)
            lines += [
                f"%i = linalg.index {loop} : index",
                "%j = arith.index_cast %i : index to i32",
                "%p = arith.sitofp %j : i32 to f64",
            ]
            names.append("%p")
        total = names[0]
        for number, name in enumerate(names[1:]):
            operation = self.random.choice(["mulf", "mulf", "addf"])
            lines.append(f"%t{number} = arith.{operation} {total}, {name} : f64")
            total = f"%t{number}"
        return lines + [f"%r = arith.addf %o, {total} : f64"]

    def function(self):
        operands = [self.operand() for _ in range(self.random.randint(1, 3))]
        kept = self.random.sample(self.loops, self.random.randint(0, len(self.loops)))
        summed = [loop for loop in self.loops if loop not in kept]
        # An operand that says how long the loops are, and the result.
        for loops in (summed, kept):
            operands.append(
                ([f"d{loop}" for loop in loops], [self.extents[l] for l in loops])
            )
        dims = ", ".join(f"d{loop}" for loop in self.loops)
        maps = ", ".join(
            f"affine_map<({dims}) -> ({', '.join(indices)})>" for indices, _ in operands
        )
        types = [
            f"tensor<{''.join(f'{size}x' for size in shape)}f64>"
            for _, shape in operands
        ]
        iterators = ", ".join(
            '"parallel"' if loop in kept else '"reduction"' for loop in self.loops
        )
        last = len(operands) - 1
        names = ", ".join(f"%a{number}" for number in range(last))
        arguments = ", ".join(f"%a{n}: {kind}" for n, kind in enumerate(types))
        inputs = ", ".join(f"%x{number}: f64" for number in range(last))
        body = "\n    ".join(self.body(last))
        return (
            f"func.func @f({arguments}) -> {types[-1]} {{\n"
            f"  %g = linalg.generic {{indexing_maps = [{maps}],\n"
            f"      iterator_types = [{iterators}]}}\n"
            f"      ins({names} : {', '.join(types[:-1])}) outs(%a{last} : {types[-1]}) {{\n"
            f"  ^bb0({inputs}, %o: f64):\n    {body}\n    linalg.yield %r : f64\n"
            f"  }} -> {types[-1]}\n  return %g : {types[-1]}\n}}\n"
        )


def check(runner, folder, seed):
    """What is wrong with the operation of `seed`, or nothing."""
    text = Operation(seed).function()
    path = os.path.join(folder, f"{seed}.mlir")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    policy = POLICIES[seed % len(POLICIES)]
    done = subprocess.run(
        [runner, path, f"--policy={policy}", "--check-gradients", "--cotangent=random:1"],
        capture_output=True,
        text=True,
    )
    return done.returncode and f"seed {seed}:\n{text}{done.stdout}{done.stderr}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fad-runner", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    failed = run_checks(
        partial(check, options.fad_runner, options.out, seed)
        for seed in range(options.seed, options.seed + options.count)
    )
    print(f"{options.count} operations, {failed} failures")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
