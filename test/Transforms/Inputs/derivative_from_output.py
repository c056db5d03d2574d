"""Checks derivatives from results and one bit against numpy.

usage: derivative_from_output.py FAD_OPT FAD_RUNNER DIR

As few_bits.py, but the results of activations are kept for the gradient of the
factor that comes after them."""

import pathlib
import sys

import numpy as np
from few_bits import (
    EPSILON,
    FAR,
    d_gelu,
    d_gelu_tanh,
    d_mish,
    d_silu,
    is_stated,
    measure,
    report,
    sample,
    sigmoid,
)

ACTIVATIONS = [
    ("%y = fad.gelu %x : T", d_gelu),
    ("%y = fad.gelu %x approximate <tanh> : T", d_gelu_tanh),
    ("%y = fad.silu %x : T", d_silu),
    ("%y = fad.mish %x : T", d_mish),
    # No primitive: (1 + 9 softplus(x)) / 10 + softplus(-x) / 10.
    (
        "%n = arith.negf %x : T\n%p = fad.softplus %x : T\n%q = fad.softplus %n : T\n"
        "%c = arith.constant dense<9.0> : T\n%r = arith.mulf %p, %c : T\n"
        "%y = arith.addf %r, %q : T",
        lambda x: 9 * sigmoid(x) - sigmoid(-x),
    ),
]


def check(kind, programs, folder):
    x, num_sampled = sample(kind)
    x = np.clip(x.astype("f8"), -FAR, FAR)
    measured = measure(kind, ACTIVATIONS, True, ["derivative-from-output"], programs, folder)
    wrong = 0
    for (spelling, derivative), (stated, gradient) in zip(ACTIVATIONS, measured):
        error = gradient - derivative(x)
        # The results of some at minus infinity are NaN, as in PyTorch.
        if np.isnan(gradient[-2]):
            error[-2] = 0
        # The largest error depends on how results near the minimum are rounded.
        rounding = 10 * EPSILON[kind]
        conditions = is_stated(stated, error, num_sampled, rounding, slack=0.5)
        conditions |= {
            "it is off by little": kind in ("f16", "bf16") or stated[0] < 0.01,
            "it is not exact": stated[0] > 1e-5,
        }
        wrong += report(f"{spelling!r}, {kind}", conditions)
    return wrong


def main(fad_opt, fad_runner, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    kinds = ("f32", "f64", "f16", "bf16")
    return sum(check(kind, (fad_opt, fad_runner), folder) for kind in kinds)


sys.exit(main(*sys.argv[1:]) != 0)
