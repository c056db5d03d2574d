"""Trains layers and losses for three steps with `torch.compile(backend="fad")`.

usage: check_layers.py [--every N | LAYER ...] [--engine ENGINE]
       [--inductor LAYER ...] [--times] [--limit SECONDS]

Losses and parameters have to be those of PyTorch without `torch.compile`: bit for
bit under the engine `eager`, unless AOTAutograd has other bits without fad. No graph may
be left to PyTorch's partitioner."""

import sys

import rare_layers
import torch
import train
import walk

sys.path.insert(0, __file__.rsplit("/compile/", 1)[0] + "/gradients/Inputs")
import layers


CASES = {
    **{f"{name}.{group}": (lambda case=case: layers.make_module(case))
       for group, cases in layers.CASES.items() for name, case in cases.items()},
    **rare_layers.CASES,
}  # fmt: skip
# Data that Python reads leaves no graph with parameters.
BROKEN = {"adaptive"}


def check(name, engine):
    """The error of a layer, if there is one."""
    torch.manual_seed(0)
    number = 0 if name in BROKEN else None
    return train.check_training(*CASES[name](), engine, number_of_plans=number)


if __name__ == "__main__":
    sys.exit(walk.main("layers", CASES, check))
