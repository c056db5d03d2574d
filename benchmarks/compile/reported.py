#!/usr/bin/env python3
"""Reports by users of PyTorch on the memory and time of `torch.compile`: each report
on the smallest module that shows it, with PyTorch's partitioner and with fad's.

For each report and engine: the measured peak of a step, the estimate, the bytes saved,
the operations that backward repeats, the error of gradients, and two verdicts that are
computed from these. `--json` keeps the figures and leaves present ones as they are;
`--table` prints such a file."""

import argparse
import json
import os
import pathlib
import platform
import sys
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "common"))

from records import format_records  # noqa: E402

MIB = 1 << 20


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("reports", nargs="*", help="their numbers; all without")
    parser.add_argument("--engines", nargs="+", choices=("eager", "inductor"),
                        default=("eager", "inductor"))  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="tiny sizes, for a test")
    parser.add_argument("--json", type=pathlib.Path, help="reads and writes this file")
    parser.add_argument("--table", type=pathlib.Path, metavar="FILE", help="prints FILE")
    parser.add_argument("--rows", action="store_true", help="print all figures")
    return parser.parse_args()


def load(path: pathlib.Path | None) -> dict[str, Any]:
    return json.loads(path.read_text()) if path is not None and path.exists() else {}


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    # Before PyTorch reads it.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    import torch

    from reported_cases import REPORTS, measure

    unknown = [number for number in arguments.reports if number not in REPORTS]
    if unknown:
        sys.exit(f"no report {unknown[0]}; there are {', '.join(REPORTS)}")
    machine = f"{platform.system()} {platform.machine()}, torch {torch.__version__}"
    data = load(arguments.json) or {"machine": machine, "reports": {}}
    for number, report in REPORTS.items():
        if arguments.reports and number not in arguments.reports:
            continue
        entry = data["reports"].setdefault(number, {"title": report.title, "engines": {}})
        for engine in report.engines:
            if engine not in arguments.engines or engine in entry["engines"]:
                continue
            print(f"{number}, engine {engine}", file=sys.stderr, flush=True)
            entry["engines"][engine] = measure(number, engine, arguments.quick)
            if arguments.json:
                arguments.json.write_text(format_records(data) + "\n")
    return data


def format_row(row: dict[str, Any]) -> str:
    """Returns the figures of one configuration."""
    cells = []
    for name in ("peak", "estimate", "saved"):
        cells.append(f"{row[name] / MIB:9.2f}" if name in row else " " * 9)
    cells.append(f"{row['repeated']:9}" if "repeated" in row else " " * 9)
    cells.append(f"{row['error']:9.0e}" if "error" in row else " " * 9)
    others = ", ".join(f"{name} {row[name]:.2f}" for name in ("agree", "ratio") if name in row)
    return f"  {row['name']:18}{''.join(cells)}  {others}".rstrip()


def print_table(data: dict[str, Any], with_rows: bool) -> None:
    print(data["machine"])
    for number, report in data["reports"].items():
        print(f"\n{number}: {report['title']}")
        for engine, entry in report["engines"].items():
            if with_rows:
                sizes = ", ".join(f"{name} {size}" for name, size in entry["sizes"].items())
                print(f"  {sizes}\n  {engine:18}     peak estimate    saved repeated    error")
                for row in entry["rows"]:
                    print(format_row(row))
            pytorch, fad = entry["pytorch"], entry["fad"]
            first = "PyTorch: so    " if pytorch["holds"] else "PyTorch: not so"
            second = "fad: right     " if fad["holds"] else "fad: not right "
            print(f"  {engine:9} {first}  {pytorch['text']}")
            print(f"  {'':9} {second}  {fad['text']}")


def main() -> None:
    arguments = parse_arguments()
    if arguments.table and not arguments.table.exists():
        sys.exit(f"there is no file {arguments.table}")
    data = load(arguments.table) if arguments.table else run(arguments)
    print_table(data, arguments.rows)


if __name__ == "__main__":
    main()
