"""Checks that fad-nest's work grows with the size of the program, not faster.

Programs of n, 2n and 4n operations are compared by the lines that come out, by the most
memory that is allocated at once and by all that is allocated, and, for a quarter of the
size, by the lines of the program after each pass that changes it. All that is allocated
shows operations that are visited again and again, and the lines after passes show those
that passes make for others to drop. No time is measured: it would depend on the machine.

Usage: check_growth.py FAD_OPT BUFFER FOLDER [OPERATIONS] [--every]. BUFFER is the library of
BufferStderr.c, and the smallest program has OPERATIONS operations. With --every, each shape is measured under `bp` and `fad`, too;
without it, two of them are, and the others under `auto`, which does the most."""

import os
import pathlib
import subprocess
import sys

from memusage import count_allocations

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "benchmarks" / "programs"))
from shapes import SHAPES

OPERATIONS = 100
# The shapes that are always measured under each policy.
TAPED = ("chain", "bodies")
# By measure: the most growth of the larger step, as a multiple of the smaller one's, and
# what does not depend on the size of the program. What is allocated in all has no steps,
# as the capacities of containers have.
LIMITS = {
    "lines after passes": (2.8, 500),
    "lines": (2.8, 50),
    "MiB": (2.8, 1),
    "MiB in all": (2.4, 0.1),
}


def measure(fad_opt, buffer, folder, shape, policy, operations):
    """Figures of one run of fad-nest."""
    program, output = folder / "program.mlir", folder / "output.mlir"
    command = [
        fad_opt,
        program,
        f"--fad-nest=policy={policy} entry=f",
        "--mlir-disable-threading",
        "-o",
        output,
    ]
    program.write_text(SHAPES[shape](operations // 4))
    # A program that a pass leaves as it is, is not printed again.
    dump = ["--mlir-print-ir-after-all", "--mlir-print-ir-after-change"]
    with open(folder / "passes.txt", "w") as file:
        environment = {**os.environ, "LD_PRELOAD": buffer}
        subprocess.run([*command, *dump], stderr=file, check=True, env=environment)
    with open(folder / "passes.txt") as file:
        passes = sum(1 for _ in file)
    program.write_text(SHAPES[shape](operations))
    allocated = count_allocations(command)
    return {
        "lines after passes": passes,
        "lines": len(output.read_text().splitlines()),
        "MiB": allocated["peak"] / 2**20,
        "MiB in all": allocated["bytes"] / 2**20,
    }


def find_growth(figures):
    """The figure that grows faster than the program, if any; `figures` are those of a
    program, of one twice as large, and of one four times as large."""
    for name, (most, slack) in LIMITS.items():
        small, middle, large = (each[name] for each in figures)
        # Linear is twice the growth; quadratic, four times.
        if large - middle > most * (middle - small) + slack:
            return f"{name} grow faster than the program: {small}, {middle}, {large}"
    return ""


def main():
    fad_opt, buffer, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    rest = [argument for argument in sys.argv[4:] if argument != "--every"]
    operations = int(rest[0]) if rest else OPERATIONS
    for shape in SHAPES:
        taped = "--every" in sys.argv or shape in TAPED
        for policy in ["bp", "fad"] * taped + ["auto"]:
            figures = [
                measure(fad_opt, buffer, folder, shape, policy, factor * operations)
                for factor in [1, 2, 4]
            ]
            wrong = find_growth(figures)
            if wrong:
                sys.exit(f"{shape}, {policy}: {wrong}")
            print(f"{shape}, {policy}: linear")


if __name__ == "__main__":
    main()
