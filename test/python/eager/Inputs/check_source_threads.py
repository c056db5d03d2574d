"""Threads that write to what other threads' sequences read, or have read: values and gradients
are those of eager PyTorch."""

import contextlib
import itertools
import random
import sys
import threading
import weakref

import torch
import torch.nn.functional as F
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
    """A thread writes to a constant of another one's sequence that goes on, and that one writes
    to all of them later."""

    def run(mode, program, then):
        x, constants = X.clone().requires_grad_(), [X.clone(), X.clone()]
        source = x * 1.5
        recorded, written, results = threading.Event(), threading.Event(), []

        def record():
            with fad.torch.nest(**mode):
                y = program(source, *constants)
                recorded.set()
                written.wait()
                y = then(y)
                results.append(y @ WEIGHT)
                for constant in constants:
                    constant.add_(1)

        reader = threading.Thread(target=record)
        reader.start()
        recorded.wait()
        with fad.torch.nest(**mode):
            constants[0].add_(1)
        written.set()
        reader.join()
        expected = then(program(x * 1.5, X, X)) @ WEIGHT
        torch.testing.assert_close(results, [expected])
        found = torch.autograd.grad(results[0].sum(), x)
        torch.testing.assert_close(found, torch.autograd.grad(expected.sum(), x))

    programs = {
        "first": lambda source, one, other: torch.exp(source) + one + other,
        "inside": lambda source, one, other: torch.relu(source + one) * 2 + other,
    }
    thens = {"saved": lambda y: torch.tanh(y) * y, "not saved": torch.abs}
    for mode, name, then in itertools.product(MODES, programs, thens):
        if mode["engine"] == "deferred":
            check(
                f"overtaken, {name}, {then}, {mode}", lambda: run(mode, programs[name], thens[then])
            )


def start_and_join(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def check_computed(check):
    """A thread writes to a constant of another one's sequence, so that the value is computed, and
    then a thread writes to the leaf."""
    mode = {"policy": "fad", "engine": "deferred", "min_numel": 0}
    programs = {
        "exp": lambda x, constant: torch.exp(x) + constant,
        "sigmoid": lambda x, constant: torch.sigmoid(x + constant),
        "several": lambda x, constant: torch.tanh(torch.exp(x) * 2 + constant),
        "relu": lambda x, constant: torch.relu(x + constant) * 2,
    }
    readers = {
        "product": lambda y: y @ WEIGHT,
        "continued": lambda y: (torch.tanh(y) * y) @ WEIGHT,
    }
    writes = {"add_": lambda x: x.add_(1), "data": lambda x: x.data.add_(1)}
    threads = {"own": lambda write: write(), "other": start_and_join}

    def run(program, reader, write, thread):
        x, constant = X.clone().requires_grad_(), X.clone()

        def write_constant():
            with fad.torch.nest(**mode):
                constant.add_(1)

        def write_leaf():
            with fad.torch.nest(**mode), torch.no_grad():
                write(x)

        with fad.torch.nest(**mode):
            y = program(x, constant)
            start_and_join(write_constant)
            thread(write_leaf)
            result = reader(y)
        own = X.clone().requires_grad_()
        expected = reader(program(own, X))
        torch.testing.assert_close(result, expected)
        found = torch.autograd.grad(result.sum(), x)
        torch.testing.assert_close(found, torch.autograd.grad(expected.sum(), own))

    for names in itertools.product(programs, readers, writes, threads):
        parts = [
            each[name]
            for each, name in zip((programs, readers, writes, threads), names, strict=True)
        ]
        check(f"computed, {', '.join(names)}", lambda: run(*parts))

    def free():
        """A sequence that another one goes on from frees what no operator saves."""
        elements = X.numpy().copy()
        x, constants = X.clone().requires_grad_(), [X.clone(), torch.from_numpy(elements)]
        freed, source = weakref.ref(elements), x * 1.5
        del elements

        def write():
            with fad.torch.nest(**mode):
                constants[0].add_(1)

        with fad.torch.nest(**mode):
            y = torch.exp(source) + constants[0] + constants[1]
            start_and_join(write)
            z = torch.tanh(y) @ WEIGHT
            constants.clear()
            assert freed() is None
        return y, z

    check("computed, freed", free)


def check_linear(check):
    """A thread writes, through an alias with versions of its own, to what a linear sequence reads.
    The sequence that goes on from the value has no use for that."""
    readers = {"tanh": torch.tanh, "product": lambda y: torch.tanh(y) * y}

    def run(mode, reader, place, thread):
        def record(nest, thread):
            x = X.clone().requires_grad_()
            tensors = {"leaf": x, "source": x * 1.5, "constant": X.clone()}

            def write():
                with nest(), torch.no_grad():
                    tensors[place].data.add_(1)

            with nest():
                y = tensors["leaf" if place == "leaf" else "source"] * 2 + tensors["constant"]
                thread(write)
                result = reader(y) @ WEIGHT
            return result, torch.autograd.grad(result.sum(), x)

        found = record(lambda: fad.torch.nest(**mode), thread)
        torch.testing.assert_close(found, record(contextlib.nullcontext, lambda write: write()))

    threads = {"own": lambda write: write(), "other": start_and_join}
    for mode, name, place, thread in itertools.product(
        MODES, readers, ("leaf", "source", "constant"), threads
    ):
        if mode["engine"] == "deferred":
            check(
                f"linear, {name}, {place}, {thread}, {mode}",
                lambda: run(mode, readers[name], place, threads[thread]),
            )


@torch.library.custom_op("fad_test::read", mutates_args=())
def read(tensor: torch.Tensor) -> torch.Tensor:
    MEANWHILE.pop()()
    return tensor.clone()


read.register_autograd(lambda context, gradient: gradient)


def check_read(check):
    """A thread writes to a constant of a sequence that waits for its reader."""
    programs = {
        "relu": lambda x, constant: torch.relu(x + constant),
        "sigmoid": lambda x, constant: torch.sigmoid(x + constant),
    }

    def run(program, mode):
        x, constant = X.clone().requires_grad_(), X.clone()

        def write():
            with fad.torch.nest(**mode):
                constant.add_(1)

        MEANWHILE.append(lambda: start_and_join(write))
        with fad.torch.nest(**mode):
            result = torch.ops.fad_test.read(program(x, constant))
        expected = program(x, X)
        torch.testing.assert_close(result, expected)
        found = torch.autograd.grad(result.sum(), x)
        torch.testing.assert_close(found, torch.autograd.grad(expected.sum(), x))

    for (name, program), mode in itertools.product(programs.items(), MODES):
        if mode["engine"] == "deferred":
            check(f"read, {name}, {mode}", lambda: run(program, mode))


def compare_or_refuse(results, x, expected, own, mode):
    """Compares a result and its gradient of `x` with what is `expected` of `own`. Under `auto`, backward may
    say that the leaf was written to."""
    torch.testing.assert_close(results, [expected])
    try:
        found = torch.autograd.grad(results[0].sum(), x)
    except RuntimeError as error:
        assert mode["policy"] == "auto" and "modified by an inplace operation" in str(error)
    else:
        torch.testing.assert_close(found, torch.autograd.grad(expected.sum(), own))


def check_leaves(check):
    """A thread writes to the leaf of another one's sequence, whose derivative eager PyTorch would have, or
    not: then backward refuses it."""
    programs = {
        "one operator": torch.sigmoid,
        "two": lambda x: torch.exp(x) * 2,
        "three": lambda x: torch.tanh(torch.exp(x) * 2),
        "a linear end": lambda x: torch.tanh(torch.exp(x) * 2) * X,
        "bits": lambda x: torch.relu(x) * 2,
    }

    def run(program, mode):
        x, results = X.clone().requires_grad_(), []
        recorded, written = threading.Event(), threading.Event()

        def record():
            with fad.torch.nest(**mode):
                y = program(x)
                recorded.set()
                written.wait()
                results.append(y @ WEIGHT)

        reader = threading.Thread(target=record)
        reader.start()
        recorded.wait()
        with fad.torch.nest(**mode), torch.no_grad():
            x.add_(1)
        written.set()
        reader.join()
        own = X.clone().requires_grad_()
        compare_or_refuse(results, x, program(own) @ WEIGHT, own, mode)

    for (name, program), mode in itertools.product(programs.items(), MODES):
        check(f"leaves, {name}, {mode}", lambda: run(program, mode))


def check_torn(check):
    """An operator ends a sequence while another thread is writing to the leaf: no gradient has elements of
    before and after the write."""

    def run(program, mode):
        x = torch.linspace(-1, 1, 2_000_000).double().view(1000, 2000).requires_grad_()
        before, elements = x.detach().clone(), x.detach().numpy()
        first, results, recorded = elements[0, 0], [], threading.Event()

        def record():
            with fad.torch.nest(**mode):
                y = program(x)
                recorded.set()
                while elements[0, 0] == first:
                    pass
                results.append(y.sum(1))

        reader = threading.Thread(target=record)
        reader.start()
        recorded.wait()
        with fad.torch.nest(**mode), torch.no_grad():
            x.lgamma_()
        reader.join()
        own = before.requires_grad_()
        compare_or_refuse(results, x, program(own).sum(1), own, mode)

    programs = {"sigmoid": lambda x: torch.sigmoid(x) * 2, "relu": lambda x: torch.relu(x) * 2}
    for (name, program), mode in itertools.product(programs.items(), MODES):
        if mode["engine"] == "deferred":
            check(f"torn, {name}, {mode}", lambda: run(program, mode))


class Parts:
    """Random programs of threads, each of which reads and overwrites its own parts of two shared
    memories: of a source, and of constants."""

    COUNT = 4
    # Eager PyTorch saves the results, and allows writes to the operands.
    FIRST = (torch.exp, torch.sigmoid, torch.tanh, torch.relu, torch.neg)
    THEN = (*FIRST, torch.sin, torch.abs, F.softplus, lambda x: x * 2 - 1)

    def __init__(self, mode, seed):
        self.mode, self.seed = mode, seed
        self.x = torch.linspace(-1, 1, self.COUNT * 24).double().view(-1, 6, 4).requires_grad_()
        self.source = self.x * 1.5
        self.constants = torch.linspace(1, 2, self.COUNT * 24).double().view(-1, 6, 4)
        self.written = threading.Barrier(self.COUNT)

    def run(self, i):
        chance = random.Random(self.seed * self.COUNT + i)
        source, constant, total = self.source[i], self.constants[i], 0
        # The interactive engine refuses constants that are overwritten.
        has_constants = self.mode["engine"] == "deferred"
        for _ in range(chance.randint(1, 4)):
            y = chance.choice(self.FIRST)(chance.choice((source, source, self.x[i])))
            if has_constants and chance.random() < 0.6:
                y = y + constant
            for _ in range(chance.randint(0, 4)):
                y = chance.choice(self.THEN)(y)
            if chance.random() < 0.5:
                y = y @ WEIGHT
            if chance.random() < 0.6:
                with torch.no_grad():
                    source[chance.choice((slice(None), slice(1, 3)))].mul_(0.9)
            if has_constants and chance.random() < 0.5:
                constant.add_(0.25)
            total = total + (torch.tanh(y) * y).sum()
        return total + source.detach().sum()

    def differentiate(self, value):
        return [value.detach(), *torch.autograd.grad(value, self.x, retain_graph=True)]

    def nest(self, i, results):
        try:
            with fad.torch.nest(**self.mode):
                value = self.run(i)
        except BaseException:
            self.written.abort()
            raise
        # A write beside a backward would need a lock.
        self.written.wait()
        results[i] = self.differentiate(value)


def check_parts(check):
    def run(mode, seed):
        results, nested, plain = {}, Parts(mode, seed), Parts(mode, seed)
        threads = [
            threading.Thread(target=nested.nest, args=(i, results)) for i in range(Parts.COUNT)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for i in range(Parts.COUNT):
            expected = plain.differentiate(plain.run(i))
            torch.testing.assert_close(results[i], expected, equal_nan=True)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    for mode, seed in itertools.product(MODES, range(200 if "--every" in sys.argv else 10)):
        check(f"parts, {seed}, {mode}", lambda: run(mode, seed))
    sys.setswitchinterval(before)


if __name__ == "__main__":
    check = Checks()
    check_threads(check)
    check_meanwhile(check)
    check_overtaken(check)
    check_computed(check)
    check_linear(check)
    check_read(check)
    check_leaves(check)
    check_torn(check)
    check_parts(check)
    check.finish()
