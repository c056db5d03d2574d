"""Tensors that a nested program saves and releases, operator by operator."""

from collections.abc import Callable
from typing import Any

from . import _state
from ._nest import nest


def trace(
    function: Callable[..., Any],
    *arguments: Any,
    policy: str = "fad",
    min_numel: int = 0,
    engine: str = "interactive",
) -> list[str]:
    """Calls a function with its operators nested, and returns a line for each that starts,
    continues or ends a sequence: its state, the components that were executed (A forward,
    B derivative, C end, D update), what it computed late, by the deferred engine, what it
    saved, what was kept, and what was released."""
    with nest(policy=policy, min_numel=min_numel, engine=engine):
        before = _state.exchange_traced(True)
        _state.take_trace()
        try:
            function(*arguments)
        finally:
            _state.exchange_traced(before)
        return _state.take_trace()
