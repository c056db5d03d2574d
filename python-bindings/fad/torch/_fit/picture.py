"""The memory over a step as SVG, which no other package is needed for."""

import html
from collections.abc import Sequence

from ..._figures import choose_unit, show_bytes
from ..compile._step_memory import StepMemory, choose_series, find_places

_WIDTH, _HEIGHT = 900, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 600, 60, 380
_FONT = "font-family='Helvetica, Arial, sans-serif'"
_STATIC, _GRID, _TEXT = "#d1d9e0", "#afb8c1", "#1f2328"
# One for each module that has a color of its own, and one for all others.
_COLORS = (
    "#0969da", "#bf8700", "#1a7f37", "#cf222e", "#8250df",
    "#bc4c00", "#1b7c83", "#bf3989", "#6e7781", "#59636e",
)  # fmt: skip
# The name of a module has so many characters in the legend.
_NAME = 36


def draw_step(memory: StepMemory, static: int, title: str, limit: int | None) -> str:
    """Returns the picture: from below, the bytes that are there in any case, and those of each
    module, over forward and backward. A `limit` is a line."""
    series = choose_series(memory)
    places = find_places(memory)
    most = static + memory.bytes
    top = 1.05 * (max(most, limit) if limit and limit < 2 * most else most)
    unit = choose_unit([most])

    def place(x: float, count: float) -> tuple[float, float]:
        return (
            _LEFT + x / 2 * (_RIGHT - _LEFT),
            _BOTTOM - count / max(top, 1) * (_BOTTOM - _TOP),
        )

    lines = [
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{_WIDTH}' height='{_HEIGHT}' "
        f"viewBox='0 0 {_WIDTH} {_HEIGHT}' role='img'>",
        f"<title>{html.escape(title)}</title>",
        # Also readable on a page with a dark background.
        f"<rect width='{_WIDTH}' height='{_HEIGHT}' rx='8' fill='#ffffff'/>",
        _write(20, 30, title, size=16, weight="bold"),
        _write(_LEFT - 8, _TOP - 10, unit.name, anchor="end"),
    ]
    below = [float(static)] * len(places)
    lines.append(_fill(places, [0.0] * len(places), below, _STATIC, place))
    legend = [(_STATIC, "parameters, state, inputs", static)]
    for color, (name, counts) in zip(_COLORS, series.items()):
        above = [low + count for low, count in zip(below, counts)]
        lines.append(_fill(places, below, above, color, place))
        legend.append((color, name, round(counts[memory.peak])))
        below = above
    for number in range(5):
        count = most * number / 4
        y = place(0, count)[1]
        lines.append(f"<path d='M{_LEFT} {y:.1f}H{_RIGHT}' stroke='{_GRID}' stroke-width='.5'/>")
        lines.append(_write(_LEFT - 8, y + 4, unit.show(round(count)), anchor="end"))
    middle = place(1, 0)[0]
    lines.append(f"<path d='M{middle} {_TOP}V{_BOTTOM}' stroke='{_TEXT}' stroke-dasharray='4'/>")
    for x, name in ((0.5, "forward"), (1.5, "backward")):
        lines.append(_write(place(x, 0)[0], _BOTTOM + 20, name, anchor="middle"))
    if limit and limit <= top:
        y = place(0, limit)[1]
        lines.append(f"<path d='M{_LEFT} {y:.1f}H{_RIGHT}' stroke='#cf222e' stroke-width='2'/>")
        lines.append(_write(_RIGHT, y - 5, f"memory, {show_bytes(limit)}", anchor="end"))
    x, y = place(places[memory.peak] if places else 0, most)
    lines.append(f"<path d='M{x - 5:.1f} {y - 9:.1f}h10l-5 8z' fill='{_TEXT}'/>")
    lines.append(_write(_RIGHT + 20, _TOP - 10, f"at the peak, {show_bytes(most)}", weight="bold"))
    for number, (color, name, count) in enumerate(legend):
        y = _TOP + 12 + 22 * number
        lines.append(
            f"<rect x='{_RIGHT + 20}' y='{y - 10}' width='12' height='12' fill='{color}'/>"
        )
        name = name if len(name) <= _NAME else "..." + name[3 - _NAME :]
        lines.append(_write(_RIGHT + 40, y, f"{unit.show(count)}  {name}", size=12))
    return "\n".join([*lines, "</svg>", ""])


def _write(
    x: float, y: float, words: str, size: int = 13, anchor: str = "start", weight: str = "normal"
) -> str:
    return (
        f"<text x='{x:.1f}' y='{y:.1f}' {_FONT} font-size='{size}' text-anchor='{anchor}' "
        f"fill='{_TEXT}' font-weight='{weight}'>{html.escape(words)}</text>"
    )


def _fill(
    places: Sequence[float], low: Sequence[float], high: Sequence[float], color: str, place
) -> str:
    """Returns the area between two lines of steps."""
    edges = [*places[1:], 2.0]

    def go(counts: Sequence[float]) -> list[tuple[float, float]]:
        points: list[tuple[float, float]] = []
        for number, (begin, end, count) in enumerate(zip(places, edges, counts)):
            if number and counts[number - 1] == count:
                points[-1] = place(end, count)
            else:
                points += [place(begin, count), place(end, count)]
        return points

    outline = [*go(high), *reversed(go(low))]
    text = " ".join(f"{x:.1f},{y:.1f}" for x, y in outline)
    return f"<polygon points='{text}' fill='{color}'/>"
