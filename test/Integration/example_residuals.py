"""Holds the policy auto against others on programs in files.

usage: example_residuals.py --fad-opt PATH [--before PASSES] FILE...

Prints where `auto` keeps more bytes of a program than the best of all choices, than
another policy, or than a minimum cut without derivatives, and exits with 1 then.
`--before` names passes that make tensors and linalg of the programs.
"""

import argparse
import os
import sys
from functools import partial

from many_checks import run_checks
from residual_costs import LEVELS, Failure, find_waste, measure


def check(fad_opt, before, searched, path):
    """The error of the program in a file, or nothing. Notes in `searched` the
    selections of which all choices were tried, and the others."""
    with open(path) as file:
        text = file.read()
    try:
        measures = measure(fad_opt, text, before=before)
    except Failure as failure:
        return f"{path}: {failure}"
    faults = [] if measures else ["has no function to measure"]
    for found in measures.values():
        faults += find_waste(found)
        for level in LEVELS:
            searched.append("least" in found["auto"][level])
    return "\n".join(f"{os.path.basename(path)}: {fault}" for fault in faults)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fad-opt", required=True)
    parser.add_argument("--before", default="")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    before = options.before and f"{options.before},"
    searched = []
    failed = run_checks(
        partial(check, options.fad_opt, before, searched, path) for path in options.files
    )
    print(
        f"{len(options.files)} programs, all choices tried for {sum(searched)} of"
        f" {len(searched)} selections, {failed} failed"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
