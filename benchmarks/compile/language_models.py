#!/usr/bin/env python3
"""A step of a language model: eager PyTorch, checkpoints, `torch.compile` with PyTorch's settings,
the backend `fad` with budgets, and both engines of `fad.torch.nest`.

For each configuration: bytes that are kept after forward, the peak of a step, its time as a ratio
to that of `torch.compile` without a setting, measured in turns, and the seconds of the first step,
which compiles, of the CPU or with a GPU on the wall. On a GPU, the step is under autocast to
bfloat16. Figures go to a JSON file, in which present ones are left as they are.
`--table` prints such a file, and utils/draw-savings.py draws it."""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))

import figures

# Without --configurations, the first of these first. Shares of PyTorch's budgets are of its own
# bytes; those of fad.budget are of the peak of its fastest selection.
ORDER = (
    "inductor", "fad", "fad-0.6", "checkpoint-inductor", "budget-0.5", "eager", "nest", "defer",
    "checkpoint", "fad-0.3", "budget-0.2", "aggressive", "fad-0.5", "fad-0.8",
)  # fmt: skip
KINDS = (
    "inductor", "eager", "checkpoint", "checkpoint-inductor", "aggressive", "budget-", "fad",
    "fad-", "nest", "defer",
)  # fmt: skip
SIZES = {
    "cpu": {
        "gpt2": {"layers": 4, "width": 128, "batch": 8, "length": 256, "tokens": 1024},
        "llama": {"layers": 4, "width": 128, "batch": 8, "length": 256, "tokens": 1024},
    },
    "cuda": {
        "gpt2": {"layers": 8, "width": 1024, "batch": 8, "length": 1024, "tokens": 32000},
        "llama": {"layers": 8, "width": 2048, "batch": 4, "length": 2048, "tokens": 32000},
        "llama-long": {"layers": 8, "width": 2048, "batch": 1, "length": 16384, "tokens": 32000},
    },
    "quick": {
        "gpt2": {"layers": 2, "width": 64, "batch": 2, "length": 16, "tokens": 64},
        "llama": {"layers": 2, "width": 64, "batch": 2, "length": 16, "tokens": 64},
    },
}


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", nargs="+", default=["llama"], metavar="MODEL",
                        help="some of gpt2, llama, and on a GPU llama-long")  # fmt: skip
    parser.add_argument("--configurations", nargs="+", metavar="NAME", help=(
        f"some of {', '.join(ORDER)}, or with other shares"))  # fmt: skip
    parser.add_argument("--device", help="cpu or cuda; cuda where there is one")
    figures.add_options(parser, repetitions=15)
    arguments = figures.parse(parser)
    for name in arguments.configurations or ():
        kind = name.rstrip("0123456789.")
        if kind not in KINDS or (kind.endswith("-") == (kind == name)):
            parser.error(f"no configuration {name}; there are {', '.join(ORDER)}")
    return arguments


def get_sizes(name, device, is_quick):
    sizes = SIZES["quick" if is_quick else "cuda" if device.startswith("cuda") else "cpu"]
    if name not in sizes:
        sys.exit(f"there is no model {name} on {device}; choose from {', '.join(sizes)}")
    return sizes[name]


def run(arguments):
    import language_measure

    device = figures.choose_device(arguments.device)
    run = figures.Run(arguments, figures.describe(device))
    for name in arguments.models:
        sizes = get_sizes(name, device, arguments.quick)
        present = run.find_model(name, sizes, "configurations")
        wanted = arguments.configurations or ORDER
        reference = None
        for configuration in [each for each in wanted if each not in present]:
            if run.is_over(f"{name} {configuration}"):
                continue
            reference = reference or language_measure.Case(name, sizes, device, "inductor")
            measured = language_measure.measure(reference, configuration, arguments.repetitions)
            present[configuration] = measured
            run.save(f"{name} {configuration}: {measured}")
    return run.data


def print_table(data, models):
    figures.print_setting(data["setting"])
    counts = (
        each["repetitions"]
        for name in models
        for each in data["models"].get(name, {}).get("configurations", {}).values()
    )
    figures.print_repetitions(counts, "")
    for found in figures.find_models(data, models):
        if "inductor" not in found:
            print("not measured")
            continue
        has_first = all("first" in each for each in found.values())
        print(
            f"{'':20}{'kept, MiB':>12}{'peak, MiB':>12}{'to inductor':>13}{'ms':>9}{'ratio':>7}"
            + (f"{'first, s':>10}" if has_first else "")
        )
        stock = found["inductor"]["peak"]
        for configuration, each in found.items():
            print(
                f"{configuration:20}{each['kept'] / figures.MIB:12.1f}"
                f"{each['peak'] / figures.MIB:12.1f}{each['peak'] / stock:13.2f}"
                f"{each['seconds'] * 1e3:9.1f}{each['ratio']:7.2f}"
                + (f"{each['first']:10.1f}" if has_first else "")
            )


def main():
    arguments = parse_arguments()
    print_table(figures.get_data(arguments, run), arguments.models)


if __name__ == "__main__":
    main()
