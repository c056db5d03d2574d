"""Modules whose forward is nested."""

import functools
import sys
from collections.abc import Mapping
from typing import Any

from .._pytorch import has_compiled_call
from .._requirements import torch
from .._saved_memory.arguments import take_keywords
from ._context import Context, is_generator
from ._pytorch import Replicable, find_parametrizations


class NestedModule(Replicable):
    """Attributes of classes of nested modules in front of the model's class."""

    #: The model's class, and what `nest` was called with.
    _fad_nested: tuple[Any, ...]

    def __init_subclass__(cls) -> None:
        """Does nothing: the model's class is not told of a subclass: it may keep a list of them, or
        demand arguments."""

    def __getattr__(self, name: str) -> Any:
        """Returns the modules share their attributes, and not their classes, where a
        parametrization of the model puts a property."""
        try:
            return super().__getattr__(name)
        except AttributeError:
            parametrizations = find_parametrizations(self)
            if name not in parametrizations:
                raise
        return parametrizations[name]()

    def fad_report(
        self, /, *inputs: Any, kwargs: Mapping[str, Any] | None = None, **keywords: Any
    ) -> Any:
        """Returns the tensors kept for backward of each sequence of `model(*inputs, **kwargs,
        **keywords)`, and why: a `fad.torch.eager.NestReport`. The model runs forward once; buffers
        and random numbers are as before afterwards."""
        from ._report import report

        keywords = take_keywords("fad_report", self, inputs, kwargs, keywords, ("kwargs",))
        return report(self, *inputs, kwargs=keywords)

    def __reduce_ex__(self, protocol: Any = 2) -> Any:
        return _rebuild, self._fad_nested, _state_of(self)


@functools.cache
def _nested_class(kind: type, *options: Any) -> type:
    """Returns a subclass of a module's class that nests `forward`."""

    def forward(self: Any, *arguments: Any, **keywords: Any) -> Any:
        return kind.forward(self, *arguments, **keywords)

    def generate(self: Any, *arguments: Any, **keywords: Any) -> Any:
        return (yield from kind.forward(self, *arguments, **keywords))

    body = functools.wraps(kind.forward)(generate if is_generator(kind.forward) else forward)
    return type(
        f"Nested{kind.__name__}",
        (NestedModule, kind),
        {
            "__module__": kind.__module__,
            "__qualname__": f"Nested{kind.__qualname__}",
            "__doc__": kind.__doc__,
            "forward": Context(*options).wrap(body),
            "_fad_nested": (kind, *options),
        },
    )


def _state_of(module: Any) -> dict[str, Any]:
    getter = getattr(module, "__getstate__", None)
    state = getter() if getter is not None else None
    return module.__dict__.copy() if state is None else state


def _rebuild(kind: type, *options: Any) -> torch.nn.Module:
    made = _nested_class(kind, *options)
    return made.__new__(made)


def nest_module(model: torch.nn.Module, *options: Any) -> torch.nn.Module:
    """Returns a module of a subclass of the model's class, with the model's own attributes:
    parameters, hooks and modes of the one are those of the other. `options` are what `Context`
    takes."""
    if isinstance(model, torch.jit.ScriptModule):
        raise TypeError(
            "fad.torch.nest(model) needs a module of Python; call a ScriptModule "
            "inside of `with fad.torch.nest():`"
        )
    if "forward" in model.__dict__:
        raise TypeError(
            "fad.torch.nest(model): the model's forward was replaced on the "
            "instance; call the model inside of `with fad.torch.nest():`"
        )
    if has_compiled_call(model):
        raise TypeError(
            "fad.torch.nest(model): model.compile() was called, after which "
            "forward is not; nest the model first, or use "
            'torch.compile(model, backend="fad")'
        )
    if isinstance(model, torch.nn.modules.lazy.LazyModuleMixin):
        raise TypeError(
            "fad.torch.nest(model): the model has parameters without a shape, and changes "
            "its class with its first input; call it once, and nest it then"
        )
    slots = sorted(
        {
            name
            for base in type(model).__mro__
            for name in [base.__dict__.get("__slots__", ())]
            for name in ([name] if isinstance(name, str) else name)
        }
        - {"__dict__", "__weakref__"}
    )
    if slots:
        raise TypeError(
            f"fad.torch.nest(model): the model has attributes in __slots__ ({', '.join(slots)}), "
            "which modules do not share; call it inside of `with fad.torch.nest():`"
        )
    fsdp = sys.modules.get("torch.distributed.fsdp")
    if fsdp is not None and isinstance(model, fsdp.FSDPModule):
        raise TypeError(
            "fad.torch.nest(model): fully_shard was called on the model, and its "
            "state belongs to that object; nest the model first, and call "
            "fully_shard on what nest returns"
        )
    kind = getattr(type(model), "_fad_nested", (type(model),))[0]
    nested = _rebuild(kind, *options)
    object.__setattr__(nested, "__dict__", model.__dict__)
    return nested
