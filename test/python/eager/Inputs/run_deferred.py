"""Runs a script with the deferred engine where it nests."""

import functools
import runpy
import sys

import fad.torch

fad.torch.nest = functools.partial(fad.torch.nest, engine="deferred")
script = sys.argv[1]
sys.argv = sys.argv[1:]
runpy.run_path(script, run_name="__main__")
