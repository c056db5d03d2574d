#!/usr/bin/env python3
"""The bytes that the kernels of a training step move on a GPU, by Inductor's own count, without a
GPU.

A model under autocast to bfloat16 is traced on the CPU and declared to be on an H100; Inductor
writes its kernels in Triton, and counts the bytes that each reads and writes. Matrix products,
convolutions and attention are calls of libraries, whose bytes do not count: forward has the same in
each configuration, and `calls` shows how many backward repeats. Nothing is executed, and the
figures are the same on each machine. They go to a JSON file, in which present ones are
left as they are; `--table` prints such a file."""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))

import figures
from figures import MIB

# Without --configurations. `aggressive` and `budget-` are settings of PyTorch's partitioner, all
# others are fad's: policies, shares of a fad.budget, and a fad.slowdown.
ORDER = ("stock", "auto", "slowdown-1.0", "fad-0.6", "fad-0.3", "aggressive", "budget-0.5")
KINDS = (
    "stock", "auto", "bp", "recompute", "fad", "fad-", "slowdown-", "aggressive", "budget-",
)  # fmt: skip
SIZES = {
    "blocks": dict(layers=3, width=1024, batch=8, length=1024),
    "bert": dict(layers=2, width=768, heads=12, batch=32, length=256, dropout=0.1),
    "gpt2": dict(layers=2, width=768, heads=12, batch=16, length=512, dropout=0.1),
    "llama": dict(layers=2, width=1024, heads=16, batch=8, length=1024),
    "qwen3": dict(layers=2, width=1024, heads=16, batch=8, length=1024),
    "vit": dict(layers=2, width=768, heads=12, batch=32, pixels=224),
    "unet": dict(width=128, after=256, batch=32, pixels=64, dropout=0.1),
    "dit": dict(layers=1, width=1152, heads=16, batch=16, length=256),
}
QUICK = {
    "blocks": dict(layers=1, width=64, batch=2, length=64),
    "bert": dict(layers=1, width=64, heads=2, batch=2, length=64, dropout=0.1),
    "gpt2": dict(layers=1, width=64, heads=2, batch=2, length=64, dropout=0.1),
    "llama": dict(layers=1, width=64, heads=2, batch=2, length=64),
    "qwen3": dict(layers=1, width=64, heads=2, batch=2, length=64),
    "vit": dict(layers=1, width=64, heads=2, batch=2, pixels=64),
    "unet": dict(width=16, after=32, batch=2, pixels=16, dropout=0.1),
    "dit": dict(layers=1, width=64, heads=2, batch=2, length=64),
}


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--configurations", nargs="+", metavar="NAME", help=(
        f"some of {', '.join(ORDER)}, or with other shares"))  # fmt: skip
    parser.add_argument("--kernels", action="store_true", help="prints each kernel, too")
    figures.add_file_options(parser)
    arguments = figures.parse(parser)
    for name in arguments.configurations or ():
        kind = name.rstrip("0123456789.")
        if kind not in KINDS or (kind.endswith("-") == (kind == name)):
            parser.error(f"no configuration {name}; there are {', '.join(ORDER)}")
    return arguments


def run(arguments):
    import traffic_measure

    run = figures.Run(arguments, traffic_measure.describe())
    for name in arguments.models:
        sizes = (QUICK if arguments.quick else SIZES)[name]
        present = run.find_model(name, sizes, "configurations")
        # All others are compared with stock.
        for configuration in dict.fromkeys(["stock", *(arguments.configurations or ORDER)]):
            if configuration in present:
                continue
            if run.is_over():
                return run.data
            measured, kernels = traffic_measure.measure(name, sizes, configuration)
            present[configuration] = measured
            run.save(f"{name} {configuration}: {measured}")
            if arguments.kernels:
                for part, count, size, kernel in kernels:
                    print(f"{part:9}{count:3} of {size / MIB:7.1f} MiB  {kernel}")
    return run.data


def print_table(data, models):
    setting = data["setting"]
    versions = ", ".join(f"{name} {version}" for name, version in setting["versions"].items())
    print(f"{setting['device']}; {versions}")
    for found in figures.find_models(data, models):
        print(
            f"{'':13}{'forward, GB':>12}{'backward, GB':>14}{'to stock':>10}{'kernels':>9}"
            f"{'calls':>7}{'saved, MiB':>12}{'to stock':>10}"
        )
        stock = found["stock"]
        for configuration, each in found.items():
            moved = (each["forward"] + each["backward"]) / (stock["forward"] + stock["backward"])
            print(
                f"{configuration:13}{each['forward'] / 1e9:12.3f}{each['backward'] / 1e9:14.3f}"
                f"{moved:10.2f}{each['kernels']:9}{each['calls']:7}"
                f"{each['saved'] / MIB:12.1f}{each['saved'] / stock['saved']:10.2f}"
            )


def main():
    arguments = parse_arguments()
    print_table(figures.get_data(arguments, run), arguments.models)


if __name__ == "__main__":
    main()
