"""Reports as plain Python values, and as JSON."""

import json
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


class AsJson:
    """A report with `to_dict` and `to_json`."""

    def to_dict(self) -> dict[str, Any]:
        """Returns all of it as a dictionary of JSON's types: numbers, text, None, lists and
        dictionaries."""
        raise NotImplementedError

    def to_json(self) -> str:
        """Returns the result of `to_dict`, as JSON."""
        return json.dumps(self.to_dict(), indent=2)


class AsDict(AsJson):
    """A dataclass whose dictionary has its attributes."""

    # Fields that say again what others say.
    _left_out: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Returns the attributes as a dictionary of JSON's types: numbers, text, None, lists and
        dictionaries. Types are as MLIR writes them."""
        return _convert(self)
