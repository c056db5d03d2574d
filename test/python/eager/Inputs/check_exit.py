"""Processes that end while the thread of the deferred engine compiles a kernel: they wait for
that kernel, compile none of the others that were asked for, and end without a message.

usage: check_exit.py [--every] INTERPRETER...

Without --every, each ending is met with one engine. INTERPRETER is a command, as of an interpreter that has imported PyTorch. The processes that
reach the end of their script have an interpreter of their own."""

import itertools
import os
import pathlib
import subprocess
import sys
import tempfile

from checks import Checks

from fad.torch.eager._extension import library_path

# How many sequences the process asks for kernels of.
ASKED = 3
# Arguments: the engine that is in use at the end, how the process ends, and whether the
# compilation goes on only when the end has begun.
PROGRAM = f"""
import atexit, contextlib, os, sys, threading
import torch, fad.torch
from fad.torch.eager import _kernels

engine, ending, is_held = sys.argv[1], sys.argv[2], sys.argv[3] == "True"
begun, stopped, finished = threading.Event(), threading.Event(), []


def compile(program, compile=_kernels._compile_for_cpu):
    begun.set()
    if is_held:
        stopped.wait()
    found = compile(program)
    finished.append(found)
    return found


_kernels._compile_for_cpu = compile
library = _kernels._load()


def stop(stop=library.fad_eager_stop):
    stop()
    stopped.set()


library.fad_eager_stop = stop
# Called after the functions that are registered later.
atexit.register(lambda: print(begun.is_set(), stopped.is_set(), len(finished)))


def step(engine, count):
    x = torch.randn(64, requires_grad=True)
    with fad.torch.nest(min_numel=0, engine=engine):
        y = torch.tanh(x) * x
        for _ in range(count):
            y = torch.sigmoid(y) * x
        y.sum().backward()


for count in range({ASKED}):
    step("deferred", count)
    step("deferred", count)
begun.wait()
step(engine, 1)
x = torch.randn(64, requires_grad=True)
if ending == "within":
    # A sequence is open, and the mode is on.
    fad.torch.nest(min_numel=0, engine=engine).__enter__()
    y = torch.tanh(x) * x
if ending == "exit":
    with fad.torch.nest(min_numel=0, engine=engine):
        y = torch.tanh(x) * x
        sys.exit(0)
"""


def check_exit(check, interpreter, engine, ending, is_held):
    with tempfile.TemporaryDirectory() as folder:
        # A cache without code: all kernels are compiled.
        os.symlink(library_path(), pathlib.Path(folder, library_path().name))
        result = subprocess.run(
            [*interpreter, "-c", PROGRAM, engine, ending, str(is_held)],
            capture_output=True,
            text=True,
            # A process that waits for itself is an error, and no test without an end.
            timeout=400,
            env={**os.environ, "FAD_CACHE_DIR": folder},
        )
    printed = result.stdout.split()
    # A compilation that is not held may have been the last by the time that the end begins.
    counts = ["1"] if is_held else [str(count) for count in range(1, ASKED + 1)]

    def ends():
        return (
            (
                result.returncode == 0
                and not result.stderr
                and printed[:2] == ["True", "True"]
                and printed[2:] in [[count] for count in counts]
            )
            or print(result.returncode, result.stdout, result.stderr)
            or False
        )

    check(f"{engine}, {ending}, {is_held}", ends)


if __name__ == "__main__":
    check = Checks()
    every = sys.argv[1] == "--every"
    shared = sys.argv[1 + every :]
    cases = [("interactive", "end"), ("deferred", "within"), ("deferred", "exit")]
    if every:
        cases = itertools.product(("interactive", "deferred"), ("end", "within", "exit"))
    for engine, ending in cases:
        interpreter = [sys.executable] if ending == "end" else shared
        check_exit(check, interpreter, engine, ending, is_held=True)
    for engine in ("interactive", "deferred") if every else ("deferred",):
        check_exit(check, shared, engine, "end", is_held=False)
    check.finish()
