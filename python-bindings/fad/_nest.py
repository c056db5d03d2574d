"""Differentiation."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import index
from typing import Any, TypeVar

import numpy as np

from . import _fad
from ._arrays import Array
from ._choices import Policy, Recompute, Target
from ._executable import get_compiled
from ._module import Module, get_handle
from ._policy import check_options
from ._types import Shape, ValueType, make_type


@dataclass(frozen=True)
class Value:
    """An argument or result of a function: its number among its kind, and its
    type. `shape` and `dtype` are those of the type."""

    index: int
    type: ValueType

    @property
    def shape(self) -> Shape | None:
        return self.type.shape

    @property
    def dtype(self) -> str | None:
        return self.type.dtype


@dataclass(frozen=True)
class Residual(Value):
    """A value that crosses from forward to backward: the primal operations
    whose adjoints read it, and why it is kept."""

    needed_by: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Cotangent(Value):
    """The cotangent of result `result` of the primal function."""

    result: int


@dataclass(frozen=True)
class Gradient(Value):
    """The gradient with respect to argument `argument` of the primal function,
    with the shape of that."""

    argument: int


@dataclass(frozen=True)
class Nested:
    """The result of `fad.nest` for a function: two functions in `module`.

    The function called `forward` takes `arguments` and returns `results` and
    then `residuals`. The one called `backward` takes `residuals` and then
    `cotangents`, each with the shape of its result, and returns `gradients`.

    `value, pullback = nested(x, w)` calls forward on arrays; `pullback(cotangent)` calls
    backward."""

    module: Module
    forward: str
    backward: str
    arguments: tuple[Value, ...]
    results: tuple[Value, ...]
    residuals: tuple[Residual, ...]
    cotangents: tuple[Cotangent, ...]
    gradients: tuple[Gradient, ...]

    def __call__(self, *arguments: object) -> tuple[Array | tuple[Array, ...], "Pullback"]:
        """Returns the value of the function for `arguments`, and its pullback, which computes
        gradients.

        The value is an array where the function has one result, else a tuple of arrays.
        Arguments and errors are as for `fad.run`."""
        values = get_compiled(self.module).call(self.forward, *arguments)
        count = len(self.results)
        value = values[0] if count == 1 else values[:count]
        return value, Pullback(self, values[count:])


@dataclass(frozen=True, eq=False, repr=False)
class Pullback:
    """The second result of `nested(...)`: the backward function, with the
    residuals of that call. It can be called several times. Residuals may be arguments of
    that call, which must not be written to before."""

    nested: Nested
    residuals: tuple[Array, ...]

    def __call__(self, *cotangents: object) -> tuple[Array, ...]:
        """Returns the gradients, in the order of `nested.gradients`, for a cotangent of each
        differentiated result. Without any, the cotangent of results of shape () is 1.

        Raises TypeError for a wrong number or type of cotangents, and ValueError for a
        wrong shape."""
        expected = self.nested.cotangents
        if not cotangents and all(each.shape == () for each in expected):
            cotangents = tuple(np.ones((), each.dtype) for each in expected)
        if len(cotangents) != len(expected):
            raise TypeError(
                "a pullback takes a cotangent for each differentiated result: "
                f"{len(expected)}, not {len(cotangents)}"
            )
        executable = get_compiled(self.nested.module)
        return executable.call(self.nested.backward, *self.residuals, *cotangents)


_Made = TypeVar("_Made", bound=Value)


def _make(kind: Callable[..., _Made], descriptions: Iterable[Any]) -> tuple[_Made, ...]:
    return tuple(
        kind(index, make_type(type_), *rest) for index, (type_, *rest) in enumerate(descriptions)
    )


def check_entry(entry: str | None) -> str:
    """Returns the name of a function for C++, where the empty one means the default."""
    if entry == "":
        raise ValueError("entry is empty; name a function, or None for the only one")
    if not isinstance(entry, str | None):
        raise TypeError(f"entry is a {type(entry).__name__}; name a function")
    return entry or ""


def check_numbers(numbers: Iterable[int] | None, name: str) -> list[int]:
    """Returns the numbers for C++, where none mean the default."""
    if numbers is None:
        return []
    try:
        checked = [index(number) for number in numbers]
    except TypeError:
        raise TypeError(f"{name} is {numbers!r}; list integers, such as [0]") from None
    if not checked:
        raise ValueError(f"{name} is empty, so there is nothing to differentiate")
    for number in checked:
        if abs(number) >= 2**31:
            raise ValueError(f"{name} has the number {number}, which is too large")
    return checked


def nest(
    module: Module,
    entry: str | None = None,
    wrt: Iterable[int] | None = None,
    policy: Policy = "auto",
    results: Iterable[int] | None = None,
    recompute: Recompute | None = None,
    assumed_size: int | None = None,
    derivative_bits: int | None = None,
    derivative_from_output: bool = False,
    residual_budget: int | str | None = None,
    peak_budget: int | str | None = None,
    target: Target | None = None,
) -> Nested:
    """Differentiates a function of `module`, which stays as it is.

    `entry` is the function, by default the only one with `fad.request` or else
    the only public one. `wrt` are the numbers of the arguments to
    differentiate with respect to, by default every tensor of floats; `results`
    are those of the results to differentiate, by default the same. `policy`
    says what backward gets from forward: what a tape saves ("bp"), what the
    activations were computed from ("recompute"), their derivatives ("fad"), or
    whatever takes the fewest bytes ("auto", the default).

    The other options are for "auto". `recompute` is what backward may compute again:
    "nothing", "elementwise" operations (the default), also "reductions", "all" but
    contractions, or "contractions", too. `assumed_size` stands for sizes that are known only
    when the program runs; the default is 128. `derivative_bits`, 1 to 8, is what
    bounded derivatives may be rounded to, and `derivative_from_output` whether the
    derivative of an activation with one minimum may be computed, approximately,
    from its result and one bit; without them, derivatives are exact. With
    `residual_budget`, a number of bytes or text such as "2GB", the choice is the one
    that takes the least time and no more bytes than that, rather than the fewest bytes.
    `peak_budget` bounds what forward and backward take at once, by an estimate:
    residuals, results, gradients and buffers, not arguments. `target`,
    "cpu" (the default) or "gpu", is the machine whose times decide.

    Raises fad.Error where fad cannot differentiate the function; it lists all
    operations that are in the way. Raises ValueError for a policy that there
    is not, for an option of another policy, and where `entry`, `wrt` or
    `results` is empty."""
    options = check_options(
        [policy],
        recompute=recompute,
        assumed_size=assumed_size,
        derivative_bits=derivative_bits,
        derivative_from_output=derivative_from_output,
        residual_budget=residual_budget,
        peak_budget=peak_budget,
        target=target,
    )
    handle, description = _fad.nest(
        get_handle(module),
        check_entry(entry),
        check_numbers(wrt, "wrt"),
        check_numbers(results, "results"),
        policy,
        options,
    )
    forward, backward, arguments, primal, residuals, cotangents, gradients = description
    return Nested(
        module=Module(handle),
        forward=forward,
        backward=backward,
        arguments=_make(Value, zip(arguments)),
        results=_make(Value, zip(primal)),
        residuals=_make(Residual, residuals),
        cotangents=_make(Cotangent, cotangents),
        gradients=_make(Gradient, gradients),
    )
