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
import json
import os
import pathlib
import sys
import time

import compile_tables
import torch_compile

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
MIB = 1 << 20


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--activations", nargs="+", choices=ACTIVATIONS, default=ACTIVATIONS)
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=ENGINES, help=(
        "of the policies; stock is Inductor's partitioner, or eager PyTorch"))  # fmt: skip
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--seconds", type=float, help="begin no configuration after them")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, for a test")
    parser.add_argument("--device", help="cpu or cuda; cuda where there is one")
    parser.add_argument("--json", type=pathlib.Path, help="reads and writes this file")
    parser.add_argument("--table", type=pathlib.Path, metavar="FILE", help="prints FILE")
    arguments = parser.parse_args()
    if arguments.repetitions < 2:
        parser.error("--repetitions is at least 2")
    if arguments.table and not arguments.table.exists():
        parser.error(f"there is no file {arguments.table}")
    return arguments


class Search:
    """The configurations of one model with one activation under one engine."""

    def __init__(self, name, activation, engine, sizes, device, repetitions):
        import compile_measure
        import equal_models

        compile_measure.forget()
        self.engine, self.sizes, self.repetitions = engine, sizes, repetitions
        self.make = lambda batch: equal_models.make_model(
            name, activation, {**sizes, "batch": batch}, device
        )
        self.reference = self.compile("bp", sizes["batch"])
        self.memory = self.reference[2]

    def compile(self, method, batch):
        """A model of that batch, its step, and its peak."""
        import compile_measure

        model = self.make(batch)
        name = method if method != "stock" else self.engine
        step = compile_measure.compile_model(model, name, None, self.engine)
        return model, step, compile_measure.measure_peak(model, step)

    def find_largest(self, method):
        """The step of the largest batch within the memory, and the batch. The first
        guess is that the peak is proportional to the batch, the next that it is a line
        through the last two."""
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


def guess_batch(peaks, memory):
    """The batch to try next, which is one that was tried at the end of the search. Peaks
    are a line in the batch but for a few bytes, so no larger batch is tried where the line
    through the nearest two is above the memory."""
    low = max((batch for batch in peaks if peaks[batch] <= memory), default=0)
    high = min((batch for batch in peaks if peaks[batch] > memory), default=None)
    if high is not None and high - low <= 1:
        return low or high
    if len(peaks) == 1:
        batch = next(iter(peaks))
        guess = int(batch * memory / peaks[batch])
        return max(guess, low + 1) if low else max(min(guess, high - 1), 1)
    one, other = sorted(peaks, key=lambda batch: abs(peaks[batch] - memory))[:2]
    slope = (peaks[one] - peaks[other]) / (one - other)
    guess = int(one + (memory - peaks[one]) / slope) if slope > 0 else 2 * low
    if high is not None:
        guess = min(guess, high - 1)
    return max(guess, low, 1)


def run(arguments):
    import torch

    device = arguments.device or ("cuda" if torch.cuda.is_available() else "cpu")
    data = torch_compile.load(arguments.json, torch_compile.describe(device))
    begin = time.monotonic()
    for name in arguments.models:
        sizes = (QUICK if arguments.quick else SIZES)[name]
        entry = data["models"].setdefault(name, {"sizes": sizes, "figures": {}})
        if entry["sizes"] != sizes:
            sys.exit(f"{arguments.json} has {name} in other sizes: {entry['sizes']}")
        for activation in arguments.activations:
            for engine in arguments.engines:
                present = entry["figures"].setdefault(f"{activation} {engine}", {})
                search = None
                for method in METHODS:
                    if method in present:
                        continue
                    if arguments.seconds and time.monotonic() - begin > arguments.seconds:
                        print("out of time; the same command continues", file=sys.stderr)
                        return data
                    if search is None:
                        search = Search(
                            name, activation, engine, sizes, device, arguments.repetitions
                        )
                    present[method] = search.measure(method)
                    torch_compile.save(arguments.json, data)
                    print(name, activation, engine, method, present[method], file=sys.stderr)
    return data


def print_table(data, models, activations, engines):
    """Prints a line for each configuration."""
    print(compile_tables.format_setting(data["setting"]))
    models = [name for name in models if name in data["models"]]
    for name in models:
        sizes = data["models"][name]["sizes"].items()
        print(f"{name}: " + ", ".join(f"{key} {value}" for key, value in sizes))
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
                figures = data["models"][name]["figures"].get(f"{activation} {engine}", {})
                for method in METHODS:
                    own = figures.get(method)
                    if own is None:
                        continue
                    of = figures.get("recompute")
                    ratio = f"{own['throughput'] / of['throughput']:.2f}" if of else ""
                    print(
                        f"{name:12}{activation:12}{engine:10}{method:11}"
                        f"{own['saved'] / MIB:8.1f}{own['peak'] / MIB:8.1f}{own['batch']:7}"
                        f"{own['throughput']:8.2f}{ratio:>14}"
                    )


def main():
    arguments = parse_arguments()
    if arguments.table:
        data = json.loads(arguments.table.read_text())
    else:
        # Before PyTorch reads it.
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        data = run(arguments)
    print_table(data, arguments.models, arguments.activations, arguments.engines)


if __name__ == "__main__":
    main()
