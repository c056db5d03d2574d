"""Trains layers and losses for three steps with `torch.compile(backend="fad")`.

usage: check_layers.py [--every N | LAYER ...] [--engine ENGINE] [--times]

Losses and parameters have to be those of PyTorch without `torch.compile`: bit for
bit under the engine `eager`, unless fad has computed new coefficients, whose products
are rounded in another order. No graph may be left to PyTorch's partitioner."""

import sys

import rare_layers
import torch
import train
import walk

sys.path.insert(0, __file__.rsplit("/compile/", 1)[0] + "/gradients/Inputs")
import layers


class Layer(torch.nn.Module):
    """`function`, with the floats among `arguments` as parameters."""

    def __init__(self, function, arguments):
        super().__init__()
        self.function = function
        self.is_float = [value.is_floating_point() for value in arguments]
        self.values = torch.nn.ParameterList(
            value for value in arguments if value.is_floating_point()
        )

    def forward(self, *inputs):
        values, inputs = iter(self.values), iter(inputs)
        arguments = [next(values if f else inputs) for f in self.is_float]
        return self.function(*arguments)


def make_layer(case):
    function, *arguments = case()
    if isinstance(function, torch.nn.Module):
        return function, arguments
    inputs = [value for value in arguments if not value.is_floating_point()]
    return Layer(function, arguments), inputs


CASES = {
    **{f"{name}.{group}": (lambda case=case: make_layer(case))
       for group, cases in layers.CASES.items() for name, case in cases.items()},
    **rare_layers.CASES,
}  # fmt: skip
# Data that Python reads leaves no graph with parameters.
BROKEN = {"adaptive"}


def check(name, engine):
    """What is wrong with a layer, if anything."""
    torch.manual_seed(0)
    number = 0 if name in BROKEN else None
    return train.check_training(*CASES[name](), engine, number_of_plans=number)


if __name__ == "__main__":
    sys.exit(walk.main("layers", CASES, check))
