"""The context in which a thread's operators are nested, and functions that enter it."""

import functools
import inspect
import threading
from collections.abc import Callable
from typing import Any

from ..._choices import suggest
from ..._policy import check_derivative_bits
from .._requirements import torch
from . import _deferred, _state
from ._extension import load


def _find_code(target: Callable[..., Any]) -> Any:
    """Returns the function that a call of `target` runs: for objects, `__call__` of the class."""
    is_function = inspect.isroutine(target) or isinstance(target, (type, functools.partial))
    return target if is_function else type(target).__call__


def is_generator(target: Callable[..., Any]) -> bool:
    return inspect.isgeneratorfunction(_find_code(target))


class Context:
    """While it is entered, the thread's operators are nested."""

    def __init__(
        self,
        policy: str,
        min_numel: int | None,
        derivative_bits: int | None = None,
        engine: str = "interactive",
    ) -> None:
        if policy not in _state.POLICIES:
            hint = suggest(policy, _state.POLICIES)
            raise ValueError(f'policy is "auto" or "fad", not {policy!r}{hint}')
        if min_numel is not None:
            if not isinstance(min_numel, int) or isinstance(min_numel, bool) or min_numel < 0:
                raise ValueError(f"min_numel is a number of elements, not {min_numel!r}")
            # The extension counts in 64 bits.
            min_numel = min(min_numel, 2**63 - 1)
        if engine not in _state.ENGINES:
            hint = suggest(engine, _state.ENGINES)
            raise ValueError(f'engine is "interactive" or "deferred", not {engine!r}{hint}')
        self.engine = engine
        self.policy, self.min_numel = policy, min_numel
        self.derivative_bits = check_derivative_bits(derivative_bits)
        # Threads enter it side by side.
        self._before: dict[int, list[int]] = {}

    @functools.cached_property
    def _entry(self) -> tuple[Callable[[int], int], int]:
        """The extension's function that exchanges states, and the state in which operators
        are nested. The first use may build the extension."""
        state = _state.find(*self.options)
        return load().fad_eager_exchange, state

    @property
    def options(self) -> tuple[str, int | None, int | None, str]:
        return self.policy, self.min_numel, self.derivative_bits, self.engine

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.options

    def __repr__(self) -> str:
        bits = f", derivative_bits={self.derivative_bits}" if self.derivative_bits else ""
        engine = ', engine="deferred"' if self.engine == "deferred" else ""
        return f"fad.torch.nest(policy={self.policy!r}, min_numel={self.min_numel}{bits}{engine})"

    def __enter__(self) -> "Context":
        if self.engine == "deferred":
            _deferred.prepare()
        exchange, state = self._entry
        before = exchange(state)
        try:
            self._compute_open(before, state)
        except BaseException:
            exchange(before)
            raise
        self._before.setdefault(threading.get_ident(), []).append(before)
        return self

    def __exit__(self, kind: Any = None, *_: object) -> None:
        thread = threading.get_ident()
        after = self._before[thread].pop()
        if not self._before[thread]:
            del self._before[thread]
        before = _state.exchange(after)
        try:
            self._compute_open(before, after)
        except RuntimeError:
            # The block's own exception says more.
            if kind is None:
                raise

    @staticmethod
    def _compute_open(before: int, after: int) -> None:
        """Outside of the mode, writes to what a sequence reads are not seen."""
        if _state.is_deferred(before) and not _state.is_deferred(after):
            _state.compute_open()

    def wrap(self, function: Callable[..., Any]) -> Callable[..., Any]:
        code = _find_code(function)
        if inspect.iscoroutinefunction(code) or inspect.isasyncgenfunction(code):
            raise TypeError(
                "nest takes no coroutines, which run after their call; use "
                "`with fad.torch.nest():` between two `await`s"
            )
        if is_generator(function):
            return self._wrap_generator(function)

        # Code that torch.compile traces has no sequences; it does not look into exchange().
        is_compiling = torch.compiler.is_compiling

        @functools.wraps(function)
        def deferred(*arguments: Any, **keywords: Any) -> Any:
            if is_compiling():
                return function(*arguments, **keywords)
            with Context(*self.options):
                return function(*arguments, **keywords)

        if self.engine == "deferred":
            return deferred

        @functools.wraps(function)
        def nested(*arguments: Any, **keywords: Any) -> Any:
            if is_compiling():
                return function(*arguments, **keywords)
            exchange, state = self._entry
            before = exchange(state)
            try:
                return function(*arguments, **keywords)
            finally:
                exchange(before)

        return nested

    def _wrap_generator(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Returns the mode is on between two yields, and off in the caller."""

        @functools.wraps(function)
        def nested(*arguments: Any, **keywords: Any) -> Any:
            generator = function(*arguments, **keywords)
            send, value = generator.send, None
            while True:
                try:
                    with Context(*self.options):
                        result = send(value)
                except StopIteration as stop:
                    return stop.value
                try:
                    value = yield result
                    send = generator.send
                except GeneratorExit:
                    generator.close()
                    raise
                except BaseException as error:
                    send, value = generator.throw, error

        return nested
