#!/usr/bin/env python3
"""Memory and time of training steps in eager PyTorch under autocast to bfloat16, with CUDA's lists
of operators: two layers of GPT-2, Llama and BERT as they are, each layer under
`torch.utils.checkpoint`, and nested by `fad.torch.nest`.

For each model, number of tokens and method: the allocator's bytes between forward and backward and
at the peak, beside those of the model as it is; the time of a step, the median of the ratios to that
of the model as it is, in turns, with their quartiles; and the largest error of a gradient, relative
to one in float64 without autocast. Figures go to a JSON file, in which present ones are left as they
are; `--table` prints such a file."""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))

import figures
from figures import MIB

MODELS = ("GPT-2", "Llama", "BERT")
SIZES, QUICK = dict(layers=2, width=768, length=256), dict(layers=2, width=64, length=64)
# Sequences of a batch.
BATCHES, QUICK_BATCHES = (2, 4, 8), (2,)


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS)
    parser.add_argument("--batches", nargs="+", type=int, help="sequences; 2 4 8 without")
    parser.add_argument("--device", help="cpu or cuda; cuda where there is one")
    figures.add_options(parser, repetitions=15)
    return figures.parse(parser)


def run(arguments):
    device = figures.choose_device(arguments.device)
    import torch

    import eager_methods
    import mixed_measure

    if device == "cpu":
        torch.set_num_threads(1)
        eager_methods.keep_memory()
    setting = figures.describe(device)
    run = figures.Run(arguments, {"processor": figures.name_processor(), **setting})
    sizes = QUICK if arguments.quick else SIZES
    for name in arguments.models:
        own = run.find_model(name, sizes, "batches")
        for batch in arguments.batches or (QUICK_BATCHES if arguments.quick else BATCHES):
            if str(batch) in own or run.is_over(f"{name} {batch}"):
                continue
            size = {**sizes, "batch": batch}
            own[str(batch)] = mixed_measure.measure(name, size, device, arguments.repetitions)
            run.save(f"{name} {batch}: {own[str(batch)]}")
    return run.data


def print_table(data, models):
    rows = [
        (name, batch, methods)
        for name in models
        for batch, methods in data["models"].get(name, {"batches": {}})["batches"].items()
    ]
    figures.print_setting(data["setting"])
    figures.print_repetitions(each["eager"]["repetitions"] for _, _, each in rows)
    print(
        f"\n{'model':<7}{'tokens':>7} {'method':<11}{'kept, MiB':>10}{'ratio':>7}{'peak, MiB':>11}"
        f"{'ratio':>7}{'time':>7}  quartiles  error"
    )
    for name, batch, methods in rows:
        tokens = int(batch) * data["models"][name]["sizes"]["length"]
        eager = methods["eager"]
        for method, each in methods.items():
            low, time, high = each["time"]
            print(
                f"{name:<7}{tokens:>7} {method:<11}{each['kept'] / MIB:>10.1f}"
                f"{each['kept'] / eager['kept']:>7.2f}{each['peak'] / MIB:>11.1f}"
                f"{each['peak'] / eager['peak']:>7.2f}{time:>7.2f}  "
                f"{low:.2f} {high:.2f}  {each['error']:.0e}"
            )


def main():
    arguments = parse_arguments()
    print_table(figures.get_data(arguments, run), arguments.models)


if __name__ == "__main__":
    main()
