"""Checks conversions from and to bf16 at and around the midpoints of its numbers.

usage: check_bf16.py FAD_OPT LLVM_TOOLS_DIR LIBRARY_DIR CXX TEST
"""

import sys

import numpy as np
from float_formats import FORMATS
from host_module import HostModule
from mpmath import mp

BF16 = FORMATS["bf16"]
INFINITY = 0x7F80


def sample():
    """Numbers around those halfway between neighbors, and special ones."""
    neighbors = [BF16.decode(bits) for bits in range(0, INFINITY, 37)]
    middles = [
        (low + BF16.decode(bits + 1)) / 2
        for bits, low in zip(range(0, INFINITY, 37), neighbors)
        if bits + 1 < INFINITY
    ]
    points = neighbors + [np.inf, 3.4e38, 3.39e38, 1e300, 1e-45, 1e-320, 4.6e-41]
    for middle in middles:
        points += [middle, np.nextafter(middle, 0), np.nextafter(middle, np.inf)]
        points += [middle * (1 + 2.0**-40), middle * (1 - 2.0**-30)]
    return np.array(points + [-x for x in points] + [np.nan])


def nearest_away(x):
    """The integer nearest to `x`, a half away from zero."""
    below = mp.floor(abs(x))
    return mp.sign(x) * (below + (abs(x) - below >= 0.5))


def same(a, b):
    return a == b or (a != a and b != b)


def main(*arguments):
    *tools, test = arguments
    with open(test) as file:
        module = HostModule(tools, file.read())
    failures = 0
    points = sample()
    with np.errstate(over="ignore"):
        inputs_of = {"from_f64": points, "from_f32": points.astype(np.float32)}
    cases = [(name, inputs, mp.nint) for name, inputs in inputs_of.items()]
    cases += [(f"away_{name}", inputs, nearest_away) for name, inputs in inputs_of.items()]
    for name, inputs, nearest in cases:
        (bits,) = module.call(name, inputs, results=[(np.uint16, 1)])
        for x, have in zip(inputs, bits):
            want = BF16.round(mp.mpf(float(x)), nearest)
            if not same(BF16.decode(int(have)), want):
                print(f"{name}({x!r}) is {BF16.decode(int(have))!r}, not {want!r}")
                failures += 1
    bits = np.arange(1 << 16, dtype=np.uint16)
    (wide,) = module.call("to_f64", bits, results=[(np.float64, 1)])
    for pattern, have in zip(bits, wide):
        if not same(have, BF16.decode(int(pattern))):
            print(f"to_f64({pattern:#06x}) is {have!r}")
            failures += 1
    sys.exit(failures != 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
