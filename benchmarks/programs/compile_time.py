#!/usr/bin/env python3
"""CPU seconds of the first run of a small model's training step by `fad-runner`.

The model is a Llama of transformers, which fad.torch.export writes as MLIR. A first run
compiles forward and backward, and the checks of sizes before them; a second one finds
the code in a cache. Prints the least CPU time of the whole process (reading, compiling,
running and printing included, on all threads) of the repetitions.

--out writes JSON, --table prints such a file.
"""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "common"))

from figures import name_processor  # noqa: E402
from records import format_records  # noqa: E402


def export(folder, options):
    """Returns the file of the model in MLIR, and the numbers of its parameters."""
    import torch
    from models import make_llama

    import fad.torch

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


def run(options):
    """Returns the figures, of first and second runs under each policy."""
    import torch

    import fad

    sizes = dict(layers=options.layers, width=options.width, repetitions=options.repetitions)
    found = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {name_processor()}",
        "versions": {"torch": torch.__version__, "fad": fad.__version__},
        "sizes": sizes,
        "seconds": {},
    }
    with tempfile.TemporaryDirectory() as folder:
        file, parameters = export(folder, options)
        for policy in options.policies:
            command = [options.fad_runner, file, f"--policy={policy}", f"--wrt={parameters}"]
            cache = {"FAD_CACHE_DIR": folder, "FAD_CACHE_SIZE": "1GiB"}
            found["seconds"][policy] = {}
            for name, environment in (("first", {"FAD_CACHE_SIZE": "0"}), ("second", cache)):
                if name == "second":
                    measure(command, environment)
                found["seconds"][policy][name] = min(
                    measure(command, environment) for _ in range(options.repetitions)
                )
    return found


def print_table(found):
    print(
        f"{found['machine']}; PyTorch {found['versions']['torch']}, fad {found['versions']['fad']}"
    )
    sizes = found["sizes"]
    print(f"Llama: {sizes['layers']} layers of width {sizes['width']}, 4 heads, batch 2 x 32")
    print(f"CPU seconds of the whole process, the least of {sizes['repetitions']}\n")
    print(f"{'policy':<10} {'first run':>9} {'second run':>10}")
    for policy, seconds in found["seconds"].items():
        print(f"{policy:<10} {seconds['first']:>9.2f} {seconds['second']:>10.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fad-runner", default=ROOT / "build" / "bin" / "fad-runner")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--policies", nargs="+", default=["bp", "recompute", "fad", "auto"])
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--out", type=pathlib.Path, help="a file for the results")
    parser.add_argument("--table", type=pathlib.Path, help="print the table of this file")
    options = parser.parse_args()
    if options.table:
        return print_table(json.loads(options.table.read_text()))
    found = run(options)
    if options.out:
        options.out.write_text(format_records(found) + "\n")
    print_table(found)


if __name__ == "__main__":
    main()
