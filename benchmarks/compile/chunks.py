#!/usr/bin/env python3
"""Time and memory of training steps whose logits are large, by how the loss is computed: at once by
Inductor, by its auto-chunker, PyTorch's linear_cross_entropy with options, a loop of
checkpoints, the formulas of Liger's fused linear cross entropy, and chunks of the backend fad.
The same of gated layers of many rows: at once, in a loop of checkpoints, in tiles of the backend
fad, and within budgets.
A loss under autocast is also compiled for an H100 that is not there, as traffic.py does it: the
peak of Inductor's schedule, and the bytes that its kernels move besides products.

Layers are as wide as `SIZES` says, and few; the number of words is that of real models. Memory
is that of PyTorch's allocator, and time a ratio to Inductor's, in turns. Figures go to a JSON
file, in which present ones are left as they are; `--table` prints such a file."""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))

import figures
from figures import MIB

METHODS = ("inductor", "auto-chunker", "linear_cross_entropy", "checkpoints", "liger",
           "fad-off", "fad", "fad-16", "fad budget 1/16", "fad budget 0.01")  # fmt: skip
WORDS = (32_000, 128_256)
MODELS = ("gpt2", "llama", "gated", "h100")
SIZES = dict(layers=2, width=256, heads=4, batch=4, length=512)
LAYER_METHODS = ("inductor", "checkpoints", "fad-off", "fad budget 0.6", "fad-off budget 0.05",
                 "fad-16", "fad budget 0.05")  # fmt: skip
LAYER_SIZES = dict(rows=32_768, width=128)
GPU_METHODS = ("inductor", "fad-off", "fad", "fad-16")
GPU_SIZES = dict(rows=8_192, width=1_024)
QUICK_GPU = dict(rows=2_048, width=64)
QUICK_LAYER = dict(rows=2_048, width=16)
QUICK = dict(layers=1, width=32, heads=2, batch=2, length=64)


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS)
    parser.add_argument("--words", nargs="+", type=int, default=WORDS)
    parser.add_argument("--methods", nargs="+", choices=(*METHODS, *LAYER_METHODS))
    parser.add_argument("--device", help="cpu or cuda; cuda where there is one")
    figures.add_options(parser, repetitions=5)
    return figures.parse(parser)


def run(arguments):
    import chunks_measure
    import chunks_traffic

    device = figures.choose_device(arguments.device)
    run = figures.Run(arguments, figures.describe(device))
    for name, sizes, methods in list_cases(arguments):
        own = run.find_model(name, sizes, "figures")
        reference = None
        for method in methods:
            if method in own:
                continue
            if run.is_over():
                return run.data
            if name.startswith("h100"):
                own[method] = chunks_traffic.measure(sizes, method)
            else:
                reference = reference or chunks_measure.make_reference(name, sizes, device)
                own[method] = reference.measure(method, arguments.repetitions)
            run.save(name, method, own[method])
    return run.data


def list_cases(arguments):
    """Yields the name of each model or layer, its sizes, and the ways to compute it."""
    for name in arguments.models:
        if name == "gated":
            layer = QUICK_LAYER if arguments.quick else LAYER_SIZES
            yield f"gated {layer['rows']}", layer, arguments.methods or LAYER_METHODS
            continue
        for words in arguments.words:
            sizes = QUICK if arguments.quick else SIZES
            methods = METHODS
            if name == "h100":
                sizes, methods = QUICK_GPU if arguments.quick else GPU_SIZES, GPU_METHODS
            yield f"{name} {words}", {**sizes, "words": words}, arguments.methods or methods


def print_table(data, cases):
    """Prints a line for each way to compute a loss or a layer."""
    cases = [(name, methods) for name, _, methods in cases if name in data["models"]]
    figures.print_header(data, [name for name, _ in cases], (
        measured["repetitions"]
        for name, _ in cases
        for measured in data["models"][name]["figures"].values()
        if "repetitions" in measured
    ))  # fmt: skip
    on_gpu = [case for case in cases if case[0].startswith("h100")]
    others = [case for case in cases if case not in on_gpu]
    if others:
        print_steps(data, others)
    if on_gpu:
        print_traffic(data, on_gpu)


def print_steps(data, cases):
    print(
        "\nMiB that are kept after forward, and at most; the peak of the loss, as a part of the "
        "logits' bytes\nin f32, or that of a layer, as a part of Inductor's; time as a ratio to "
        "Inductor's; the largest\nerror of a gradient against eager PyTorch's\n"
    )
    print(f"{'model':14}{'method':22}{'kept':>9}{'peak':>9}{'part':>7}{'time':>7}{'error':>10}")
    for name, methods in cases:
        for method in methods:
            own = data["models"][name]["figures"].get(method)
            if own is None:
                continue
            if "reason" in own:
                print(f"{name:14}{method:22}{own['reason']}")
                continue
            part = own["part"] if "part" in own else own["loss"]
            print(
                f"{name:14}{method:22}{own['kept'] / MIB:9.1f}{own['peak'] / MIB:9.1f}"
                f"{part:7.3f}{own['ratio']:7.2f}{own['error']:10.1e}"
            )


def print_traffic(data, cases):
    """Prints a line for each way to compute a loss on a GPU."""
    print(
        "\nH100 by declaration, bfloat16 by autocast: MiB at the peak of Inductor's schedule, as a "
        "part of the\nlogits' bytes in bf16; GB that its kernels move; kernels; calls of libraries\n"
    )
    print(f"{'model':14}{'method':22}{'peak':>9}{'part':>7}{'moved':>8}{'kernels':>9}{'calls':>7}")
    for name, methods in cases:
        figures_of = data["models"][name]["figures"]
        for method in filter(figures_of.__contains__, methods):
            own = figures_of[method]
            print(
                f"{name:14}{method:22}{own['peak'] / MIB:9.1f}{own['part']:7.3f}"
                f"{own['moved'] / 1e9:8.3f}{own['kernels']:9}{own['calls']:7}"
            )


def main():
    arguments = parse_arguments()
    data = figures.get_data(arguments, run)
    print_table(data, list_cases(arguments))


if __name__ == "__main__":
    main()
