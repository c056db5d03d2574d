"""Threads that write to what other threads' sequences read, or have read: values and gradients
are those of eager PyTorch."""

import itertools
import threading

import torch
from check_sources import MODES, WEIGHT, X
from checks import Checks

import fad.torch


def check_threads(check):
    """A thread records, another one writes, and a third one goes backward."""

    def run(mode):
        results, sources = [], []

        def record(x):
            with fad.torch.nest(**mode):
                sources.append(x @ torch.eye(64).double())
                results.append((torch.exp(sources[0]) * 2).tanh() @ torch.eye(64).double())

        def write():
            with fad.torch.nest(**mode):
                sources.pop().add_(1)

        def differentiate(x):
            results.extend(torch.autograd.grad(results.pop().sum(), x))

        for _ in range(20):
            x = torch.randn(64, 64, dtype=torch.double, requires_grad=True)
            for function, arguments in (record, (x,)), (write, ()), (differentiate, (x,)):
                thread = threading.Thread(target=function, args=arguments)
                thread.start()
                thread.join()
            value = torch.tanh(torch.exp(x) * 2)
            torch.testing.assert_close(results, list(torch.autograd.grad(value.sum(), x)))
            results.clear()

    for mode in MODES:
        check(f"threads, {mode}", lambda: run(mode))


MEANWHILE = []


@torch.library.custom_op("fad_test::meanwhile", mutates_args={"tensor"})
def meanwhile(tensor: torch.Tensor) -> None:
    MEANWHILE.pop()()
    tensor.mul_(3)


def check_meanwhile(check):
    """A thread records what reads one part of a memory while another one writes to another
    part, and has looked for readers already."""
    programs = {
        "source": lambda x, part: torch.exp(part) * x,
        "source, continued": lambda x, part: torch.tanh(torch.exp(part) * 2) + x,
        "constant": lambda x, part: torch.relu(x + part.detach()) * 2,
        "constant, continued": lambda x, part: (x * 2).exp() + part.detach(),
    }

    def run(program, mode, begins):
        """With `begins`, the sequence begins before the write does."""
        x = X.clone().requires_grad_()
        memory = torch.stack([x, x]) * 1
        recorded, written, results = threading.Event(), threading.Event(), []

        def record():
            with fad.torch.nest(**mode):
                y = program((x * 2).sigmoid() if begins else x, memory[0])
                recorded.set()
                written.wait()
                results.append(y @ WEIGHT)

        reader = threading.Thread(target=record)

        def start():
            reader.start()
            recorded.wait()

        MEANWHILE.append(start)
        with fad.torch.nest(**mode), torch.no_grad():
            torch.ops.fad_test.meanwhile(memory[1])
        written.set()
        reader.join()
        memory = torch.stack([x, x]) * 1
        y = program((x * 2).sigmoid() if begins else x, memory[0])
        expected = y @ WEIGHT
        torch.testing.assert_close(results, [expected])
        found = torch.autograd.grad(results[0].sum(), x)
        torch.testing.assert_close(found, torch.autograd.grad(expected.sum(), x))

    for name, mode, begins in itertools.product(programs, MODES, (False, True)):
        # The interactive engine refuses constants that are overwritten.
        if "constant" in name and mode["engine"] == "interactive":
            continue
        check(f"meanwhile, {name}, {begins}, {mode}", lambda: run(programs[name], mode, begins))


def check_overtaken(check):
    """A thread writes to a constant of another one's sequence that goes on."""

    def run(mode):
        x, constants = X.clone().requires_grad_(), [X.clone(), X.clone()]
        recorded, written, results = threading.Event(), threading.Event(), []

        def record():
            with fad.torch.nest(**mode):
                y = torch.relu(x + constants[0]) * 2 + constants[1]
                recorded.set()
                written.wait()
                results.append((torch.tanh(y) * y) @ WEIGHT)

        reader = threading.Thread(target=record)
        reader.start()
        recorded.wait()
        with fad.torch.nest(**mode):
            for constant in constants:
                constant.add_(1)
        written.set()
        reader.join()
        y = torch.relu(x + X) * 2 + X
        expected = (torch.tanh(y) * y) @ WEIGHT
        torch.testing.assert_close(results, [expected])
        found = torch.autograd.grad(results[0].sum(), x)
        torch.testing.assert_close(found, torch.autograd.grad(expected.sum(), x))

    for mode in MODES:
        if mode["engine"] == "deferred":
            check(f"overtaken, {mode}", lambda: run(mode))


if __name__ == "__main__":
    check = Checks()
    check_threads(check)
    check_meanwhile(check)
    check_overtaken(check)
    check.finish()
