"""Differentiation."""

from dataclasses import dataclass
from typing import List, Optional, Sequence, Tuple

from . import _fad
from ._module import Module
from ._types import Shape, ValueType, make_type


@dataclass(frozen=True)
class Value:
    """An argument or result of a function: its number and its type."""

    index: int
    type: ValueType

    @property
    def shape(self) -> Optional[Shape]:
        return self.type.shape

    @property
    def dtype(self) -> Optional[str]:
        return self.type.dtype


@dataclass(frozen=True)
class Cotangent(Value):
    """The cotangent of result `result` of the primal function."""

    result: int


@dataclass(frozen=True)
class Gradient(Value):
    """The gradient with respect to argument `argument` of the primal function."""

    argument: int


@dataclass(frozen=True)
class Nested:
    """A function, differentiated.

    `forward` takes `arguments` and returns `results` and then `residuals`;
    `backward` takes `residuals` and then `cotangents` and returns
    `gradients`."""

    module: Module
    forward: str
    backward: str
    arguments: Tuple[Value, ...]
    results: Tuple[Value, ...]
    residuals: Tuple[Value, ...]
    cotangents: Tuple[Cotangent, ...]
    gradients: Tuple[Gradient, ...]


def _number(make, descriptions):
    return tuple(
        make(index, make_type(type_), *rest)
        for index, (type_, *rest) in enumerate(descriptions)
    )


def _numbers(numbers: Optional[Sequence[int]], name: str) -> List[int]:
    """Numbers for C++, where none are the default."""
    if numbers is not None and not numbers:
        raise ValueError(f"{name} is empty, so there is nothing to differentiate")
    return list(numbers or ())


def nest(
    module: Module,
    entry: Optional[str] = None,
    wrt: Optional[Sequence[int]] = None,
    policy: str = "fad",
    results: Optional[Sequence[int]] = None,
) -> Nested:
    """Differentiates a function of `module`, which stays as it is."""
    handle, description = _fad.nest(
        module._handle,
        entry or "",
        _numbers(wrt, "wrt"),
        _numbers(results, "results"),
        policy,
    )
    forward, backward, arguments, primal, residuals, cotangents, gradients = description
    return Nested(
        module=Module(handle),
        forward=forward,
        backward=backward,
        arguments=_number(Value, [(each,) for each in arguments]),
        results=_number(Value, [(each,) for each in primal]),
        residuals=_number(Value, [(each,) for each in residuals]),
        cotangents=_number(Cotangent, cotangents),
        gradients=_number(Gradient, gradients),
    )
