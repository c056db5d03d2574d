#!/usr/bin/env python3
"""Whole models under `torch.compile`: Inductor as it is, Inductor with PyTorch's
memory budgets, eager PyTorch, and the backend `fad`.

For each model and configuration: bytes that forward saves for backward, the peak of a
step, its time as a ratio to Inductor's, measured in turns, and the largest error of a
gradient. Figures go to a JSON file, in which present ones are left as they are; so a
run that ends early is continued by another. `--table` prints such a file."""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))

import compile_tables
import figures

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
        "auto-reductions, auto-residuals-SHARE (of Inductor's bytes), auto-peak-SHARE (from "
        "the lowest budget to that of the fastest selection); all without"))  # fmt: skip
    parser.add_argument("--again", action="store_true", help="replace present figures")
    parser.add_argument("--device", help="cpu or cuda; cuda where there is one")
    figures.add_options(parser, repetitions=15)
    parser.add_argument("--figures", nargs="+", choices=compile_tables.TITLES,
                        default=list(compile_tables.TITLES), help="what tables show")  # fmt: skip
    arguments = figures.parse(parser)
    known = compile_tables.ORDER
    if unknown := [name for name in arguments.configurations or () if name not in known]:
        parser.error(f"no configuration {unknown[0]}; there are {', '.join(known)}")
    return arguments


def run(arguments):
    import compile_measure
    import models

    device = figures.choose_device(arguments.device)
    names = arguments.configurations or compile_tables.ORDER
    run = figures.Run(arguments, figures.describe(device))
    for name in arguments.models:
        sizes = models.get_sizes(name, device, arguments.quick)
        present = run.find_model(name, sizes, "configurations")
        missing = [each for each in names if arguments.again or each not in present]
        reference = None
        for configuration in missing:
            if run.is_over(f"{name} {configuration}"):
                continue
            if reference is None:
                # Inductor as it is, which all others are measured against.
                model = models.make_model(name, device, arguments.quick)
                reference = compile_measure.Reference(model)
            measured = compile_measure.measure(reference, configuration, arguments.repetitions)
            measured["repetitions"] = arguments.repetitions
            present[configuration] = measured
            run.save(f"{name} {configuration}: {measured}")
    return run.data


def main():
    arguments = parse_arguments()
    compile_tables.print_tables(
        figures.get_data(arguments, run),
        arguments.models,
        arguments.configurations,
        arguments.figures,
    )


if __name__ == "__main__":
    main()
