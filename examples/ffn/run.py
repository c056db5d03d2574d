#!/usr/bin/env python3
"""Differentiates, runs and compiles the feed-forward blocks of this folder.

For each file: what every policy keeps between forward and backward; forward and
backward under every policy on this machine's CPU; every gradient compared
between policies and with finite differences in f64; and the PTX of the fused
elementwise kernels. Ends with a table."""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import time

import numpy

POLICIES = ("bp", "recompute", "fad", "auto")
HERE = pathlib.Path(__file__).resolve().parent
MIB = 1 << 20
# Gradients are sums of a few thousand f32 products, in different orders.
BETWEEN_BOUND = 1e-4


class Failure(Exception):
    """A command failed; carries what it wrote."""


class Tools:
    """Runs the commands of fad."""

    def __init__(self, folder):
        self.folder = folder

    def run(self, tool, *arguments, text=None):
        command = [str(self.folder / tool), *map(str, arguments)]
        if not pathlib.Path(command[0]).exists():
            raise Failure(
                f"{self.folder}: no {tool} here; build fad, or name the folder of "
                "its tools with --tools"
            )
        # An error may quote a line of a file that is no text.
        done = subprocess.run(command, input=text, capture_output=True, text=True, errors="replace")
        if done.returncode:
            raise Failure(f"{' '.join(command)}\n{done.stderr.strip()}")
        return done.stdout


def make_arguments(path, rows, width, inner, seed):
    """Saves x, w1, b1, w2, b2 with the scale that training starts from."""
    random = numpy.random.default_rng(seed)
    shapes = [(rows, width), (inner, width), (inner,), (width, inner), (width,)]
    scales = [1, width**-0.5, 0.1, inner**-0.5, 0.1]
    path.mkdir(parents=True, exist_ok=True)
    files = []
    for number, (shape, scale) in enumerate(zip(shapes, scales)):
        files.append(path / f"arg{number}.npy")
        values = random.standard_normal(shape) * scale
        numpy.save(files[-1], values.astype(numpy.float32))
    return files


def read_sizes(file):
    """Returns the sizes of the block in `file`: width and inner."""
    match = re.search(r"%arg1: tensor<(\d+)x(\d+)x", file.read_text())
    if not match:
        raise Failure(f"{file}: no weight matrix in argument 1")
    return int(match[2]), int(match[1])


def saved_bytes(tools, file, rows):
    """Returns the bytes that each policy keeps between forward and backward."""
    report = tools.run("fad-memory-report", file, f"--size={rows}", "--format=json")
    policies = json.loads(report)["policies"]
    return {policy: policies[policy]["total_bytes"] for policy in POLICIES}


class Run:
    """Forward and backward of a file under one policy. `check` also compares the
    gradients with finite differences."""

    def __init__(self, tools, file, policy, arguments, out, check=False):
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        printed = tools.run(
            "fad-runner",
            file,
            f"--policy={policy}",
            *(f"--arg={argument}" for argument in arguments),
            f"--out={out}",
            "--stats",
            *(["--check-gradients"] if check else []),
        )
        times = re.findall(r"^(?:for|back)ward +(\S+) ms$", printed, re.M)
        self.milliseconds = sum(map(float, times))
        self.gradients = [numpy.load(out / f"grad{i}.npy") for i in range(len(arguments))]
        # A line for each argument: its type, the error in f64 against
        # differences, the error against f64, the bound of that, and a verdict.
        self.errors = [
            float(error)
            for error in re.findall(r"^\d+ +tensor\S+ +(\S+) +\S+ +\S+ +ok", printed, re.M)
        ]
        if check and len(self.errors) != len(arguments):
            raise Failure(f"{file}: not every gradient was checked:\n{printed}")


def largest_difference(one, other):
    """Returns the largest difference between gradients of two runs, each relative to the largest
    element of its gradient."""
    return max(
        numpy.abs(a - b).max() / numpy.abs(a).max() for a, b in zip(one.gradients, other.gradients)
    )


def write_ptx(tools, file, chip, path):
    """Writes the PTX of the fused kernels; returns their number, or None where
    that needs a CUDA toolkit."""
    try:
        nested = tools.run("fad-opt", file, "--fad-nest=policy=fad", f"--fad-to-nvvm=chip={chip}")
    except Failure as failure:
        if "libdevice" in str(failure):
            return None
        raise
    path.write_text(tools.run("fad-translate", "--gpu-binary-to-ptx", text=nested))
    return path.read_text().count(".entry ")


def mebibytes(number):
    return f"{number / MIB:.2f}"


def print_table(header, rows):
    widths = [max(map(len, column)) for column in zip(header, *rows)]
    for row in (header, *rows):
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        print("  ".join(cells))


def process(tools, file, options):
    """Everything for one file; returns its row of the table."""
    name = file.stem
    out = options.out / name
    saved = saved_bytes(tools, file, options.report_size)
    arguments = make_arguments(out, options.size, *read_sizes(file), options.seed)
    runs = {
        policy: Run(tools, file, policy, arguments, out / policy, policy == "fad")
        for policy in POLICIES
    }
    between = max(largest_difference(runs["fad"], run) for run in runs.values())
    if between > BETWEEN_BOUND:
        raise Failure(f"{file}: gradients of two policies differ by {between:.1e}")
    kernels = write_ptx(tools, file, options.chip, out / f"{name}.ptx")
    return [
        name,
        *(mebibytes(saved[policy]) for policy in POLICIES),
        *(f"{runs[policy].milliseconds:.1f}" for policy in POLICIES),
        f"{between:.1e}",
        f"{max(runs['fad'].errors):.1e}",
        "needs CUDA" if kernels is None else str(kernels),
    ]


HEADER = [
    "activation",
    *(f"{policy} MiB" for policy in POLICIES),
    *(f"{policy} ms" for policy in POLICIES),
    "policies",
    "differences",
    "kernels",
]


NEEDS_TOOLKIT = """
"needs CUDA": the kernels call functions of libdevice, which is part of the CUDA
toolkit. Install the toolkit and set CUDA_HOME, or get that part alone (320 MB):

  python3 -m venv cuda && cuda/bin/pip install nvidia-nvvm nvidia-cuda-nvcc

(on Debian after apt-get install python3-venv), put $PWD/cuda/bin first on the
PATH, and run this again."""


def explain(options, needs_toolkit):
    print(
        f"""
MiB          kept between forward and backward, for {options.report_size} rows; what is alive
             anyway (arguments and results) is not counted
ms           forward and backward on this CPU, for {options.size} rows, one run
policies     largest difference between gradients of two policies, relative
differences  largest error of a gradient, computed in f64 under policy fad, against
             finite differences in f64, relative
kernels      GPU kernels in {options.out}/NAME/NAME.ptx ({options.chip})"""
    )
    if needs_toolkit:
        print(NEEDS_TOOLKIT)


def whole_number(least):
    """Returns the type of an option that takes an integer from `least` on."""

    def parse(text):
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not an integer of {least} or more")
        return int(text)

    return parse


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="default: all")
    parser.add_argument("--tools", type=pathlib.Path, default=HERE / "../../build/bin")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("ffn"))
    parser.add_argument("--size", type=whole_number(1), default=16, help="rows to run")
    parser.add_argument(
        "--report-size",
        type=whole_number(0),
        default=128,
        help="rows in the memory report",
    )
    parser.add_argument("--chip", default="sm_80")
    parser.add_argument("--seed", type=whole_number(0), default=0)
    return parser.parse_args()


def main():
    options = parse_arguments()
    files = options.files or sorted(HERE.glob("*.mlir"))
    tools = Tools(options.tools)
    rows = []
    for number, file in enumerate(files, 1):
        start = time.monotonic()
        print(f"[{number}/{len(files)}] {file.stem}", end="", flush=True)
        rows.append(process(tools, file, options))
        print(f": {time.monotonic() - start:.1f} s", flush=True)
    print()
    print_table(HEADER, rows)
    explain(options, any(row[-1] == "needs CUDA" for row in rows))


if __name__ == "__main__":
    try:
        main()
    except (Failure, OSError, MemoryError) as failure:
        sys.exit(f"\nerror: {failure}")
