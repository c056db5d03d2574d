#!/usr/bin/env python3
"""Runs a Python script with several command lines that it refuses, in one process, which
imports what the script imports once. Prints what the script says; fails where a command
line is not refused.

usage: refused.py SCRIPT ARGUMENTS [ARGUMENTS ...]

Each ARGUMENTS is one command line, such as "--steps 0"."""

import contextlib
import pathlib
import runpy
import shlex
import sys


def is_refused(script, arguments):
    sys.argv = [script, *shlex.split(arguments)]
    try:
        with contextlib.redirect_stderr(sys.stdout):
            runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        # As Python does at the end of a script, which may end with a message.
        if end.code is not None and not isinstance(end.code, int):
            print(end.code)
        return bool(end.code)
    return False


def main():
    script, *lines = sys.argv[1:]
    sys.path[0] = str(pathlib.Path(script).parent)
    if accepted := [line for line in lines if not is_refused(script, line)]:
        sys.exit(f"not refused: {accepted}")


if __name__ == "__main__":
    main()
