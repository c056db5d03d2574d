"""Holds the policy auto against others on random programs.

usage: random_residuals.py --fad-opt PATH [--count N] [--seed N] [FILE...]

At every level of recomputation, `auto` keeps as few bytes as the best of all choices,
and no more than other policies and than a minimum cut without derivatives, and
computes the same. Prints where it does not, and exits with 1 then. A seed names a
program whatever the count. With files, each of which has one function of the name of the
file, their programs take the place of random ones.
"""

import argparse
import pathlib
import sys
import threading
from functools import partial

from many_checks import run_checks
from random_program import Program
from residual_costs import LEVELS, Failure, find_waste, measure

# Programs that one process of fad-opt takes.
BATCH = 100


class Totals:
    """Counts over all programs: selections, those of which all choices
    were tried, and where a cut without derivatives keeps more."""

    def __init__(self):
        self.selections = self.searched = 0
        self.more = dict.fromkeys(LEVELS, 0)
        self.lock = threading.Lock()

    def add(self, measures):
        with self.lock:
            self.count(measures)

    def count(self, measures):
        for level in LEVELS:
            found, plain = measures["auto"][level], measures["plain"][level]
            self.selections += 1
            self.searched += "least" in found
            self.more[level] += plain > found["bytes"]


def make(seeds):
    """The texts of the programs of `seeds`, by the names of their functions."""
    return {f"f{seed}": Program(seed, name=f"f{seed}").text() for seed in seeds}


def check(fad_opt, totals, make):
    """Describes faults of the programs that `make` returns; empty if there are none."""
    texts = make()
    modules = "\n".join(f"module {{\n{program}}}" for program in texts.values())
    # A module that stands alone would be the outermost.
    text = f"module {{\n{modules}}}"
    try:
        measures = measure(fad_opt, text, nested=True)
    except Failure as failure:
        return f"programs {', '.join(texts)}: {failure}"
    if set(measures) != set(texts):
        return f"programs {', '.join(texts)}: not all were measured"
    faults = []
    for function, found in measures.items():
        totals.add(found)
        wrong = find_waste(found)
        if wrong:
            faults.append("\n".join([*wrong, texts[function]]))
    return "\n".join(faults)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fad-opt", required=True)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="the first")
    parser.add_argument("files", nargs="*", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    totals = Totals()
    end = options.seed + options.count
    batches = [
        partial(make, range(start, min(start + BATCH, end)))
        for start in range(options.seed, end, BATCH)
    ]
    if options.files:
        options.count = len(options.files)
        batches = [lambda: {each.stem: each.read_text() for each in options.files}]
    failed = run_checks(partial(check, options.fad_opt, totals, each) for each in batches)
    for level in LEVELS:
        print(
            f"recompute={level}: a cut without derivatives keeps more in"
            f" {totals.more[level]} programs"
        )
    print(
        f"{options.count} programs, all choices tried for {totals.searched} of"
        f" {totals.selections} selections, {failed} failed"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
