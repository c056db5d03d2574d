#!/usr/bin/env python3
"""Installs a wheel of fad into a new environment of each Python that takes it, and runs the
lines of the README there: those of the tools, and with PyTorch those of training.

Usage: try-wheel.py [--torch REQUIREMENT] WHEEL PYTHON...

REQUIREMENT is what pip installs as PyTorch, such as torch==2.13.0. The extension of
fad.torch.nest has to be in the wheel: there is no compiler on the PATH."""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Its gradients are those of eager PyTorch.
EXAMPLE = ROOT / "test/Package/Inputs/run_example.py"


def find_tool_lines(page):
    """Commands of the wheel's tools; LLVM's own are not in it."""
    for text in re.findall(r"^```sh\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL):
        if "fad-" in text and "mlir-opt" not in text:
            yield text


class Environment:
    def __init__(self, python, folder):
        self.bin = folder / "env/bin"
        self.folder = folder
        # Commands of the system, without compilers.
        commands = folder / "commands"
        commands.mkdir()
        for name in ("bash", "cat", "grep", "sed", "awk", "head", "sort", "rm", "mkdir"):
            (commands / name).symlink_to(f"/usr/bin/{name}")
        self.variables = {
            "PATH": f"{self.bin}:{commands}",
            "HOME": str(folder),
            **{
                name: value
                for name, value in os.environ.items()
                if name.startswith(("PIP_", "SSL_", "LD_", "OPENBLAS_"))
            },
        }
        self._run([python, "-m", "venv", folder / "env"])
        (folder / "examples").symlink_to(ROOT / "examples")

    def _run(self, command):
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if done.returncode:
            sys.exit(f"{' '.join(map(str, command))}:\n{done.stdout[-4000:]}")
        return done.stdout

    def install(self, *requirements):
        self._run([self.bin / "python", "-m", "pip", "install", "--quiet", *requirements])

    def python(self, *arguments):
        return self._run([self.bin / "python", *arguments])

    def shell(self, lines):
        return self._run(["bash", "-euo", "pipefail", "-c", lines])


def try_wheel(wheel, python, torch):
    """Returns what was done."""
    with tempfile.TemporaryDirectory() as name:
        environment = Environment(python, pathlib.Path(name))
        environment.install(wheel)
        done = [environment.python("-m", "fad", "--version").strip()]
        lines = list(find_tool_lines(ROOT / "README.md"))
        for text in lines:
            environment.shell(text)
        done.append(f"{len(lines)} fences of the README")
        if torch:
            environment.install(torch)
            version = environment.python("-c", "import torch; print(torch.__version__)").strip()
            extension = environment.python("-m", "fad.torch.eager").strip()
            if "/prebuilt/" not in extension:
                sys.exit(f"the extension for PyTorch {version} is not in {wheel.name}: {extension}")
            done += [f"PyTorch {version}", pathlib.Path(extension).name]
            # Inductor compiles C++.
            environment.variables["PATH"] += f":{os.environ['PATH']}"
            done.append(environment.python(EXAMPLE, ROOT / "README.md", "torch").splitlines()[-1])
    return ", ".join(done)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--torch", metavar="REQUIREMENT", help="PyTorch to try, too")
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("pythons", nargs="+")
    options = parser.parse_args()
    for python in options.pythons:
        start = time.monotonic()
        done = try_wheel(options.wheel.resolve(), python, options.torch)
        print(f"{options.wheel.name} in {python}: {done} ({time.monotonic() - start:.0f} s)")


if __name__ == "__main__":
    main()
