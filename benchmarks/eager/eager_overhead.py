#!/usr/bin/env python3
"""The time that fad.torch.nest adds to a call of an operator, and to a step of a tiny model;
and the time of a large activation, whose kernels the deferred engine has compiled.

Times are minima of the thread's CPU time over many rounds, in which eager PyTorch and
nested operators take turns. An operator's time is that of a forward on tensors of 64
elements, where the operator itself takes least; that of a large activation is of forward
and backward. --out writes JSON, --table prints the tables of docs/EagerPyTorch.md from such
a file."""

import argparse
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "common"))

from records import format_records  # noqa: E402

ROUNDS = 60


def print_table(results):
    print("| | eager | left alone | auto | fad |\n|---|---|---|---|---|")
    for name, times in results["operators"].items():
        cells = [f"{times['eager']:.2f}"]
        cells += [
            f"{times[key] - times['eager']:+.2f}" if key in times else ""
            for key in ("left alone", "auto", "fad")
        ]
        print(f"| {name} | {' | '.join(cells)} |")
    times = results["model"]
    cells = [f"{times['eager']:.0f}"]
    cells += [f"{times[key] / times['eager']:.2f}x" for key in ("left alone", "auto", "fad")]
    print(f"| a step of a tiny model | {' | '.join(cells)} |")
    print("\n| GELU, forward and backward | eager | deferred auto | deferred fad |")
    print("|---|---|---|---|")
    for elements, times in results["large"].items():
        cells = [f"{times[key] / times['eager']:.2f}x" for key in ("auto", "fad")]
        print(f"| {elements} elements | {times['eager']:.0f} | {' | '.join(cells)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, help="a file for the results")
    parser.add_argument("--table", type=pathlib.Path, help="print the table of this file")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--instructions", action="store_true", help="count those of calls alone")
    arguments = parser.parse_args()
    if arguments.instructions:
        from overhead_measure import count_instructions

        counts = count_instructions()
        for name, count in counts.items():
            print(f"{name:12} {count:12.0f} {count / counts['eager']:.3f}")
        return
    if arguments.table:
        return print_table(json.loads(arguments.table.read_text()))
    # Tables of a file need no PyTorch.
    from overhead_measure import measure

    results = measure(arguments.rounds)
    if arguments.out:
        arguments.out.write_text(format_records(results) + "\n")
    print_table(results)


if __name__ == "__main__":
    main()
