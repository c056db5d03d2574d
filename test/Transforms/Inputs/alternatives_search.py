"""Holds the choice between alternatives against trying all of them.

usage: alternatives_search.py --fad-opt PATH [--count N]

In each program there are tensors that backward cannot compute again, and values that
can be computed in two ways, each from some of them: what is kept is the union of the operands
of the chosen ways. Up to eight values are searched exactly: the bytes are the least
that this script finds. More are improved one at a time: the bytes are no more than
with the first way for all, or the second way for all, and the least where one change
at a time leads there from either. Exits with 1 where that does not hold.
"""

import argparse
import itertools
import json
import random
import re
import subprocess
import sys

SEARCHED = 8


class Program:
    """Sizes of tensors, and for each value the tensors that its two ways read."""

    def __init__(self, sizes, ways):
        self.sizes, self.ways = sizes, ways

    def get_bytes(self, choice):
        read = set().union(*(ways[way] for ways, way in zip(self.ways, choice)))
        return 4 * sum(self.sizes[tensor] for tensor in read)

    def compute(self, value, way, number):
        """Text that computes a value one way: a broadcast product of tensors."""
        dims = self.get_dims(value)
        loops = ", ".join(f"d{tensor}" for tensor in dims)
        kind = self.get_type(dims)
        tensors = sorted(self.ways[value][way])
        maps = [f"affine_map<({loops}) -> (d{tensor})>" for tensor in tensors]
        maps.append(f"affine_map<({loops}) -> ({loops})>")
        iterators = ", ".join(['"parallel"'] * len(dims))
        scalars = [f"%a{tensor}" for tensor in tensors]
        lines = [
            f"  %d{value}_{number} = linalg.generic {{indexing_maps = [{', '.join(maps)}],",
            f"      iterator_types = [{iterators}]}}",
            f"      ins({', '.join(f'%t{tensor}' for tensor in tensors)} : "
            f"{', '.join(self.get_type([tensor]) for tensor in tensors)})"
            f" outs(%y{value} : {kind}) {{",
            f"  ^bb0({''.join(f'{scalar}: f32, ' for scalar in scalars)}%o: f32):",
        ]
        product = scalars[0]
        for scalar in scalars[1:]:
            lines.append(f"    %p{scalar[2:]} = arith.mulf {product}, {scalar} : f32")
            product = f"%p{scalar[2:]}"
        lines += [f"    linalg.yield {product} : f32", f"  }} -> {kind}"]
        return lines

    def get_dims(self, value):
        return sorted(self.ways[value][0] | self.ways[value][1])

    def get_type(self, dims):
        return f"tensor<{''.join(f'{self.sizes[dim]}x' for dim in dims)}f32>"

    def text(self, name):
        """A joint function whose backward part multiplies by each value."""
        kinds = [self.get_type(self.get_dims(value)) for value in range(len(self.ways))]
        arguments = ["%v: tensor<3xf32>"]
        arguments += [f"%w{tensor}: tensor<{size}x3xf32>" for tensor, size in enumerate(self.sizes)]
        first = len(arguments)
        arguments += [f"%y{value}: {kind}" for value, kind in enumerate(kinds)]
        arguments += [
            f"%g{value}: {kind} {{fad.cotangent = {value} : i64}}"
            for value, kind in enumerate(kinds)
        ]
        results = kinds + [
            f"{kind} {{fad.gradient = {first + value} : i64}}" for value, kind in enumerate(kinds)
        ]
        lines = [f"func.func @{name}({', '.join(arguments)}) -> ({', '.join(results)}) {{"]
        lines.append("  %zero = arith.constant 0.0 : f32")
        for tensor, size in enumerate(self.sizes):
            kind = f"tensor<{size}xf32>"
            lines += [
                f"  %e{tensor} = tensor.empty() : {kind}",
                f"  %i{tensor} = linalg.fill ins(%zero : f32) outs(%e{tensor} : {kind}) -> {kind}",
                f"  %t{tensor} = linalg.matvec ins(%w{tensor}, %v : tensor<{size}x3xf32>,"
                f" tensor<3xf32>) outs(%i{tensor} : {kind}) -> {kind}",
            ]
        for value, kind in enumerate(kinds):
            lines += self.compute(value, 0, 0) + self.compute(value, 1, 1)
            lines += [
                f"  %d{value} = fad.alternatives %d{value}_0, %d{value}_1 : {kind}",
                f"  %r{value} = arith.mulf %g{value}, %d{value} : {kind}",
            ]
        names = [f"%{letter}{value}" for letter in "yr" for value in range(len(kinds))]
        lines.append(f"  return {', '.join(names)} : {', '.join(kinds * 2)}")
        return "\n".join(lines + ["}"]) + "\n"


def make_traps():
    """Programs in which one change at a time leads nowhere from the first way for all,
    or from the second: a tensor that all values share takes less than one for each of
    them, but more than any of them."""
    for count in (2, SEARCHED, SEARCHED + 1, 12):
        shared = 2 * count - 1
        ways = [({value}, {count}) for value in range(count)]
        yield Program([2] * count + [shared], ways)
        # One more value, for which the other way is better.
        other = ({count + 1}, {count + 2})
        yield Program([2] * count + [shared, 3, 5], ways + [other])
        # The same from the other side.
        swapped = [(second, first) for first, second in [*ways, other]]
        yield Program([2] * count + [shared, 3, 5], swapped)


def make_random(generator, count):
    sizes = [generator.randint(2, 9) for _ in range(generator.randint(3, 7))]
    tensors = range(len(sizes))
    ways = [
        tuple(set(generator.sample(tensors, generator.randint(1, 2))) for _ in range(2))
        for _ in range(count)
    ]
    return Program(sizes, ways)


def find_least(program):
    choices = itertools.product(range(2), repeat=len(program.ways))
    return min(map(program.get_bytes, choices))


def find_uniform(program):
    count = len(program.ways)
    return min(program.get_bytes((way,) * count) for way in range(2))


def measure(fad_opt, programs):
    """The bytes that the policy auto keeps of each program."""
    text = "\n".join(program.text(f"f{number}") for number, program in enumerate(programs))
    process = subprocess.run(
        [fad_opt, "--test-fad-residuals", "-o", "/dev/null"],
        input=text,
        capture_output=True,
        text=True,
    )
    lines = re.findall(r"remark: (\{.*\})$", process.stderr, re.MULTILINE)
    if process.returncode or len(lines) != len(programs):
        sys.exit(process.stderr)
    return [json.loads(line)["elementwise"]["bytes"] for line in lines]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fad-opt", required=True)
    parser.add_argument("--count", type=int, default=100)
    options = parser.parse_args()
    generator = random.Random(1)
    traps = list(make_traps())
    programs = traps + [
        make_random(generator, generator.randint(2, SEARCHED + 5)) for _ in range(options.count)
    ]
    failed = searched = 0
    for program, kept in zip(programs, measure(options.fad_opt, programs), strict=True):
        exactly = program in traps or len(program.ways) <= SEARCHED
        bound = find_least(program) if exactly else find_uniform(program)
        searched += exactly
        if kept > bound or (exactly and kept < bound):
            failed += 1
            print(f"keeps {kept} bytes, not {bound}: {program.sizes} {program.ways}")
    print(f"{len(programs)} programs, {searched} of them held against all choices, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
