"""Checks the errors that fad-approximate-gpu-math states, on the host: with estimates
as they are, and moved by two units in the last place to either side.

usage: check_gpu_math.py TOOLS LLVM_TOOLS_DIR CC
"""

import math
import sys

import numpy
from gpu_on_host import Kernels

TOOLS, LLVM, CC = sys.argv[1:]


def elementwise(function):
    return numpy.vectorize(function, otypes=[float])


def sigmoid_and_slope(x):
    """s + s * (1 - s) of the sigmoid s, where that is normal."""
    x = numpy.maximum(x, -87.25)
    e = numpy.exp(-abs(x))
    return numpy.where(x < 0, e, 1) / (1 + e) + e / (1 + e) ** 2


def quotient(x):
    """As the body rounds the divisor."""
    x = numpy.clip(x, -1e20, 1e20).astype("f4")
    with numpy.errstate(over="ignore"):
        divisor = numpy.minimum(x * x, numpy.float32(1e20)) + numpy.float32(1)
    return x.astype("f8") / divisor.astype("f8")


# The body for one element, the exact function, and the error in units in the last
# place, of exact estimates and of those of a GPU. Quotients have a divisor that shows
# its range.
FUNCTIONS = {
    "exp": ("%y = math.exp %x : f32", numpy.exp, (1, 5)),
    "tanh": ("%y = math.tanh %x : f32", numpy.tanh, (2, 4)),
    "erf": ("%y = math.erf %x : f32", elementwise(math.erf), (4, 9)),
    "erfc": ("%y = math.erfc %x : f32", elementwise(math.erfc), (9, 22)),
    # Spelled as the rules spell it, which 16 bits have another form of.
    "sigmoid": (
        """%one = arith.constant 1.0 : f32
    %zero = arith.constant 0.0 : f32
    %least = arith.constant -87.25 : f32
    %from = arith.maximumf %x, %least : f32
    %negative = arith.cmpf olt, %from, %zero : f32
    %size = math.absf %from : f32
    %minus = arith.negf %size : f32
    %e = math.exp %minus : f32
    %numerator = arith.select %negative, %e, %one : f32
    %divisor = arith.addf %e, %one : f32
    %s = arith.divf %numerator, %divisor : f32
    %rest = arith.subf %one, %s : f32
    %product = arith.mulf %e, %s : f32
    %complement = arith.select %negative, %rest, %product : f32
    %slope = arith.mulf %s, %complement : f32
    %y = arith.addf %s, %slope : f32""",
        sigmoid_and_slope,
        (3, 7),
    ),
    "quotient": (
        """%one = arith.constant 1.0 : f32
    %large = arith.constant 1.0e20 : f32
    %least = arith.constant -1.0e20 : f32
    %below = arith.minimumf %x, %large : f32
    %clamped = arith.maximumf %below, %least : f32
    %square = arith.mulf %clamped, %clamped : f32
    %size = arith.minimumf %square, %large : f32
    %divisor = arith.addf %size, %one : f32
    %y = arith.divf %clamped, %divisor : f32""",
        quotient,
        (1, 1),
    ),
}
# The error of a number that ends up in 16 bits, before it is rounded.
NARROW = 2.0**-16
# That of the complementary error function, and the error function, in bf16.
SHORTEST = 2.0**-14
# Fraction bits, and the least exponent.
FORMATS = {"f32": (23, -126), "f16": (10, -14), "bf16": (7, -126)}


def spell(name, body, kind):
    text = body
    if kind != "f32":
        text = (
            f"%x = arith.extf %narrow : {kind} to f32\n    {body}\n"
            f"    %rounded = arith.truncf %y : f32 to {kind}"
        )
    argument, result = ("%x", "%y") if kind == "f32" else ("%narrow", "%rounded")
    return f"""
func.func @{name}_{kind}(%t: tensor<?x{kind}>) -> tensor<?x{kind}> {{
  %r = fad.elementwise ins(%t : tensor<?x{kind}>) -> tensor<?x{kind}> {{
  ^bb0({argument}: {kind}):
    {text}
    fad.yield {result} : {kind}
  }}
  return %r : tensor<?x{kind}>
}}"""


def decode(bits, kind):
    if kind == "bf16":
        return (bits.astype("u4") << 16).view("f4")
    return bits.view({"f16": "f2", "f32": "f4"}[kind])


def sample(kind):
    """Bits of all numbers of 16 bits, and of every 4093rd one of f32."""
    if kind != "f32":
        return numpy.arange(1 << 16, dtype="u2")
    edges = numpy.array([0, -0.0, numpy.inf, -numpy.inf, numpy.nan, 1e-45, -1e-40], "f4")
    bits = numpy.arange(0, 1 << 32, 4093, dtype="u8").astype("u4")
    return numpy.append(bits, edges.view("u4"))


def check(name, kind, got, want, bound):
    """The largest error in units of f32, or relative, of `got`; fails where one is
    above `bound`, or where what is no normal number is another one."""
    fraction, least = FORMATS[kind]
    size = abs(want)
    # Halfway to what comes after the largest number.
    largest = (2 - 2.0 ** -(fraction + 1)) * 2.0 ** (15 if kind == "f16" else 127)
    normal = (size >= 2.0**least) & (size < largest * (1 - 2.0**-10))
    exponent = numpy.floor(numpy.log2(numpy.where(normal, size, 1)))
    unit = 2.0 ** (exponent - fraction)
    with numpy.errstate(invalid="ignore"):
        error = numpy.where(normal, abs(got - want), 0)
    if kind == "f32":
        error = error / unit
    else:
        error = numpy.maximum(0, error - unit / 2) / numpy.where(normal, size, 1)
    # Below normal numbers, by as much as the type has there, or nothing at all.
    below = size < 2.0**least
    fine = numpy.where(below, abs(got) <= 2.0**least, got == want)
    special = numpy.isnan(want) | numpy.isinf(want) | below
    wrong = special & ~(fine | (numpy.isnan(want) & numpy.isnan(got)))
    worst = error.max()
    if not worst <= bound or wrong.any():
        print(f"{name} {kind}: {worst:.4g}, more than {bound:.4g}; {wrong.sum()} wrong")
        return False
    return True


def main():
    source = "".join(
        spell(name, body, kind) for name, (body, _, _) in FUNCTIONS.items() for kind in FORMATS
    )
    fine = True
    for units in (0, 2, -2):
        kernels = Kernels(source, units, tools=TOOLS, llvm=LLVM, cc=CC)
        for name, (_, function, bounds) in FUNCTIONS.items():
            for kind in FORMATS:
                bits = sample(kind)
                with numpy.errstate(all="ignore"):
                    x = decode(bits, kind).astype("f8")
                    want = function(x)
                    (result,) = kernels.call(f"{name}_{kind}_0", [bits], [bits.dtype])
                    got = decode(result, kind).astype("f8")
                    limit = SHORTEST if kind == "bf16" and name.startswith("erf") else NARROW
                    if kind == "f32":
                        limit = bounds[units != 0]
                    fine &= check(f"{name}, {units:+}", kind, got, want, limit)
    sys.exit(not fine)


main()
