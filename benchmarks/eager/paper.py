#!/usr/bin/env python3
"""The paper's experiment on a GPU: the largest batch of a training step in eager PyTorch within a
memory, and the throughput there and at a batch of 24, of BERT-base and ResNet-50 whose activations
are compositions.

For each model, activation and method of eager_models.py: bytes for a sample that are kept after
forward and at the peak, the largest batch whose peak is within `--memory`, parameters and gradients
counted, and samples a second. Steps are of f32. Figures go to a JSON file, in which present ones
are left as they are; `--table` prints such a file. `--quick` takes tiny models."""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))

import eager_models
import eager_tables
import figures
from batches import guess_batch
from figures import MIB

MODELS = ("bert-base", "resnet-50")
ACTIVATIONS = ("gelu", "silu", "mish")
# Two batches tell the bytes for a sample; at the second one, all methods are timed, too.
BATCHES, QUICK_BATCHES = (8, 24), (2, 4)
# GiB of the paper's GPU.
MEMORY, QUICK_MEMORY = 11, 0.03


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS)
    parser.add_argument("--activations", nargs="+", choices=ACTIVATIONS, default=ACTIVATIONS)
    parser.add_argument("--methods", nargs="+", choices=eager_tables.METHODS,
                        default=eager_tables.METHODS)  # fmt: skip
    parser.add_argument("--memory", type=float, help=f"GiB; {MEMORY} without")
    parser.add_argument("--device", help="cpu or cuda; cuda where there is one")
    figures.add_options(parser, repetitions=5)
    return figures.parse(parser)


def check_memory(gibibytes, device):
    """Ends the program where the GPU has less memory than batches are to fill."""
    import torch

    if device == "cuda":
        present = torch.cuda.get_device_properties(0).total_memory / (1024 * MIB)
        if present < gibibytes:
            sys.exit(
                f"error: the GPU has {present:.1f} GiB, less than {gibibytes:g}; give a smaller "
                "--memory, with which batches are not those of the paper"
            )


class TooLarge(Exception):
    """The memory is too small for a model."""


def time_batch(form, batch, repetitions):
    """Samples a second."""
    import statistics

    import eager_methods
    from steps import time_step

    sized = eager_methods.resize(form, batch)
    taken = [time_step(sized, sized.module) for _ in range(repetitions + 2)]
    # The first ones prepare caches.
    return batch / statistics.median(taken[2:])


def measure(form, batches, memory, repetitions):
    """Returns the figures of a method, which is the step `form`. Parameters are a part of
    `memory`."""
    import eager_methods
    from steps import measure_memory

    fixed = sum(each.numel() * each.element_size() for each in form.module.parameters())
    small, large = batches
    found = {}
    for batch in batches:
        sized = eager_methods.resize(form, batch)
        # The first step has workspaces of libraries, which stay.
        measure_memory(sized, sized.module)
        found[batch] = measure_memory(sized, sized.module)
    peaks = {batch: peak for batch, (_, peak) in found.items()}
    kept, peak = ((b - a) / (large - small) for a, b in zip(found[small], found[large]))
    if peaks[small] > memory - fixed:
        raise TooLarge(f"{small} samples take more than {memory / MIB:.0f} MiB")
    while (batch := guess_batch(peaks, memory - fixed)) not in peaks:
        sized = eager_methods.resize(form, batch)
        peaks[batch] = measure_memory(sized, sized.module)[1]
    return {
        "kept": kept,
        "peak": peak,
        "batch": batch,
        "throughput": time_batch(form, batch, repetitions),
        f"at {large}": time_batch(form, large, repetitions),
        "repetitions": repetitions,
    }


def run(arguments):
    device = figures.choose_device(arguments.device)
    import torch

    import eager_methods
    from steps import compare, get_gradients

    if device == "cpu":
        eager_methods.keep_memory()
    gibibytes = arguments.memory or (QUICK_MEMORY if arguments.quick else MEMORY)
    check_memory(gibibytes, device)
    batches = QUICK_BATCHES if arguments.quick else BATCHES
    run = figures.Run(arguments, {**figures.describe(device), "memory": gibibytes})
    for name in arguments.models:
        sizes = dict((eager_models.QUICK if arguments.quick else eager_models.SIZES)[name])
        sizes["batch"] = batches[1]
        own = run.find_model(name, sizes, "activations")
        for activation in arguments.activations:
            present, model = own.setdefault(activation, {}), None
            for method in arguments.methods:
                if method in present or run.is_over(f"{name} {activation} {method}"):
                    continue
                memory = int(gibibytes * 1024 * MIB)
                try:
                    if model is None:
                        made = eager_methods.make_model(name, activation, sizes, device)
                        expected = get_gradients(made, made.module)
                        model = made
                    form = eager_methods.make_forms(model, [method])[method]
                    # Gradients of its kernels are those that are compared.
                    eager_methods.compile(form)
                    error = compare(get_gradients(form, form.module), expected)
                    measured = measure(form, batches, memory, arguments.repetitions)
                except (TooLarge, torch.OutOfMemoryError) as large:
                    print(f"left out: {name} {activation} {method}: {large}", file=sys.stderr)
                    continue
                present[method] = {**measured, "error": error}
                run.save(f"{name} {activation} {method}: {present[method]}")
    return run.data


def print_table(data, models, activations, methods):
    groups = [
        (name, activation, own["activations"].get(activation, {}))
        for name, own in data["models"].items()
        for activation in activations
        if name in models
    ]
    figures.print_header(data, [name for name in models if name in data["models"]], ())
    counts = (each["repetitions"] for _, _, group in groups for each in group.values())
    figures.print_repetitions(counts, ", one method after the other")
    print(
        f"\nMiB kept and at the peak for a sample, the largest batch within "
        f"{data['setting']['memory']:g} GiB, samples a second\nthere and at the batch above, and "
        "ratios to the composition's\n"
    )
    print(
        f"{'model':10}{'activation':11}{'method':11}{'kept':>7}{'peak':>7}{'batch':>7}{'ratio':>7}"
        f"{'samples/s':>11}{'ratio':>7}{'at that':>9}{'error':>8}"
    )
    summary = eager_tables.Summary()
    for name, activation, group in groups:
        of = group.get("composed")
        at = f"at {data['models'][name]['sizes']['batch']}"
        for method in [each for each in methods if each in group]:
            own = group[method]
            ratios = [own[key] / of[key] if of else 0 for key in ("batch", "throughput", at)]
            cells = [f"{each:.2f}" if of else "-" for each in ratios]
            error = f"{own['error']:.0e}" if "error" in own else "-"
            print(
                f"{name:10}{activation:11}{method:11}{own['kept'] / MIB:7.1f}"
                f"{own['peak'] / MIB:7.1f}{own['batch']:7}{cells[0]:>7}"
                f"{own['throughput']:11.1f}{cells[1]:>7}{cells[2]:>9}{error:>8}"
            )
            if of and "checkpoint" in group:
                speed = own["throughput"] / group["checkpoint"]["throughput"]
                summary.add(method, name, ratios[0], speed)
    summary.print()


def main():
    arguments = parse_arguments()
    data = figures.get_data(arguments, run)
    print_table(data, arguments.models, arguments.activations, arguments.methods)


if __name__ == "__main__":
    main()
