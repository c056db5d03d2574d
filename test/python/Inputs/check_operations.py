"""Trains each operation that PyTorch has samples of for its own tests, and holds the
loss and the gradients against eager PyTorch's.

usage: check_operations.py [OPERATION ...] [--samples N] [--part I/N]

An operation is right, refused with an error that says what is not supported, or has
failed: it differs, raises another error, ends the process or does not end. Those of PyTorch that have no
derivative, or none in f32, are left out. `--part` takes the I-th of every N operations.
Exits with 1 where one has failed."""

import argparse
import collections
import multiprocessing
import os
import sys
import traceback
import types
import unittest
import warnings
from concurrent.futures import ThreadPoolExecutor

import torch
import torch.utils._pytree as pytree

import fad
import fad.torch
from exported_step import export_step
from many import weigh

# Modules that the samples' module imports and nothing here calls.
sys.modules.setdefault("expecttest", types.SimpleNamespace(TestCase=unittest.TestCase))
from torch.testing._internal.common_methods_invocations import op_db

# Messages where PyTorch, torch-mlir or fad has no form of something. Any other error of
# fad's is a failure.
REFUSALS = (
    "PyTorch has no derivative of ",
    "torch.export cannot trace the model: ",
    "torch-mlir cannot lower ",
    "which is not supported; ",
    "has a result whose size depends on values; ",
    "looks at the values of tensors, ",
    "may fail, depending on values, ",
)
# Where fad has forms of operations.
FORMS = tuple(
    f"fad/torch/_decompositions/{each}.py"
    for each in ("registry", "kinks", "places", "pools", "special", "surrogates")
)
# Seconds that an operation may take.
LIMIT = 300


class Sample(torch.nn.Module):
    """The sum of the results of an operation, of which each floating-point tensor is a
    parameter and each other one a buffer."""

    def __init__(self, operation, sample):
        super().__init__()
        self.operation = operation
        arguments = (sample.input, *sample.args), sample.kwargs
        leaves, self.structure = pytree.tree_flatten(arguments)
        self.parts = []
        for number, leaf in enumerate(leaves):
            name = f"x{number}"
            if isinstance(leaf, torch.Tensor) and leaf.is_floating_point():
                setattr(self, name, torch.nn.Parameter(leaf.detach().clone()))
            elif isinstance(leaf, torch.Tensor):
                self.register_buffer(name, leaf.detach().clone())
            else:
                self.parts.append(lambda leaf=leaf: leaf)
                continue
            self.parts.append(lambda name=name: getattr(self, name))

    def forward(self, factor):
        # An operation that writes to its argument may not write to a parameter.
        leaves = [
            part.clone() if isinstance(part, torch.nn.Parameter) else part
            for part in (part() for part in self.parts)
        ]
        arguments, keywords = pytree.tree_unflatten(leaves, self.structure)
        made = pytree.tree_leaves(self.operation(*arguments, **keywords))
        made = [x for x in made if isinstance(x, torch.Tensor) and x.is_floating_point()]
        return sum(weigh(x).float() for x in made) * factor


def is_own(error):
    """Whether a form that fad has for an operation raised what `error` is about."""
    frames = traceback.extract_tb(error.__cause__.__traceback__) if error.__cause__ else []
    return any(each.filename.endswith(FORMS) for each in frames)


def check_sample(operation, sample):
    """The outcome of a sample, and a message about it."""
    factor = torch.ones(())
    try:
        Sample(operation.op, sample)(factor).backward()
    except (RuntimeError, NotImplementedError, TypeError, AttributeError) as error:
        return "left out", str(error)
    try:
        export_step(Sample(operation.op, sample), factor)
    except fad.Error as error:
        refused = any(each in str(error) for each in REFUSALS)
        return "refused" if refused and not is_own(error) else "failed", str(error)
    except Exception as error:
        return "failed", f"{type(error).__name__}: {error}"
    return "right", ""


def get_name(operation):
    return (
        operation.name + ("." if operation.variant_test_name else "") + operation.variant_test_name
    )


def check_operation(operation, count):
    """The worst that became of the samples of an operation."""
    warnings.filterwarnings("ignore")
    torch.manual_seed(0)
    samples = list(operation.sample_inputs("cpu", torch.float32, requires_grad=True))
    step = max(1, len(samples) // count)
    found = {}
    for number in range(0, len(samples), step)[:count]:
        torch.manual_seed(1)
        kind, text = check_sample(operation, samples[number])
        found.setdefault(kind, f"sample {number}: {text}")
    for kind in ("failed", "refused", "right", "left out"):
        if kind in found:
            return kind, found[kind]
    return "left out", ""


def check_apart(operation, count):
    """The same, in a process of its own."""
    context = multiprocessing.get_context("fork")
    reader, writer = context.Pipe(duplex=False)

    def check():
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        writer.send(check_operation(operation, count))

    process = context.Process(target=check, daemon=True)
    process.start()
    writer.close()
    try:
        if not reader.poll(LIMIT):
            process.kill()
            return "failed", f"takes more than {LIMIT} s"
        return reader.recv()
    except EOFError:
        process.join()
        return "failed", f"ends the process, status {process.exitcode}"


def main(names=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="OPERATION")
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--part", default="0/1")
    options = parser.parse_args(names)
    part, parts = map(int, options.part.split("/"))
    chosen = [
        each
        for each in op_db
        if torch.float32 in each.dtypes
        and each.supports_autograd
        and (not options.names or get_name(each) in options.names)
    ][part::parts]
    torch.set_num_threads(1)
    counts = collections.Counter()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda each: check_apart(each, options.samples), chosen)
        for operation, (kind, text) in zip(chosen, results):
            counts[kind] += 1
            if kind != "right":
                print(f"{get_name(operation)}: {kind}: {' '.join(text.split())[:400]}", flush=True)
    numbers = ", ".join(
        f"{counts[kind]} {kind}" for kind in ("right", "refused", "left out", "failed")
    )
    print(f"{len(chosen)} operations: {numbers}")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
