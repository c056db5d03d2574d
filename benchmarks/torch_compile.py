#!/usr/bin/env python3
"""Whole models under `torch.compile`: Inductor as it is, Inductor with PyTorch's
memory budgets, eager PyTorch, and the backend `fad`.

For each model and configuration: bytes that forward saves for backward, the peak of a
step, its time as a ratio to Inductor's, measured in turns, and the largest error of a
gradient. Figures go to a JSON file, in which present ones are left as they are; so a
run that ends early is continued by another. `--table` prints such a file."""

import argparse
import importlib.util
import json
import os
import pathlib
import platform
import sys
import time
from importlib import metadata

import compile_tables

NAMES = (
    "bert", "gpt2", "llama", "vit", "convnext", "resnet", "t5", "unet", "frozen-relu", "mish",
    "deep",
)  # fmt: skip


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", nargs="+", choices=NAMES, default=NAMES, metavar="MODEL",
                        help=f"some of {', '.join(NAMES)}")  # fmt: skip
    parser.add_argument("--configurations", nargs="+", metavar="NAME", help=(
        "inductor, eager, aggressive, budget-SHARE (PyTorch's), auto, fad, bp, recompute, "
        "auto-reductions, auto-residuals-SHARE (of Inductor's bytes), auto-peak-SHARE (of "
        "its peak beyond the gradients); all without"))  # fmt: skip
    parser.add_argument("--repetitions", type=int, default=15)
    parser.add_argument("--seconds", type=float, help="begin no configuration after them")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, for a test")
    parser.add_argument("--again", action="store_true", help="replace present figures")
    parser.add_argument("--device", help="cpu or cuda; cuda where there is one")
    parser.add_argument("--json", type=pathlib.Path, help="reads and writes this file")
    parser.add_argument("--table", type=pathlib.Path, metavar="FILE", help="prints FILE")
    parser.add_argument("--figures", nargs="+", choices=compile_tables.TITLES,
                        default=list(compile_tables.TITLES), help="what tables show")  # fmt: skip
    arguments = parser.parse_args()
    if arguments.repetitions < 2:
        parser.error("--repetitions is at least 2")
    return parser, arguments


def describe(device):
    import torch

    versions = {
        name: metadata.version(name)
        for name in ("torch", "transformers")
        if importlib.util.find_spec(name)
    }
    cuda = device.startswith("cuda")
    return {
        "device": torch.cuda.get_device_name() if cuda else device,
        "machine": f"{platform.system()} {platform.machine()}",
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "threads": torch.get_num_threads(),
        "clock": "CUDA events" if cuda else "CPU time of the process",
        "versions": versions,
    }


def load(path, setting):
    if path is None or not path.exists():
        return {"setting": setting, "models": {}}
    data = json.loads(path.read_text())
    if data["setting"] != setting:
        sys.exit(f"{path} has figures of another machine or version: {data['setting']}")
    return data


def save(path, data):
    if path is not None:
        new = path.with_suffix(".new")
        new.write_text(json.dumps(data, indent=1) + "\n")
        new.replace(path)


def run(parser, arguments):
    # Before PyTorch reads it.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    import torch

    import compile_measure
    import compile_models

    device = arguments.device or ("cuda" if torch.cuda.is_available() else "cpu")
    known = compile_tables.ORDER
    names = arguments.configurations or known
    if unknown := [name for name in names if name not in known]:
        parser.error(f"no configuration {unknown[0]}; there are {', '.join(known)}")
    begin = time.monotonic()
    data = load(arguments.json, describe(device))
    for name in arguments.models:
        sizes = compile_models.get_sizes(name, device, arguments.quick)
        entry = data["models"].setdefault(name, {"sizes": sizes, "configurations": {}})
        if entry["sizes"] != sizes:
            sys.exit(f"{arguments.json} has {name} in other sizes: {entry['sizes']}")
        present = entry["configurations"]
        missing = [c for c in names if arguments.again or c not in present]
        reference = None
        for configuration in missing:
            if arguments.seconds and time.monotonic() - begin > arguments.seconds:
                print("out of time; the same command continues", file=sys.stderr)
                return data
            if reference is None:
                # Inductor as it is, which all others are measured against.
                model = compile_models.make_model(name, device, arguments.quick)
                reference = compile_measure.Reference(model)
            figures = compile_measure.measure(reference, configuration, arguments.repetitions)
            figures["repetitions"] = arguments.repetitions
            present[configuration] = figures
            save(arguments.json, data)
            print(f"{name} {configuration}: {figures}", file=sys.stderr, flush=True)
    return data


def main():
    parser, arguments = parse_arguments()
    if arguments.table:
        if not arguments.table.exists():
            parser.error(f"there is no file {arguments.table}")
        data = json.loads(arguments.table.read_text())
    else:
        data = run(parser, arguments)
    compile_tables.print_tables(
        data, arguments.models, arguments.configurations, arguments.figures
    )


if __name__ == "__main__":
    main()
