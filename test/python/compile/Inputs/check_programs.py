"""Gradients of random programs under every policy and combination of options.

usage: check_programs.py [--count N] [--seed SEED] [--all] [--engine ENGINE]

Each program is traced once by AOTAutograd, with Inductor's decompositions or without;
PyTorch executes both parts operation by operation. Gradients, results and buffers have
to be PyTorch's. With --all, each program has all combinations of options, and otherwise
three of them. With the engine "inductor", Inductor compiles each program, with one
combination of options, and as it is."""

import argparse
import copy
import logging
import random
import sys
import traceback
import warnings

import torch
import train
from functorch.compile import make_boxed_func
from graph_programs import COLUMNS, ROWS, Program
from torch._dynamo.backends.common import aot_autograd
from torch._functorch import partitioners
from torch._inductor.decomposition import select_decomp_table

from fad.torch.compile import Partitioner
from fad.torch.compile._backend import compile_inductor

OPTIONS = [
    *(("auto", {"recompute": level}) for level in ("nothing", "elementwise", "reductions", "all", "contractions")),
    *(("auto", {"budget": budget}) for budget in (1, 0.5, 1.0)),
    *((policy, {}) for policy in ("bp", "recompute", "fad")),
    *(("auto", {"recompute": level, "residual_budget": budget})
      for level in ("elementwise", "all") for budget in (2_000, 100_000)),
]  # fmt: skip


def compile_with(partition, is_decomposed, engine):
    if engine == "inductor":
        if not isinstance(partition, Partitioner):
            return "inductor"
        return lambda graph, inputs: compile_inductor(graph, inputs, partition, {})

    def run(graph, _):
        return make_boxed_func(graph.forward)

    table = select_decomp_table() if is_decomposed else {}
    return aot_autograd(
        fw_compiler=run, bw_compiler=run, partition_fn=partition, decompositions=table
    )


def step(program, call, x):
    torch.manual_seed(3)
    x = x.clone().requires_grad_()
    results = call(x)
    sum(train.weigh(y) for y in results if y.requires_grad).backward()
    parts = x, *program.values
    grads = [part.grad for part in parts if part.grad is not None]
    return [*results, *grads, *program.buffers()]


def check(seed, combinations, is_dynamic, engine):
    """The error of the program of `seed`, if there is one."""
    program = Program(seed)
    x = torch.randn(ROWS, COLUMNS, dtype=torch.float64)
    expected = {}

    def run(partition, is_decomposed):
        torch._dynamo.reset()
        other = copy.deepcopy(program)
        call = other
        if partition:
            call = torch.compile(
                other,
                backend=compile_with(partition, is_decomposed, engine),
                dynamic=is_dynamic,
            )
        return step(other, call, x)

    for (policy, options), is_decomposed in combinations:
        if is_decomposed not in expected:
            # Decompositions have other rounding, and a few constants of f32.
            stock = None if program.is_changing else partitioners.default_partition
            expected[is_decomposed] = run(stock, is_decomposed)
        values = run(Partitioner(policy, **options), is_decomposed)
        pairs = zip(values, expected[is_decomposed], strict=True)
        worst = max(train.difference(*pair) for pair in pairs)
        # Products in another order, through few digits.
        if not worst <= (5e-2 if any_rough(program) else 1e-6 if program.is_changing else 1e-9):
            return f"{policy} {options}, decomposed {is_decomposed}: differs by {worst:.1e}"
    return ""


def any_rough(program):
    """Whether values of few digits are rounded to other neighbors."""
    names = [step.__closure__ or () for step in program.steps]
    cells = [cell.cell_contents for cell in sum(map(tuple, names), ())]
    return torch.float32 in cells or torch.bfloat16 in cells


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--engine", choices=("eager", "inductor"), default="eager")
    parser.add_argument("--traceback", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    warnings.filterwarnings("error", "fad leaves", RuntimeWarning)
    logging.disable(logging.WARNING)
    every = [(options, table) for options in OPTIONS for table in (False, True)]
    failed = 0
    for seed in range(arguments.seed, arguments.seed + arguments.count):
        choice = random.Random(seed)
        number = 3 if arguments.engine == "eager" else 1
        combinations = every if arguments.all else choice.sample(every, number)
        try:
            wrong = check(seed, combinations, choice.random() < 0.2, arguments.engine)
        except Exception as error:
            wrong = f"{type(error).__name__}: {str(error).strip()[:400]}"
            if arguments.traceback:
                traceback.print_exc()
        if wrong:
            failed += 1
            print(f"seed {seed}: {wrong}", flush=True)
    print(f"{arguments.count} programs, {failed} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
