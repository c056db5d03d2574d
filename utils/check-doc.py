#!/usr/bin/env python3
"""Runs the commands of a documentation page and compares what it shows.

Each block fenced as `sh` is run by bash, in order, in one scratch folder that
has the checkout's files. Each block fenced as `python` is run there by the Python
that runs this script; later blocks know the names of earlier ones. A block fenced
as `mlir output` or `text output` has to be what the commands before it printed, if
they were run, and one fenced as `LANGUAGE from FILE` what that file says; a line
`...` stands for any lines. Blocks fenced as `sh cuda` need a CUDA toolkit and are run
with --cuda; those fenced as `python torch` or `sh torch` need PyTorch, torch-mlir and IREE and
are run with --torch; those fenced as `sh install` are not run here, because they install
packages, nor those fenced as `sh gpu`, because they need one. What takes long is fenced as
`sh nightly`, and run with --nightly."""

import argparse
import contextlib
import io
import os
import pathlib
import re
import shlex
import subprocess
import sys

FENCE = re.compile(r"^```(.*)$")


def read_blocks(page):
    """Yields (line number, info string, text) for each fenced block."""
    info, start, lines = None, 0, []
    for number, line in enumerate(page.read_text().splitlines(), 1):
        fence = FENCE.match(line)
        if not fence:
            lines.append(line)
        elif info is None:
            info, start, lines = fence[1], number, []
        else:
            yield start, info, lines
            info = None


def find_chunk(chunk, lines, begin):
    """Returns where `chunk` ends in `lines`, not before `begin`; None if nowhere."""
    for i in range(begin, len(lines) - len(chunk) + 1):
        if lines[i : i + len(chunk)] == chunk:
            return i + len(chunk)
    return None


def normalize(lines):
    return [" ".join(line.split()) for line in lines if line.strip()]


def missing_chunk(shown, printed):
    """Returns the first lines of `shown` that `printed` lacks, or None."""
    position, chunk = 0, []
    for line in normalize(shown) + ["..."]:
        if line != "...":
            chunk.append(line)
            continue
        position = find_chunk(chunk, printed, position)
        if position is None:
            return chunk
        chunk = []
    return None


def run_python(lines, where, folder, names):
    """Runs a block that begins after line `where` says; returns its output."""
    page, number = where.rsplit(":", 1)
    # Tracebacks are to name lines of the page.
    code = compile("\n" * int(number) + "\n".join(lines), page, "exec")
    output, back = io.StringIO(), os.getcwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(output):
            exec(code, names)
    finally:
        os.chdir(back)
    return output.getvalue()


def check(page, folder, tools, shell, runnable, runnable_python):
    environment = dict(os.environ)
    if tools:
        # Commands of Python packages are next to Python.
        folders = [str(tools), os.path.dirname(sys.executable), os.environ["PATH"]]
        environment["PATH"] = ":".join(folders)
        environment["FAD_PLUGIN"] = str(tools.parent / "lib" / "fad-plugin.so")
    printed, names = [], {"__name__": "__main__"}
    for number, info, lines in read_blocks(page):
        where = f"{page}:{number}"
        if info in runnable:
            command = "\n".join(lines)
            print(f"{where}: {command}", flush=True)
            run = subprocess.run(
                [*shell, "bash", "-euo", "pipefail", "-c", command],
                cwd=folder,
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
            )
            print(run.stdout)
            if run.returncode:
                sys.exit(f"{where}: exit status {run.returncode}")
            printed = normalize(run.stdout.splitlines())
        elif info in runnable_python:
            print(f"{where}:", *lines, sep="\n", flush=True)
            output = run_python(lines, where, folder, names)
            print(output)
            printed = normalize(output.splitlines())
        elif info.partition(" ")[0] in ("sh", "python"):
            # Nothing that is known was printed.
            printed = None
        elif info.endswith(" output") and printed is not None:
            chunk = missing_chunk(lines, printed)
            if chunk is not None:
                sys.exit(f"{where}: not printed:\n" + "\n".join(chunk))
        elif " from " in info:
            file = folder / info.split(" from ")[1]
            chunk = missing_chunk(lines, normalize(file.read_text().splitlines()))
            if chunk is not None:
                sys.exit(f"{where}: not in {file}:\n" + "\n".join(chunk))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument(
        "--tools",
        type=lambda path: pathlib.Path(path).resolve(),
        help="folder of fad's programs; by default, the PATH has them",
    )
    parser.add_argument(
        "--shell",
        type=shlex.split,
        default=[],
        help="a command in front of each command of bash, such as one that changes its environment",
    )
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--cuda", action="store_true")
    parser.add_argument("--torch", action="store_true")
    parser.add_argument("--nightly", action="store_true")
    options = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parent.parent
    options.folder.mkdir(parents=True)
    for name in ("benchmarks", "docs", "examples", "include", "lib", "test", "utils"):
        (options.folder / name).symlink_to(root / name)
    runnable = ["sh"] + ["sh cuda"] * options.cuda + ["sh nightly"] * options.nightly
    runnable += ["sh torch"] * options.torch
    python = ["python", "python torch"] if options.torch else ["python"]
    check(options.page, options.folder, options.tools, options.shell, runnable, python)


if __name__ == "__main__":
    main()
