"""The state of a thread: whether operators are nested, and how."""

import functools

from .._requirements import torch
from ._extension import load
from ._pytorch import find_address

POLICIES = ("fad", "auto")
ENGINES = ("interactive", "deferred")
#: The bits of a state's number.
IS_ON, IS_DEFERRED = 1, 2


def get() -> int:
    """Returns the state of a thread as a number, which the extension gives it: whether operators
    are nested, and what `nest` was called with."""
    return load().fad_eager_get()


@functools.cache
def find(policy: str, min_numel: int | None, bits: int | None, engine: str) -> int:
    """Returns the state in which operators are nested as `nest` was told."""
    return load().fad_eager_find(
        POLICIES.index(policy),
        -1 if min_numel is None else min_numel,
        bits or 0,
        ENGINES.index(engine),
    )


def exchange(state: int) -> int:
    """Replaces the state, and returns the one before."""
    return load().fad_eager_exchange(state)


def is_on(state: int) -> bool:
    return bool(state & IS_ON)


def is_deferred(state: int) -> bool:
    return is_on(state) and bool(state & IS_DEFERRED)


def exchange_traced(is_traced: bool) -> bool:
    """Replaces whether the thread's operators are traced."""
    return bool(load().fad_eager_exchange_traced(is_traced))


def _raise(message: bytes | None) -> None:
    if message is not None:
        raise RuntimeError(message.decode())


def compute_open() -> None:
    """Computes what the thread's deferred sequences have left open."""
    _raise(load().fad_eager_compute_open())


def compute_readers(tensor: torch.Tensor) -> None:
    """Computes what deferred sequences of all threads read the memory of `tensor` for."""
    _raise(load().fad_eager_compute_readers(find_address(tensor)))


def live_nodes() -> int:
    """Returns how many nodes of nested sequences the process has."""
    return load().fad_eager_live_nodes()


def live_values(tensor: torch.Tensor | None = None) -> int:
    """Returns how many values of deferred sequences the process has that are not computed; or
    whether `tensor` is one of them."""
    return load().fad_eager_live_values(find_address(tensor) if tensor is not None else None)


def take_trace() -> list[str]:
    """Returns the lines of the thread's trace since the last call."""
    return load().fad_eager_take_trace().decode().splitlines()
