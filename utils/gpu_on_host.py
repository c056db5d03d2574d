"""Computes elementwise functions on this CPU by the formulas that GPU kernels have.

Takes a build of fad, whose fad-opt has the passes for tests, LLVM's tools, and a C
compiler. What a GPU estimates, powers of two and reciprocals, is computed to the last
place here, or some units beside it, as GPUs may be.
"""

import ctypes
import os
import re
import subprocess
import tempfile

import numpy

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# As fad-to-nvvm has them, up to where that goes to PTX.
KERNELS = "canonicalize,cse,fad-approximate-gpu-math,canonicalize,cse"
LOWERING = """symbol-dce convert-vector-to-llvm fad-math-to-libm convert-math-to-llvm
convert-scf-to-cf convert-index-to-llvm convert-arith-to-llvm finalize-memref-to-llvm
convert-cf-to-llvm convert-func-to-llvm{use-bare-ptr-memref-call-conv=1}
reconcile-unrealized-casts""".split()


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


class Kernels:
    """The kernels of the elementwise operations in `source`, MLIR text."""

    def __init__(self, source, units=0, tools=None, llvm="/usr/lib/llvm-22/bin", cc="cc"):
        fad_opt = os.path.join(tools or os.path.join(ROOT, "build", "bin"), "fad-opt")
        if "--test-fad-kernel-to-host" not in run([fad_opt, "--help"], ""):
            raise ToolError(
                f"{fad_opt} was built without the passes for tests, which run kernels on a"
                " CPU; configure with -DFAD_INCLUDE_TESTS=ON"
            )
        estimates = f"test-fad-perturb-estimates{{units={units}}}"
        passes = ["fad-to-gpu", f"gpu.module({KERNELS},{estimates})"]
        passes += ["test-fad-kernel-to-host", *LOWERING]
        # What called kernels is not compiled.
        private = re.sub(r"func\.func (?!private)@", "func.func private @", source)
        pipeline = f"--pass-pipeline=builtin.module({','.join(passes)})"
        lowered = run([fad_opt, pipeline], private)
        ir = run([os.path.join(llvm, "mlir-translate"), "--mlir-to-llvmir"], lowered)
        optimized = run([os.path.join(llvm, "opt"), "-O2", "-S"], ir)
        self.names = re.findall(r"^define void @(\w+)_unaligned\(", ir, re.M)
        self.folder = tempfile.TemporaryDirectory()
        parts = [os.path.join(self.folder.name, name) for name in ("k.o", "k.so")]
        emit = ["-relocation-model=pic", "-filetype=obj", "-o", parts[0]]
        run([os.path.join(llvm, "llc"), *emit], optimized)
        run([cc, "-shared", "-o", parts[1], parts[0], "-lm"], "")
        self.library = ctypes.CDLL(parts[1])

    def call(self, name, inputs, dtypes):
        """The results, of `dtypes`, of kernel `name` for arrays of one size."""
        results = [numpy.empty(inputs[0].shape, dtype) for dtype in dtypes]
        pointers = [each.ctypes.data_as(ctypes.c_void_p) for each in [*inputs, *results]]
        count = inputs[0].size
        # No tile has fewer than 512 elements, and blocks without a tile do nothing.
        blocks = ctypes.c_int64(count // 512 + 1)
        self.library[name + "_unaligned"](*pointers, ctypes.c_int32(count), blocks)
        return results
