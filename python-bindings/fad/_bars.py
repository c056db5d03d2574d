"""Horizontal bars by module, which fit a screen."""

from collections.abc import Mapping
from typing import Any

from ._figures import choose_unit
from ._layers import group_rows, label

# At most so many rows, with names of so many characters.
_ROWS, _NAME = 16, 44


def make_axes(rows: int | None = None) -> Any:
    """Axes of a new figure, whose height is for so many rows of bars."""
    from matplotlib.figure import Figure

    size = None if rows is None else (9, 1.5 + 0.4 * rows)
    return Figure(figsize=size, layout="constrained").add_subplot()


def shorten(name: str) -> str:
    """Returns the end of a long `name`."""
    return name if len(name) <= _NAME else "..." + name[3 - _NAME :]


def list_bars(sums: Mapping[str, Mapping[str, int]]) -> list[tuple[str, list[int]]]:
    """Returns the rows of bars: a name, and the bytes of each column, of which `sums` has those by
    module.

    Equal layers are one row. Where that leaves too many rows, so are all layers whose names
    differ in numbers alone, and then the smallest rows."""
    modules = dict.fromkeys(module for each in sums.values() for module in each)

    def count(module: str) -> tuple[int, ...]:
        return tuple(each.get(module, 0) for each in sums.values())

    groups = group_rows(modules, str, count)
    if len(groups) > _ROWS:
        groups = group_rows(modules, str, lambda module: None)
    rows = [(label(names), [sum(each) for each in zip(*map(count, names))]) for names in groups]
    if len(rows) > _ROWS:
        order = sorted(range(len(rows)), key=lambda place: -max(rows[place][1]))
        rest = [rows[place][1] for place in order[_ROWS - 1 :]]
        rows = [rows[place] for place in sorted(order[: _ROWS - 1])]
        rows.append((f"others (x {len(rest)})", [sum(each) for each in zip(*rest)]))
    return [(shorten(name), counts) for name, counts in rows]


def draw_bars(sums: Mapping[str, Mapping[str, int]], axes: Any = None) -> Any:
    """Draws the rows of `list_bars`, in each of which every column has a bar, and returns the
    axes."""
    rows = list_bars(sums)
    axes = make_axes(len(rows)) if axes is None else axes
    width = 0.8 / max(1, len(sums))
    unit = choose_unit(count for _, counts in rows for count in counts)
    for number, name in enumerate(sums):
        places = [row - 0.4 + (number + 0.5) * width for row in range(len(rows))]
        lengths = [counts[number] / unit.size for _, counts in rows]
        axes.barh(places, lengths, width, label=name)
    axes.set_yticks(range(len(rows)), [name for name, _ in rows])
    axes.invert_yaxis()
    axes.set_xlabel(f"kept for backward, {unit.name}")
    if any(sums):
        axes.legend()
    return axes
