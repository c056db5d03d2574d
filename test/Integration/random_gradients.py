"""Executes random programs forward and backward, under every policy.

usage: random_gradients.py [--count N] [--seed N] [--keep DIR]

Results and gradients are those of a forward-mode evaluator that shares no code with
fad, within what rounding may do in the types of the program (`random_program`). A
seed names a program, and the policy that it runs under, `auto` at every level of
recomputation among them. Prints what differs, and exits with 1 then; `--keep`
writes programs that fail to a folder.
"""

import argparse
import multiprocessing
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import fad
import ml_dtypes
import numpy as np

from random_program import Program
from residual_costs import LEVELS

POLICIES = {policy: {"policy": policy} for policy in ("bp", "recompute", "fad")}
POLICIES |= {f"auto at {level}": {"recompute": level} for level in LEVELS}
# Programs that one process executes.
BATCH = 20
# Factors of the evaluator's bounds: operations are done in other orders
# and forms than it has in mind.
FACTOR = 4
DTYPES = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
}


def find_difference(expected, off, actual, least=1e-14):
    """Where an array is not what it should be, or nothing."""
    actual = np.asarray(actual, np.float64)
    with np.errstate(invalid="ignore"):
        right = ~np.isfinite(off) | (np.abs(actual - expected) <= FACTOR * off + least)
    if np.all(right):
        return ""
    place = np.unravel_index(np.argmin(right), right.shape)
    bound = FACTOR * off[place] + least
    place = tuple(map(int, place))
    return f"{actual[place]!r} at {place}, not {expected[place]!r} within {bound:.3g}"


class Run:
    """A program, what it is called with, and what it should return."""

    def __init__(self, seed):
        self.program = Program(seed)
        rng = np.random.default_rng(seed)
        values = self.program.results
        self.cotangents = [
            (rng.integers(-8, 9, value.shape) / 4).astype(DTYPES[value.element]) for value in values
        ]
        arguments = self.program.inputs()
        kinds = [DTYPES[value.element] for value in self.program.arguments]
        self.arguments = [a.astype(kind) for a, kind in zip(arguments, kinds)]
        self.arguments += arguments[len(kinds) :]
        self.results = [(self.program.dual(v).value, self.program.dual(v).error) for v in values]
        wide = [cotangent.astype(np.float64) for cotangent in self.cotangents]
        self.gradients = self.program.gradients(wide)

    def check(self, options):
        """The error under a policy, or nothing."""
        nested = fad.nest(fad.parse(self.program.text()), **options)
        compiled = fad.compile(nested)
        count = len(self.results)
        forward = compiled.call(nested.forward, *self.arguments)
        found = compiled.call(nested.backward, *forward[count:], *self.cotangents)
        names = [f"result {index}" for index in range(count)]
        names += [f"gradient {gradient.argument}" for gradient in nested.gradients]
        expected = [*self.results, *(self.gradients[g.argument] for g in nested.gradients)]
        for name, (value, off), actual in zip(
            names, expected, [*forward[:count], *found], strict=True
        ):
            wrong = find_difference(value, off, actual)
            if wrong:
                return f"{name} is {wrong}"
        return ""


def check(keep, seed):
    """The error of the program of a seed, or nothing."""
    name = list(POLICIES)[seed % len(POLICIES)]
    run = Run(seed)
    try:
        fault = run.check(POLICIES[name])
    except (fad.Error, ValueError, TypeError) as error:
        fault = str(error)
    if not fault:
        return ""
    text = run.program.text()
    if keep:
        with open(os.path.join(keep, f"{seed}.mlir"), "w") as file:
            file.write(text)
    return f"program {seed}, {name}: {fault}\n{text}"


def check_batch(keep, seeds):
    """Errors of the programs of `seeds`: descriptions."""
    return [fault for fault in (check(keep, seed) for seed in seeds) if fault]


def find_faults(keep, seeds):
    """The same, from a process of its own, which a program may end by a signal."""
    # A copy of this process, which has compiled nothing.
    context = multiprocessing.get_context("fork")
    reader, writer = context.Pipe(duplex=False)
    process = context.Process(target=lambda: writer.send(check_batch(keep, seeds)), daemon=True)
    process.start()
    writer.close()
    try:
        return reader.recv()
    except EOFError:
        pass
    finally:
        process.join()
    if len(seeds) == 1:
        return [f"program {seeds[0]} ends the process, status {process.exitcode}"]
    half = len(seeds) // 2
    return find_faults(keep, seeds[:half]) + find_faults(keep, seeds[half:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0, help="the first")
    parser.add_argument("--keep", help="where to write what fails")
    options = parser.parse_args()
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    end, failed = options.seed + options.count, 0
    batches = [range(s, min(s + BATCH, end)) for s in range(options.seed, end, BATCH)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for faults in pool.map(partial(find_faults, options.keep), batches):
            failed += len(faults)
            print("".join(fault + "\n" for fault in faults), end="", flush=True)
    print(f"{options.count} programs executed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
