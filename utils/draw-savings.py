#!/usr/bin/env python3
"""Draws the peak of a step of a Llama against its time: under torch.compile as it is, with
PyTorch's settings and with checkpoints as points, and with fad and its budgets as a line. The
figures are those that benchmarks/compile/language_models.py measured; the picture is SVG, made by
this script alone, so that the same figures give the same file."""

import argparse
import html
import itertools
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
GIB = 1 << 30
MODEL = "llama"
TITLE = "Memory at the peak of a training step, against its time"
SUBTITLE = (
    "Llama, {parameters:.2f} billion parameters, {batch} x {length} tokens, bfloat16 autocast, on "
    "one {device}"
)

# A point for each: the name in the figures, its label, and on which side of it that stands.
STOCK = [
    ("inductor", "torch.compile", "right"),
    ("aggressive", "aggressive recomputation", "right"),
    ("budget-0.5", "memory budget 0.5", "right"),
    ("budget-0.2", "memory budget 0.2", "right"),
    ("checkpoint-inductor", "checkpointed layers", "right"),
]
FAD = [
    ("fad", 'backend="fad"', "below"),
    ("fad-0.6", "fad.budget=0.6", "below"),
    ("fad-0.3", "fad.budget=0.3", "below"),
]
COLORS = {"stock": "#59636e", "fad": "#0969da", "text": "#1f2328", "grid": "#d1d9e0"}
WIDTH, HEIGHT = 800, 406
LEFT, RIGHT, TOP, BOTTOM = 70, 190, 84, 370
FONT = "font-family='Helvetica, Arial, sans-serif'"


def read(path):
    """Returns the setting, the sizes of the model, and (milliseconds, GiB) of each
    configuration."""
    data = json.loads(path.read_text())
    model = data["models"][MODEL]
    points = {
        name: (each["seconds"] * 1e3, each["peak"] / GIB)
        for name, each in model["configurations"].items()
    }
    return data["setting"], model["sizes"], points


def count_parameters(sizes):
    """Returns those of a Llama whose inner width is 11/4 of its width."""
    width, layers = sizes["width"], sizes["layers"]
    layer = 4 * width**2 + 3 * width * (11 * width // 4) + 2 * width
    return layers * layer + 2 * sizes["tokens"] * width + width


def text(x, y, words, size=13, anchor="start", color=COLORS["text"], weight="normal"):
    return (
        f"<text x='{x:.1f}' y='{y:.1f}' {FONT} font-size='{size}' text-anchor='{anchor}' "
        f"fill='{color}' font-weight='{weight}'>{html.escape(words)}</text>"
    )


def place_labels(placed):
    """(x, y) of each label beside its point. Raises ValueError where two labels overlap."""
    boxes = []
    for (x, y), label, side in placed:
        width = 7.2 * len(label)
        left, middle = (x + 10, y) if side == "right" else (x - width / 2, y + 18)
        boxes.append((left, middle - 8, left + width, middle + 8))
    for (a, one), (b, other) in itertools.combinations(zip(boxes, placed), 2):
        if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]:
            raise ValueError(f"the labels {one[1]!r} and {other[1]!r} overlap")
    sides = [side for _, _, side in placed]
    return [
        (left if side == "right" else (left + right) / 2, (top + bottom) / 2 + 4.5)
        for side, (left, top, right, bottom) in zip(sides, boxes)
    ]


def draw(setting, sizes, points):
    """Returns the picture, as text."""
    named = {name: points[name] for name, _, _ in [*STOCK, *FAD]}
    low = min(time for time, _ in named.values()) // 5 * 5
    high = max(time for time, _ in named.values())
    most = int(max(peak for _, peak in named.values())) + 1

    def place(point):
        x = LEFT + (point[0] - low) / (high - low) * (WIDTH - LEFT - RIGHT)
        return x, BOTTOM - point[1] / most * (BOTTOM - TOP)

    subtitle = SUBTITLE.format(
        **sizes, parameters=count_parameters(sizes) / 1e9, device=setting["device"]
    )
    lines = [
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{WIDTH}' height='{HEIGHT}' "
        f"viewBox='0 0 {WIDTH} {HEIGHT}' role='img'>",
        f"<title>{html.escape(TITLE)}</title>",
        # Also readable on a page with a dark background.
        f"<rect width='{WIDTH}' height='{HEIGHT}' rx='8' fill='#ffffff'/>",
        text(20, 32, TITLE, size=18, weight="bold"),
        text(20, 54, subtitle, color=COLORS["stock"]),
    ]
    for peak in range(most + 1):
        y = place((low, peak))[1]
        lines.append(f"<path d='M{LEFT} {y:.1f}H{WIDTH - 20}' stroke='{COLORS['grid']}'/>")
        lines.append(text(LEFT - 8, y + 4.5, f"{peak}", anchor="end"))
    for time in range(int(low), int(high) + 1, 5):
        lines.append(text(place((time, 0))[0], BOTTOM + 20, f"{time}", anchor="middle"))
    lines.append(text(LEFT - 8, TOP - 14, "GiB", anchor="end"))
    lines.append(text(WIDTH - 20, BOTTOM + 20, "milliseconds a step", anchor="end"))
    line = " ".join("{:.1f},{:.1f}".format(*place(named[name])) for name, _, _ in FAD)
    lines.append(
        f"<polyline points='{line}' fill='none' stroke='{COLORS['fad']}' stroke-width='2.5'/>"
    )
    labeled = [*STOCK, *FAD]
    centers = [place(named[name]) for name, _, _ in labeled]
    places = place_labels([(c, label, side) for c, (_, label, side) in zip(centers, labeled)])
    for center, (x, y), each in zip(centers, places, labeled):
        color = COLORS["fad" if each in FAD else "stock"]
        lines.append(f"<circle cx='{center[0]:.1f}' cy='{center[1]:.1f}' r='5' fill='{color}'/>")
        anchor = "start" if each[2] == "right" else "middle"
        weight = "bold" if each in FAD else "normal"
        lines.append(text(x, y, each[1], anchor=anchor, color=color, weight=weight))
    return "\n".join([*lines, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--figures",
        type=pathlib.Path,
        default=ROOT / "benchmarks" / "results" / "language_models_h100.json",
    )
    parser.add_argument(
        "--out", type=pathlib.Path, default=ROOT / "docs" / "images" / "budgets.svg"
    )
    options = parser.parse_args()
    options.out.write_text(draw(*read(options.figures)))


if __name__ == "__main__":
    main()
