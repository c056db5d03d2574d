#!/usr/bin/env python3
"""Budgets for the peak of a step under Inductor: the peak that is scheduled, and the peak that
PyTorch's allocator measures.

Budgets of each model are drawn, from nine tenths of its lowest peak up to that of its fastest
selection. Kernels of Inductor are empty, as the allocator gives what they need whatever they
compute, so that no compiler is needed. For each budget there is the peak of the selection that fad
takes by Inductor's schedule, and the measured one; the highest peak of the faster selections that keep
the budget, of all that fad knows, which are scheduled, too; whether fad warns that no selection keeps
it, and whether that is false, as a measured one does; and whether a larger budget has a lower peak.
Figures go to a JSON file, in which present ones are left as they are; `--table` prints such a file."""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))

import figures
from figures import MIB

NAMES = ("bert", "gpt2", "llama", "vit", "convnext", "resnet", "t5", "unet", "effnet", "deep")

# Batches of models whose peak is otherwise that of their weights' gradients, of any selection.
BATCHES = dict.fromkeys(("bert", "gpt2", "llama", "t5"), 16) | {"vit": 32}

# The part of a budget that may be left free where a faster selection keeps the budget as well.
SLACK = 0.05


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--budgets", type=int, default=12, help="how many of each model")
    figures.add_file_options(parser)
    return figures.parse(parser)


def run(arguments):
    import models
    import peaks_measure

    run = figures.Run(arguments, peaks_measure.describe())
    for name in arguments.models:
        sizes = models.get_sizes(name, "cpu", arguments.quick)
        if not arguments.quick:
            sizes = {**sizes, "batch": BATCHES.get(name, sizes["batch"])}
        pairs = run.find_model(name, sizes, "pairs")
        if len(pairs) >= arguments.budgets or run.is_over(name):
            continue
        model = models.make_model(name, "cpu", arguments.quick, sizes)
        for budget, pair in peaks_measure.measure(model, arguments.budgets, list(pairs)):
            pairs[str(budget)] = pair
            run.save(f"{name}: budget {budget}, {pair}")
    return run.data


def summarize(pairs):
    """Returns figures of a model: the largest difference of a peak from the scheduled one, the largest
    part of a budget that is left, and that up to the peak of a faster selection which keeps the budget
    as well; None of pairs that do not have it. How many budgets have more than `SLACK` left and such a
    selection, where all pairs have it. How many warnings are there and are false, how many budgets are
    exceeded, and how many have a lower peak than a smaller one."""
    rows = sorted((int(budget), pair) for budget, pair in pairs.items())
    peaks = [pair["measured"] for _, pair in rows]
    kept = [(budget, pair["measured"]) for budget, pair in rows if not pair["warns"]]
    missed = [(pair.get("faster") or 0, pair["measured"], budget) for budget, pair in rows]
    knows = all("faster" in pair for pair in pairs.values())
    return {
        "off": max(abs(pair["scheduled"] / pair["measured"] - 1) for _, pair in rows),
        "left": max((1 - peak / budget for budget, peak in kept), default=0),
        "between": max(0, *((peak - own) / budget for peak, own, budget in missed))
        if knows
        else None,
        "missed": sum(bool(faster) and 1 - peak / budget > SLACK for faster, peak, budget in missed)
        if knows
        else None,
        "warnings": sum(pair["warns"] for _, pair in rows),
        "false": sum(
            pair["warns"] and (min(peaks) <= budget or bool(pair.get("faster")))
            for budget, pair in rows
        ),
        "exceeded": sum(peak > budget for budget, peak in kept),
        "falls": sum(one > other for one, other in zip(peaks, peaks[1:])),
    }


def print_tables(data, names):
    figures.print_setting(data["setting"])
    names = [name for name in names if data["models"].get(name, {}).get("pairs")]
    for name in names:
        sizes = ", ".join(f"{key} {value}" for key, value in data["models"][name]["sizes"].items())
        print(f"\n{name}: {sizes}\n\nbudget, MiB  scheduled  measured  warning")
        pairs = data["models"][name]["pairs"]
        for budget in sorted(pairs, key=int):
            pair = pairs[budget]
            cells = f"{int(budget) / MIB:11.2f}{pair['scheduled'] / MIB:11.2f}"
            print(f"{cells}{pair['measured'] / MIB:10.2f}{'  yes' * pair['warns']}")
    print("\n          pairs  off by  left  between  missed  warnings  false  exceeded  falls")
    total = 0
    for name in names:
        pairs = data["models"][name]["pairs"]
        total += len(pairs)
        found = summarize(pairs)
        between = "-" if found["between"] is None else f"{found['between']:.0%}"
        shares = f"{found['off']:8.2%}{found['left']:6.0%}{between:>9}"
        shares += f"{'-' if found['missed'] is None else found['missed']:>8}"
        counts = f"{found['warnings']:10}{found['false']:7}{found['exceeded']:10}{found['falls']:7}"
        print(f"{name:10}{len(pairs):5}{shares}{counts}")
    print(f"{total} pairs")


def main():
    arguments = parse_arguments()
    print_tables(figures.get_data(arguments, run), arguments.models)


if __name__ == "__main__":
    main()
