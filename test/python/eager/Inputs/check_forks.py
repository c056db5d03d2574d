"""Forks a process, as a data loader does, while other threads overwrite what sequences read,
record, compile or go backward: the child writes, trains and ends. Threads that fork at once, without
Python's lock, go on.

usage: check_forks.py [--every]

With --every, there are twenty times as many forks."""

import ctypes
import itertools
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

import torch
import torch.nn.functional as F
from checks import Checks

import fad.torch
from fad.torch.eager import _extension, _kernels

MODES = [
    {"policy": policy, "engine": engine, "min_numel": 0}
    for policy, engine in itertools.product(("auto", "fad"), ("interactive", "deferred"))
]
FORKS = 100 if "--every" in sys.argv else 5
# Seconds in which a child ends, by far.
LIMIT = 60


def step(size):
    """Reads and overwrites a source, and goes backward."""
    x = torch.linspace(-1, 1, size).requires_grad_()
    source = x.flip(0)
    y = torch.tanh(torch.exp(source) * 2)
    z = F.silu(y) * y
    source.add_(1)
    return torch.autograd.grad(z.sum(), x)[0]


def copy(stopped):
    """Half of the time, this copies elements of a source for its readers."""
    leaf = torch.rand(1 << 20, requires_grad=True)
    while not stopped.is_set():
        source = leaf * 1
        read = [source[start:] * 2 for start in range(8)]
        source.add_(1)
        del read


def record(stopped):
    while not stopped.is_set():
        step(64)


def differentiate(stopped):
    """Mostly, this runs an operator's own node, and operators again."""
    x = torch.rand(1 << 20, requires_grad=True)
    y = (torch.tanh(x * 2) * 3).flip(0) + (F.silu(torch.exp(x)) * 2).flip(0)
    while not stopped.is_set():
        torch.autograd.grad(y.sum(), x, retain_graph=True)


def compile(stopped):
    """Sequences of other operators each time, as far as there are kernels for all."""
    for number in itertools.count():
        for _ in range(2):
            y = torch.rand(64, requires_grad=True)
            for place in range(6):
                y = torch.tanh(y) if number >> place & 1 else torch.sigmoid(y)
            y.flip(0)
        if stopped.is_set():
            return


def work(mode, expected):
    """The child's: whether it computes as its parent does, and kernels are there."""
    with fad.torch.nest(**mode):
        found = step(64)
        torch.zeros(8).add_(1)
    _kernels.wait()
    return torch.allclose(found, expected)


def wait(child):
    """Whether a child ends well, and in time."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status == 0
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def ends(mode, activity):
    expected, stopped = step(64), threading.Event()

    def run():
        with fad.torch.nest(**mode):
            activity(stopped)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        with fad.torch.nest(**mode):
            # A sequence that is open in the child, too.
            kept = torch.tanh(torch.linspace(-1, 1, 64).requires_grad_() * 2)
            for _ in range(FORKS):
                child = os.fork()
                if not child:
                    os._exit(not work(mode, expected))
                if not wait(child):
                    return False
            return bool(kept.isfinite().all())
    finally:
        stopped.set()
        thread.join()


# Children that end at once, of a thread that another language has begun.
SOURCE = r"""
#include <sys/wait.h>
#include <unistd.h>
extern "C" int forkOften(int count) {
  for (int i = 0, status; i < count; ++i) {
    pid_t child = fork();
    if (!child)
      _exit(0);
    if (child < 0 || waitpid(child, &status, 0) < 0 || status)
      return 1;
  }
  return 0;
}
"""


def build(folder):
    source, built = pathlib.Path(folder, "fork.cpp"), pathlib.Path(folder, "fork.so")
    source.write_text(SOURCE)
    command = [_extension._find_compiler(), "-shared", "-fPIC", str(source), "-o", str(built)]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(built))


def fork_at_once(mode, library):
    """Each thread has values that are not computed yet, which it computes afterwards."""
    right = []

    def run():
        with fad.torch.nest(**mode):
            x = torch.linspace(-1, 1, 64).requires_grad_()
            kept = [torch.tanh(x * 2) for _ in range(100)]
            failed = library.forkOften(4 * FORKS)
            found = torch.stack([each.flip(0) for each in kept])
        right.append(not failed and torch.allclose(found, torch.tanh(x * 2).flip(0)))

    threads = [threading.Thread(target=run, daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT)
    return right == [True] * len(threads)


if __name__ == "__main__":
    # A child has none of the threads that would share an operator's work.
    torch.set_num_threads(1)
    check = Checks()
    for mode, activity in itertools.product(MODES, (copy, record, differentiate, compile)):
        check(f"{activity.__name__}, {mode}", lambda: ends(mode, activity))
    with tempfile.TemporaryDirectory() as folder:
        library = build(folder)
        for mode in MODES:
            check(f"forks at once, {mode}", lambda: fork_at_once(mode, library))
    check.finish()
