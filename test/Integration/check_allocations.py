"""Checks that what pipelines and the memory report allocate grows with the size of
the program, not faster: copies of maps, lists of all operations for each of them,
and programs that passes blow up show there. The C library's `libmemusage.so`
counts; no time is measured.

Usage: check_allocations.py BIN FOLDER [--every]. Without --every, one shape of programs
is measured."""

import pathlib
import subprocess
import sys

from memusage import count_allocations

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "benchmarks" / "programs"))
from shapes import network, perceptron

OPERATIONS = {network: 56, perceptron: 40}
# A joint function that has attributes, as another frontend's gets them.
JOINT = "builtin.module(inline,func.func(fad-normalize),fad-differentiate{entry=f})"
SINGLE = "--mlir-disable-threading"


def make(command, path):
    subprocess.run([*command, "-o", path], check=True)
    return path


def list_commands(tools, folder, shape, operations):
    """The commands that are measured, on a program of so many operations."""
    fad_opt = tools / "fad-opt"
    program, few = folder / "program.mlir", folder / "few.mlir"
    program.write_text(shape(operations))
    # Each kernel of a GPU is a module with passes of its own.
    few.write_text(shape(operations // 4))
    nest = "--fad-nest=policy=fad entry=f"
    nested = make([fad_opt, program, nest], folder / "nested.mlir")
    kernels = make([fad_opt, few, nest], folder / "kernels.mlir")
    joint = make([fad_opt, program, f"--pass-pipeline={JOINT}"], folder / "joint.mlir")
    return {
        "fad-to-cpu": [fad_opt, nested, "--fad-to-cpu", SINGLE],
        "fad-to-nvvm": [fad_opt, kernels, "--fad-to-nvvm", SINGLE],
        "fad-to-iree": [fad_opt, nested, "--fad-to-iree", SINGLE],
        "fad-nest of a joint function": [fad_opt, joint, "--fad-nest", SINGLE],
        "fad-memory-report": [tools / "fad-memory-report", program, "--entry=f"],
    }


def main():
    tools, folder = map(pathlib.Path, sys.argv[1:3])
    shapes = OPERATIONS if "--every" in sys.argv else [network]
    folder.mkdir(parents=True, exist_ok=True)
    failed = False
    for shape in shapes:
        operations = OPERATIONS[shape]
        measured = [
            {
                name: count_allocations([*command, "-o", "/dev/null"])
                for name, command in list_commands(
                    tools, folder, shape, factor * operations
                ).items()
            }
            for factor in [1, 2, 4]
        ]
        for name in measured[0]:
            for unit in ["bytes", "calls"]:
                small, middle, large = (each[name][unit] for each in measured)
                # Linear is twice the growth; quadratic, four times.
                grows = large - middle > 2.5 * (middle - small)
                failed |= grows
                print(
                    f"{shape.__name__}, {name}, {unit}: "
                    + (f"faster: {small}, {middle}, {large}" if grows else "linear")
                )
    sys.exit(failed)


if __name__ == "__main__":
    main()
