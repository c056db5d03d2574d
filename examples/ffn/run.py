#!/usr/bin/env python3
"""Differentiates, runs and compiles the feed-forward blocks of this folder.

For each file: what every policy keeps between forward and backward; forward and
backward under every policy on this machine's CPU; every gradient compared
between policies and with finite differences in f64; and the PTX of the fused
elementwise kernels. Ends with a table."""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import time

import numpy

POLICIES = ("bp", "recompute", "fad")
HERE = pathlib.Path(__file__).resolve().parent
MIB = 1 << 20


class Failure(Exception):
    """A command failed; carries what it wrote."""


class Tools:
    """Runs the commands of fad."""

    def __init__(self, folder):
        self.folder = folder

    def run(self, tool, *arguments, text=None):
        command = [str(self.folder / tool), *map(str, arguments)]
        done = subprocess.run(command, input=text, capture_output=True, text=True)
        if done.returncode:
            raise Failure(f"{' '.join(command)}\n{done.stderr.strip()}")
        return done.stdout


def make_arguments(path, rows, width, inner, seed):
    """Saves x, w1, b1, w2, b2 with the scale that training starts from."""
    random = numpy.random.default_rng(seed)
    shapes = [(rows, width), (inner, width), (inner,), (width, inner), (width,)]
    scales = [1, width**-0.5, 0.1, inner**-0.5, 0.1]
    path.mkdir(parents=True, exist_ok=True)
    files = []
    for number, (shape, scale) in enumerate(zip(shapes, scales)):
        files.append(path / f"arg{number}.npy")
        values = random.standard_normal(shape) * scale
        numpy.save(files[-1], values.astype(numpy.float32))
    return files


def read_sizes(file):
    """The sizes of the block in `file`: width and inner."""
    match = re.search(r"%arg1: tensor<(\d+)x(\d+)x", file.read_text())
    if not match:
        raise Failure(f"{file}: no weight tensor in the arguments of the function")
    return int(match[2]), int(match[1])


def saved_bytes(tools, file, rows):
    report = tools.run("fad-memory-report", file, f"--size={rows}", "--format=json")
    policies = json.loads(report)["policies"]
    return {policy: policies[policy]["total_bytes"] for policy in POLICIES}


def run_policy(tools, file, policy, arguments, out):
    """Runs forward and backward. Returns gradients and milliseconds."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    printed = tools.run(
        "fad-runner",
        file,
        f"--policy={policy}",
        *(f"--arg={argument}" for argument in arguments),
        f"--out={out}",
        "--stats",
    )
    gradients = [
        numpy.load(path).astype(numpy.float64) for path in sorted(out.glob("grad*.npy"))
    ]
    return gradients, printed


def check_gradients(tools, file, policy, arguments):
    return tools.run(
        "fad-runner",
        file,
        f"--policy={policy}",
        *(f"--arg={argument}" for argument in arguments),
        "--check-gradients",
    )


def largest_difference(one, other):
    """The largest difference between two lists of gradients, each relative to
    the largest element of its gradient."""
    return max(
        numpy.abs(a - b).max() / max(numpy.abs(a).max(), 1e-30)
        for a, b in zip(one, other, strict=True)
    )
