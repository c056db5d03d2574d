#!/usr/bin/env python3
"""Time of the forward and the backward pass of activations on this CPU, as multiples
of a stream that reads and writes as much: by fad, which keeps the derivative or
recomputes it, by PyTorch, and by torch.compile.

  benchmarks/kernels_cpu.py
  benchmarks/kernels_cpu.py gelu silu --types bf16 --sizes 1048576 --threads 1

The streams are loops in C over buffers that are there already, the forward one with
one tensor read and two written, the backward one with two read and one written: what
it takes to keep a derivative. What is measured allocates its results on each call.
First, values and gradients are compared with a reference in f64 on fresh random
numbers. Then everything that is compared takes turns; the least time of the
repetitions counts. --json keeps all figures, --plot draws them; --table prints those
of such a file, and measures nothing.

Takes fad's Python package, numpy, PyTorch and a C compiler; ml_dtypes for bf16."""

import argparse
import ctypes
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "utils"))

STREAMS = r"""
#include <stddef.h>
#define STREAMS(name, type)                                                     \
  void forward_##name(const type *x, type *y, type *d, ptrdiff_t n) {           \
    _Pragma("omp parallel for simd schedule(static)")                           \
    for (ptrdiff_t i = 0; i < n; ++i) {                                         \
      y[i] = x[i] + x[i];                                                       \
      d[i] = x[i];                                                              \
    }                                                                           \
  }                                                                             \
  void backward_##name(const type *d, const type *g, type *r, ptrdiff_t n) {    \
    _Pragma("omp parallel for simd schedule(static)")                           \
    for (ptrdiff_t i = 0; i < n; ++i)                                           \
      r[i] = d[i] + g[i];                                                       \
  }
STREAMS(f32, float)
STREAMS(bf16, unsigned short)
STREAMS(f16, unsigned short)
"""

# The same composed of PyTorch's primitives, as models spell it.
COMPOSED = {
    "silu": lambda torch, x: x * torch.sigmoid(x),
    "gelu": lambda torch, x: x * 0.5 * (1 + torch.erf(x / 2**0.5)),
    "gelu_tanh": lambda torch, x: 0.5
    * x
    * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3))),
    "mish": lambda torch, x: x * torch.tanh(torch.nn.functional.softplus(x)),
}


def build_streams(folder):
    """The streams, from C."""
    source, library = f"{folder}/streams.c", f"{folder}/streams.so"
    pathlib.Path(source).write_text(STREAMS)
    compiler = os.environ.get("CC", "cc")
    flags = ["-O3", "-march=native", "-fopenmp", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, source, "-o", library], check=True)
    return ctypes.CDLL(library)


def make_stream(library, direction, kind, arrays):
    function = getattr(library, f"{direction}_{kind}")
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    count = ctypes.c_ssize_t(arrays[0].size)
    return lambda: function(*pointers, count)


def make_fad(name, kind, policy, x, g):
    """The two directions, by fad."""
    import accuracy
    import fad

    nested = fad.nest(accuracy.parse(name, kind), policy=policy)
    compiled = fad.compile(nested)
    _, *residuals = compiled.call(nested.forward, x)
    return {
        "forward": lambda: compiled.call(nested.forward, x),
        "backward": lambda: compiled.call(nested.backward, *residuals, g),
    }


def make_torch(function, x, g):
    """The two directions, by PyTorch: forward as autograd records it."""
    import torch

    y = function(x)
    return {
        "forward": lambda: function(x),
        "backward": lambda: torch.autograd.grad(y, x, g, retain_graph=True),
    }


def to_torch(array, kind):
    """A copy for PyTorch, which may not read the types of ml_dtypes."""
    import torch

    dtype = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[kind]
    return torch.from_numpy(array.view("i4" if kind == "f32" else "i2")).view(dtype).clone()


def make_contestants(name, kind, size, library, options):
    """What is compared, by name: functions for the two directions."""
    import accuracy
    import numpy
    import torch

    random = numpy.random.default_rng(0)
    dtype = accuracy.get_dtype(kind)
    x, g = (random.standard_normal(size).astype(dtype) for _ in range(2))
    others = [numpy.zeros_like(x) for _ in range(2)]
    contestants = {
        "stream": {
            "forward": make_stream(library, "forward", kind, [x, *others]),
            "backward": make_stream(library, "backward", kind, [x, g, others[0]]),
        },
        "memcpy": {"forward": lambda: numpy.copyto(others[0], x)},
    }
    for policy in "fad", "recompute":
        contestants[f"fad, {policy}"] = make_fad(name, kind, policy, x, g)
    leaf = to_torch(x, kind).requires_grad_()
    cotangent = to_torch(g, kind)
    builtin = accuracy.get_torch_function(name)
    contestants["PyTorch"] = make_torch(builtin, leaf, cotangent)
    if name in COMPOSED:
        composed = lambda t: COMPOSED[name](torch, t)
        contestants["composed"] = make_torch(composed, leaf, cotangent)
        if options.compile:
            torch._dynamo.reset()
            compiled = torch.compile(composed)
            contestants["compiled"] = make_torch(compiled, leaf, cotangent)
    return contestants


def measure(contestants, repetitions):
    """Seconds that each direction of each contestant takes at least."""
    times = {who: dict.fromkeys(each, float("inf")) for who, each in contestants.items()}
    for repetition in range(repetitions + 2):
        for who, directions in contestants.items():
            for direction, function in directions.items():
                start = time.perf_counter()
                result = function()
                taken = time.perf_counter() - start
                del result
                # The first two allocate, compile and warm up.
                if repetition >= 2:
                    times[who][direction] = min(times[who][direction], taken)
    return times


def check(name, kind):
    """Exits unless what fad computes of random numbers is near the reference."""
    import accuracy
    import numpy

    x = numpy.random.default_rng().standard_normal(100003).astype(accuracy.get_dtype(kind))
    references = accuracy.ACTIVATIONS[name][1](x.astype("f8"))
    for got, reference in zip(accuracy.evaluate(name, kind, x), references):
        error, _ = accuracy.measure(got, reference, kind)
        if not error < {"f32": 1e-6, "f16": 2e-3, "bf16": 2e-2}[kind]:
            sys.exit(f"error: {name} in {kind} errs by {error:.1e}")


def describe_machine(threads):
    import fad
    import torch

    try:
        with open("/proc/cpuinfo") as file:
            names = [line.split(": ")[1].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = [platform.processor()]
    return {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {(names or ['?'])[0]}",
        "system": platform.platform(),
        "python": platform.python_version(),
        "fad": fad.__version__,
        "torch": torch.__version__,
        "threads": threads,
    }


def print_table(rows):
    print(f"\n{'':34}{'stream':>10}   as multiples of the stream")
    names = [who for who in rows[0]["seconds"] if who != "stream"]
    for row in rows:
        names += [who for who in row["seconds"] if who not in names and who != "stream"]
    print(f"{'activation type elements  pass':<34}{'GB/s':>10}" + "".join(f"{n:>16}" for n in names))
    for row in rows:
        for direction in "forward", "backward":
            stream = row["seconds"]["stream"][direction]
            moved = 3 * row["size"] * (4 if row["type"] == "f32" else 2)
            line = f"{row['activation']:<10} {row['type']:<5}{row['size']:<9} {direction:<8}"
            line += f"{moved / stream / 1e9:>10.1f}"
            for who in names:
                taken = row["seconds"].get(who, {}).get(direction)
                line += f"{taken / stream:>16.2f}" if taken else " " * 16
            print(line.rstrip())


def print_figures(figures, options):
    for key, value in figures["made_with"].items():
        print(f"{key}: {value}")
    print(f"repetitions: {figures['repetitions']}; the least time counts")
    print_table(figures["rows"])
    if options.plot:
        plot(figures["rows"], options.plot)


def plot(rows, path):
    """Both passes together, as a multiple of both streams."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = [who for who in rows[0]["seconds"] if "backward" in rows[0]["seconds"][who]]
    figure, axes = plt.subplots(figsize=(9, 4))
    width = 0.8 / len(names)
    for index, who in enumerate(names):
        heights = [
            sum(row["seconds"][who].values()) / sum(row["seconds"]["stream"].values())
            if who in row["seconds"]
            else 0
            for row in rows
        ]
        axes.bar([i + index * width for i in range(len(rows))], heights, width, label=who)
    labels = [f"{row['activation']}\n{row['type']}\n{row['size']}" for row in rows]
    axes.set_xticks([i + 0.4 for i in range(len(rows))], labels, fontsize=7)
    axes.set_ylabel("forward + backward, in streams")
    axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", default=["gelu", "gelu_tanh", "silu", "mish"])
    parser.add_argument("--types", nargs="+", choices=["f32", "bf16", "f16"], default=["f32", "bf16"])
    parser.add_argument("--sizes", nargs="+", type=int, default=[1 << 16, 1 << 24])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--compile", action="store_true", help="torch.compile, too")
    parser.add_argument("--json", help="file for the figures")
    parser.add_argument("--table", help="file of figures to print")
    parser.add_argument("--plot", help="file for a picture, .svg or .png")
    options = parser.parse_args()
    if options.table:
        try:
            stored = json.loads(pathlib.Path(options.table).read_text())
        except OSError as error:
            parser.error(str(error))
        return print_figures(stored, options)
    # Before any library starts its threads.
    os.environ["OMP_NUM_THREADS"] = str(options.threads)

    import accuracy

    for name in options.names:
        if name not in accuracy.ACTIVATIONS:
            parser.error(f"there is no {name}; choose of {', '.join(accuracy.ACTIVATIONS)}")
    if min(*options.sizes, options.threads, options.repetitions) < 1:
        parser.error("sizes, threads and repetitions are above zero")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        library = build_streams(folder)
        for name in options.names:
            for kind in options.types:
                check(name, kind)
                for size in options.sizes:
                    contestants = make_contestants(name, kind, size, library, options)
                    seconds = measure(contestants, options.repetitions)
                    rows.append(
                        {"activation": name, "type": kind, "size": size, "seconds": seconds}
                    )
    figures = {
        "made_with": describe_machine(options.threads),
        "repetitions": options.repetitions,
        "rows": rows,
    }
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(figures, indent=1) + "\n")
    print_figures(figures, options)


if __name__ == "__main__":
    main()
