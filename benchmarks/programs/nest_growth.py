#!/usr/bin/env python3
"""Time of `fad-opt --fad-nest` against the size of the program.

Programs are those of shapes.py: layers of a network (normalizations, matmuls,
biases, activations, residual connections), residual blocks, long chains, loops, one
value that everything reads, many arguments, many functions, one concatenation of
many tensors. Prints, for each policy and size, the operations that come out
(lines of text), the median over the repetitions of the CPU time of the whole
process (one thread, parsing and printing included), the time for an operation
that goes in, and the peak memory.

Usage: nest_growth.py [--fad-opt PATH] [--shapes NAME...] [--policies NAME...]
                      [--operations N...] [--repetitions N]
"""

import argparse
import os
import pathlib
import platform
import statistics
import subprocess
import tempfile

from shapes import SHAPES

ROOT = pathlib.Path(__file__).resolve().parents[2]


def measure(command):
    """CPU seconds and peak bytes of one run of `command`."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(map(str, command))} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fad-opt", default=ROOT / "build" / "bin" / "fad-opt")
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=["network"])
    parser.add_argument("--operations", type=int, nargs="+", default=[100, 1000, 10000, 100000])
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--policies", nargs="+", default=["bp", "recompute", "fad", "auto"])
    options = parser.parse_args()

    version = subprocess.run(
        [options.fad_opt, "--version"], check=True, capture_output=True, text=True
    ).stdout
    print(f"machine: {platform.machine()}, {os.cpu_count()} cores, {platform.platform()}")
    print("LLVM:", next(line.strip() for line in version.splitlines() if "version" in line))
    print(f"repetitions: {options.repetitions}, medians of the whole process\n")
    print(
        f"{'shape':<10} {'policy':<10} {'operations':>10} {'lines out':>10} "
        f"{'seconds':>9} {'us/operation':>13} {'peak MiB':>9}"
    )
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "program.mlir"
        output = pathlib.Path(folder) / "output.mlir"
        for shape in options.shapes:
            for policy in options.policies:
                for operations in options.operations:
                    program.write_text(SHAPES[shape](operations))
                    command = [
                        options.fad_opt,
                        program,
                        f"--fad-nest=policy={policy} entry=f",
                        "--mlir-disable-threading",
                        "-o",
                        output,
                    ]
                    runs = [measure(command) for _ in range(options.repetitions)]
                    seconds = statistics.median(run[0] for run in runs)
                    peak = max(run[1] for run in runs) / 2**20
                    with open(output) as file:
                        lines = sum(1 for _ in file)
                    print(
                        f"{shape:<10} {policy:<10} {operations:>10} {lines:>10} "
                        f"{seconds:>9.3f} {seconds / operations * 1e6:>13.1f} "
                        f"{peak:>9.0f}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
