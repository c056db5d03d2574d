"""Differentiates random graphs of elementwise operations, each of which reads some of the
values right before it, under every policy.

usage: elementwise_graphs.py FAD_OPT FAD_RUNNER COUNT OPERATIONS...

COUNT graphs of each number of operations are differentiated by fad-opt. One of the smallest
is executed under each policy, and its gradients are compared with differences. Such graphs
have many operations that read one tensor, and which fusion therefore finds."""

import itertools
import random
import subprocess
import sys

POLICIES = "bp", "recompute", "fad", "auto"
# The values that an operation may read.
NEAR = 20


def make(seed, operations):
    """The text of a graph of two arguments."""
    choices = random.Random(seed)
    values, lines = ["%x", "%y"], []
    for index in range(operations):
        near = values[-NEAR:]
        first, second = choices.choice(near), choices.choice(near)
        operation = choices.choice(["sin", "mulf", "mulf", "addf"])
        text = f"math.sin {first}" if operation == "sin" else f"arith.{operation} {first}, {second}"
        lines.append(f"  %v{index} = {text} : tensor<2x3xf64>")
        values.append(f"%v{index}")
    lines.append(f"  %r = math.sin {values[-1]} : tensor<2x3xf64>")
    head = "func.func @f(%x: tensor<2x3xf64>, %y: tensor<2x3xf64>) -> tensor<2x3xf64> {"
    return "\n".join([head, *lines, "  return %r : tensor<2x3xf64>", "}", ""])


def run(seed, operations, *command):
    """Whether a command succeeds for a graph; says if it does not."""
    done = subprocess.run(
        command, input=make(seed, operations), capture_output=True, text=True, errors="replace"
    )
    if done.returncode:
        text = (done.stdout + done.stderr)[-1000:]
        print(f"graph {seed} of {operations} operations: {' '.join(command)}: {done.returncode}")
        print(text)
    return not done.returncode


def main():
    fad_opt, fad_runner, count, *sizes = sys.argv[1:]
    sizes = list(map(int, sizes))
    right = True
    for operations, seed, policy in itertools.product(sizes, range(int(count)), POLICIES):
        options = f"--fad-nest=policy={policy}", "-o", "/dev/null"
        right &= run(seed, operations, fad_opt, "-", *options)
    for policy in POLICIES:
        options = f"--policy={policy}", "--check-gradients", "--arg=random:1", "--arg=random:2"
        right &= run(0, sizes[0], fad_runner, "-", *options)
    print("all differentiated" if right else "failed")


main()
