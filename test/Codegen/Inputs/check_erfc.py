"""Makes arguments of erfc, and compares the results with libm's."""

import math
import pathlib
import sys

import numpy

# erfc is a subnormal number of f32 from here on.
LAST = 9.19


def make():
    spread = numpy.linspace(-12, LAST, 4001)
    special = [0.0, -0.0, 1e-30, numpy.inf, -numpy.inf, 20.0]
    return numpy.concatenate([spread, special]).astype("f4")


def check(x, y):
    expected = numpy.array([math.erfc(each) for each in x.astype("f8")])
    error = numpy.abs(y - expected) / numpy.maximum(expected, 1e-37)
    assert error.max() < 2e-6, (x[error.argmax()], error.max())


command, folder = sys.argv[1], pathlib.Path(sys.argv[2])
if command == "make":
    folder.mkdir(parents=True, exist_ok=True)
    numpy.save(folder / "x.npy", make())
else:
    check(numpy.load(folder / "x.npy"), numpy.load(folder / "out0.npy"))
