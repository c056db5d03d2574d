"""Trains the models of examples/training with compositions for activations, in eager
PyTorch and nested, and compares the losses.

usage: check_training.py ROOT STEPS"""

import argparse
import pathlib
import sys

from torch import nn

root = pathlib.Path(sys.argv[1])
sys.path[:0] = [str(root / "examples" / "training"), str(root / "benchmarks" / "common")]
import compositions
import fad.torch
from tasks import make_task

STEPS = int(sys.argv[2])
OPTIONS = argparse.Namespace(batch=16, seed=0, dropout=0.0)


# PyTorch's own kernels for the functions, which round otherwise.
KERNELS = {"gelu": lambda: nn.GELU("tanh"), "mish": nn.Mish}


def train(name, make, policy=None):
    """The losses of eager PyTorch, or nested under a policy, with activations that
    `make` returns."""
    task = make_task(name, OPTIONS)
    model = task.model
    assert compositions.replace(model, make)
    if policy is not None:
        model = fad.torch.nest(model, policy=policy, min_numel=0)
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
    for policy in ("auto", "fad"):
        difference = find_difference(train(name, composed, policy), eager)
        print(f"{name} {policy}: {difference:.1e}, eager's own {own:.1e}", file=sys.stderr)
        # Under `auto`, gradients are those of eager PyTorch bit for bit. A loss is rounded
        # to f32 in any case.
        if difference > (0 if policy == "auto" else 4 * max(own, 1e-6)):
            wrong += 1
print(f"4 training curves, {wrong} wrong")
