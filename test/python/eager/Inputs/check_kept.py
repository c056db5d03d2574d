"""Compares the bytes that random programs keep for backward in eager PyTorch and under
fad.torch.nest, in sequences of one type and of several.

The policy auto keeps no more, but for bits of a kink whose operand another sequence keeps: eager
PyTorch keeps that for both. The policy fad keeps a derivative for each value that something
else reads, where two operators of eager PyTorch may save one tensor: that is counted."""

import argparse
import collections
import functools
import itertools
import sys

import torch
import torch.nn.functional as F
from checks import Checks
from random_programs import LARGE, Execution, autocast, describe, generate

import fad.torch

# Instructions without which a program has one outcome: values, and nothing else of them.
PLAIN = "unary binary consumer matmul view cast mixed detach".split()
MODES = [(policy, engine) for policy in ("auto", "fad") for engine in ("interactive", "deferred")]


def compute_loss(program, nest, *leaves):
    execution = Execution(program, copies=False, facts=set())
    execution.leaves, execution.values = list(leaves), list(leaves)
    with autocast(program):
        with nest():
            for instruction in program.instructions:
                execution.execute(*instruction)
        return execution.make_loss()


def make(seed, mixed):
    """A program that keeps something, or None."""
    program = generate(seed, plain=True, mixed=mixed)
    if not mixed:
        program.dtype = torch.float32
    if any(kind not in PLAIN for kind, _, _ in program.instructions):
        return None
    program.size = LARGE
    leaves = Execution(program, copies=False, facts=set()).leaves
    loss = compute_loss(program, torch.enable_grad, *leaves)
    return program if loss.requires_grad else None


def count_kept(program, nest):
    """The bytes, and those of bits."""
    leaves = Execution(program, copies=False, facts=set()).leaves
    function = functools.partial(compute_loss, program, nest)
    found = fad.torch.saved_memory(function, *leaves, measure=False)
    return found.bytes, sum(each.bytes for each in found.tensors if each.name == "bits")


def add_constants(h, weight):
    """Eager PyTorch saves no constant of a sum."""
    for _ in range(4):
        h = h + torch.randn(h.shape)
    return h


# The deferred engine computes the derivative of each.
DOUBLE = "a value and its double"
# Functions of a tensor that something before computes, and of a weight.
CASES = {
    "constants of sums": lambda h, w: torch.sin(add_constants(torch.sigmoid(h), w)) @ w,
    "constants after one operator": lambda h, w: add_constants(torch.sigmoid(h), w) @ w,
    "a frozen weight": lambda h, w: F.silu(h * 2) @ w.detach(),
    "a frozen weight behind a product": lambda h, w: (h * torch.randn(h.shape)) @ w.detach(),
    "a kink before a frozen weight": lambda h, w: F.relu(h) @ w.detach(),
    "a copy that nothing reads inside": lambda h, w: h.bfloat16(),
    "one tensor of two sums": lambda h, w: (h.sin() + h.cos()) @ w.detach(),
    "of a leaf": lambda h, w: (w.sin() + w.cos()) @ w.detach(),
    "a value that is read before": lambda h, w: [v := torch.sqrt(h.abs()), v.flip(0), v.cos()],
    "a value before a longer sequence": lambda h, w: [
        s := F.silu(v := torch.tanh(h * 2)),
        v.flip(0),
        s.flip(0),
    ],
    "a value after a longer sequence": lambda h, w: [
        s := F.silu(v := torch.tanh(h * 2)),
        s.flip(0),
        v.flip(0),
    ],
    "a value within a longer sequence": lambda h, w: [
        s := F.silu(2 * (v := torch.tanh(h * 2))),
        v.flip(0),
        s.flip(0),
    ],
    DOUBLE: lambda h, w: [v := (w.abs() + 1).log(), v * 2],
}


def keeps_no_more(function, policy, engine):
    def run(nest, x, weight):
        h = torch.cumsum(x, 0)
        with nest():
            y = function(h, weight)
        del h
        y = [y] if isinstance(y, torch.Tensor) else y
        return sum((each.float() * 2).sum() for each in y)

    leaves = [torch.rand(LARGE, LARGE, requires_grad=True) for _ in range(2)]
    nest = functools.partial(fad.torch.nest, policy=policy, engine=engine, min_numel=0)
    found, most = (
        fad.torch.saved_memory(functools.partial(run, each), *leaves, measure=False).bytes
        for each in (nest, torch.enable_grad)
    )
    assert found <= most, (found, most)


def read_norm(x):
    return F.layer_norm(x, (LARGE,))


# Functions, and how many tensors like the operand the deferred engine keeps of them before a
# product, beside statistics.
NORMS = {
    "a norm": (read_norm, 0),
    "a norm of a norm": (lambda h: read_norm(read_norm(h)), 1),
    "a norm of a value": (lambda h: read_norm(F.gelu(h)), 1),
    "a norm of a view": (lambda h: read_norm(F.gelu(h).view(2, -1, LARGE)).flatten(0, 1), 1),
    "a value of a norm": (lambda h: F.gelu(read_norm(h)), 1),
    "a wider value of a norm": (lambda h: F.gelu(read_norm(h).float()).to(h.dtype), 1),
    "in place": (lambda h: F.silu(read_norm(h), inplace=True), 1),
}


def keeps_tensors(function, count, dtype):
    def run(h):
        with fad.torch.nest(engine="deferred", min_numel=0):
            y = function(h)
            return y @ torch.eye(LARGE, dtype=dtype).requires_grad_()

    h = torch.rand(LARGE, LARGE).to(dtype).requires_grad_() * 1
    found = fad.torch.saved_memory(run, h, measure=False).bytes
    statistics = 4 * LARGE * h.element_size()
    assert found <= count * h.nbytes + statistics, (found, h.nbytes)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="numbers of programs")
    parser.add_argument("--seed", type=int, default=0, help="the first")
    parser.add_argument("--fad", action="store_true", help="print programs of the policy fad, too")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    check = Checks()
    for (name, function), mode in itertools.product(CASES.items(), MODES):
        is_doubled = name == DOUBLE and mode == ("fad", "deferred")
        if not is_doubled and (mode[0] == "auto" or "longer" not in name):
            check(f"{name}, {mode}", lambda: keeps_no_more(function, *mode))
    for (name, (function, count)), dtype in itertools.product(
        NORMS.items(), (torch.float32, torch.bfloat16)
    ):
        check(f"{name}, {dtype}", lambda: keeps_tensors(function, count, dtype))
    wrong = len(check.wrong)
    for mixed in (False, True):
        kept, more, programs = collections.Counter(), collections.Counter(), 0
        for seed in range(arguments.seed, arguments.seed + arguments.count):
            program = make(seed, mixed)
            if program is None:
                continue
            programs += 1
            most, _ = count_kept(program, torch.enable_grad)
            kept["eager"] += most
            for mode in MODES:
                nest = functools.partial(
                    fad.torch.nest, policy=mode[0], engine=mode[1], min_numel=0
                )
                found, bits = count_kept(program, nest)
                kept[mode] += found
                more[mode] += found - bits > most
                if found - bits > most and (mode[0] == "auto" or arguments.fad):
                    wrong += mode[0] == "auto"
                    print(f"seed {seed}, {mode}: {found} bytes, eager {most}")
                    print(describe(program))
        for mode in MODES:
            print(
                f"{'mixed' if mixed else 'one type'}, {' '.join(mode)}: "
                f"{kept[mode] / kept['eager']:.2f} of eager's bytes, "
                f"more in {more[mode]} of {programs} programs"
            )
    print(f"auto keeps more in {wrong}")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
