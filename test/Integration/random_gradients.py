"""Executes random programs under the policy auto.

usage: random_gradients.py [--count N] [--seed N]

The results and gradients of a program are those of its joint function as
differentiation leaves it, before residuals are selected. Each program runs at one
level of recomputation, which its seed names as well, and with a size for its dynamic
dimensions that may be 0. Prints what differs, and exits with 1 then.
"""

import argparse
import sys
from functools import partial

import fad
import ml_dtypes
import numpy as np

from many_checks import run_checks
from random_program import Program
from random_residuals import make_program
from residual_costs import JOINT, LEVELS

# What numbers may differ by, relative to 1 and to the largest that is finite, by the
# narrowest type of the program. Derivatives are computed in one form or the other.
BOUNDS = {"f64": 1e-11, "f32": 1e-4, "f16": 3e-2, "bf16": 2e-1}


def make_arrays(types, rows, rng):
    """Random arrays for arguments of `types`."""
    return [
        rng.standard_normal([rows if size is None else size for size in type_.shape])
        .astype(ml_dtypes.bfloat16 if type_.dtype == "bfloat16" else type_.dtype)
        for type_ in types
    ]


def describe_difference(expected, actual, bound):
    """How two arrays differ, or nothing."""
    expected, actual = (np.asarray(array, np.float64) for array in (expected, actual))
    scale = np.max(np.abs(expected), where=np.isfinite(expected), initial=1)
    try:
        np.testing.assert_allclose(actual, expected, rtol=bound, atol=bound * scale)
    except AssertionError as error:
        return str(error)
    return ""


def check(seed):
    """What is wrong with the program of a seed, or nothing."""
    text = make_program(seed).replace(f"@f{seed}(", "@f(")
    level = LEVELS[seed // 2 % len(LEVELS)]
    rng = np.random.default_rng(seed)
    try:
        joint, nested = fad.parse(text), fad.parse(text)
        joint.run(JOINT)
        nested.run(f"fad-nest{{policy=auto recompute={level}}}")
        signature = joint.signature("f_joint")
        rows = [Program.DYNAMIC, 1, 0, 5][seed // 8 % 4]
        arrays = make_arrays(signature.arguments, rows, rng)
        # Sizes go together, so that nothing has to be checked.
        expected = fad.compile(joint, check=False).call("f_joint", *arrays)
        count = len(nested.signature("f_forward").arguments)
        arguments, cotangents = arrays[:count], arrays[count:]
        results = len(cotangents)
        compiled = fad.compile(nested, check=False)
        forward = compiled.call("f_forward", *arguments)
        gradients = compiled.call("f_backward", *forward[results:], *cotangents)
    except (fad.Error, ValueError, TypeError) as error:
        return f"program {seed}, recompute={level}: {error}\n{text}"
    actual = [*forward[:results], *gradients]
    narrowest = max((name for name in BOUNDS if name in text), key=BOUNDS.get)
    for index, pair in enumerate(zip(expected, actual, strict=True)):
        wrong = describe_difference(*pair, BOUNDS[narrowest])
        if wrong:
            return f"program {seed}, recompute={level}, result {index}: {wrong}\n{text}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0, help="the first")
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.count)
    failed = run_checks(partial(check, seed) for seed in seeds)
    print(f"{options.count} programs executed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
