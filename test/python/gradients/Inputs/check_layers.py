"""Gradients of exported layers against PyTorch's.

usage: check_layers.py GROUP ... [--some]
       check_layers.py GROUP LAYER ...
       check_layers.py --every

A group is `activations`, `blocks` or one of layers.py. Layers are differentiated under
`auto` and one of the other policies, in turn; with --some, one of three layers is, under one of
them; with --every, all layers are, under every policy. Every tensor of floats that a layer takes is
a parameter, so that each has a gradient that is compared."""

import logging
import sys
import warnings

import activations
import blocks
import fad
import layers
import torch
from compare import BOUND, POLICIES, compare

GROUPS = {
    "activations": activations.CASES,
    "blocks": blocks.CASES,
    **layers.CASES,
}


def make(case):
    """The module of a case and its inputs."""
    torch.manual_seed(0)
    return layers.make_module(case)


def check(name, case, policies):
    """Whether all gradients are right; says which are not."""
    try:
        errors = compare(*make(case), policies)
    except (fad.Error, ValueError) as error:
        print(f"{name}: {error}")
        return False
    wrong = {k: e for k, e in errors.items() if k != "torch" and not e[0] <= BOUND}
    for policy, (error, parameter) in wrong.items():
        print(f"{name}: {policy}: {parameter} is off by {error:.1e}")
    if not wrong:
        print(f"{name}:", *(f"{k} {e:.0e}" for k, (e, _) in errors.items()))
    return not wrong


def main():
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    options = {each for each in sys.argv[1:] if each.startswith("--")}
    groups = [each for each in sys.argv[1:] if each in GROUPS]
    names = [each for each in sys.argv[1:] if each not in options and each not in groups]
    if "--every" in options:
        groups = list(GROUPS)
    if not groups:
        sys.exit(__doc__)
    stride = 3 if "--some" in options else 1
    cases = [
        (name, GROUPS[group][name])
        for group in groups
        for name in names or list(GROUPS[group])[::stride]
    ]
    *others, auto = POLICIES
    failed = []
    for number, (name, case) in enumerate(cases):
        some = (others[number % len(others)], auto)
        if "--some" in options:
            some = (some[1],) if number % 2 else (others[number // 2 % len(others)],)
        if not check(name, case, POLICIES if "--every" in options else some):
            failed.append(name)
    print(f"{len(cases)} layers, {len(failed)} failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
