#!/usr/bin/env python3
"""Time of the forward and the backward pass of activations on an NVIDIA GPU, as
multiples of a stream that reads and writes as much: by fad, which keeps the derivative
or recomputes it, by PyTorch, by torch.compile, and by kernels in Triton.

  benchmarks/kernels/kernels_gpu.py --dry-run
  benchmarks/kernels/kernels_gpu.py --json=gpu.json --plot=gpu.svg
  benchmarks/kernels/kernels_gpu.py gelu --types bf16 --sizes 268435456 --sweep --json=tiles.json

Takes the kit that utils/pack-gpu-kit.py makes, PyTorch, and Triton for its columns, but
no LLVM. First, all kernels of fad are run on fresh random numbers and held against a
reference in f64 that the device computes; those that are wrong are not timed, and the
run fails. Streams are kernels that read and write as many tensors and compute nothing:
one read and two written in the forward pass, two and one in the backward one. Those
that recompute have a stream of their own. A copy moves as much as the stream. Streams
and Triton's kernels are run in the best of several configurations.

Times are of CUDA's events; the median counts. The largest sizes come first, and what
torch.compile makes comes last: what is not done when the time is out is listed. --sweep
measures kernels with several tiles instead, to choose the best one by. --dry-run does
all but what takes a device. --json keeps all figures, --plot draws those of the largest
size; --table prints those of such a file, and measures nothing."""

import argparse
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "utils"))

import kernel_figures
from gpu import budget, checks, comparison, device, sweep
from gpu.kit import Kit, KitError, LoadedKit
from kernel_figures import BYTES, MOVED

MOST = 1 << 30
# For the plan: bytes a second, and seconds, that are as good as any guess.
GUESSED_RATE, GUESSED_TUNING, GUESSED_COMPILE = 2.5e12, 1.0, 5.0
# Tensors that all who are compared move in a round of the three passes.
GUESSED_MOVED = 150


def list_rows(options):
    """Largest sizes first."""
    return [
        (name, kind, size)
        for size in sorted(options.sizes, reverse=True)
        for kind in options.types
        for name in options.names
    ]


def guess_seconds(kind, size, options):
    moved = GUESSED_MOVED * size * BYTES[kind]
    return GUESSED_TUNING + options.repetitions * (moved / GUESSED_RATE + 30 * 3e-4)


def print_plan(kit, options):
    """Prints the plan of a run."""
    for key, value in kit.manifest["made_with"].items():
        print(f"{key}: {value}")
    for module in kit.manifest["modules"]:
        what = f"{module['purpose']}: {len(module['kernels'])} kernels for {module['chip']}"
        print(f"{what}: {', '.join(module['files'].values())}")
    print(f"{kit.check_files()} kernels are where they should be, and the library loads")
    print(f"\n{'activation type elements':<27}{'MB forward':>12}{'MB backward':>12}{'seconds':>9}")
    total = 0
    for name, kind, size in list_rows(options):
        seconds = guess_seconds(kind, size, options)
        total += seconds + (GUESSED_COMPILE if options.compile and options.peers else 0)
        moved = MOVED["forward"] * size * BYTES[kind] / 1e6
        print(f"{name:<10} {kind:<5}{size:<11}{moved:>12.1f}{moved:>12.1f}{seconds:>9.1f}")
    print(f"about {total:.0f} s, compiling included, of {options.budget:g} s")


class Run:
    """Figures as they come, which are in the file at any time."""

    def __init__(self, options, kit, machine):
        import torch

        self.options, self.torch, self.device = options, torch, machine
        runtime = kit.load_runtime()
        runtime.initialize()
        self.kit = LoadedKit(kit, runtime, machine.capability, machine.get_stream)
        self.comparison = comparison.Comparison(torch, machine, self.kit, options)
        seed = time.time_ns() % (1 << 31)
        self.generator = torch.Generator(device=machine.name)
        self.generator.manual_seed(seed)
        packed = {f"kit {key}": value for key, value in kit.manifest["made_with"].items()}
        self.figures = {
            "made_with": {**kernel_figures.describe_machine(), **machine.describe(), **packed},
            "repetitions": options.repetitions,
            "seed": seed,
            "failures": [],
            "rows": [],
            "sweep": [],
            "not_measured": self.comparison.not_measured,
        }

    def save(self):
        if self.options.json:
            kernel_figures.write(self.figures, self.options.json)

    def check(self, what):
        """Tells whether a check passes."""
        try:
            what()
            return True
        except (checks.CheckFailed, KitError) as error:
            print(f"error: {error}", file=sys.stderr, flush=True)
            self.figures["failures"].append(str(error))
            return False

    def check_streams(self):
        kernels = self.kit.load("streams").values()
        one = lambda kernel: checks.check_stream(self.torch, self.device, kernel, self.generator)
        return all([self.check(lambda: one(kernel)) for kernel in kernels])

    def check_kernels(self, name, kind):
        one = lambda policy: checks.check_pair(
            self.torch, self.device, self.kit.find_pair(name, kind, policy), self.generator
        )
        return all([self.check(lambda: one(policy)) for policy in self.options.policies])

    def measure(self, rows):
        """Rows, then what is compiled for each. Takes away from `rows` what is done."""
        done = {}
        while rows["rows"]:
            row = rows["rows"][0]
            measured = self.comparison.measure_row(*row, compiled=False)
            if measured:
                done[row] = measured
                self.figures["rows"].append(measured)
            rows["rows"].pop(0)
            self.save()
            print(f"{' '.join(map(str, row))}: {self.options.spent():.0f} s", flush=True)
        while rows["compiled"]:
            row = rows["compiled"][0]
            if row in done:
                measured = self.comparison.measure_row(*row, compiled=True)
                for title in ("seconds", "least") if measured else ():
                    done[row][title].update(measured[title])
            rows["compiled"].pop(0)
            self.save()

    def sweep(self, rows):
        while rows["rows"]:
            name, kind, size = rows["rows"][0]
            for policy in self.options.policies:
                sweep.measure(
                    self.comparison, self.generator, name, kind, policy, size, self.figures
                )
            rows["rows"].pop(0)
            self.save()

    def run(self):
        """Everything, until the time is out."""
        rows = {"rows": list_rows(self.options), "compiled": []}
        try:
            with self.options.limit:
                if not self.check_streams():
                    return
                right = {
                    (name, kind)
                    for name in self.options.names
                    for kind in self.options.types
                    if self.check_kernels(name, kind)
                }
                rows["rows"] = [row for row in rows["rows"] if row[:2] in right]
                if self.options.sweep:
                    return self.sweep(rows)
                if self.options.compile and self.options.peers:
                    rows["compiled"] = list(rows["rows"])
                self.measure(rows)
        except budget.OutOfTime:
            for part, who in ("rows", "all"), ("compiled", "compiled"):
                for row in rows[part]:
                    described = dict(zip(("activation", "type", "size"), row))
                    self.comparison.skip(described, who, "the time was out")
        finally:
            facts = device.ask_nvidia_smi()
            self.figures["afterwards"] = {f"nvidia-smi {key}": facts[key] for key in facts}
            self.figures["taken"] = self.options.spent()
            self.save()


def print_figures(figures, options):
    kernel_figures.print_facts(figures, counted="median")
    if figures["rows"]:
        kernel_figures.print_table(figures["rows"])
        comparison.print_fractions(figures["rows"])
        if options.plot:
            largest = max(row["size"] for row in figures["rows"])
            rows = [row for row in figures["rows"] if row["size"] == largest]
            kernel_figures.plot(rows, options.plot)
    if figures["sweep"]:
        sweep.print_sweep(figures["sweep"])
    for each in figures["not_measured"]:
        row = " ".join(str(each[key]) for key in ("activation", "type", "size"))
        print(f"not measured: {row}, {each['who']}: {each['why']}")
    for failure in figures["failures"]:
        print(f"error: {failure}")
    if figures["failures"]:
        sys.exit(f"error: {len(figures['failures'])} checks failed")
    if not figures["rows"] and not figures["sweep"]:
        sys.exit("error: nothing was measured")


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="activations; default: all of the kit")
    parser.add_argument("--types", nargs="+", help="default: all of the kit")
    parser.add_argument(
        "--sizes", nargs="+", type=int, default=[1 << 16, 1 << 20, 1 << 24, 1 << 28]
    )
    parser.add_argument("--policies", nargs="+", help="default: all of the kit")
    parser.add_argument("--repetitions", type=int, default=30)
    parser.add_argument("--budget", type=float, default=440, help="seconds that the run may take")
    parser.add_argument("--kit", help="folder of the kit; default: this one, or build/gpu-kit")
    parser.add_argument("--no-peers", dest="peers", action="store_false", help="fad alone")
    parser.add_argument("--no-compile", dest="compile", action="store_false")
    parser.add_argument("--sweep", action="store_true", help="measure tiles instead")
    parser.add_argument("--dry-run", action="store_true", help="all but what takes a device")
    kernel_figures.add_options(parser)
    options = parser.parse_args()
    if min(options.sizes) < 16 or max(options.sizes) > MOST or any(s % 16 for s in options.sizes):
        parser.error(f"sizes are multiples of 16 of up to {MOST}")
    if min(options.repetitions, options.budget) < 1:
        parser.error("repetitions and the budget are at least 1")
    return parser, options


def main(make_device=device.Device):
    parser, options = parse_options()
    if options.table:
        return print_figures(kernel_figures.read(parser, options.table), options)
    options.limit = budget.Budget(options.budget)
    options.spent = options.limit.get_spent
    here = (HERE / "manifest.json").exists()
    try:
        kit = Kit(options.kit or (HERE if here else ROOT / "build" / "gpu-kit"))
        options.names = kit.choose("activation", options.names)
        options.types = kit.choose("type", options.types)
        options.policies = kit.choose("policy", options.policies)
        if options.dry_run:
            kit.load_runtime()
            return print_plan(kit, options)
        run = Run(options, kit, make_device())
        run.run()
    except device.NoDevice as error:
        sys.exit(f"error: {error}; --dry-run does all but what takes a GPU")
    except KitError as error:
        sys.exit(f"error: {error}")
    print_figures(run.figures, options)


if __name__ == "__main__":
    main()
