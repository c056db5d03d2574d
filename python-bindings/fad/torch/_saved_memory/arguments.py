"""The arguments of a report: its own, and those of the model that it calls."""

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from ..._choices import suggest
from .._pytorch import has_hooks_on_arguments
from .._requirements import torch


def check_own(report: str, name: str, value: Any, types: tuple[type, ...], expected: str) -> None:
    """Raises TypeError where `value` is none of `types`: a model may have an argument of the
    same name as the report's."""
    if value is not None and not isinstance(value, types):
        raise TypeError(
            f"{name} of {report} is a {type(value).__name__}; give {expected}, or where the model "
            f"has an argument of this name, kwargs={{{name!r}: ...}}"
        )


def take_keywords(
    report: str,
    function: Callable,
    inputs: Sequence[Any],
    kwargs: Mapping[str, Any] | None,
    keywords: Mapping[str, Any],
    own: Collection[str] = (),
) -> dict[str, Any]:
    """Returns the keyword arguments of `function`, of which a report is given some in `kwargs` and
    others as its own `keywords`. Raises TypeError where `function` does not take them with
    `inputs`; `own` are the names of the report's other arguments."""
    check_own(report, "kwargs", kwargs, (Mapping,), "a mapping such as {'mask': mask}")
    kwargs = dict(kwargs or {})
    for name in keywords:
        if name in kwargs:
            raise TypeError(f"{report} is given {name!r} twice: by itself, and in kwargs")
    found = {**kwargs, **keywords}
    signature = _find_signature(function)
    if signature is None:
        return found
    try:
        signature.bind(*inputs, **found)
    except TypeError as error:
        unknown = [name for name in keywords if name not in signature.parameters]
        hint = suggest(unknown[0], [*own, *signature.parameters]) if unknown else ""
        raise TypeError(
            f"{report} runs the model forward: call it with what the model takes ({error}){hint}"
        ) from None
    return found


def _find_signature(function: Callable) -> inspect.Signature | None:
    """Returns the parameters of `function`; None where they are not known, or hooks change what it
    is called with."""
    if isinstance(function, torch.nn.Module):
        if has_hooks_on_arguments(function):
            return None
        function = function.forward
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None
