"""Checks how the extension is built, with compilers that are no compilers.

Usage: check_extension.py FOLDER"""

import contextlib
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest
from unittest import mock

import torch
from checks import Checks, raises

from fad.torch.eager import _extension, _garbage, _levels, _pytorch
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
    logged = unittest.TestCase().assertLogs("fad.torch.eager", "WARNING")
    with environment(CXX=write_compiler("counts", script)), logged as logs:
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
        and len(logs.output) == 1
        and "building the extension of fad.torch.nest for PyTorch" in logs.output[0]
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


def for_cpus_and_gpus():
    """The builds of one release take one file."""
    with mock.patch.object(torch, "__version__", "2.13.0+cpu"):
        path = library_path()
    with mock.patch.object(torch, "__version__", "2.13.0+cu130"):
        same = library_path()
    with mock.patch.object(torch, "__version__", "2.12.1+cu130"):
        other = library_path()
    is_named = path.name.startswith("eager-torch2.13.0-") and "-torch2.12.1-" in other.name
    return is_named and same == path != other


def write_headers():
    """The part of a wheel of PyTorch that has no libraries."""
    root = pathlib.Path(torch.__file__).parent
    headers = pathlib.Path(tempfile.mkdtemp(dir=folder))
    (headers / "include").symlink_to(root / "include")
    (headers / "version.py").write_bytes((root / "version.py").read_bytes())
    return headers


def of_headers():
    """Headers alone are as good as the installed PyTorch."""
    script = 'while [ "$1" != -o ]; do shift; done; echo > "$2"'
    with environment(
        CXX=write_compiler("writes", script), FAD_CACHE_DIR=str(folder / "of-headers")
    ):
        return build(write_headers()) == library_path() and library_path().exists()


def linked_to_headers():
    """A library that is linked without PyTorch's own finds them in a process."""
    pytorch = _extension._PyTorch.unpacked(write_headers())
    source, built = folder / "reads.cpp", folder / "reads.so"
    source.write_text(
        "#include <c10/core/DeviceType.h>\n"
        'extern "C" __attribute__((visibility("default"))) '
        'int reads() { return c10::DeviceTypeName(c10::kCPU, true) == "cpu"; }\n'
    )
    compiler = _extension._find_compiler()
    subprocess.run(_extension._command(pytorch, compiler, source, built), check=True)
    needed = [name for name in (b"libc10.so", b"libtorch_cpu.so") if name in built.read_bytes()]
    return len(needed) == 2 and ctypes.CDLL(str(built)).reads() == 1


def no_headers():
    return raises("is not the folder torch of a wheel of PyTorch", lambda: build(folder))


def key_of_sources():
    """A source that changes is another extension."""
    before = library_path()
    with mock.patch.object(_extension, "_read_sources", lambda: {"a.cpp": b"other"}):
        return library_path() != before


@contextlib.contextmanager
def unprepared(**effects):
    """A library that is not loaded yet, without code. Mocks of the functions that loading calls,
    some with effects."""
    mocks = {
        name: mock.Mock(side_effect=effects.get(name)) for name in ("register", "pass", "watch")
    }
    with (
        mock.patch.object(_extension, "build", lambda: folder / "eager.so"),
        mock.patch.object(_extension.ctypes, "PyDLL"),
        mock.patch.object(_extension.ctypes, "CDLL"),
        mock.patch.object(_levels, "register", mocks["register"]),
        mock.patch.object(_extension, "pass_higher_order_operators", mocks["pass"]),
        mock.patch.object(_garbage, "watch", mocks["watch"]),
        mock.patch.object(_extension, "_library", None),
        mock.patch.object(_extension, "_failure", None),
    ):
        yield mocks


def half_loaded():
    """After an error behind the library, whose kernels stay, the cause is named each time."""
    with unprepared(register=ValueError("no operators")):
        try:
            _extension.load()
            return False
        except ValueError:
            return raises("ValueError: no operators); begin a new process", _extension.load)


def error_before_changes():
    """An error leaves PyTorch's operators and Python's collections as they are."""
    called = []
    for failing in "register", "pass":
        with unprepared(**{failing: ValueError("no operators")}) as mocks:
            if not raises("no operators", _extension.load):
                return False
            called.append([name for name in mocks if mocks[name].called])
    return called == [["register"], ["register", "pass"]]


def keys_of_others():
    """Each of the two keys is asked for."""
    keys = _pytorch.find_keys()
    for used in keys:
        with mock.patch.object(torch._C, "_dispatch_has_backend_fallback", lambda key: key == used):
            if _pytorch.find_keys() is not None:
                return False
    # One operator of another library.
    for name in _pytorch._KEYS:
        library = torch.library.Library("aten", "IMPL")
        library.impl("sin", lambda x: x, name)
        found = _pytorch.find_keys()
        library._destroy()
        if found is not None or _pytorch.find_keys() != keys:
            return False
    return len(keys) == 2


def exports_after_error():
    """None of PyTorch's functions is replaced where one cannot be."""
    functions = torch._C._to_dlpack, torch._C._to_dlpack_versioned, torch.utils.dlpack.to_dlpack

    def replace(function):
        if function is torch.utils.dlpack.to_dlpack:
            raise ValueError("no replacement")
        return lambda *arguments: function(*arguments)

    try:
        _pytorch.replace_exports(replace)
    except ValueError:
        now = torch._C._to_dlpack, torch._C._to_dlpack_versioned, torch.utils.dlpack.to_dlpack
        return now == functions
    return False


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
    for_cpus_and_gpus,
    of_headers,
    linked_to_headers,
    no_headers,
    key_of_sources,
    half_loaded,
    error_before_changes,
    keys_of_others,
    exports_after_error,
    core_without_torch,
):
    check(part.__name__, part)
check("an error of its own", lambda: issubclass(ExtensionError, RuntimeError))
check.finish()
