"""The state of a thread: whether operators are nested, and how."""

import ctypes

from ._extension import load

_State = ctypes.c_int64 * 5
POLICIES = ("fad", "auto")


def get() -> tuple[int, ...]:
    """Whether the mode is on, the policy's number, the fewest elements, whether operators
    are traced, and the bits of derivatives that may be approximated, or 0."""
    state = _State()
    load().fad_eager_get(state)
    return tuple(state)


def replace(state: tuple[int, ...]) -> None:
    load().fad_eager_set(_State(*state))


def make(policy: str, min_numel: int, bits: int | None) -> ctypes.Array:
    """What `exchange` takes to turn the mode on."""
    return _State(1, POLICIES.index(policy), min_numel, 0, bits or 0)


def exchange(state: ctypes.Array) -> ctypes.Array:
    """Replaces the state but for the trace, and returns the one before."""
    before = _State()
    load().fad_eager_exchange(state, before)
    return before


def live_nodes() -> int:
    """How many nodes of nested sequences the process has."""
    return load().fad_eager_live_nodes()


def take_trace() -> list[str]:
    """The lines of the thread's trace since the last call."""
    return load().fad_eager_take_trace().decode().splitlines()
