"""The state of a thread: whether operators are nested, and how."""

import ctypes
import threading

from .._requirements import torch
from ._extension import load

POLICIES = ("fad", "auto")
ENGINES = ("interactive", "deferred")


class State(ctypes.Structure):
    """The state of a thread: whether the mode is on, the number of the policy, the fewest
    elements, whether operators are traced, the bits of derivatives that may be
    approximated, or 0, and whether sequences are deferred."""

    _fields_ = [
        (name, ctypes.c_int64)
        for name in ("is_on", "policy", "min_numel", "is_traced", "bits", "is_deferred")
    ]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and bytes(self) == bytes(other)


def get() -> State:
    state = State()
    load().fad_eager_get(ctypes.byref(state))
    return state


def replace(state: State) -> None:
    load().fad_eager_set(ctypes.byref(state))


def make(policy: str, min_numel: int, bits: int | None, engine: str) -> State:
    """What `exchange` takes to turn the mode on."""
    return State(1, POLICIES.index(policy), min_numel, 0, bits or 0, ENGINES.index(engine))


def exchange(state: State) -> State:
    """Replaces the state but for the trace, and returns the one before."""
    before = State()
    load().fad_eager_exchange(ctypes.byref(state), ctypes.byref(before))
    return before


def is_deferred(state: State) -> bool:
    return bool(state.is_on and state.is_deferred)


def _raise(message: bytes | None) -> None:
    if message is not None:
        raise RuntimeError(message.decode())


def compute_open() -> None:
    """Computes what the thread's deferred sequences have left open."""
    _raise(load().fad_eager_compute_open())


def compute_readers(tensor: torch.Tensor) -> None:
    """Computes what deferred sequences of all threads read the memory of `tensor` for."""
    _raise(load().fad_eager_compute_readers(tensor._cdata))


_lock = threading.Lock()
_is_prepared = False


def prepare_deferred() -> None:
    """What the deferred engine needs once in a process."""
    global _is_prepared
    if _is_prepared:
        return
    with _lock:
        if not _is_prepared:
            from . import _exports, _kernels

            load().fad_eager_watch_writes()
            _exports.watch()
            _kernels.start()
            _is_prepared = True


def live_nodes() -> int:
    """How many nodes of nested sequences the process has."""
    return load().fad_eager_live_nodes()


def live_values(tensor: torch.Tensor | None = None) -> int:
    """How many values of deferred sequences the process has that are not computed; or
    whether `tensor` is one of them."""
    return load().fad_eager_live_values(tensor._cdata if tensor is not None else None)


def take_trace() -> list[str]:
    """The lines of the thread's trace since the last call."""
    return load().fad_eager_take_trace().decode().splitlines()
