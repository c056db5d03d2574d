"""Prints what each policy keeps for the feed-forward blocks, in tensors of the
hidden layer's size (128 x 3072 x 4 bytes), and, under policy fad, what of it the
activation needs.

  report_saved.py MEMORY-REPORT EXAMPLES
"""

import json
import pathlib
import subprocess
import sys

ROWS = 128
UNIT = ROWS * 3072 * 4


def report(tool, file):
    command = [tool, file, f"--size={ROWS}", "--format=json"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["policies"]


def for_activation(residual):
    return residual["bytes"] and residual["for"] != "linalg.matmul"


def main(tool, folder):
    for file in sorted(pathlib.Path(folder).glob("*.mlir")):
        policies = report(tool, file)
        totals = [
            f"{policy} {policies[policy]['total_bytes'] / UNIT:g}"
            for policy in ("bp", "recompute", "fad")
        ]
        kept = filter(for_activation, policies["fad"]["residuals"])
        sizes = [f"{residual['bytes'] / UNIT:g}" for residual in kept]
        print(f"{file.stem}: {', '.join(totals)}; activation: {' '.join(sizes)}")


main(*sys.argv[1:])
