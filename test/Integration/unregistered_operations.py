"""Runs every pass of fad on operations of a dialect that nobody has registered.

usage: unregistered_operations.py --fad-opt PATH FILE

A pass works or reports an error at a line of the file, whose programs are separated
by lines of `// -----`; it does not end otherwise. Prints where one does, and exits
with 1 then.
"""

import argparse
import re
import subprocess
import sys
from functools import partial

from many_checks import run_checks

PIPELINES = ["fad-nest", "fad-nest=policy=bp", "fad-nest=policy=fad"]
PIPELINES += [
    "fad-nest=recompute=nothing derivative-from-output=true",
    "fad-to-iree",
    "fad-to-nvvm",
]


def run(command):
    return subprocess.run(command, capture_output=True, text=True)


def find_passes(fad_opt):
    listed = run([fad_opt, "--list-passes"]).stdout
    return re.findall(r"^\s*--(fad-[\w-]+)", listed, re.MULTILINE)


def check(fad_opt, path, name):
    command = [fad_opt, path, "--allow-unregistered-dialect", "--split-input-file"]
    process = run([*command, f"--{name}", "-o", "/dev/null"])
    errors = re.findall(rf"{re.escape(path)}:\d+:\d+: error: ", process.stderr)
    if process.returncode not in (0, 1) or bool(process.returncode) != bool(errors):
        return f"--{name}: status {process.returncode}\n{process.stderr[-2000:]}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fad-opt", required=True)
    parser.add_argument("file")
    options = parser.parse_args()
    names = sorted({*find_passes(options.fad_opt), *PIPELINES})
    failed = run_checks(partial(check, options.fad_opt, options.file, name) for name in names)
    print(f"{len(names)} passes, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
