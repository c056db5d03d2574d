"""Holds the policy auto against others on programs in files.

usage: example_residuals.py --fad-opt PATH [--before PASSES] FILE...

Prints where `auto` keeps more bytes of a program than the best of all choices, than
another policy, or than a minimum cut without derivatives, and exits with 1 then.
`--before` names passes that make tensors and linalg of the programs.
"""

import argparse
import pathlib
import sys

from residual_costs import LEVELS, Failure, find_waste, measure_each


def check(searched, path, measures):
    """The faults of the program in a file. Notes in `searched` the selections of which all
    choices were tried, and the others."""
    faults = [] if measures else ["has no function to measure"]
    for found in measures.values():
        faults += find_waste(found)
        for level in LEVELS:
            searched.append("least" in found["auto"][level])
    return [f"{path.name}: {fault}" for fault in faults]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fad-opt", required=True)
    parser.add_argument("--before", default="")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    before = options.before and f"{options.before},"
    searched, failed = [], 0
    try:
        measured = measure_each(
            options.fad_opt, [each.read_text() for each in options.files], before
        )
    except Failure as failure:
        return f"{', '.join(each.name for each in options.files)}: {failure}"
    for path, measures in zip(options.files, measured, strict=True):
        faults = check(searched, path, measures)
        failed += bool(faults)
        print(*faults, sep="\n", end="\n" * bool(faults))
    print(
        f"{len(options.files)} programs, all choices tried for {sum(searched)} of"
        f" {len(searched)} selections, {failed} failed"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
