"""Compiles and runs a function, and takes steps of its own."""

import ctypes
import os
import sys

import numpy

import fad
from fad._progress import step

module = fad.parse(
    """func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = math.tanh %x : tensor<4xf32>
      return %y : tensor<4xf32>
    }"""
)
x = numpy.linspace(-1, 1, 4, dtype=numpy.float32)
y, pullback = fad.nest(module, policy="fad")(x)
with step("mine"):
    (gradient,) = pullback(numpy.ones(4, numpy.float32))
numpy.testing.assert_allclose(gradient, 1 - numpy.tanh(x) ** 2, rtol=1e-5)

with step("parent"):
    child = os.fork()
    if child == 0:
        with step("child"):
            pass
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0
    with step("after"):
        pass

# The C library ends the process within a step. Python would end the step first.
with step("last"):
    ctypes.CDLL(None).exit(0)
