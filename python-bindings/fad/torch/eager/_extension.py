"""The extension that sees PyTorch's operators: the wheel's, where it has one for the
installed release, or else built at first use and kept in a folder of the user."""

import contextlib
import ctypes
import hashlib
import logging
import os
import pathlib
import platform
import re
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from typing import Any

from ..._places import cache_folder, find_compiler, name_compilers
from .._releases import is_tested, name_tested
from .._requirements import torch
from ._header import make_header
from ._pytorch import find_keys, pass_higher_order_operators

SOURCES = pathlib.Path(__file__).parent / "csrc"
#: The wheel's extensions, by the names of `library_path`.
PREBUILT = pathlib.Path(__file__).parent / "prebuilt"
#: Made of fad's table of operators.
_TABLE = "sequence/Operators.inc"
#: NDEBUG as in PyTorch's own builds: the checks of its headers take time in each call.
OPTIONS = "-O2 -g0 -DNDEBUG -std=c++20 -fPIC -fvisibility=hidden -shared -w".split()

_log = logging.getLogger("fad.torch.eager")


class ExtensionError(RuntimeError):
    """The extension cannot be built or used here. The message says what to do."""


@dataclass(frozen=True)
class _PyTorch:
    """A PyTorch that the extension is for: the folder of its package, its version and commit,
    and whether it has the newer ABI of the C++ library."""

    folder: pathlib.Path
    version: str
    commit: str
    has_new_abi: bool

    @staticmethod
    def installed() -> "_PyTorch":
        folder = pathlib.Path(torch.__file__).parent
        commit, has_new_abi = str(torch.version.git_version), torch.compiled_with_cxx11_abi()
        return _PyTorch(folder, torch.__version__, commit, has_new_abi)

    @staticmethod
    def unpacked(folder: pathlib.Path) -> "_PyTorch":
        """That of a wheel from PyPI."""
        try:
            text = (folder / "version.py").read_text()
        except OSError as error:
            raise ExtensionError(
                f"{folder} is not the folder torch of a wheel of PyTorch: {error}"
            ) from error
        found = dict(re.findall(r"^(__version__|git_version)\b.*= '(.*)'$", text, re.MULTILINE))
        return _PyTorch(folder, found["__version__"], found["git_version"], True)

    @property
    def release(self) -> str:
        """The version without "+cpu" and the like: one extension is for all of them."""
        return self.version.partition("+")[0]


def _check_release(pytorch: _PyTorch) -> None:
    """Refuses other releases: the extension uses classes of autograd whose layout differs from release to release."""
    if not is_tested(pytorch.version) and not os.environ.get("FAD_UNTESTED_TORCH"):
        raise ExtensionError(
            f"fad.torch.nest is tested with PyTorch {name_tested()}, and this is "
            f"{pytorch.version}; install a tested release, or set FAD_UNTESTED_TORCH=1 "
            "in the environment to try this one"
        )


def _read_sources() -> dict[str, bytes]:
    sources = {
        path.relative_to(SOURCES).as_posix(): path.read_bytes()
        for path in sorted(SOURCES.rglob("*"))
        if path.suffix in (".h", ".cpp")
    }
    return {**sources, _TABLE: make_header().encode()}


def _key(pytorch: _PyTorch) -> str:
    from ... import __version__

    digest = hashlib.sha256()
    parts = [pytorch.release, pytorch.commit, __version__]
    parts += [platform.machine(), str(pytorch.has_new_abi), *OPTIONS]
    for part in parts:
        digest.update(part.encode() + b"\0")
    for name, text in _read_sources().items():
        digest.update(name.encode() + b"\0" + text)
    return digest.hexdigest()[:20]


def library_path(pytorch: _PyTorch | None = None) -> pathlib.Path:
    """Returns where the extension for a PyTorch, the installed one by default, is or will be."""
    pytorch = pytorch or _PyTorch.installed()
    name = f"eager-torch{pytorch.release}-{_key(pytorch)}.so"
    prebuilt = PREBUILT / name
    return prebuilt if prebuilt.exists() else cache_folder() / name


def _find_compiler() -> str:
    if found := find_compiler():
        return found
    raise ExtensionError(
        f"fad.torch.nest builds an extension at its first use, and there is no C++ "
        f"compiler ({', '.join(name_compilers())}): install one, as in apt-get install g++, or name "
        "one in the environment variable CXX"
    )


def _find_libraries(pytorch: _PyTorch, compiler: str, folder: pathlib.Path) -> list[str]:
    """Returns the options that name PyTorch's libraries, which processes have loaded. Where there
    are headers alone, empty libraries of these names, in `folder`, do."""
    place, names = pytorch.folder / "lib", ("c10", "torch_cpu", "torch")
    if not place.exists():
        place = folder
        for name in names:
            file = f"lib{name}.so"
            options = ["-shared", "-x", "c", os.devnull, f"-Wl,-soname,{file}"]
            subprocess.run([compiler, *options, "-o", str(folder / file)], check=True)
    return [f"-L{place}", "-Wl,--no-as-needed", *(f"-l{name}" for name in names)]


def _command(
    pytorch: _PyTorch, compiler: str, source: pathlib.Path, target: pathlib.Path
) -> list[str]:
    headers = pytorch.folder / "include"
    includes = [source.parent, SOURCES, headers, headers / "torch/csrc/api/include"]
    return [
        compiler,
        *OPTIONS,
        f"-D_GLIBCXX_USE_CXX11_ABI={int(pytorch.has_new_abi)}",
        *(f"-I{path}" for path in includes),
        str(source),
        "-o",
        str(target),
        *_find_libraries(pytorch, compiler, source.parent),
    ]


def _compile(pytorch: _PyTorch, target: pathlib.Path) -> None:
    compiler = _find_compiler()
    # At a level that is shown by default: the process waits.
    _log.warning(
        "building the extension of fad.torch.nest for PyTorch %s (once, about half a minute): %s",
        pytorch.version,
        target,
    )
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        # One file takes the time of PyTorch's headers once.
        source, built = pathlib.Path(folder, "eager.cpp"), pathlib.Path(folder, "eager.so")
        names = [name for name in _read_sources() if name.endswith(".cpp")]
        source.write_text("".join(f'#include "{name}"\n' for name in names))
        table = pathlib.Path(folder, _TABLE)
        table.parent.mkdir()
        table.write_text(make_header())
        result = subprocess.run(
            _command(pytorch, compiler, source, built),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        if result.returncode:
            raise ExtensionError(
                f"{compiler} could not build the extension of fad.torch.nest for PyTorch "
                f"{pytorch.version}; it needs a compiler of C++20, which the environment "
                f"variable CXX may name. It printed:\n{result.stdout[-4000:]}"
            )
        # Another process sees the whole file or none.
        os.replace(built, target)


@contextlib.contextmanager
def _locked(path: pathlib.Path):
    """One process at a time builds."""
    import fcntl

    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def build(folder: pathlib.Path | None = None) -> pathlib.Path:
    """Builds the extension unless it is there, and returns its path. `folder` is the folder
    `torch` of another PyTorch's wheel, of which the headers and version.py are enough."""
    pytorch = _PyTorch.unpacked(folder) if folder else _PyTorch.installed()
    _check_release(pytorch)
    path = library_path(pytorch)
    if path.exists():
        return path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(path.with_suffix(".lock")):
            if not path.exists():
                _compile(pytorch, path)
    except OSError as error:
        raise ExtensionError(
            f"fad.torch.nest keeps its extension in {path.parent}, which failed ({error}); "
            "set FAD_CACHE_DIR to a folder that can be written"
        ) from error
    return path


_lock = threading.Lock()
_library: ctypes.PyDLL | None = None
# The error after which the library is there and of no use.
_failure: Exception | None = None


def load() -> ctypes.PyDLL:
    """Returns the extension's functions. Threads that ask at once get the same."""
    global _library
    if _library is None:
        with _lock:
            if _library is None:
                _library = _load()
    return _library


def _load() -> ctypes.PyDLL:
    global _failure
    if _failure:
        raise ExtensionError(
            "an earlier error has left fad.torch.nest half loaded "
            f"({type(_failure).__name__}: {_failure}); begin a new process"
        ) from _failure
    path = build()
    keys = find_keys()
    if keys is None:
        raise ExtensionError(
            "fad.torch.nest needs PyTorch's dispatch keys for tests, which another library "
            "of this process uses; do not load both"
        )
    library = ctypes.PyDLL(str(path))
    try:
        _prepare(library, path, keys)
    except Exception as error:
        # PyTorch keeps the library's kernels for the keys.
        _failure = error
        raise
    return library


def _prepare(library: ctypes.PyDLL, path: pathlib.Path, keys: list[Any]) -> None:
    # These may wait for a thread that waits for Python's lock, and so leave that.
    computing = ctypes.CDLL(str(path))
    for name in "fad_eager_compute_open", "fad_eager_compute_readers":
        function = getattr(computing, name)
        function.restype = ctypes.c_char_p
        setattr(library, name, function)
    library.fad_eager_compute_readers.argtypes = [ctypes.c_void_p]
    library.fad_eager_find.argtypes = [ctypes.c_int64] * 4
    library.fad_eager_take_trace.restype = ctypes.c_char_p
    library.fad_eager_live_values.restype = ctypes.c_int64
    library.fad_eager_live_values.argtypes = [ctypes.c_void_p]
    library.fad_eager_live_nodes.restype = ctypes.c_int64
    library.fad_eager_observe.argtypes = [ctypes.c_void_p]
    from ._garbage import watch
    from ._levels import register

    register()
    # An error before leaves PyTorch's operators as they are.
    pass_higher_order_operators(keys)
    watch(library)
