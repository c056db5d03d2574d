"""Checks joint graphs that PyTorch has made of networks.

usage: check_joint_models.py EXAMPLES NETWORK..."""

import sys
import warnings

import fad
import fad.torch
import numpy
import torch

sys.path.insert(0, sys.argv[1])
import networks

# Relative to the greatest element of a gradient, or to the greatest of all where that
# is far smaller: rounding is what is left of gradients that cancel.
BOUND = 1e-5


def make_network(name):
    """Without dropout, whose masks would differ."""
    network = networks.build(name, "gelu-composed", training=True, batch=2)
    for part in network.module.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
    return network


def check_gradients(name, network, joint):
    """The gradients of the pair that fad makes of `joint` against PyTorch's."""
    # The step of PyTorch changes buffers.
    parts = (*network.module.named_parameters(), *network.module.named_buffers())
    tensors = {n: each.clone() for n, each in (*parts, *network.inputs.items())}
    arguments = [
        tensors[each.name].detach().numpy() for each in joint.arguments if each.kind != "cotangent"
    ]
    network.module(**network.inputs).loss.backward()
    expected = {n: p.grad.numpy() for n, p in network.module.named_parameters()}
    greatest = max(abs(each).max() for each in expected.values())
    pair = fad.nest(joint.module, policy="auto")
    forward = fad.run(pair.module, pair.forward, *arguments)
    residuals = forward[len(pair.results) :]
    one = numpy.ones((), numpy.float32)
    gradients = fad.run(pair.module, pair.backward, *residuals, one)
    names = [joint.arguments[each.argument].name for each in pair.gradients]
    assert sorted(names) == sorted(expected), names
    for parameter, gradient in zip(names, gradients, strict=True):
        error = abs(gradient - expected[parameter]).max()
        scale = max(abs(expected[parameter]).max(), 1e-4 * greatest)
        assert error <= BOUND * scale, (name, parameter, error / scale)


def check(name):
    torch.manual_seed(0)
    network = make_network(name)
    joint = fad.torch.export_joint(network.module, network.inputs)
    own = fad.torch.export(network.module, network.inputs)
    for level in ("nothing", "all"):
        options = {"policies": ["auto"], "recompute": level}
        kept = fad.memory_report(joint.module, **options)["auto"].bytes
        ours = fad.memory_report(own.module, wrt=own.wrt, results=own.differentiated, **options)[
            "auto"
        ].bytes
        # PyTorch's formulas of normalizations and losses are others.
        assert kept <= 1.1 * ours, (name, level, kept, ours)
        print(name, level, kept, ours)
    check_gradients(name, network, joint)


warnings.filterwarnings("ignore")
for each in sys.argv[2:]:
    check(each)
