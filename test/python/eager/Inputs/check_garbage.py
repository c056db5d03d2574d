"""Collections of garbage that free a tensor while another thread computes it or refers to it.
PyTorch aborts where the tensor has got a further owner meanwhile."""

import gc
import threading

import numpy
import torch
from checks import Checks

import fad.torch


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


def leave_value(wait):
    """The end of a block computes a value, which takes long enough."""
    x, cycle = torch.randn(1000, 1000, dtype=torch.double, requires_grad=True), make_cycle()
    with fad.torch.nest(engine="deferred"):
        y = x
        for _ in range(40):
            y = torch.tanh(y) * x
        cycle.append(y)
        del y, cycle
        wait()


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


if __name__ == "__main__":
    check = Checks()
    check("a value of the deferred engine", lambda: collect(leave_value))
    for policy in ("auto", "fad"):
        check(f"a constant, {policy}", lambda: len(collect(pull_constant(policy))) == 1)
    check.finish()
