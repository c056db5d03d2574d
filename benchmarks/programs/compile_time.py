#!/usr/bin/env python3
"""CPU seconds of the first run of a small model's training step by `fad-runner`.

The model is a Llama of transformers, which fad.torch.export writes as MLIR. A first run
compiles forward and backward, and the checks of sizes before them; a second one finds
the code in a cache. Prints the least CPU time of the whole process (reading, compiling,
running and printing included, on all threads) of the repetitions.

Usage: compile_time.py [--fad-runner PATH] [--layers N] [--width N] [--policies NAME...]
                       [--repetitions N]
"""

import argparse
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

import torch

import fad.torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "common"))

from models import make_llama  # noqa: E402


def export(folder, options):
    """The file of the model in MLIR, and the numbers of its parameters."""
    torch.manual_seed(0)
    sizes = dict(layers=options.layers, width=options.width, heads=4, batch=2, length=32)
    model = make_llama(sizes)
    exported = fad.torch.export(model.module, model.inputs)
    file = pathlib.Path(folder) / "llama.mlir"
    file.write_text(str(exported.module))
    return file, ",".join(map(str, exported.wrt))


def measure(command, environment):
    """CPU seconds of one run of `command`."""
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, env={**os.environ, **environment}
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(map(str, command))} failed")
    return usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fad-runner", default=ROOT / "build" / "bin" / "fad-runner")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--policies", nargs="+", default=["bp", "recompute", "fad", "auto"])
    parser.add_argument("--repetitions", type=int, default=5)
    options = parser.parse_args()

    print(f"machine: {platform.machine()}, {os.cpu_count()} cores, {platform.platform()}")
    print(f"PyTorch {torch.__version__}, fad {fad.__version__}")
    print(f"Llama: {options.layers} layers of width {options.width}, 4 heads, batch 2 x 32")
    print(f"repetitions: {options.repetitions}, the least of the whole process\n")
    print(f"{'policy':<10} {'run':<7} {'CPU seconds':>11}")
    with tempfile.TemporaryDirectory() as folder:
        file, parameters = export(folder, options)
        for policy in options.policies:
            command = [options.fad_runner, file, f"--policy={policy}", f"--wrt={parameters}"]
            cache = {"FAD_CACHE_DIR": folder, "FAD_CACHE_SIZE": "1GiB"}
            for name, environment in (("first", {"FAD_CACHE_SIZE": "0"}), ("second", cache)):
                if name == "second":
                    measure(command, environment)
                seconds = min(measure(command, environment) for _ in range(options.repetitions))
                print(f"{policy:<10} {name:<7} {seconds:>11.2f}", flush=True)


if __name__ == "__main__":
    main()
