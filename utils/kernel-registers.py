#!/usr/bin/env python3
"""Prints registers, stack and spills of each kernel in a PTX file, how many of its
blocks the registers of a multiprocessor allow, and its instructions: all of them, but
for padding, and those of the unit for special functions, such as exponentials.

  fad-opt f.mlir --fad-nest --fad-to-nvvm=chip=sm_90 |
    fad-translate --gpu-binary-to-ptx | utils/kernel-registers.py

Takes ptxas of a CUDA toolkit, found on the PATH or given by --ptxas. Instructions are
those of chips from sm_70 on, of 16 bytes each.
"""

import argparse
import os
import re
import struct
import subprocess
import sys
import tempfile

from cubin import find_code

# Registers of a multiprocessor from sm_70 on; a warp gets a multiple of 256.
REGISTERS, GRANULE = 65536, 256

REPORT = re.compile(
    r"Function properties for (\S+)\n"
    r"\s+(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads\n"
    r".*Used (\d+) registers"
)

# The lowest nine bits of an instruction, whatever its operands: padding, and MUFU.
PADDING, SPECIAL = 0x118, 0x108


def assemble(ptxas, arch, ptx):
    """What `ptxas -v` says about `ptx`, and the ELF file that it makes."""
    with tempfile.TemporaryDirectory() as folder:
        path, binary = (os.path.join(folder, name) for name in ("kernels.ptx", "kernels.cubin"))
        with open(path, "w") as file:
            file.write(ptx)
        command = [ptxas, "-v", f"-arch={arch}", path, "-o", binary]
        try:
            run = subprocess.run(command, capture_output=True, text=True)
        except OSError as error:
            sys.exit(f"{ptxas}: {error.strerror}; name one with --ptxas")
        if run.returncode:
            sys.exit(run.stderr)
        with open(binary, "rb") as file:
            return run.stderr, file.read()


def count_instructions(elf):
    """By kernel: all instructions without padding, and the special ones."""
    counts = {}
    for name, (offset, size) in find_code(elf).items():
        kinds = [
            struct.unpack_from("<H", elf, at)[0] & 0x1FF for at in range(offset, offset + size, 16)
        ]
        counts[name] = len(kinds) - kinds.count(PADDING), kinds.count(SPECIAL)
    return counts


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
    print(f"{'kernel':40} registers  stack  spills  blocks  instructions  special")
    report, elf = assemble(args.ptxas, args.arch or target[1], ptx)
    counts = count_instructions(elf)
    for name, stack, stores, loads, used in REPORT.findall(report):
        spilled = int(stores) + int(loads)
        spills |= spilled > 0
        block = int(threads.get(name, 256))
        warp = -(-int(used) * 32 // GRANULE) * GRANULE
        blocks = REGISTERS // warp // (block // 32)
        instructions, special = counts[name]
        print(
            f"{name:40} {used:>9} {stack:>6} {spilled:>7} {blocks:>7}"
            f" {instructions:>13} {special:>8}"
        )
    return 1 if spills and args.no_spills else 0


sys.exit(main())
