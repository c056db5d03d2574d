"""Writes arrays to a folder of .npy files.

usage: make_arrays.py DIR NAME=EXPRESSION...

The folder is made anew. In the expressions, `np` is numpy, `rng` a generator
of random numbers, and NAME any array that stands before.
"""

import pathlib
import shutil
import sys

import numpy as np

folder = pathlib.Path(sys.argv[1])
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)
names = {"np": np, "rng": np.random.default_rng(0)}
for assignment in sys.argv[2:]:
    name, _, expression = assignment.partition("=")
    names[name] = eval(expression, names)
    np.save(folder / name, names[name])
