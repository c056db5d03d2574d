#!/usr/bin/env python3
"""Whether `fad.torch.fit` is right: for each model and plan, the peak of a training step that it
says before the step, and the one that PyTorch's allocator measures, on a CPU.

A step is forward, backward, and that of AdamW, the second one of a model. Its peak is the bytes of
parameters, buffers, inputs and the optimizer's state, which are counted, and all that the allocator
gives during the step. Kernels of Inductor are empty, as the allocator gives what they need whatever
they compute, so that no compiler is needed. The plan "lowest" is measured with the `fad.budget` that
the answer names, which is the peak that it says. Figures go to a JSON file, in which present ones are
left as they are; `--table` prints such a file."""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))

import figures
from figures import MIB

PLANS = ("eager", "inductor", "fad", "lowest")


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", nargs="+", help="by default, all")
    parser.add_argument("--plans", nargs="+", choices=PLANS, default=PLANS)
    figures.add_file_options(parser)
    return figures.parse(parser)


def run(arguments):
    import fit_measure
    import fit_models

    run = figures.Run(arguments, fit_measure.describe())
    for name in arguments.models or fit_models.MODELS:
        rows = run.find_model(name, {}, "plans")
        missing = [plan for plan in arguments.plans if plan not in rows]
        if not missing or run.is_over(name):
            continue
        for plan, row in fit_measure.measure(fit_models.make_model(name), missing):
            rows[plan] = row
            run.save(f"{name}, {plan}: {row}")
    return run.data


def print_tables(data, names, plans):
    figures.print_setting(data["setting"])
    found = {name: model["plans"] for name, model in data["models"].items() if model["plans"]}
    found = {name: rows for name, rows in found.items() if not names or name in names}
    heads = "".join(f"{plan:>10}{'off by':>8}" for plan in plans)
    print(f"\nMiB, measured     {heads}")
    for name, rows in found.items():
        cells = ""
        for plan in plans:
            row = rows.get(plan)
            cells += f"{row['measured'] / MIB:10.2f}{find_error(row):8.2%}" if row else 18 * " "
        print(f"{name:18}{cells}".rstrip())
    print()
    for plan in plans:
        errors = [find_error(rows[plan]) for rows in found.values() if plan in rows]
        if errors:
            within = sum(abs(error) <= 0.03 for error in errors)
            most = max(errors, key=abs)
            print(f"{plan}: {len(errors)} models, {within} within 3%, at most {most:.2%} off")


def find_error(row):
    return row["said"] / row["measured"] - 1


def main():
    arguments = parse_arguments()
    data = figures.get_data(arguments, run)
    print_tables(data, arguments.models, arguments.plans)


if __name__ == "__main__":
    main()
