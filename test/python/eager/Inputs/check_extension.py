"""Checks how the extension is built, with compilers that are no compilers.

Usage: check_extension.py FOLDER"""

import os
import pathlib
import subprocess
import sys
import threading
from unittest import mock

import torch
from checks import Checks, raises

from fad.torch.eager import _extension
from fad.torch.eager._extension import ExtensionError, build, library_path

folder = pathlib.Path(sys.argv[1])


def environment(**variables):
    return mock.patch.dict(os.environ, {"FAD_CACHE_DIR": str(folder / "cache"), **variables})


def write_compiler(name, script):
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def without_compiler():
    with environment(PATH=str(folder), CXX=""):
        return raises("install one, as in apt-get install g++", build)


def failing_compiler():
    with environment(CXX=write_compiler("fails", "echo no such header; exit 1")):
        return raises("no such header", build) and not library_path().exists()


def untested_release():
    with mock.patch.object(torch, "__version__", "1.13.1"), environment():
        return raises("install a tested release", build)


def no_folder():
    (folder / "file").write_text("")
    with environment(FAD_CACHE_DIR=str(folder / "file")):
        return raises("set FAD_CACHE_DIR", build)


def one_build():
    """Two threads and one compiler, which counts its runs."""
    log = folder / "log"
    script = f'echo run >> {log}; sleep 0.2; while [ "$1" != -o ]; do shift; done; echo > "$2"'
    found = []
    with environment(CXX=write_compiler("counts", script)):
        threads = [threading.Thread(target=lambda: found.append(build())) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        leftover = [path.suffix for path in library_path().parent.iterdir()]
    return (
        log.read_text() == "run\n"
        and found == [found[0]] * 2
        and sorted(leftover) == [".lock", ".so"]
    )


def prebuilt():
    """A wheel's extension needs no compiler, and no other release takes it."""
    with environment(PATH=str(folder), CXX=""):
        there = folder / "prebuilt" / library_path().name
        there.parent.mkdir()
        there.write_text("")
        with mock.patch.object(_extension, "PREBUILT", there.parent):
            found = build() == there
            with mock.patch.object(torch.version, "git_version", "another"):
                return found and raises("there is no C++ compiler", build)


def key_of_sources():
    """A source that changes is another extension."""
    before = library_path()
    with mock.patch.object(_extension, "_read_sources", lambda: {"a.cpp": b"other"}):
        return library_path() != before


def core_without_torch():
    """The core imports where there is no PyTorch."""
    code = "import sys; sys.modules['torch'] = None; import fad; print(fad.__version__)"
    return subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL).returncode == 0


check = Checks()
for part in (
    without_compiler,
    failing_compiler,
    untested_release,
    no_folder,
    one_build,
    prebuilt,
    key_of_sources,
    core_without_torch,
):
    check(part.__name__, part)
check("an error of its own", lambda: issubclass(ExtensionError, RuntimeError))
check.finish()
