"""JSON with one record a line, in which a change of a figure is a change of one line."""

import json
from typing import Any


def holds_records(value: Any) -> bool:
    """Tells whether `value` has a dictionary in it, at any depth."""
    items = value.values() if isinstance(value, dict) else value
    return isinstance(value, dict | list) and any(
        isinstance(each, dict) or holds_records(each) for each in items
    )


def format_records(value: Any, margin: str = "") -> str:
    """Return `value` as JSON: each dictionary without another one in it, and each list of numbers
    or texts, stands in one line."""
    if not holds_records(value):
        return json.dumps(value)
    inner = margin + " "
    if isinstance(value, dict):
        items = [f"{json.dumps(key)}: {format_records(each, inner)}" for key, each in value.items()]
        begin, end = "{}"
    else:
        items, (begin, end) = [format_records(each, inner) for each in value], "[]"
    return f"{begin}\n{inner}" + f",\n{inner}".join(items) + f"\n{margin}{end}"
