"""Kernels of deferred sequences, which a thread compiles while operators run one by one."""

import atexit
import contextlib
import ctypes
import functools
import hashlib
import logging
import os
import re
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from ... import Nested, _fad
from ... import nest
from ..._module import Module, get_handle
from .._requirements import torch
from . import _device
from ._bodies import SequenceBody
from ._extension import cache_folder, library_path, load

_log = logging.getLogger("fad.torch.eager")

#: What the process has compiled, which is never freed: backward may call it.
_compiled: list[Any] = []


class _Gradient(NamedTuple):
    """Values from which the gradients of a sequence are computed."""

    #: Whether there is a kernel of the function `backward`.
    is_kernel: bool
    #: The numbers of the arguments of the value that it takes, before the cotangent.
    arguments: list[int]


def _nest(body: SequenceBody, name: str = "f") -> tuple[Nested, bool, _Gradient]:
    """Returns the value and its derivative; whether `forward` is a kernel of both of them, or of
    the value alone under `auto`; and the gradient. A result that is an argument, or the same as
    another one, has no kernel: memory of results is nobody else's."""
    policy = "fad" if body.policy == "fad" else "recompute"
    module = body.make_module(name)
    nested = nest(module, wrt=tuple(range(body.sources)), policy=policy)
    forward = get_handle(nested.module).returned(nested.forward)
    backward = get_handle(nested.module).returned(nested.backward)
    # Numbers from these on are those of values that are computed.
    first = len(nested.arguments)
    first_of_backward = len(nested.residuals) + len(nested.cotangents)
    if policy == "fad":
        is_kernel = len(forward) == 2 and first <= min(forward) < max(forward)
        return nested, is_kernel, _Gradient(False, [])
    value, *residuals = forward
    is_kernel = value >= first and all(residual < first for residual in residuals)
    is_gradient = len(set(backward)) == len(backward) and min(backward) >= first_of_backward
    return nested, is_kernel, _Gradient(is_kernel and is_gradient, residuals)


def _without_number(key: str) -> str:
    """Returns the key for all GPUs."""
    return re.sub(r"^(.* cuda):\d+$", r"\1", key, count=1, flags=re.MULTILINE)


def _compile(key: str) -> tuple[list[int], list[int]]:
    """Addresses of the code of the value, of value and derivative, and of gradients, and
    the numbers of the arguments that the last takes. An address is 0 where there is
    none."""
    body = SequenceBody(key)
    name = "f" if body.device is None else _device.name(_without_number(key))
    nested, is_kernel, gradient = _nest(body, name)
    if body.device is None:
        compile: Callable[[Any], Callable[[str], int]] = _compile_for_cpu
    else:
        compile = functools.partial(_device.compile, device=body.device)
    if body.policy == "fad":
        # Forward has the value and the derivative; the value alone is another program.
        value = compile(body.make_module(name))(name)
        # A derivative has the type of the value, which only a kernel of one type says.
        is_kernel = is_kernel and not body.is_mixed
        return [value, compile(nested)(nested.forward) if is_kernel else 0, 0], []
    if not is_kernel:
        return [0, 0, 0], []
    find = compile(nested)
    backward = find(nested.backward) if gradient.is_kernel else 0
    return [find(nested.forward), 0, backward], gradient.arguments


def _compile_for_cpu(program: Module | Nested) -> Callable[[str], int]:
    module = program.module if isinstance(program, Nested) else program
    kernels = _fad.compile_host_kernels(get_handle(module))
    _compiled.append(kernels)
    return kernels.address


def _folder() -> Any:
    """Returns where the sequences are that processes have met: which ones there will be, and no
    code. A changed code generator never gets code of another one from here. A text in this folder
    is compared with that of a sequence, and each process makes its own program of the sequence.
    Machine code comes from the cache of compiled code, whose key has that program, the processor,
    and the files of fad, LLVM and MLIR that the process has loaded (`describeBuild` in
    lib/Runtime/CompileCache.cpp)."""
    return cache_folder() / f"{library_path().stem}-sequences"


def _remember(key: str) -> None:
    folder = _folder()
    path = folder / hashlib.sha256(key.encode()).hexdigest()[:20]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            partial = path.with_suffix(f".{os.getpid()}")
            partial.write_text(key)
            os.replace(partial, path)
    except OSError:
        pass


# How many sequences of earlier processes are looked at, the last ones.
_RECALLED = 4096


def _recall(library: Any) -> None:
    try:
        paths = sorted(_folder().iterdir(), key=os.path.getmtime)[-_RECALLED:]
    except OSError:
        return
    for path in paths:
        # Others may have put files there.
        with contextlib.suppress(OSError, UnicodeDecodeError):
            library.fad_eager_expect(path.read_text().encode())


_said: set[str] = set()


def _work(library: Any) -> None:
    """Compiles what is asked for, until `_stop`."""
    while key := library.fad_eager_take_request().decode():
        addresses, arguments, problem = [0, 0, 0], [], ""
        try:
            addresses, arguments = _compile(key)
            _remember(_without_number(key))
        except Exception as error:
            problem = str(error)
        library.fad_eager_finish(
            key.encode(),
            (ctypes.c_size_t * 3)(*addresses),
            (ctypes.c_int64 * len(arguments))(*arguments),
            len(arguments),
        )
        if problem and problem not in _said:
            _said.add(problem)
            operators = "; ".join(key.split("\n"))
            _log.warning(
                "fad.torch.nest computes a sequence operator by operator, as fad has no kernel "
                "of %s: %s",
                operators,
                problem,
            )


@functools.cache
def _load() -> ctypes.CDLL:
    """Returns the extension, whose functions are called without Python's lock here."""
    load()
    library = ctypes.CDLL(str(library_path()))
    library.fad_eager_take_request.restype = ctypes.c_char_p
    library.fad_eager_count_compiled.restype = ctypes.c_int64
    library.fad_eager_expect.argtypes = [ctypes.c_char_p]
    library.fad_eager_finish.argtypes = [
        ctypes.c_char_p,
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_int64,
    ]
    return library


def start() -> None:
    """Starts the thread."""
    library = _load()
    # ROCm's devices have the same name.
    if torch.version.cuda:
        _device.use(library, "cuda")
    _recall(library)
    _start_thread()
    os.register_at_fork(after_in_child=_start_thread)
    atexit.register(_stop)


#: The thread of this process, which is not that of the process it was forked from.
_thread: threading.Thread | None = None


def _start_thread() -> None:
    global _thread
    _thread = threading.Thread(target=_work, args=(_load(),), daemon=True, name="fad-kernels")
    _thread.start()


def _stop() -> None:
    """Waits for the sequence that is being compiled, and compiles no others. Python ends the
    threads that remain by unwinding their stacks, and the process aborts where one of those
    is within C++."""
    _load().fad_eager_stop()
    if _thread is not None:
        _thread.join()


def wait() -> int:
    """Waits until no kernels are being compiled; returns how many sequences have some."""
    import time

    while (count := _load().fad_eager_count_compiled()) < 0:
        time.sleep(0.01)
    return count
