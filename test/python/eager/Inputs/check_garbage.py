"""Collections of garbage that free a tensor while another thread computes it or refers to it.
PyTorch aborts where the tensor has got a further owner meanwhile."""

import gc
import itertools
import sys
import threading
from unittest import mock

import numpy
import torch
from checks import Checks

import fad.torch
from fad.torch.eager import _garbage


class Memory(numpy.ndarray):
    """Memory of a tensor. A collection that frees the tensor lets another thread run before it
    goes on with the rest of the garbage."""

    freeing, is_used = threading.Event(), threading.Event()

    def __del__(self):
        self.freeing.set()
        self.is_used.wait(0.3)


def make_cycle():
    """A list that is freed before what is put into it."""
    cycle = [torch.from_numpy(numpy.zeros(1).view(Memory))]
    cycle.append(cycle)
    return cycle


def collect(run):
    """Collects the garbage of `run(wait)`, which another thread executes. It calls `wait` when
    there is garbage, and goes on while that is freed."""
    Memory.freeing.clear()
    Memory.is_used.clear()
    has_garbage, results = threading.Event(), []

    def wait():
        has_garbage.set()
        Memory.freeing.wait()

    def target():
        results.append(run(wait))
        Memory.is_used.set()

    gc.collect()
    gc.disable()
    thread = threading.Thread(target=target)
    thread.start()
    has_garbage.wait()
    gc.collect()
    thread.join()
    gc.enable()
    return results[0]


def leave_value(policy, is_written):
    """The end of a block, or a write to a constant, computes a value. That takes long enough
    under `auto`; under `fad`, PyTorch's node of the product keeps the constant."""

    def run(wait):
        x, cycle = torch.randn(1000, 1000, dtype=torch.double, requires_grad=True), make_cycle()
        constant = torch.randn(1000, 1000, dtype=torch.double)
        with fad.torch.nest(engine="deferred", policy=policy, min_numel=0):
            y = x * constant
            if policy == "auto":
                for _ in range(40):
                    y = torch.tanh(y) * x
            cycle.append(y)
            del y, cycle
            wait()
            if is_written:
                constant.mul_(2)
        return constant.requires_grad_()

    return run


def pull_constant(policy):
    """The graph of a second derivative leads to a constant that has come to need a gradient."""

    def run(wait):
        x, cycle = torch.randn(3, 3, dtype=torch.double, requires_grad=True), make_cycle()
        constant = torch.randn(3, 3, dtype=torch.double)
        with fad.torch.nest(policy=policy, min_numel=0):
            y = torch.relu(torch.relu(x) * constant) if policy == "fad" else x.tanh() * constant
            loss = (y if policy == "fad" else y * x.sin()).sum()
        constant.requires_grad_()
        cycle.append(constant)
        del y, constant, cycle
        wait()
        return torch.autograd.grad(loss, x, create_graph=True)

    return run


def find_error(call):
    try:
        call()
    except RuntimeError as error:
        return str(error)
    return "no error"


def interrupt(policy):
    """The wait for the end of the collection ends with an error, which Python prints, and the
    call that waits fails."""
    ignored = []

    def sleep(_):
        raise KeyboardInterrupt

    def run(wait):
        pull = pull_constant(policy)
        with (
            mock.patch.object(_garbage, "time", mock.Mock(sleep=sleep)),
            mock.patch.object(sys, "unraisablehook", lambda error: ignored.append(error.exc_type)),
        ):
            return find_error(lambda: pull(wait))

    return "interrupted" in collect(run) and ignored == [KeyboardInterrupt]


class Finalizer:
    """Calls a function within the collection that frees it."""

    def __init__(self, call):
        self.call, self.cycle = call, self

    def __del__(self):
        self.call()


def finalize(call):
    """The error of a call within a collection."""
    errors = []
    Finalizer(lambda: errors.append(find_error(call)))
    gc.collect()
    return errors[0]


def pull_in_finalizer(policy):
    """Nobody knows whether the constant is garbage; first derivatives do without it."""
    x = torch.randn(3, 3, dtype=torch.double, requires_grad=True)
    constant = torch.randn(3, 3, dtype=torch.double)
    with fad.torch.nest(policy=policy, min_numel=0):
        y = torch.relu(torch.relu(x) * constant) if policy == "fad" else x.tanh() * constant
        loss = (y if policy == "fad" else y * x.sin()).sum()
    return (
        finalize(lambda: torch.autograd.grad(loss, x, retain_graph=True)) == "no error"
        and "within a collection"
        in finalize(lambda: torch.autograd.grad(loss, x, create_graph=True))
        and len(torch.autograd.grad(loss, x, create_graph=True)) == 1
    )


def compute_in_finalizer():
    """The value stays open, and is right once the collection has ended."""
    x = torch.randn(3, 3, dtype=torch.double, requires_grad=True)
    constant = torch.randn(3, 3, dtype=torch.double)
    with fad.torch.nest(engine="deferred", policy="fad", min_numel=0):
        y = x * constant
        error = finalize(lambda: constant.mul_(2))
    (gradient,) = torch.autograd.grad(y.sum(), x)
    return (
        "within a collection" in error
        and torch.equal(y, x * constant)
        and torch.equal(gradient, constant)
    )


if __name__ == "__main__":
    check = Checks()
    for policy, is_written in itertools.product(("auto", "fad"), (False, True)):
        check(
            f"a value of the deferred engine, {policy}{', a write' * is_written}",
            lambda: collect(leave_value(policy, is_written)) is not None,
        )
    for policy in ("auto", "fad"):
        check(f"a constant, {policy}", lambda: len(collect(pull_constant(policy))) == 1)
        check(f"an interrupted wait, {policy}", lambda: interrupt(policy))
        check(f"a second derivative in a finalizer, {policy}", lambda: pull_in_finalizer(policy))
    check("a value of the deferred engine in a finalizer", compute_in_finalizer)
    check.finish()
