#!/usr/bin/env python3
"""Prints registers, stack and spills of each kernel in a PTX file, how many of its
blocks the registers of a multiprocessor allow, and its instructions: all of them, but
for padding, and those of the unit for special functions, such as exponentials. With
--tile, which is what fad-opt's fad.tile_size says, also those that a thread executes
for each element of a full tile: from the start to the branch, and the code with the
accesses of 16 bytes, to its end. "wide" is whether all vectors there are of 16 bytes.

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

# The lowest nine bits of an instruction, whatever its operands: padding, MUFU, and
# accesses to global memory.
PADDING, SPECIAL, LOAD, STORE = 0x118, 0x108, 0x181, 0x186
# Those that end a block, and the bits of a predicate that is always true.
BRANCH, EXIT, ALWAYS = 0x147, 0x14D, 7
# The width of an access of 16 bytes, in three bits of the second word.
WIDEST = 6


def assemble(ptxas, arch, ptx):
    """Returns the output of `ptxas -v` for `ptx`, and the ELF file that it makes."""
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


class Code:
    """The instructions of a kernel, without padding."""

    def __init__(self, data):
        words = list(struct.iter_unpack("<QQ", data))
        self.words = [(low, high) for low, high in words if low & 0x1FF != PADDING]
        self.kinds = [low & 0x1FF for low, _ in self.words]

    def count_special(self, path=slice(None)):
        return self.kinds[path].count(SPECIAL)

    def is_wide(self, at):
        return self.kinds[at] in (LOAD, STORE) and self.words[at][1] >> 9 & 7 == WIDEST

    def find_full_tile(self):
        """Returns the parts that are executed for a full tile, or None without vectors."""
        wide = [at for at in range(len(self.kinds)) if self.is_wide(at)]
        if not wide:
            return None
        ends = [at for at, kind in enumerate(self.kinds) if kind in (BRANCH, EXIT)]
        always = [at for at in ends if self.words[at][0] >> 12 & 15 == ALWAYS]
        head = min([at for at in ends if at < wide[0]], default=-1) + 1
        begin = max([at + 1 for at in always if at < wide[0]], default=head)
        end = min([at for at in always if at > wide[-1]], default=len(self.kinds) - 1)
        return [slice(0, head), slice(max(head, begin), end + 1)]

    def describe_full_tile(self, elements):
        """Instructions and special ones for each element, and whether all vectors
        have 16 bytes."""
        parts = self.find_full_tile()
        if not parts:
            return f"{'-':>12} {'-':>12} {'-':>5}"
        count = sum(len(self.kinds[part]) for part in parts)
        special = sum(map(self.count_special, parts))
        body = range(*parts[-1].indices(len(self.kinds)))
        accesses = [at for at in body if self.kinds[at] in (LOAD, STORE)]
        wide = "yes" if all(map(self.is_wide, accesses)) else "no"
        return f"{count / elements:>12.1f} {special / elements:>12.2f} {wide:>5}"


def read_code(elf):
    return {
        name: Code(elf[offset : offset + size // 16 * 16])
        for name, (offset, size) in find_code(elf).items()
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("ptx", nargs="?", default="-", help="PTX file; - is stdin")
    parser.add_argument("--arch", help="chip to assemble for; default: the PTX's")
    parser.add_argument("--ptxas", default="ptxas")
    parser.add_argument("--no-spills", action="store_true", help="fail where a kernel spills")
    parser.add_argument("--tile", type=int, help="elements of a tile")
    args = parser.parse_args()
    if args.tile is not None and args.tile < 1:
        parser.error(f"--tile is {args.tile}; give the number of elements of a tile")
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
    columns = f"{'kernel':40} registers  stack  spills  blocks  instructions  special"
    print(columns + ("  per element      special  wide" if args.tile else ""))
    report, elf = assemble(args.ptxas, args.arch or target[1], ptx)
    codes = read_code(elf)
    for name, stack, stores, loads, used in REPORT.findall(report):
        spilled = int(stores) + int(loads)
        spills |= spilled > 0
        block = int(threads.get(name, 256))
        warp = -(-int(used) * 32 // GRANULE) * GRANULE
        blocks = REGISTERS // warp // (block // 32)
        code = codes[name]
        line = f"{name:40} {used:>9} {stack:>6} {spilled:>7} {blocks:>7}"
        line += f" {len(code.kinds):>13} {code.count_special():>8}"
        if args.tile:
            line += " " + code.describe_full_tile(args.tile / block)
        print(line)
    return 1 if spills and args.no_spills else 0


sys.exit(main())
