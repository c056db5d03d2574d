"""Checks arrays in a folder of .npy files.

usage: check_arrays.py DIR CONDITION...

Each condition is a Python expression that has to be true. Names stand for the
arrays: x for DIR/x.npy, and so on; `np` is numpy, and `close(a, b, bound)`
whether two arrays have the same shape and type and agree within `bound`,
relative to the greatest element of `b`.
"""

import pathlib
import sys

import numpy as np


def close(a, b, bound=0.0):
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype:
        print(f"  {a.dtype}{a.shape} is not {b.dtype}{b.shape}")
        return False
    if a.size == 0:
        return True
    a, b = a.astype(np.float64), b.astype(np.float64)
    error = np.max(np.abs(a - b)) / max(np.max(np.abs(b)), 1e-300)
    if not error <= bound:
        print(f"  error {error:.2e} exceeds {bound:.2e}")
    return error <= bound


arrays = {p.stem: np.load(p) for p in pathlib.Path(sys.argv[1]).glob("*.npy")}
numWrong = 0
for condition in sys.argv[2:]:
    if not eval(condition, {"np": np, "close": close, **arrays}):
        print(f"not so: {condition}")
        numWrong += 1
sys.exit(numWrong != 0)
