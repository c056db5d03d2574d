"""Writes a library with a function for each kernel of a kit, for the driver of tests.

usage: host_kernels.py KIT OUTPUT [FAULT...]

The functions compute SiLU in f64, and streams. A fault is how names of functions begin
and the way in which these are wrong, as in silu_f32_fad_forward=values."""

import json
import os
import pathlib
import subprocess
import sys

SOURCE = r"""
#include <math.h>
#include <stdint.h>
#include <string.h>

static double read_f32(const void *p, long i) { return ((const float *)p)[i]; }
static void write_f32(void *p, long i, double v) { ((float *)p)[i] = (float)v; }
static double read_bf16(const void *p, long i) {
  uint32_t bits = (uint32_t)((const uint16_t *)p)[i] << 16;
  float value;
  memcpy(&value, &bits, 4);
  return value;
}
static void write_bf16(void *p, long i, double v) {
  float value = (float)v;
  uint32_t bits;
  memcpy(&bits, &value, 4);
  /* To the nearest, of two the even one. */
  ((uint16_t *)p)[i] = isnan(v) ? 0x7fc0 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double value(double x) { return x * sigmoid(x); }
static double slope(double x) {
  double rise = sigmoid(x) * sigmoid(-x);
  return sigmoid(x) + (rise == 0 ? 0 : x * rise);
}

enum { NONE, VALUES, LIMITS, BESIDE, TAIL, SOURCE };

#define PASS(name, kind, fault, tile, x, y, d, g, dx, factor)                            \
  void name(void **p, const unsigned *grid, const unsigned *block) {                     \
    long count = *(int32_t *)p[COUNT_##name], most = (long)grid[0] * tile;               \
    if (fault == TAIL) most = count / tile * tile;                                       \
    if (count < most) most = count;                                                      \
    for (long i = 0; i < most; ++i) {                                                    \
      double in = read_##kind(*(void **)p[x], i);                                        \
      if (fault == VALUES && i == 3) in += 0.01;                                         \
      if (fault == LIMITS && isinf(in)) in = NAN;                                        \
      double gradient = g < 0 ? 0 : read_##kind(*(void **)p[g < 0 ? 0 : g], i) * factor; \
      if (y >= 0) write_##kind(*(void **)p[y < 0 ? 0 : y], i, value(in));                \
      if (d >= 0) write_##kind(*(void **)p[d < 0 ? 0 : d], i, slope(in));                \
      if (dx >= 0) write_##kind(*(void **)p[dx < 0 ? 0 : dx], i, gradient);              \
    }                                                                                    \
    if (fault == BESIDE) write_##kind(*(void **)p[COUNT_##name - 1], count, 0);          \
    if (fault == SOURCE) write_##kind(*(void **)p[x], 0, 0.25);                          \
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


def find_fault(name, faults):
    for begin, way in (fault.split("=") for fault in faults):
        if name.startswith(begin):
            return way.upper()
    return "NONE"


def write_kernel(entry, name, faults):
    fault, tile = find_fault(name, faults), entry["tile_size"]
    if "activation" not in entry:
        return f"STREAM({name}, {tile}, {entry['reads']}, {entry['writes']}, {fault})"
    roles = [parameter["role"] for parameter in entry["parameters"]]
    # What is read: x, or the derivative that is kept.
    places = [roles.index("x" if "x" in roles else "d")]
    is_forward = entry["pass"] == "forward"
    for role in "y", "d", "g", "dx":
        written = role in roles and (is_forward or role != "d")
        places.append(roles.index(role) if written else -1)
    factor = "slope(in)" if "x" in roles else "in"
    arguments = ", ".join(map(str, [entry["type"], fault, tile, *places, factor]))
    return f"enum {{ COUNT_{name} = {roles.index('count')} }};\nPASS({name}, {arguments})"


def main():
    kit, output, *faults = sys.argv[1:]
    manifest = json.loads((pathlib.Path(kit) / "manifest.json").read_text())
    kernels = {
        name: write_kernel(entry, name, faults)
        for module in manifest["modules"]
        for entry in module["kernels"]
        for name in entry["variants"].values()
    }
    source = pathlib.Path(output).with_suffix(".c")
    source.write_text(SOURCE + "\n".join(kernels.values()) + "\n")
    compiler = os.environ.get("CC", "cc")
    flags = ["-O1", "-shared", "-fPIC", "-Wno-unused"]
    subprocess.run([compiler, *flags, source, "-o", output, "-lm"], check=True)


if __name__ == "__main__":
    main()
