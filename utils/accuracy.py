#!/usr/bin/env python3
"""Prints how accurate the values and derivatives of activations are that fad computes
on this CPU: over all numbers of f16 and bf16, and a dense sample of those of f32.

  utils/accuracy.py
  utils/accuracy.py gelu silu --types bf16 --torch
  utils/accuracy.py --gpu --units=2

An error is the difference to a reference in f64, whose formulas do not cancel. The
largest is stated twice: as it is, or relative to the reference where that is above 1,
and in units in the last place of the reference as its type has it. An error is not
counted where the reference is infinite, or below the normal numbers of the type.
Units near zero are many: --least=0.125 counts those of references from there on.
--torch adds what PyTorch's own activations and their gradients err by. --gpu computes
by the formulas of GPU kernels, which takes a build of fad with its tests, LLVM's tools
and a C compiler; --units moves what a GPU estimates by that many units in the last
place, where 2 and -2 are the most that one errs by. Takes fad's
Python package, numpy, and ml_dtypes for bf16."""

import argparse
import sys

import fad
import gpu_on_host
import numpy
from activations import ACTIVATIONS, get_torch_function, spell

# The integer as wide as a type, bits of its fraction, and its least exponent.
TYPES = {
    "f16": (numpy.uint16, 10, -14),
    "bf16": (numpy.uint16, 7, -126),
    "f32": (numpy.uint32, 23, -126),
}
# So many numbers of f32: every 4093rd, by their bits.
STRIDE = 4093


def get_dtype(kind):
    if kind != "bf16":
        return numpy.dtype({"f16": "f2", "f32": "f4"}[kind])
    import ml_dtypes

    return numpy.dtype(ml_dtypes.bfloat16)


def sample(kind, stride):
    """Returns all finite numbers of `kind`, or of f32 every `stride`-th of them, by their bits."""
    unsigned = TYPES[kind][0]
    step = stride if kind == "f32" else 1
    count = 1 << (32 if kind == "f32" else 16)
    x = numpy.arange(0, count, step, dtype=numpy.uint64).astype(unsigned)
    x = x.view(get_dtype(kind))
    return x[numpy.isfinite(x.astype("f4"))]


def compute_reference(name, x):
    """Value and derivative of `x`, in f64."""
    with numpy.errstate(all="ignore"):
        return ACTIVATIONS[name].reference(x.astype("f8"), numpy)


def evaluate(name, kind, x):
    """Returns the results of fad: the values, and the derivatives as the gradients where the
    cotangent is one."""
    nested = fad.nest(fad.parse(spell(name, kind)), policy="fad")
    compiled = fad.compile(nested)
    y, *residuals = compiled.call(nested.forward, x)
    (d,) = compiled.call(nested.backward, *residuals, numpy.ones_like(x))
    return y, d


def evaluate_gpu(name, kind, x, units, tools):
    """Returns the same as evaluate, by the formulas of a GPU."""
    nested = fad.nest(fad.parse(spell(name, kind)), policy="fad")
    program = gpu_on_host.Program(str(nested.module), units, tools)
    kept = [numpy.dtype(each.type.dtype) for each in (*nested.results, *nested.residuals)]
    y, *residuals = program.call(nested.forward, [x], kept)
    (d,) = program.call(nested.backward, [*residuals, numpy.ones_like(x)], [x.dtype])
    return y, d


def evaluate_torch(name, kind, x):
    """Returns the same as evaluate, as PyTorch computes it."""
    import torch

    dtype = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}[kind]
    t = torch.from_numpy(x.astype("f4")).to(dtype).requires_grad_()
    y = get_torch_function(name)(t)
    y.backward(torch.ones_like(y))
    return (each.detach().float().numpy() for each in (y, t.grad))


def measure(got, reference, kind, least=0):
    """Returns the largest error, and the largest in units in the last place, of references of
    `least` or more."""
    got = numpy.asarray(got).astype("f8")
    _, fraction, least_exponent = TYPES[kind]
    with numpy.errstate(all="ignore"):
        rounded = reference.astype(get_dtype(kind)).astype("f8")
    counted = numpy.isfinite(rounded) & (abs(reference) >= 2.0**least_exponent)
    with numpy.errstate(all="ignore"):
        error = numpy.where(counted, abs(got - reference), 0)
        exponent = numpy.floor(numpy.log2(numpy.where(counted, abs(reference), 1)))
    units = numpy.where(abs(reference) >= least, error / 2.0 ** (exponent - fraction), 0)
    return (error / numpy.maximum(1, abs(reference))).max(), units.max()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="ACTIVATION", help=", ".join(ACTIVATIONS))
    parser.add_argument("--types", nargs="+", choices=TYPES, default=list(TYPES))
    parser.add_argument("--torch", action="store_true", help="PyTorch's errors beside")
    parser.add_argument("--gpu", action="store_true", help="by the formulas of GPU kernels")
    parser.add_argument("--units", type=int, default=0, help="by which estimates err; with --gpu")
    parser.add_argument(
        "--least", type=float, default=0, help="the size from which units in the last place count"
    )
    parser.add_argument(
        "--stride", type=int, default=STRIDE, help="numbers of f32 are every one of so many"
    )
    parser.add_argument("--tools", help="folder with fad-opt, for --gpu; default: PATH, build/bin")
    args = parser.parse_args()
    if args.stride < 1:
        parser.error(f"--stride is {args.stride}; give a number of at least 1")
    for name in args.names:
        if name not in ACTIVATIONS:
            parser.error(f"there is no {name}; choose of {', '.join(ACTIVATIONS)}")
    columns = ["fad, GPU" if args.gpu else "fad"] + (["PyTorch"] if args.torch else [])
    print(" " * 26 + "".join(f"{column:>22}" for column in columns))
    print(f"{'activation':<12}{'type':<6}{'':<8}" + f"{'error':>12}{'units':>10}" * len(columns))
    for name in args.names or ACTIVATIONS:
        for kind in args.types:
            x = sample(kind, args.stride)
            references = compute_reference(name, x)
            if args.gpu:
                computed = [evaluate_gpu(name, kind, x, args.units, args.tools)]
            else:
                computed = [evaluate(name, kind, x)]
            if args.torch:
                computed.append(evaluate_torch(name, kind, x))
            for title, reference, *got in zip(("value", "slope"), references, *computed):
                line = f"{name:<12}{kind:<6}{title:<8}"
                for each in got:
                    error, units = measure(each, reference, kind, args.least)
                    line += f"{error:>12.2e}{units:>10.3g}"
                print(line)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except gpu_on_host.ToolError as error:
        sys.exit(f"accuracy.py: {error}")
