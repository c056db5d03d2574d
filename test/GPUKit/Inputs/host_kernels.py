"""Compiles the kernels of a kit for the host, by the pass that turns them into loops, and
streams in C: a library for the driver of tests.

usage: host_kernels.py KIT OUTPUT FAD_OPT LLVM_TOOLS UTILS [FAULT...]

A fault is how names of kernels begin and the way in which these are made wrong, as in
silu_f32_fad_forward=values."""

import json
import os
import pathlib
import re
import subprocess
import sys

LOWER = (
    "builtin.module(fad-to-gpu{chip=sm_90},"
    "gpu.module(canonicalize,cse,fad-approximate-gpu-math,canonicalize,cse),"
    "test-fad-kernel-to-host)"
)
TO_LLVM = (
    "-fad-math-to-libm",
    "-convert-scf-to-cf",
    "-convert-to-llvm",
    "-reconcile-unrealized-casts",
)
TENSORS = re.compile(r"\n  func\.func @\w+\([^\n]*tensor[^\n]*\{\n.*?\n  \}(?=\n)", re.DOTALL)

SOURCE = r"""
#include <stdint.h>
#include <string.h>
#ifdef __SSE__
#include <xmmintrin.h>
/* The reciprocals that GPUs estimate are zero where they are not normal. */
static unsigned flush(void) {
  unsigned mode = _mm_getcsr();
  _mm_setcsr(mode | 0x8000);
  return mode;
}
static void restore(unsigned mode) { _mm_setcsr(mode); }
#else
static uint64_t flush(void) {
  uint64_t mode;
  __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
  __asm__ volatile("msr fpcr, %0" : : "r"(mode | 1 << 24));
  return mode;
}
static void restore(uint64_t mode) { __asm__ volatile("msr fpcr, %0" : : "r"(mode)); }
#endif

enum { NONE, VALUES, LIMITS, BESIDE, TAIL, SOURCE };

/* Does to a result of `count` elements what a kernel that is wrong would. */
static void spoil(int fault, uint8_t *result, uint8_t *source, int bytes, long count) {
  uint32_t infinity = bytes == 4 ? 0x7f800000 : 0x7f80, bits = 0;
  if (fault == VALUES && count > 3)
    result[4 * bytes - 1] ^= 1;
  for (long i = 0; i < count && fault == LIMITS; ++i) {
    memcpy(&bits, result + i * bytes, bytes);
    bits |= bits == infinity;
    memcpy(result + i * bytes, &bits, bytes);
  }
  if (fault == BESIDE)
    result[count * bytes] = 0;
  if (fault == SOURCE)
    source[0] ^= 1;
}

/* How many tiles of the host's function there are, if the grid is right for so many
   threads and some number of accesses. */
static int64_t count_blocks(long count, long grid, long threads, int bytes, long tile) {
  for (int accesses = 1; accesses <= 4; accesses *= 2) {
    long launched = threads * accesses * 16 / bytes;
    if (grid == (count + launched - 1) / launched)
      return (count + tile - 1) / tile;
  }
  return 0;
}

#define STREAM(name, tile, reads, writes, fault)                                         \
  void name(void **p, const unsigned *grid, const unsigned *block) {                     \
    long count = *(int32_t *)p[reads + writes], most = (long)grid[0] * tile;             \
    if (fault == TAIL) most = count / tile * tile;                                       \
    if (count < most) most = count;                                                      \
    for (long i = 0; i < 4 * most; ++i) {                                                \
      uint32_t bits = 0;                                                                 \
      for (int r = 0; r < reads; ++r) bits ^= (*(uint32_t **)p[r])[i];                   \
      for (int w = 0; w < writes; ++w) (*(uint32_t **)p[reads + w])[i] = bits;           \
    }                                                                                    \
  }
"""
# The host's function takes a descriptor for each pointer, and the number of blocks.
KERNEL = """
void host_{name}({types});
void {name}(void **p, const unsigned *grid, const unsigned *block) {{
  int32_t count = *(int32_t *)p[{last}];
  int64_t blocks = count_blocks(count, grid[0], block[0], {bytes}, {tile});
  blocks -= {fault} == TAIL;
  __auto_type mode = flush();
  host_{name}({values}, count, blocks);
  restore(mode);
  spoil({fault}, *(uint8_t **)p[{reads}], *(uint8_t **)p[0], {bytes}, count);
}}
"""


def find_fault(name, faults):
    for begin, way in (fault.split("=") for fault in faults):
        if name.startswith(begin):
            return way.upper()
    return "NONE"


def write_kernel(entry, name, faults):
    fault = find_fault(name, faults)
    if "activation" not in entry:
        return f"STREAM({name}, {entry['tile_size']}, {entry['reads']}, {entry['writes']}, {fault})"
    last = len(entry["parameters"]) - 1
    pointer = "*(void **)p[{0}], *(void **)p[{0}], 0, 1l << 40, 1"
    return KERNEL.format(
        name=name,
        types="void *, void *, int64_t, int64_t, int64_t, " * last + "int32_t, int64_t",
        values=", ".join(pointer.format(i) for i in range(last)),
        last=last,
        reads=entry["reads"],
        bytes=entry["unit_bytes"],
        tile=entry["tile_size"],
        fault=fault,
    )


def run(*command):
    subprocess.run([str(part) for part in command], check=True)


def compile_kernels(kernels, folder, fad_opt, tools, utils):
    """An object file with the kernels' functions, whose names begin with host_."""
    sys.path.insert(0, utils)
    from activations import spell

    keys = ("activation", "type", "policy")
    programs = dict.fromkeys(tuple(entry[key] for key in keys) for entry in kernels)
    mlir, ir, lowered, host = (folder / f"host.{end}" for end in ("mlir", "ll", "llvm.mlir", "o"))
    mlir.write_text("".join(spell(*each[:2], "_".join(each)) for each in programs))
    nests = [f"--fad-nest=entry={'_'.join(each)} policy={each[2]}" for each in programs]
    run(fad_opt, mlir, *nests, "-o", lowered)
    run(fad_opt, lowered, f"--pass-pipeline={LOWER}", "-o", mlir)
    mlir.write_text(TENSORS.sub("", mlir.read_text()))
    run(fad_opt, mlir, *TO_LLVM, "-o", lowered)
    run(f"{tools}/mlir-translate", "--mlir-to-llvmir", lowered, "-o", ir)
    ir.write_text(ir.read_text().replace("define void @", "define void @host_"))
    run(f"{tools}/llc", "-O1", "-filetype=obj", "-relocation-model=pic", ir, "-o", host)
    return host


def main():
    kit, output, fad_opt, tools, utils, *faults = sys.argv[1:]
    output = pathlib.Path(output)
    manifest = json.loads((pathlib.Path(kit) / "manifest.json").read_text())
    # The tiles of sweeps have the same names, and the same results.
    entries = [e for m in manifest["modules"] if "tile" not in m for e in m["kernels"]]
    source, host = output.with_suffix(".c"), output.with_name("host.o")
    if not host.exists():
        kernels = [entry for entry in entries if "activation" in entry]
        compile_kernels(kernels, output.parent, fad_opt, tools, utils)
    functions = [
        write_kernel(entry, name, faults)
        for entry in entries
        for name in entry["variants"].values()
    ]
    source.write_text(SOURCE + "\n".join(functions) + "\n")
    compiler = os.environ.get("CC", "cc")
    run(compiler, "-O1", "-shared", "-fPIC", "-Wno-unused", source, host, "-o", output, "-lm")


if __name__ == "__main__":
    main()
