"""Descriptions of the values of a program."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._choices import suggest

Shape = tuple[int | None, ...]


@dataclass(frozen=True)
class ValueType:
    """The type of an argument or result.

    `shape` has None for each size that is known only when the program runs,
    and is itself None for a tensor without a rank. `dtype` is the name that
    numpy (with ml_dtypes, for bfloat16) has for the elements, or None where it
    has none. A scalar has the shape () and `is_scalar` set. `text` is the type
    as MLIR writes it."""

    text: str
    shape: Shape | None
    dtype: str | None
    is_scalar: bool = False

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Signature:
    """The types that a function takes and returns."""

    arguments: tuple[ValueType, ...]
    results: tuple[ValueType, ...]


def make_type(description: tuple[Any, ...]) -> ValueType:
    """Returns the type for a description that comes from C++."""
    text, shape, dtype, is_scalar = description
    return ValueType(text, shape, dtype or None, is_scalar)


def find_signature(signatures: Mapping[str, Signature], function: str, count: int) -> Signature:
    """Returns the signature of `function`, which is called with `count` arguments."""
    known = ", ".join(signatures) or "none"
    if not isinstance(function, str):
        raise TypeError(
            "the name of a function goes before the arguments, and what is given is a "
            f"{type(function).__name__}; the public functions are: {known}"
        )
    signature = signatures.get(function)
    if signature is None:
        hint = suggest(function, signatures)
        raise ValueError(f"there is no public function {function!r}, only {known}{hint}")
    expected = len(signature.arguments)
    if count != expected:
        types = ", ".join(map(str, signature.arguments)) or "none"
        noun = "argument" if expected == 1 else "arguments"
        raise TypeError(f"{function} takes {expected} {noun}, not {count}: {types}")
    return signature
