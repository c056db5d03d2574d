"""Computes elementwise functions on this CPU by the formulas that GPU kernels have.

Takes a build of fad, whose fad-opt has the passes for tests, LLVM's tools, and a C
compiler. What a GPU estimates, powers of two and reciprocals, is computed to the last
place here, or some units beside it, as GPUs may be.
"""

import ctypes
import os
import re
import shutil
import subprocess
import tempfile

import numpy

LLVM = "/usr/lib/llvm-22/bin"
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# As fad-to-nvvm has them, up to where that goes to PTX.
KERNELS = "canonicalize,cse,fad-approximate-gpu-math,canonicalize,cse"
BUFFERS = """fad-to-linalg one-shot-bufferize{bufferize-function-boundaries=1
function-boundary-type-conversion=identity-layout-map buffer-alignment=64}"""
LOWERING = """symbol-dce,convert-vector-to-llvm,fad-math-to-libm,convert-math-to-llvm,
convert-linalg-to-loops,expand-strided-metadata,lower-affine,convert-scf-to-cf,
convert-index-to-llvm,convert-arith-to-llvm,finalize-memref-to-llvm,convert-cf-to-llvm,
convert-func-to-llvm{use-bare-ptr-memref-call-conv=%d},reconcile-unrealized-casts"""


class ToolError(Exception):
    """A tool that is not there, or that fails; says which one and why."""


def run(command, text):
    try:
        done = subprocess.run(command, input=text, text=True, capture_output=True)
    except OSError as error:
        raise ToolError(f"{command[0]}: {error.strerror}") from None
    if done.returncode:
        raise ToolError(f"{command[0]}: {done.stderr.strip()}")
    return done.stdout


def compile_kernels(source, before, after, units, tools, llvm, cc):
    """Returns the LLVM IR that `source` becomes, and a library of it."""
    built = os.path.join(tools or os.path.join(ROOT, "build", "bin"), "fad-opt")
    fad_opt = (not tools and shutil.which("fad-opt")) or built
    if "--test-fad-kernel-to-host" not in run([fad_opt, "--help"], ""):
        raise ToolError(
            f"{fad_opt} was built without the passes for tests, which run kernels on a"
            " CPU; configure with -DFAD_INCLUDE_TESTS=ON"
        )
    estimates = f"test-fad-perturb-estimates{{units={units}}}"
    passes = [*before, "fad-to-gpu", f"gpu.module({KERNELS},{estimates})", *after]
    pipeline = f"--pass-pipeline=builtin.module({','.join(passes)})".replace("\n", " ")
    lowered = run([fad_opt, pipeline], source)
    ir = run([os.path.join(llvm, "mlir-translate"), "--mlir-to-llvmir"], lowered)
    optimized = run([os.path.join(llvm, "opt"), "-O2", "-S"], ir)
    with tempfile.TemporaryDirectory() as folder:
        parts = [os.path.join(folder, name) for name in ("k.o", "k.so")]
        emit = ["-relocation-model=pic", "-filetype=obj", "-o", parts[0]]
        run([os.path.join(llvm, "llc"), *emit], optimized)
        run([cc, "-shared", "-o", parts[1], parts[0], "-lm"], "")
        return ir, ctypes.CDLL(parts[1])


# Only the kernels of a program stay.
FOR_DRIVER = f"builtin.module(gpu.module({KERNELS}),test-fad-kernel-to-host{{driver}})"
LOWER = "-fad-math-to-libm", "-convert-scf-to-cf", "-convert-to-llvm", "-reconcile-unrealized-casts"
# The function that LLVM calls to round to bf16, which not each compiler's library has. Results
# are in the lower half of a register.
ROUNDING = """#include <stdint.h>
#include <string.h>
float __truncsfbf2(float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  bits = x != x ? 0x7fc0 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  memcpy(&x, &bits, 4);
  return x;
}
"""


def build_for_driver(program, library, tools, llvm=LLVM, cc="cc"):
    """Makes a library of the kernels of `program`, text of MLIR after fad-to-gpu, by their
    names: what FAD_FAKE_CUDA_KERNELS is to name."""
    fad_opt = os.path.join(tools, "fad-opt")
    kernels = run([fad_opt, "-", f"--pass-pipeline={FOR_DRIVER}"], program)
    lowered = run([fad_opt, "-", *LOWER], kernels)
    ir = run([os.path.join(llvm, "mlir-translate"), "--mlir-to-llvmir"], lowered)
    with tempfile.TemporaryDirectory() as folder:
        code = os.path.join(folder, "kernels.o")
        emit = ["-O1", "-filetype=obj", "-relocation-model=pic", "-o", code]
        run([os.path.join(llvm, "llc"), *emit], ir)
        sources = [code, "-x", "c", "-"]
        run([cc, "-shared", "-fPIC", *sources, "-o", str(library), "-lm"], ROUNDING)


class Kernels:
    """The kernels of the elementwise operations in `source`, MLIR text."""

    def __init__(self, source, units=0, tools=None, llvm=LLVM, cc="cc"):
        # The code that called kernels is not compiled.
        private = re.sub(r"func\.func (?!private)@", "func.func private @", source)
        after = ["test-fad-kernel-to-host", LOWERING % 1]
        ir, self.library = compile_kernels(private, [], after, units, tools, llvm, cc)
        self.names = re.findall(r"^define void @(\w+)_unaligned\(", ir, re.M)

    def call(self, name, inputs, dtypes):
        """Returns the results, of `dtypes`, of kernel `name` for arrays of one size."""
        results = [numpy.empty(inputs[0].shape, dtype) for dtype in dtypes]
        pointers = [each.ctypes.data_as(ctypes.c_void_p) for each in [*inputs, *results]]
        count = inputs[0].size
        # No tile has fewer than 512 elements, and blocks without a tile do nothing.
        blocks = ctypes.c_int64(count // 512 + 1)
        self.library[name + "_unaligned"](*pointers, ctypes.c_int32(count), blocks)
        return results


class Program:
    """The functions of `source`, MLIR text, on tensors of one dimension. They launch
    their kernels, in variants that suit the buffers."""

    def __init__(self, source, units=0, tools=None, llvm=LLVM, cc="cc"):
        before = ["func.func(llvm-request-c-wrappers)", ",".join(BUFFERS.split(None, 1))]
        after = ["fad-launch-kernels", "test-fad-kernel-to-host", LOWERING % 0]
        _, self.library = compile_kernels(source, before, after, units, tools, llvm, cc)
        self.free = ctypes.CDLL(None).free

    def call(self, name, inputs, dtypes):
        """Copies of the results, of `dtypes`, of function `name`."""
        found = numpy.zeros((len(dtypes), 5), numpy.int64)
        descriptors = [
            numpy.array([x.ctypes.data, x.ctypes.data, 0, x.size, 1], numpy.int64) for x in inputs
        ]
        words = [found, *descriptors]
        self.library["_mlir_ciface_" + name](
            *(each.ctypes.data_as(ctypes.c_void_p) for each in words)
        )
        results = []
        for (_, start, _, size, _), dtype in zip(found.tolist(), map(numpy.dtype, dtypes)):
            data = ctypes.string_at(start, size * dtype.itemsize)
            results.append(numpy.frombuffer(data, dtype))
        given = {x.ctypes.data for x in inputs}
        for buffer in {int(words[0]) for words in found} - given:
            self.free(ctypes.c_void_p(buffer))
        return results
