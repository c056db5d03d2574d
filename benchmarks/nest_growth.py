#!/usr/bin/env python3
"""Time of `fad-opt --fad-nest` against the size of the program.

The program is a chain of residual blocks on tensors, x + m * tanh(exp(m)) with
m = x * W: five operations a block. Prints, for each size, the median over the
repetitions of the whole process (parsing and printing included), its peak
memory, and the time an operation.

Usage: nest_growth.py [--fad-opt PATH] [--operations N...] [--repetitions N]
"""

import argparse
import os
import pathlib
import platform
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TENSOR = "tensor<64x64xf32>"


def write_program(path, operations):
    """Writes a function of `operations` operations to `path`."""
    lines = [
        f"func.func @f(%x: {TENSOR}, %w: {TENSOR}) -> {TENSOR} {{",
        "%zero = arith.constant 0.0 : f32",
        f"%e = tensor.empty() : {TENSOR}",
        f"%f = linalg.fill ins(%zero : f32) outs(%e : {TENSOR}) -> {TENSOR}",
    ]
    x = "%x"
    for i in range(operations // 5):
        lines += [
            f"%m{i} = linalg.matmul ins({x}, %w : {TENSOR}, {TENSOR}) "
            f"outs(%f : {TENSOR}) -> {TENSOR}",
            f"%s{i} = math.exp %m{i} : {TENSOR}",
            f"%t{i} = math.tanh %s{i} : {TENSOR}",
            f"%u{i} = arith.mulf %m{i}, %t{i} : {TENSOR}",
            f"%v{i} = arith.addf %u{i}, {x} : {TENSOR}",
        ]
        x = f"%v{i}"
    lines += [f"return {x} : {TENSOR}", "}"]
    path.write_text("\n".join(lines))


def measure(command):
    """Seconds and peak bytes of one run of `command`."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        raise SystemExit(f"{' '.join(map(str, command))} failed")
    return seconds, usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fad-opt", default=ROOT / "build" / "bin" / "fad-opt")
    parser.add_argument("--operations", type=int, nargs="+",
                        default=[100, 1000, 10000, 100000])
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--policies", nargs="+",
                        default=["bp", "recompute", "fad"])
    options = parser.parse_args()

    version = subprocess.run([options.fad_opt, "--version"], check=True,
                             capture_output=True, text=True).stdout
    print(f"machine: {platform.machine()}, {os.cpu_count()} cores, "
          f"{platform.platform()}")
    print("LLVM:", next(line.strip() for line in version.splitlines()
                        if "version" in line))
    print(f"repetitions: {options.repetitions}, medians of the whole process\n")
    print(f"{'policy':<10} {'operations':>10} {'seconds':>9} "
          f"{'us/operation':>13} {'peak MiB':>9}")
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "program.mlir"
        for policy in options.policies:
            for operations in options.operations:
                write_program(program, operations)
                command = [options.fad_opt, program,
                           f"--fad-nest=policy={policy}", "-o", os.devnull]
                runs = [measure(command) for _ in range(options.repetitions)]
                seconds = statistics.median(run[0] for run in runs)
                peak = max(run[1] for run in runs) / 2**20
                print(f"{policy:<10} {operations:>10} {seconds:>9.3f} "
                      f"{seconds / operations * 1e6:>13.1f} {peak:>9.0f}",
                      flush=True)


if __name__ == "__main__":
    main()
