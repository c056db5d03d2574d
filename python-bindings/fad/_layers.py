"""Equal layers of a model as one row.

The modules of a layer have its number in their names, as in "h.3.mlp". Rows whose names differ
in such numbers alone, and whose figures are equal, are those of equal layers."""

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

_Row = TypeVar("_Row")


def mask(name: str) -> str:
    """`name` without the numbers of layers, as in "h.*.mlp"."""
    return ".".join("*" if part.isdecimal() else part for part in name.split("."))


def group_rows(
    rows: Iterable[_Row], name: Callable[[_Row], str], figures: Callable[[_Row], Hashable]
) -> list[list[_Row]]:
    """Groups of rows with equal `figures`, of layers that are equal by their `name`, in the
    order of the first row of each."""
    groups: dict[Hashable, list[tuple[int, _Row]]] = {}
    for place, row in enumerate(rows):
        groups.setdefault((mask(name(row)), figures(row)), []).append((place, row))
    parts = [part for group in groups.values() for part in _split(group, name)]
    return [[row for _, row in part] for part in sorted(parts, key=lambda part: part[0][0])]


def _split(
    group: list[tuple[int, _Row]], name: Callable[[_Row], str]
) -> list[list[tuple[int, _Row]]]:
    """`group` as groups, in each of which every number occurs with all numbers of the other
    places: "0.1" and "1.0" are no equal layers without "0.0" and "1.1"."""
    names = [name(row).split(".") for _, row in group]
    counts = [len(set(parts)) for parts in zip(*names)]
    if len(set(map(tuple, names))) == math.prod(counts):
        return [group]
    last = max(place for place, count in enumerate(counts) if count > 1)
    parts: dict[str, list[tuple[int, _Row]]] = {}
    for each, found in zip(group, names):
        parts.setdefault(found[last], []).append(each)
    return [small for part in parts.values() for small in _split(part, name)]


def label(names: Sequence[str]) -> str:
    """Returns the names of a group's rows as one, as in "h.0-23.mlp (x 24)"; the model itself has
    the empty name."""
    joined = ".".join(_join(parts) for parts in zip(*(name.split(".") for name in names)))
    return (joined or "(model)") + (f" (x {len(names)})" if len(names) > 1 else "")


def _join(parts: Sequence[str]) -> str:
    """Returns the numbers of layers, as in "0-23" or "0,2,..,46"; a part of all names is itself."""
    different = set(parts)
    if len(different) == 1:
        return parts[0]
    numbers = sorted(map(int, different))
    if numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"{numbers[0]}-{numbers[-1]}"
    listed = list(map(str, numbers))
    return ",".join(listed if len(listed) <= 3 else [*listed[:2], "..", listed[-1]])
