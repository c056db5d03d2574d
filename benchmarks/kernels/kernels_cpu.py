#!/usr/bin/env python3
"""Time of the forward pass, the backward pass, and both, of activations on this CPU, as
multiples of a stream that reads and writes as much: by fad, which keeps the derivative or
recomputes it, by PyTorch, by torch.compile, and by JAX where it is installed.

  benchmarks/kernels/kernels_cpu.py
  benchmarks/kernels/kernels_cpu.py gelu silu --types bf16 --sizes 1048576 --threads 1
  benchmarks/kernels/kernels_cpu.py --all --sizes 1048576

The streams are loops in C over buffers that are there already, the forward one with
one tensor read and two written, the backward one with two read and one written: what
it takes to keep a derivative. What is measured allocates its results on each call, but
for "into outputs": PyTorch's functions without autograd that write into tensors that
are there, where they exist. JAX compiles both passes of jax.vjp.
First, values and gradients are compared with a reference in f64, and with PyTorch's in
f64, on fresh random numbers. Then everything that is compared takes turns: a pass is
run, and run again, which is timed; the least time of the repetitions counts. --json keeps all figures, --plot draws them; --table
prints those of such a file, and measures nothing.

Takes fad's Python package, numpy, PyTorch and a C compiler; ml_dtypes for bf16."""

import argparse
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "utils"))

import kernel_figures
from activations import ACTIVATIONS, COMPOSED, get_torch_function, spell
from gpu.peers import INTO, make_autograd, make_into

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


def build_streams(folder):
    """Returns the streams, from C."""
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
    """Returns the passes, by fad."""
    import fad

    nested = fad.nest(fad.parse(spell(name, kind)), policy=policy)
    compiled = fad.compile(nested)
    _, *residuals = compiled.call(nested.forward, x)

    def both():
        _, *kept = compiled.call(nested.forward, x)
        return compiled.call(nested.backward, *kept, g)

    return {
        "forward": lambda: compiled.call(nested.forward, x),
        "backward": lambda: compiled.call(nested.backward, *residuals, g),
        "both": both,
    }


def make_jax(name, x, g):
    """Returns the passes, by JAX: each compiled, with what the first keeps for the second. Nothing
    without JAX."""
    # It has threads of its own, and does not take their number from OpenMP.
    threads = os.environ["OMP_NUM_THREADS"]
    flags = f"--xla_cpu_multi_thread_eigen={str(threads != '1').lower()}"
    os.environ["XLA_FLAGS"] = f"{flags} intra_op_parallelism_threads={threads}"
    try:
        import jax
    except ImportError:
        return None
    functions = {
        "gelu": lambda x: jax.nn.gelu(x, approximate=False),
        "gelu_tanh": lambda x: jax.nn.gelu(x, approximate=True),
        "tanh": jax.numpy.tanh,
        "hardsigmoid": jax.nn.hard_sigmoid,
        "hardswish": jax.nn.hard_swish,
    }
    function = functions.get(name) or getattr(jax.nn, name)
    # The function that vjp returns is a tree of the values that it keeps.
    forward = jax.jit(lambda x: jax.vjp(function, x))
    backward = jax.jit(lambda kept, g: kept(g))
    x, g = jax.numpy.asarray(x), jax.numpy.asarray(g)
    _, kept = forward(x)
    return {
        "forward": lambda: jax.block_until_ready(forward(x)),
        "backward": lambda: jax.block_until_ready(backward(kept, g)),
        "both": lambda: jax.block_until_ready(backward(forward(x)[1], g)),
    }


def to_torch(array, kind):
    """Returns a copy for PyTorch, which may not read the types of ml_dtypes."""
    import torch

    dtype = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[kind]
    return torch.from_numpy(array.view("i4" if kind == "f32" else "i2")).view(dtype).clone()


def make_contestants(name, kind, size, library, options):
    """Returns the compared implementations, by name: functions for the passes."""
    import accuracy
    import numpy
    import torch

    random = numpy.random.default_rng(0)
    dtype = accuracy.get_dtype(kind)
    x, g = (random.standard_normal(size).astype(dtype) for _ in range(2))
    others = [numpy.zeros_like(x) for _ in range(2)]
    streams = {
        "forward": make_stream(library, "forward", kind, [x, *others]),
        "backward": make_stream(library, "backward", kind, [x, g, others[0]]),
    }
    contestants = {
        "stream": {**streams, "both": lambda: [stream() for stream in streams.values()]},
        "memcpy": {"forward": lambda: numpy.copyto(others[0], x)},
    }
    for policy in "fad", "recompute":
        contestants[f"fad, {policy}"] = make_fad(name, kind, policy, x, g)
    tensor, cotangent = to_torch(x, kind), to_torch(g, kind)
    make_torch = lambda function: make_autograd(torch, function, tensor, cotangent)
    contestants["PyTorch"] = make_torch(get_torch_function(name))
    if ACTIVATIONS[name].torch_name in INTO:
        roles = {"x": tensor, "g": cotangent}
        roles |= {role: torch.zeros_like(cotangent) for role in ("y", "dx")}
        passes = make_into(torch, name, roles)
        passes["forward"]()
        contestants["into outputs"] = passes
    if by_jax := make_jax(name, x, g):
        contestants["JAX"] = by_jax
    if name in COMPOSED:
        composed = lambda t: COMPOSED[name](torch, t)
        contestants["composed"] = make_torch(composed)
        if options.compile:
            torch._dynamo.reset()
            contestants["compiled"] = make_torch(torch.compile(composed))
    return contestants


def measure(contestants, repetitions):
    """Seconds that each pass of each contestant takes at least."""
    times = {who: dict.fromkeys(each, float("inf")) for who, each in contestants.items()}
    for _ in range(repetitions):
        for who, passes in contestants.items():
            for name, function in passes.items():
                # Allocates, compiles, and takes code and pages from who was before.
                function()
                start = time.perf_counter()
                result = function()
                taken = time.perf_counter() - start
                del result
                times[who][name] = min(times[who][name], taken)
    return times


def check(name, kind):
    """Exits unless what fad computes of random numbers is near the reference."""
    import accuracy
    import numpy

    import torch

    x = numpy.random.default_rng().standard_normal(100003).astype(accuracy.get_dtype(kind))
    leaf = torch.from_numpy(x.astype("f8")).requires_grad_()
    y = get_torch_function(name)(leaf)
    by_torch = y.detach().numpy(), torch.autograd.grad(y.sum(), leaf)[0].numpy()
    computed = accuracy.evaluate(name, kind, x)
    for references in accuracy.compute_reference(name, x), by_torch:
        for got, reference in zip(computed, references):
            error, _ = accuracy.measure(got, reference, kind)
            if not error < {"f32": 1e-6, "f16": 2e-3, "bf16": 2e-2}[kind]:
                sys.exit(f"error: {name} in {kind} errs by {error:.1e}")


def describe_machine(threads):
    import fad
    import torch

    # Imported by now, where it is installed.
    jax = {"jax": sys.modules["jax"].__version__} if "jax" in sys.modules else {}
    return {
        **kernel_figures.describe_machine(),
        "fad": fad.__version__,
        "torch": torch.__version__,
        **jax,
        "threads": threads,
    }


def print_figures(figures, options):
    kernel_figures.print_facts(figures, counted="least")
    kernel_figures.print_table(figures["rows"])
    if options.plot:
        kernel_figures.plot(figures["rows"], options.plot)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", default=["gelu", "gelu_tanh", "silu", "mish"])
    parser.add_argument("--all", action="store_true", help="all activations")
    parser.add_argument(
        "--types", nargs="+", choices=["f32", "bf16", "f16"], default=["f32", "bf16"]
    )
    parser.add_argument("--sizes", nargs="+", type=int, default=[1 << 16, 1 << 24])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--compile", action="store_true", help="torch.compile, too")
    kernel_figures.add_options(parser)
    options = parser.parse_args()
    if options.table:
        return print_figures(kernel_figures.read(parser, options.table), options)
    # Before any library starts its threads.
    os.environ["OMP_NUM_THREADS"] = str(options.threads)

    if options.all:
        options.names = list(ACTIVATIONS)
    for name in options.names:
        if name not in ACTIVATIONS:
            parser.error(f"there is no {name}; choose of {', '.join(ACTIVATIONS)}")
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
        kernel_figures.write(figures, options.json)
    print_figures(figures, options)


if __name__ == "__main__":
    main()
