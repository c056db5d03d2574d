"""Kernels of deferred sequences on NVIDIA GPUs."""

import ctypes
import functools
import hashlib
import pathlib
import re
from collections.abc import Callable
from typing import Any

from ... import _fad
from ..._module import Module, get_handle
from ..._nest import Nested

#: What the extension has addresses of, which is never freed: backward may launch it.
_kept: list[Any] = []


class _Kernel(ctypes.Structure):
    """`DeviceKernel` of the extension."""

    _fields_ = (
        ("aligned", ctypes.c_void_p),
        ("unaligned", ctypes.c_void_p),
        ("threads", ctypes.c_int64),
        ("tile", ctypes.c_int64),
        ("parameters", ctypes.POINTER(ctypes.c_int64)),
        ("parameter_count", ctypes.c_int64),
    )


@functools.cache
def _runtime() -> ctypes.CDLL:
    library = ctypes.CDLL(str(pathlib.Path(_fad.__file__).parent / "libfad_cuda_runtime.so"))
    library.fadCudaGetErrorMessage.restype = ctypes.c_char_p
    return library


def _check(status: int) -> None:
    if status:
        raise RuntimeError(_runtime().fadCudaGetErrorMessage().decode(errors="replace"))


def use(library: ctypes.CDLL, type: str) -> None:
    """Lets the extension launch kernels on devices of a type, whose pointers and streams
    are those of the CUDA driver."""
    runtime = _runtime()
    names = "fadCudaLaunch", "fadCudaStreamIsCapturing", "fadCudaGetErrorMessage"
    addresses = (ctypes.cast(getattr(runtime, name), ctypes.c_void_p) for name in names)
    library.fad_eager_set_driver(type.encode(), *addresses)


def name(key: str) -> str:
    """Returns the name of a sequence's kernels, which profilers show."""
    operators = "_".join(line.split()[0].split(".")[0] for line in key.split("\n")[1:])
    return f"{re.sub(r'[^a-z0-9_]', '', operators)[:48]}_{hashlib.sha256(key.encode()).hexdigest()[:8]}"


def _choose_chip(device: int) -> str:
    major, minor = ctypes.c_int(), ctypes.c_int()
    _check(_runtime().fadCudaGetComputeCapability(device, ctypes.byref(major), ctypes.byref(minor)))
    return _fad.choose_chip(major.value, minor.value)


def compile(program: Module | Nested, device: int) -> Callable[[str], int]:
    """Compiles the functions of a program for a GPU and loads them there. What is returned
    has the address of a function's kernel."""
    module = program.module if isinstance(program, Nested) else program
    handle = _fad.compile_kernels(get_handle(module), _choose_chip(device))
    image = _fad.kernel_image(handle)
    runtime, loaded = _runtime(), ctypes.c_void_p()
    _check(runtime.fadCudaSetDevice(device))
    _check(runtime.fadCudaModuleLoad(image, ctypes.c_size_t(len(image)), ctypes.byref(loaded)))

    def find(function: str) -> int:
        name, threads, tile, parameters = _fad.kernel(handle, function)
        numbers = (ctypes.c_int64 * len(parameters))(*parameters)
        kernel = _Kernel(None, None, threads, tile, numbers, len(parameters))
        for field, suffix in ("aligned", ""), ("unaligned", "_unaligned"):
            found = ctypes.c_void_p()
            symbol = f"{name}{suffix}".encode()
            _check(runtime.fadCudaModuleGetFunction(loaded, symbol, ctypes.byref(found)))
            setattr(kernel, field, found)
        _kept.append((kernel, numbers))
        return ctypes.addressof(kernel)

    return find
