#!/usr/bin/env python3
"""Batch and throughput of training steps that take equal memory: the comparison of
"Nesting Forward Automatic Differentiation for Memory-Efficient Deep Neural Network
Training" (Guo et al. 2022), on BERT-base, BERT-large and ResNet-50 with activations
written as compositions of add, mul, exp, tanh, softplus and sigmoid.

Layers are as wide as in those models, and fewer. The policy `bp` saves what each
operation of the composition needs; the peak of its step at a given batch is the memory.
Each other configuration has the largest batch whose measured peak is not above it. Peak
and time are measured, each with all layers that are there, and nothing is
extrapolated. Figures go to a JSON file, in which present ones are left as they are;
`--table` prints such a file."""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))

import figures
from batches import guess_batch
from figures import MIB

METHODS = ("bp", "recompute", "fad", "auto", "stock")
ENGINES = ("inductor", "eager")
ACTIVATIONS = ("gelu", "silu", "mish")
SIZES = {
    "bert-base": dict(layers=2, width=768, heads=12, length=128, dropout=0.1, batch=8),
    "bert-large": dict(layers=2, width=1024, heads=16, length=128, dropout=0.1, batch=6),
    "resnet-50": dict(blocks=[1, 1, 2, 1], width=256, pixels=128, batch=8),
}
QUICK = {
    "bert-base": dict(layers=1, width=32, heads=2, length=32, dropout=0.1, batch=4),
    "bert-large": dict(layers=1, width=48, heads=2, length=32, dropout=0.1, batch=4),
    "resnet-50": dict(blocks=[1, 1, 1, 1], width=16, pixels=32, batch=4),
}


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--activations", nargs="+", choices=ACTIVATIONS, default=ACTIVATIONS)
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=ENGINES, help=(
        "of the policies; stock is Inductor's partitioner, or eager PyTorch"))  # fmt: skip
    parser.add_argument("--device", help="cpu or cuda; cuda where there is one")
    figures.add_options(parser, repetitions=7)
    return figures.parse(parser)


class Search:
    """The configurations of one model with one activation under one engine."""

    def __init__(self, name, activation, engine, sizes, device, repetitions):
        import compile_measure
        import compositions

        compile_measure.forget()
        self.engine, self.sizes, self.repetitions = engine, sizes, repetitions
        self.make = lambda batch: compositions.make_model(
            name, activation, {**sizes, "batch": batch}, device
        )
        self.reference = self.compile("bp", sizes["batch"])
        self.memory = self.reference[2]

    def compile(self, method, batch):
        """Returns a model of that batch, its step, and its peak."""
        import compile_measure
        import steps

        model = self.make(batch)
        name = method if method != "stock" else self.engine
        step = compile_measure.compile_model(model, name, None, self.engine)
        return model, step, steps.measure_peak(model, step)

    def find_largest(self, method):
        """Returns the step of the largest batch within the memory, and the batch. The first guess
        is that the peak is proportional to the batch, the next that it is a line through the last
        two."""
        if method == "bp":
            return self.sizes["batch"], self.reference
        batch = self.sizes["batch"]
        peaks = {}
        best = None
        while batch not in peaks:
            tried = self.compile(method, batch)
            peaks[batch] = tried[2]
            if tried[2] <= self.memory and (best is None or batch > best[0]):
                best = batch, tried
            batch = guess_batch(peaks, self.memory)
        if best is None:
            raise ValueError(f"{method} takes more than bp at batch 1")
        return best

    def measure(self, method):
        import compile_measure
        import torch

        batch, (model, step, peak) = self.find_largest(method)
        with torch.compiler.set_stance("fail_on_recompile"):
            saved = compile_measure.count_saved(
                model, step, method == "stock" and self.engine == "eager"
            )
            times = compile_measure.measure_times(
                (model, step), self.reference[:2], self.repetitions
            )
        return {
            "batch": batch,
            "saved": saved,
            "peak": peak,
            **times,
            "throughput": batch / self.sizes["batch"] / times["ratio"],
            "repetitions": self.repetitions,
        }


def run(arguments):
    device = figures.choose_device(arguments.device)
    run = figures.Run(arguments, figures.describe(device))
    for name in arguments.models:
        sizes = (QUICK if arguments.quick else SIZES)[name]
        own = run.find_model(name, sizes, "figures")
        for activation in arguments.activations:
            for engine in arguments.engines:
                present = own.setdefault(f"{activation} {engine}", {})
                search = None
                for method in METHODS:
                    if method in present:
                        continue
                    if run.is_over():
                        return run.data
                    if search is None:
                        search = Search(
                            name, activation, engine, sizes, device, arguments.repetitions
                        )
                    present[method] = search.measure(method)
                    run.save(name, activation, engine, method, present[method])
    return run.data


def print_table(data, models, activations, engines):
    """Prints a line for each configuration."""
    models = [name for name in models if name in data["models"]]
    figures.print_header(data, models, (
        measured["repetitions"]
        for name in models
        for key, methods in data["models"][name]["figures"].items()
        if key.split()[0] in activations and key.split()[1] in engines
        for measured in methods.values()
    ))  # fmt: skip
    print(
        "\nThe largest batch within the peak of bp, in MiB, and throughput as a ratio to bp's "
        "and to that of recompute\n"
    )
    print(
        f"{'model':12}{'activation':12}{'engine':10}{'policy':11}{'saved':>8}{'peak':>8}"
        f"{'batch':>7}{'to bp':>8}{'to recompute':>14}"
    )
    for name in models:
        for activation in activations:
            for engine in engines:
                group = data["models"][name]["figures"].get(f"{activation} {engine}", {})
                for method in METHODS:
                    own = group.get(method)
                    if own is None:
                        continue
                    of = group.get("recompute")
                    ratio = f"{own['throughput'] / of['throughput']:.2f}" if of else ""
                    print(
                        f"{name:12}{activation:12}{engine:10}{method:11}"
                        f"{own['saved'] / MIB:8.1f}{own['peak'] / MIB:8.1f}{own['batch']:7}"
                        f"{own['throughput']:8.2f}{ratio:>14}"
                    )


def main():
    arguments = parse_arguments()
    data = figures.get_data(arguments, run)
    print_table(data, arguments.models, arguments.activations, arguments.engines)


if __name__ == "__main__":
    main()
