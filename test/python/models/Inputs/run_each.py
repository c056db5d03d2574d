"""Runs a script once for each list of arguments, in one process, which imports what the
script imports once.

usage: run_each.py SCRIPT [OUTPUT "ARGUMENT ..."] ..."""

import contextlib
import os
import runpy
import sys

script, *runs = sys.argv[1:]
sys.path[0] = os.path.dirname(script)
for output, arguments in zip(runs[::2], runs[1::2], strict=True):
    sys.argv = [script, *arguments.split()]
    with open(output, "w") as file, contextlib.redirect_stdout(file):
        runpy.run_path(script, run_name="__main__")
