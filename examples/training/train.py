#!/usr/bin/env python3
"""Trains a small BERT and a small ResNet of Hugging Face's transformers, with
plain PyTorch, with torch.compile and the backend "fad" under each policy, and eagerly with
fad.torch.nest, from the same parameters on the same batches, and compares the losses.

The data comes with Python (its documentation, for BERT) and with scikit-learn
(handwritten digits, for the ResNet). Writes the losses, times and bytes to
training.json and a plot to training.png in the folder --out."""

import argparse
import json
import pathlib
import statistics
import sys
import time
import warnings

import torch
import tqdm

import fad.torch
import fad.torch.compile
from tasks import TASKS, make_task

POLICIES = ("bp", "recompute", "fad", "auto")
PLAIN = "PyTorch"
# PyTorch with other kernels, for how far two runs part by rounding alone: maxima
# and ReLU decide between numbers that are nearly equal.
CONTROL = "PyTorch*"


NESTED = "nest"


def list_runs(options):
    """Returns the options of the backend "fad", by the names of the runs that have it."""
    runs = {policy: {"fad.policy": policy} for policy in options.policies}
    for bits in options.derivative_bits:
        rounding = f"{bits} bit{'s' if bits > 1 else ''}" if bits else "exact"
        # Where activations may be computed again, none of their derivatives is kept.
        runs[f"auto, {rounding}"] = {
            "fad.policy": "auto",
            "fad.recompute": "nothing",
            "fad.derivative_bits": bits,
        }
    return runs


def prepare(model, run, compiled, options):
    """Returns the model as the run calls it: compiled where `compiled` has options of the backend,
    nested, or as it is."""
    if run == NESTED:
        return fad.torch.nest(model)
    if compiled is None:
        return model
    torch.compiler.reset()
    return torch.compile(model, backend="fad", options={"fad.engine": options.engine, **compiled})


def train(name, run, compiled, options):
    """Trains task `name`; returns what there is to say of it."""
    task = make_task(name, options)
    model = prepare(task.model, run, compiled, options)
    optimizer = task.make_optimizer(task.model.parameters())
    losses, seconds, saved = [], [], None
    progress = tqdm.tqdm(range(options.steps), desc=f"{name:6} {run:12}")
    for _ in progress:
        batch = task.data.next_batch()
        if saved is None:
            saved = fad.torch.saved_memory(model, kwargs=batch, measure=False).bytes
        optimizer.zero_grad()
        start = time.perf_counter()
        with torch.backends.mkldnn.flags(enabled=run != CONTROL):
            loss = model(**batch).loss
            loss.backward()
        seconds.append(time.perf_counter() - start)
        optimizer.step()
        losses.append(loss.item())
        progress.set_postfix(loss=f"{losses[-1]:.4f}", refresh=False)
    return {
        "losses": losses,
        "milliseconds": 1e3 * statistics.median(seconds),
        "residual_bytes": saved,
    }


def largest_difference(losses, reference):
    """Returns the largest difference of two lists of losses, relative to the first loss."""
    return max(abs(a - b) for a, b in zip(losses, reference)) / abs(reference[0])


def summarize(name, runs):
    """Prints a table of the runs of one task."""
    reference = next(iter(runs))
    last = max(1, len(runs[reference]["losses"]) // 10)
    print(
        f"\n{name:12} {'first loss':>10} {'last losses':>11} {'ms/step':>9} "
        f"{'KiB kept':>9}  difference to {reference}"
    )
    for policy, run in runs.items():
        difference = largest_difference(run["losses"], runs[reference]["losses"])
        run["difference"] = difference
        print(
            f"{policy:12} {run['losses'][0]:10.4f} "
            f"{statistics.mean(run['losses'][-last:]):11.4f} "
            f"{run['milliseconds']:9.2f} {run['residual_bytes'] / 1024:9.1f}  "
            f"{difference:.1e}"
        )


def choose_colors(results):
    """Returns a color for each run, which it has in all plots."""
    from matplotlib import colormaps

    names = list(dict.fromkeys(run for runs in results.values() for run in runs))
    return {name: colormaps["tab10"](number % 10) for number, name in enumerate(names)}


def plot(results, path):
    """Draws the losses of all runs, and how far they are apart."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(
        2, len(results), squeeze=False, sharex="col", figsize=(6 * len(results), 7)
    )
    colors = choose_colors(results)
    for column, (name, runs) in enumerate(results.items()):
        above, below = axes[:, column]
        reference = next(iter(runs))
        for number, (policy, run) in enumerate(runs.items()):
            # Later lines are thinner: all are to be seen where they agree.
            style = {"label": policy, "color": colors[policy]}
            width = 2 * (len(runs) - number)
            above.plot(run["losses"], linewidth=width, **style)
            if policy != reference:
                pairs = zip(run["losses"], runs[reference]["losses"])
                below.semilogy([abs(a - b) for a, b in pairs], **style)
        above.set(title=f"{name}: loss in training", ylabel="loss")
        above.legend()
        below.set(
            title=f"distance from {reference}", xlabel="step", ylabel="difference of the losses"
        )
        below.legend()
    figure.tight_layout()
    figure.savefig(path)


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tasks", nargs="*", metavar="task", help="bert or resnet; default: both")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--engine", choices=("inductor", "eager"), default="inductor")
    parser.add_argument(
        "--policies", nargs="+", choices=POLICIES, default=POLICIES, metavar="policy"
    )
    parser.add_argument(
        "--derivative-bits",
        nargs="+",
        type=int,
        choices=range(9),
        default=[],
        metavar="bits",
        help="further runs under the policy auto, in which no activation is computed "
        "again, with derivatives rounded to so many bits; 0: not rounded",
    )
    parser.add_argument(
        "--dropout",
        type=float,
        default=0.0,
        help="of BERT; PyTorch's random numbers are others, so that only the policies are compared",
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("training"))
    options = parser.parse_args()
    options.tasks = options.tasks or list(TASKS)
    unknown = set(options.tasks) - set(TASKS)
    if unknown:
        parser.error(f"there is no task {', '.join(sorted(unknown))}")
    if options.steps < 1 or options.batch < 2:
        parser.error("--steps is to be 1 or more, and --batch 2 or more")
    if not 0 <= options.dropout < 1:
        parser.error("--dropout is to be 0 or more and less than 1")
    return options


def main():
    options = parse_arguments()
    warnings.filterwarnings("ignore", module="torch")
    # Kernels that Inductor compiles draw other random numbers than PyTorch's.
    plain = [] if options.dropout else [PLAIN, CONTROL, NESTED]
    results = {}
    for name in options.tasks:
        requests = dict.fromkeys(plain) | list_runs(options)
        results[name] = {
            run: train(name, run, compiled, options) for run, compiled in requests.items()
        }
    for name, runs in results.items():
        summarize(name, runs)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "training.json").write_text(json.dumps(results, indent=1))
    plot(results, options.out / "training.png")
    if plain:
        print(f"\n{CONTROL}: with kernels other than oneDNN's, which round otherwise")
    print(f"\nlosses: {options.out}/training.json, plot: {options.out}/training.png")


if __name__ == "__main__":
    try:
        main()
    except (fad.Error, OSError) as failure:
        sys.exit(f"\nerror: {failure}")
