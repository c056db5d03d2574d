"""Reports as plain Python values."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from ._types import ValueType


def _convert(value: Any) -> Any:
    if isinstance(value, ValueType):
        return value.text
    if is_dataclass(value):
        left_out = getattr(value, "_left_out", ())
        return {
            field.name: _convert(getattr(value, field.name))
            for field in fields(value)
            if field.name not in left_out
        }
    if isinstance(value, Mapping):
        return {key: _convert(each) for key, each in value.items()}
    if isinstance(value, (tuple, list)):
        return [_convert(each) for each in value]
    return value


class AsDict:
    """A dataclass with `to_dict`."""

    # Fields that say again what others say.
    _left_out: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The attributes as a dictionary of what JSON has: numbers, text, None, lists and
        dictionaries. Types are as MLIR writes them."""
        return _convert(self)
