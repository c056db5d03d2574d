"""Compiles the kernels of each file in examples/ffn under a policy to PTX,
assembles them for sm_90, and prints the names of the kernels. Fails where a
kernel is refused or spills registers.

  compile_kernels.py SOURCE-ROOT TOOLS PTXAS FOLDER POLICY [--every]

Without --every, of three files one is compiled.
"""

import glob
import os
import re
import subprocess
import sys

source, tools, ptxas, folder, policy, *every = sys.argv[1:]


def compile(path):
    """The file with the PTX of the kernels of `path`."""
    name = os.path.splitext(os.path.basename(path))[0]
    binary = os.path.join(folder, f"{name}-{policy}.mlir")
    ptx = os.path.join(folder, f"{name}-{policy}.ptx")
    subprocess.run(
        [
            os.path.join(tools, "fad-opt"),
            path,
            f"--fad-nest=policy={policy}",
            "--fad-to-nvvm=chip=sm_90",
            "-o",
            binary,
        ],
        check=True,
    )
    subprocess.run(
        [
            os.path.join(tools, "fad-translate"),
            "--gpu-binary-to-ptx",
            binary,
            "-o",
            ptx,
        ],
        check=True,
    )
    return ptx


files = sorted(glob.glob(os.path.join(source, "examples", "ffn", "*.mlir")))
if not every:
    files = files[::3]
for path in files:
    ptx = compile(path)
    text = open(ptx).read()
    assert ".extern" not in text, ptx
    subprocess.run(
        [
            sys.executable,
            os.path.join(source, "utils", "kernel-registers.py"),
            ptx,
            f"--ptxas={ptxas}",
            "--no-spills",
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    kernels = sorted(re.findall(r"\.entry (\w+)\(", text))
    print(f"{os.path.basename(ptx)}: {' '.join(kernels)}")
