"""Differentiates random programs and checks that all policies agree.

usage: random_programs.py --fad-runner PATH [--count N] [--seed N] [--keep DIR]

In f64, the gradients of a program under policy fad are compared with finite
differences (by fad-runner). Those under every policy, in f32 or f64, are compared
with them. Exits with 1 where any differ. A seed names a program whatever the count;
`--keep` writes the programs to a folder.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from functools import partial

import numpy as np

from many_checks import run_checks
from random_program import Program

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
DYNAMIC = Program.DYNAMIC


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


def check(runner, folder, seed):
    fault = find_fault(runner, folder, seed)
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
