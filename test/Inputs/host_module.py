"""Compiles a module through fad-to-cpu and calls its functions with numpy arrays.

The scripts that use it take the same arguments first:

  FAD_OPT LLVM_TOOLS_DIR LIBRARY_DIR CXX TEST
"""

import ctypes
import os
import platform
import subprocess
import tempfile

import numpy as np

# Counts buffers, so that a leak or a double free is an error and not luck.
COUNTER = r"""
#include <stdlib.h>
void *__real_malloc(size_t);
void __real_free(void *);
static void *live[1 << 16];
static long count;
void *__wrap_malloc(size_t size) {
  void *result = __real_malloc(size);
  return live[count++] = result;
}
void __wrap_free(void *address) {
  for (long i = 0; i < count; ++i)
    if (live[i] == address) {
      live[i] = live[--count];
      __real_free(address);
      return;
    }
  abort();
}
long fad_live_buffers(void) { return count; }
"""


class HostModule:
    """The functions of `source`, MLIR text, for the processor `cpu`, any if empty."""

    def __init__(self, tools, source, options="", cpu=""):
        fad_opt, bin_dir, lib_dir, cxx = tools
        parallel = os.path.exists(os.path.join(lib_dir, "libomp.so"))
        self.directory = tempfile.TemporaryDirectory()
        path = lambda name: os.path.join(self.directory.name, name)
        tool = lambda name: os.path.join(bin_dir, name)
        with open(path("count.c"), "w") as file:
            file.write(COUNTER)
        options += "" if parallel else " parallel=false"
        passes = ["--llvm-request-c-wrappers", f"--fad-to-cpu={options}"]
        lowered = self.run([fad_opt, *passes], source)
        ir = self.run([tool("mlir-translate"), "--mlir-to-llvmir"], lowered)
        target = [f"-mcpu={cpu}", f"-mtriple={platform.machine()}-linux-gnu"] if cpu else []
        optimized = self.run([tool("opt"), "-O2", "-S", *target], ir)
        emit = ["-relocation-model=pic", "-filetype=obj", "-o", path("module.o")]
        self.run([tool("llc"), *emit, *target], optimized)
        self.run(
            [cxx, "-shared", "-fPIC", "-Wl,--wrap=malloc", "-Wl,--wrap=free"]
            + ["-o", path("module.so"), path("module.o")]
            + ["-x", "c", path("count.c")]
            + [f"-L{lib_dir}", f"-Wl,-rpath,{lib_dir}"]
            + ["-lmlir_c_runner_utils", "-lm"]
            + (["-lomp"] if parallel else [])
        )
        self.library = ctypes.CDLL(path("module.so"))

    @staticmethod
    def run(command, text=""):
        done = subprocess.run(command, input=text, text=True, capture_output=True)
        if done.returncode:
            raise SystemExit(f"{command[0]} failed:\n{done.stderr}")
        return done.stdout

    @property
    def live_buffers(self):
        return self.library.fad_live_buffers()

    def call(self, name, *arguments, results):
        """Calls function `name`. `results` gives the dtype and rank of each
        result. Arrays are passed as they are, Python numbers by value."""
        words = np.zeros(sum(3 + 2 * rank for _, rank in results), np.int64)
        keep = [descriptor(a) for a in arguments if isinstance(a, np.ndarray)]
        descriptors = iter(keep)
        packed = [words.ctypes.data_as(ctypes.c_void_p)] if results else []
        for argument in arguments:
            if isinstance(argument, np.ndarray):
                packed.append(next(descriptors).ctypes.data_as(ctypes.c_void_p))
            elif isinstance(argument, np.float32):
                packed.append(ctypes.c_float(argument))
            else:
                packed.append(ctypes.c_int64(argument))
        function = self.library["_mlir_ciface_" + name]
        function.restype = None
        function(*packed)
        return [self.take(words, at, *result) for at, result in offsets(results)]

    def take(self, words, at, dtype, rank):
        """Copies a result and frees its buffer."""
        allocated, aligned, offset = map(int, words[at : at + 3])
        sizes = words[at + 3 : at + 3 + rank]
        count = int(np.prod(sizes))
        dtype = np.dtype(dtype)
        address = aligned + offset * dtype.itemsize
        data = ctypes.string_at(address, count * dtype.itemsize)
        self.library["__wrap_free"](ctypes.c_void_p(allocated))
        return np.frombuffer(data, dtype).reshape(sizes)


def offsets(results):
    at = 0
    for dtype, rank in results:
        yield at, (dtype, rank)
        at += 3 + 2 * rank


def descriptor(array):
    """The memref descriptor of a contiguous array."""
    assert array.flags.c_contiguous
    strides = [stride // array.itemsize for stride in array.strides]
    words = [array.ctypes.data, array.ctypes.data, 0, *array.shape, *strides]
    return np.array(words, np.int64)
