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
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))

import eager_tables
import figures

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
    parser.add_argument(
        "--without-times", action="store_true", help="batches without the throughput"
    )
    figures.add_options(parser, repetitions=7)
    return figures.parse(parser)


def find_processor():
    """Returns the name of the processor, where the system has a file of it."""
    path = pathlib.Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else "unknown"


def run(arguments):
    import torch

    import eager_methods

    torch.set_num_threads(1)
    keeps_memory = eager_methods.keep_memory()
    run = figures.Run(arguments, {**figures.describe("cpu"), "processor": find_processor()})
    measures = {"steps": eager_methods.measure, "batches": eager_methods.measure_batches}
    for name in arguments.models:
        sizes = (QUICK if arguments.quick else SIZES)[name]
        entry = run.find_model(name, sizes, "activations")
        for activation in ACTIVATIONS[name]:
            if arguments.activations and activation not in arguments.activations:
                continue
            own = entry.setdefault(activation, {})
            for figure in arguments.figures:
                present = own.setdefault(figure, {})
                missing = [method for method in arguments.methods if method not in present]
                if not missing or figure == "batches" and name not in BATCHES:
                    continue
                if run.is_over():
                    return run.data
                model = eager_methods.make_model(name, activation, sizes)
                is_timed = figure == "steps" or not arguments.without_times
                measured = measures[figure](model, missing, is_timed * arguments.repetitions)
                for each in measured.values():
                    each["keeps_memory"] = keeps_memory
                # Those that were there stay, "composed" as well.
                own[figure] = {**measured, **present}
                run.save(f"{name} {activation} {figure}: {measured}")
    return run.data


def main():
    arguments = parse_arguments()
    data = figures.get_data(arguments, run)
    eager_tables.print_tables(data, arguments.models, arguments.methods, arguments.figures)


if __name__ == "__main__":
    main()
