#!/usr/bin/env python3
"""Prints registers, stack and spills of each kernel in a PTX file, and how many of
its blocks the registers of a multiprocessor allow.

  fad-opt f.mlir --fad-nest --fad-to-nvvm=chip=sm_90 |
    fad-translate --gpu-binary-to-ptx | utils/kernel-registers.py

Takes ptxas of a CUDA toolkit, found on the PATH or given by --ptxas.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

# Registers of a multiprocessor from sm_70 on; a warp gets a multiple of 256.
REGISTERS, GRANULE = 65536, 256

REPORT = re.compile(
    r"Function properties for (\S+)\n"
    r"\s+(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads\n"
    r".*Used (\d+) registers"
)


def assemble(ptxas, arch, ptx):
    """What `ptxas -v` says about `ptx`."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kernels.ptx")
        with open(path, "w") as file:
            file.write(ptx)
        command = [ptxas, "-v", f"-arch={arch}", path, "-o", os.devnull]
        try:
            run = subprocess.run(command, capture_output=True, text=True)
        except OSError as error:
            sys.exit(f"{ptxas}: {error.strerror}; name one with --ptxas")
    if run.returncode:
        sys.exit(run.stderr)
    return run.stderr


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("ptx", nargs="?", default="-", help="PTX file; - is stdin")
    parser.add_argument("--arch", help="chip to assemble for; default: the PTX's")
    parser.add_argument("--ptxas", default="ptxas")
    parser.add_argument(
        "--no-spills", action="store_true", help="fail where a kernel spills"
    )
    args = parser.parse_args()
    try:
        # 0 is stdin. What is no text has no .target.
        file = 0 if args.ptx == "-" else args.ptx
        ptx = open(file, errors="replace").read()
    except OSError as error:
        sys.exit(f"{args.ptx}: {error.strerror}")
    target = re.search(r"^\.target (\w+)", ptx, re.MULTILINE)
    if not target:
        sys.exit(f"{args.ptx}: not PTX: no .target")
    threads = dict(re.findall(r"\.entry (\S+)\([^)]*\)\s*\.maxntid (\d+)", ptx))

    spills = False
    print(f"{'kernel':40} registers  stack  spills  blocks")
    for name, stack, stores, loads, used in REPORT.findall(
        assemble(args.ptxas, args.arch or target[1], ptx)
    ):
        spilled = int(stores) + int(loads)
        spills |= spilled > 0
        block = int(threads.get(name, 256))
        warp = -(-int(used) * 32 // GRANULE) * GRANULE
        blocks = REGISTERS // warp // (block // 32)
        print(f"{name:40} {used:>9} {stack:>6} {spilled:>7} {blocks:>7}")
    return 1 if spills and args.no_spills else 0


sys.exit(main())
