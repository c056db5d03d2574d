"""Bytes as a reader has them: in a unit, and beside those of another column."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Unit(NamedTuple):
    """A number of bytes with its name, and the decimals of a number of units."""

    size: int
    name: str
    decimals: int

    def show(self, count: int | None) -> str:
        """`count` bytes in this unit; "-" where they are not known."""
        if count is None:
            return "-"
        least = 0 if self.decimals == 0 else 10**-self.decimals
        if 0 < count / self.size < least / 2:
            return f"<{least:g}"
        return f"{count / self.size:.{self.decimals}f}" if count else "0"


def choose_unit(sizes: Iterable[int | None]) -> Unit:
    """Returns the unit in which the largest of `sizes`, in bytes, is a number of 1 or more."""
    largest = max((size for size in sizes if size), default=0)
    for power, name in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if largest >= 2**power:
            return Unit(2**power, name, 1 if largest >= 10 * 2**power else 2)
    return Unit(1, "bytes", 0)


def show_milliseconds(seconds: float) -> str:
    """`seconds` in milliseconds, without the unit."""
    return f"{seconds * 1e3:.{1 if seconds >= 0.01 else 2}f}"


def show_bytes(count: int) -> str:
    """`count` bytes with their unit, as in "28.4 MiB"."""
    unit = choose_unit([count])
    return f"{unit.show(count)} {unit.name}"


def show_change(one: float, other: float | None) -> str:
    """Returns the difference of `one` from `other` in percent of `other`, as in " (-46%)"; empty
    where there is none."""
    if not other:
        return ""
    percent = round(100 * (one - other) / other)
    return f" ({percent:+d}%)" if percent else " (0%)"


def compare(verb: str, counts: Mapping[str, int | None]) -> str:
    """Returns a sentence with the bytes of each column, as in "fad keeps 28.4 MiB, torch.compile
    52.3 (-46%), eager 87.5 (-68%)": what the first of them has less than the others is in
    percent."""
    (name, first), *others = counts.items()
    unit = choose_unit(counts.values())
    parts = [f"{name} {verb} {unit.show(first)} {unit.name}"]
    for other, count in others:
        change = "" if first is None else show_change(first, count)
        parts.append(f"{other} {unit.show(count)}{change}")
    return ", ".join(parts)
