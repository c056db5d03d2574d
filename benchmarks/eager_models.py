#!/usr/bin/env python3
"""Memory and time of training steps in eager PyTorch whose activations are compositions
of other operations: as they are, built in, each under `torch.utils.checkpoint`, and
nested by `fad.torch.nest`.

For each model, activation and method: the bytes that are kept between forward and
backward, the peak of a step, its time as a ratio to that of the composition, in turns,
and the largest error of a gradient. For some models also the largest batch within the
peak of the composition, and the throughput there. Figures go to a JSON file, in which
present ones are left as they are; what is missing is measured beside the composition,
which is run again. `--table` prints such a file."""

import argparse
import json
import os
import pathlib
import sys
import time

import eager_tables
import torch_compile

SIZES = {
    "mlp": dict(layers=6, width=1024, batch=1024),
    "gpt2": dict(layers=2, width=256, heads=4, batch=4, length=128, tokens=1000),
    "llama": dict(layers=4, width=768, heads=12, batch=4, length=256),
    "resnet-50": dict(blocks=[3, 4, 6, 3], width=256, pixels=224, batch=8),
    "bert-base": dict(
        layers=12, width=768, heads=12, length=128, dropout=0.1, tokens=30522, batch=8
    ),
}
QUICK = {
    "mlp": dict(layers=6, width=64, batch=128),
    "gpt2": dict(layers=1, width=32, heads=2, batch=2, length=16, tokens=100),
    "llama": dict(layers=1, width=32, heads=2, batch=2, length=16),
    "resnet-50": dict(blocks=[1, 1, 1, 1], width=16, pixels=64, batch=4),
    "bert-base": dict(layers=1, width=32, heads=2, length=32, dropout=0.1, tokens=100, batch=4),
}
ACTIVATIONS = {
    "mlp": ("gelu_new",),
    "gpt2": ("gelu_new",),
    "llama": ("silu",),
    "resnet-50": ("mish", "silu", "gelu"),
    "bert-base": ("mish", "silu", "gelu"),
}
# Those whose batches the paper has.
BATCHES = ("resnet-50", "bert-base")


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--activations", nargs="+", help="some of them; all without")
    parser.add_argument("--methods", nargs="+", choices=eager_tables.METHODS,
                        default=eager_tables.METHODS)  # fmt: skip
    parser.add_argument("--figures", nargs="+", choices=eager_tables.FIGURES,
                        default=eager_tables.FIGURES)  # fmt: skip
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--seconds", type=float, help="begin no model after them")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, for a test")
    parser.add_argument("--json", type=pathlib.Path, help="reads and writes this file")
    parser.add_argument("--table", type=pathlib.Path, metavar="FILE", help="prints FILE")
    arguments = parser.parse_args()
    if arguments.repetitions < 2:
        parser.error("--repetitions is at least 2")
    if arguments.table and not arguments.table.exists():
        parser.error(f"there is no file {arguments.table}")
    return arguments


def find_processor():
    """The name of the processor, where the system has a file of it."""
    path = pathlib.Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else "unknown"


def run(arguments):
    import torch

    import eager_methods

    torch.set_num_threads(1)
    keeps_memory = eager_methods.keep_memory()
    setting = {**torch_compile.describe("cpu"), "processor": find_processor()}
    data = torch_compile.load(arguments.json, setting)
    begin = time.monotonic()
    measures = {"steps": eager_methods.measure, "batches": eager_methods.measure_batches}
    for name in arguments.models:
        sizes = (QUICK if arguments.quick else SIZES)[name]
        entry = data["models"].setdefault(name, {"sizes": sizes, "activations": {}})
        if entry["sizes"] != sizes:
            sys.exit(f"{arguments.json} has {name} in other sizes: {entry['sizes']}")
        for activation in ACTIVATIONS[name]:
            if arguments.activations and activation not in arguments.activations:
                continue
            own = entry["activations"].setdefault(activation, {})
            for figure in arguments.figures:
                present = own.setdefault(figure, {})
                missing = [method for method in arguments.methods if method not in present]
                if not missing or figure == "batches" and name not in BATCHES:
                    continue
                if arguments.seconds and time.monotonic() - begin > arguments.seconds:
                    print("out of time; the same command continues", file=sys.stderr)
                    return data
                model = eager_methods.make_model(name, activation, sizes)
                measured = measures[figure](model, missing, arguments.repetitions)
                for figures in measured.values():
                    figures["keeps_memory"] = keeps_memory
                # Those that were there stay, "composed" as well.
                own[figure] = {**measured, **present}
                torch_compile.save(arguments.json, data)
                print(f"{name} {activation} {figure}: {measured}", file=sys.stderr, flush=True)
    return data


def main():
    arguments = parse_arguments()
    if arguments.table:
        data = json.loads(arguments.table.read_text())
    else:
        # Before PyTorch reads it.
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        data = run(arguments)
    eager_tables.print_tables(data, arguments.models, arguments.methods, arguments.figures)


if __name__ == "__main__":
    main()
