"""Descriptions of the values of a program."""

from dataclasses import dataclass
from typing import Any

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
    """The type for a description that comes from C++."""
    text, shape, dtype, is_scalar = description
    return ValueType(text, shape, dtype or None, is_scalar)
