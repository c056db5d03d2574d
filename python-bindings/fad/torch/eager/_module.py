"""Modules whose forward is nested."""

import functools
import inspect
from typing import Any

from .._requirements import torch


@functools.cache
def _nested_class(kind: type, policy: str, min_numel: int) -> type:
    """A subclass of a module's class that nests `forward`."""

    def forward(self: Any, *arguments: Any, **keywords: Any) -> Any:
        from ._nest import Nest

        with Nest(policy, min_numel):
            return kind.forward(self, *arguments, **keywords)

    functools.update_wrapper(forward, kind.forward)

    def reduce(self: Any, protocol: Any = 2) -> Any:
        return _rebuild, (kind, policy, min_numel), _state_of(self)

    def fad_report(self: Any, *inputs: Any, **keywords: Any) -> Any:
        """What is kept for backward of each sequence of `model(*inputs, **keywords)`,
        and why: a `fad.torch.eager.NestReport`. The model runs forward once; buffers and
        random numbers are as before afterwards."""
        from ._report import report

        try:
            inspect.signature(kind.forward).bind(self, *inputs, **keywords)
        except TypeError as error:
            raise TypeError(
                "fad_report runs the model forward and reports of that: call it with what "
                f"the model takes, as in model.fad_report(x) ({error})"
            ) from None
        return report(self, *inputs, kwargs=keywords)

    def replicate(self: Any) -> Any:
        replica = kind._replicate_for_data_parallel(self)
        replica.__class__ = type(self)
        return replica

    return type(f"Nested{kind.__name__}", (kind,), {
        "__module__": kind.__module__,
        "__qualname__": f"Nested{kind.__qualname__}",
        "__doc__": kind.__doc__,
        "forward": forward,
        "fad_report": fad_report,
        "__reduce_ex__": reduce,
        "_replicate_for_data_parallel": replicate,
        "_fad_nested": (kind, policy, min_numel),
    })


def _state_of(module: torch.nn.Module) -> dict[str, Any]:
    getter = getattr(module, "__getstate__", None)
    state = getter() if getter is not None else None
    return module.__dict__.copy() if state is None else state


def _rebuild(kind: type, policy: str, min_numel: int) -> torch.nn.Module:
    made = _nested_class(kind, policy, min_numel)
    return made.__new__(made)


def nest_module(model: torch.nn.Module, policy: str, min_numel: int) -> torch.nn.Module:
    """A module of a subclass of the model's class, with the model's own attributes:
    parameters, hooks and modes of the one are those of the other."""
    if isinstance(model, torch.jit.ScriptModule):
        raise TypeError("fad.torch.nest(model) needs a module of Python; call a ScriptModule "
                        "inside of `with fad.torch.nest():`")
    if "forward" in model.__dict__:
        raise TypeError("fad.torch.nest(model): the model's forward was replaced on the "
                        "instance; call the model inside of `with fad.torch.nest():`")
    if model._compiled_call_impl is not None:
        raise TypeError("fad.torch.nest(model): model.compile() was called, after which "
                        "forward is not; nest the model first, or use "
                        'torch.compile(model, backend="fad")')
    kind = getattr(type(model), "_fad_nested", (type(model),))[0]
    made = _nested_class(kind, policy, min_numel)
    nested = made.__new__(made)
    object.__setattr__(nested, "__dict__", model.__dict__)
    return nested
