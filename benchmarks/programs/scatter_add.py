#!/usr/bin/env python3
"""Time of fad.scatter_add as a loop and as reductions.

Adds rows to a table at random places, compiled by fad and, where
iree-base-compiler and iree-base-runtime are installed, by IREE, lowered in both
ways that fad-to-linalg offers. Prints the shortest time of one call over the
repetitions, for each number of rows in the table.

Usage: scatter_add.py [--tools DIR] [--rows N...] [--updates N] [--width N]
                      [--repetitions N]
"""

import argparse
import pathlib
import re
import subprocess
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = """
func.func @add(%u: tensor<{updates}x{width}xf32>, %i: tensor<{updates}xi64>)
    -> tensor<{rows}x{width}xf32> {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<{rows}x{width}xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<{rows}x{width}xf32>)
      -> tensor<{rows}x{width}xf32>
  %r = fad.scatter_add %u at (%i : tensor<{updates}xi64>) dims [0] into %init
      : tensor<{updates}x{width}xf32> -> tensor<{rows}x{width}xf32>
  return %r : tensor<{rows}x{width}xf32>
}}
"""
FORMS = {
    "loop": "--fad-to-linalg",
    "reductions": "--fad-to-linalg=scatter-as-reductions",
}


def run_fad(tools, program, folder, repetitions):
    """Shortest milliseconds of fad-runner, and the result."""
    command = [tools / "fad-runner", program, "--stats", f"--out={folder}"]
    command += [f"--arg={folder / name}.npy" for name in ("updates", "places")]
    times = []
    for _ in range(repetitions):
        output = subprocess.run(command, check=True, capture_output=True, text=True)
        times.append(float(re.search(r"forward\s+([\d.]+) ms", output.stdout)[1]))
    return min(times), np.load(folder / "out0.npy")


def run_iree(program, updates, places, repetitions):
    """Returns the same of IREE; None where it is not installed."""
    try:
        import iree.compiler
        import iree.runtime
    except ImportError:
        return None
    binary = iree.compiler.compile_file(
        str(program),
        target_backends=["llvm-cpu"],
        extra_args=["--iree-llvmcpu-target-cpu=host"],
    )
    module = iree.runtime.load_vm_flatbuffer(binary, driver="local-task")
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        result = module.add(updates, places).to_host()
        times.append((time.perf_counter() - start) * 1e3)
    return min(times), result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", type=pathlib.Path, default=ROOT / "build" / "bin")
    parser.add_argument("--rows", type=int, nargs="+", default=[2, 512, 4096])
    parser.add_argument("--updates", type=int, default=1024)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--repetitions", type=int, default=3)
    options = parser.parse_args()

    random = np.random.default_rng(0)
    updates = random.standard_normal((options.updates, options.width), np.float32)
    print(f"{options.updates} updates of {options.width} elements; milliseconds")
    print(f"{'rows':>8}  {'compiler':8}  {'loop':>10}  {'reductions':>10}")
    for rows in options.rows:
        places = random.integers(0, rows, options.updates)
        expected = np.zeros((rows, options.width))
        np.add.at(expected, places, updates)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            np.save(folder / "updates.npy", updates)
            np.save(folder / "places.npy", places)
            source = folder / "source.mlir"
            source.write_text(PROGRAM.format(rows=rows, updates=len(updates), width=options.width))
            lines = {"fad": [], "iree": []}
            for form, flag in FORMS.items():
                program = folder / f"{form}.mlir"
                command = [options.tools / "fad-opt", source, flag, "-o", program]
                subprocess.run(command, check=True)
                repetitions = options.repetitions
                runs = {
                    "fad": run_fad(options.tools, program, folder, repetitions),
                    "iree": run_iree(program, updates, places, repetitions),
                }
                for compiler, run in runs.items():
                    if run is None:
                        continue
                    if not np.allclose(run[1], expected, rtol=1e-4, atol=1e-4):
                        raise SystemExit(f"{compiler}, {form}: wrong sums")
                    lines[compiler].append(run[0])
        for compiler, times in lines.items():
            if times:
                columns = "  ".join(f"{ms:10.2f}" for ms in times)
                print(f"{rows:8}  {compiler:8}  {columns}", flush=True)


if __name__ == "__main__":
    main()
