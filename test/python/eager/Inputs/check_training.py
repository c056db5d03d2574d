"""Trains the models of examples/training with compositions for activations, in eager
PyTorch and nested, and compares the losses.

usage: check_training.py ROOT STEPS"""

import argparse
import itertools
import pathlib
import sys

from torch import nn

root = pathlib.Path(sys.argv[1])
sys.path[:0] = [str(root / "examples" / "training"), str(root / "benchmarks" / "common")]
import compositions
import fad.torch
from fad.torch.eager import _kernels
from tasks import make_task

STEPS = int(sys.argv[2])
OPTIONS = argparse.Namespace(batch=16, seed=0, dropout=0.0)


# PyTorch's own kernels for the functions, which round otherwise.
KERNELS = {"gelu": lambda: nn.GELU("tanh"), "mish": nn.Mish}


def train(name, make, **options):
    """The losses of eager PyTorch, or nested with options, with activations that `make`
    returns."""
    task = make_task(name, OPTIONS)
    model = task.model
    assert compositions.replace(model, make)
    if options:
        model = fad.torch.nest(model, min_numel=0, **options)
    optimizer = task.make_optimizer(model.parameters())
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = model(**task.data.next_batch()).loss
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def find_difference(losses, expected):
    """The largest, relative to the first loss."""
    return max(abs(a - b) for a, b in zip(losses, expected)) / abs(expected[0])


wrong = 0
for name, activation in (("bert", "gelu"), ("resnet", "mish")):
    composed = compositions.ACTIVATIONS[activation]
    eager = train(name, composed)
    assert eager[-1] < eager[0], eager
    own = find_difference(train(name, KERNELS[activation]), eager)
    for policy, engine in itertools.product(("auto", "fad"), ("interactive", "deferred")):
        losses = train(name, composed, policy=policy, engine=engine)
        if engine == "deferred":
            # By then, kernels are there.
            assert _kernels.wait() > 0
            losses = train(name, composed, policy=policy, engine=engine)
        difference = find_difference(losses, eager)
        print(f"{name} {policy} {engine}: {difference:.1e}, eager's own {own:.1e}", file=sys.stderr)
        # Under `auto`, gradients of the interactive engine are those of eager PyTorch bit for
        # bit. A loss is rounded to f32 in any case.
        is_same = (policy, engine) == ("auto", "interactive")
        if difference > (0 if is_same else 4 * max(own, 1e-6)):
            wrong += 1
print(f"8 training curves, {wrong} wrong")
