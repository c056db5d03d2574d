"""Runs functions with --target=cuda on the driver for tests, whose kernels are loops of the
host, and on the host, and prints the largest difference and which kernels ran.

usage: cuda.py FILE SIZE FOLDER TOOLS LLVM_TOOLS DRIVER FUNCTION..."""

import os
import pathlib
import re
import subprocess
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "utils"))
from gpu_on_host import build_for_driver

DUMP = (
    "--fad-to-cuda=chip=sm_90",
    "--mlir-disable-threading",
    "--mlir-print-ir-after=fad-launch-kernels",
    "--mlir-print-ir-module-scope",
)


def run(*command, text=None, error=False):
    done = subprocess.run(
        [str(part) for part in command], input=text, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(done.stderr[:2000])
    return done.stderr if error else done.stdout


def compile_kernels(file, functions, folder, tools, llvm_tools):
    """A library with the kernels of `functions`, under the names that they have in
    fad-runner, where functions have names of their own."""
    source = re.sub(rf"@({'|'.join(functions)})\(", r"@\1.fad(", file.read_text())
    opt = tools / "fad-opt"
    program = run(opt, "-", *DUMP, "-o", os.devnull, text=source, error=True)
    build_for_driver(program, folder / "kernels.so", tools, llvm_tools)
    return folder / "kernels.so"


def read(folder):
    return [numpy.load(path).astype("f8") for path in sorted(folder.iterdir())]


def main():
    file, size, folder, tools, llvm_tools, driver, *functions = sys.argv[1:]
    file, folder, tools, llvm_tools = map(pathlib.Path, (file, folder, tools, llvm_tools))
    folder.mkdir(parents=True)
    library = compile_kernels(file, functions, folder, tools, llvm_tools)
    for function in functions:
        place = folder / function
        place.mkdir()
        runner = [tools / "fad-runner", file, f"--entry={function}", f"--size={size}"]
        run(*runner, f"--out={place / 'cpu'}")
        os.environ.update(
            FAD_CUDA_DRIVER=driver,
            FAD_FAKE_CUDA_KERNELS=str(library),
            FAD_FAKE_CUDA_LOG=str(place / "log"),
        )
        run(*runner, "--target=cuda", f"--out={place / 'cuda'}")
        del os.environ["FAD_CUDA_DRIVER"]
        log = (place / "log").read_text()
        kernels = re.findall(rf"cuLaunchKernel {function}_fad_(\w+)", log)
        is_close = True
        for expected, found in zip(read(place / "cpu"), read(place / "cuda"), strict=True):
            assert expected.shape == found.shape
            # NaN and infinities have to be the same.
            is_close &= numpy.allclose(found, expected, rtol=4e-6, atol=4e-6, equal_nan=True)
        print(function, "close" if is_close else "differs", *kernels)


main()
