#!/usr/bin/env python3
"""Draws what a BERT saves between forward and backward, and the time of its steps: in eager
PyTorch, and under torch.compile with PyTorch's partitioner and with fad's. The figures are those
that benchmarks/compile/torch_compile.py measured; the picture is SVG, made by this script alone,
so that the same figures give the same file."""

import argparse
import html
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
MIB = 1 << 20
MODEL = "bert"
TITLE = "Saved by BERT for backward, MiB"
SUBTITLE = "{layers} layers of width {width}, {batch} texts of {length} tokens in f32, dropout"

# A bar for each: the name in the figures, what a reader calls it, and whose it is.
BARS = [
    ("eager", "PyTorch, eager", "torch"),
    ("inductor", "torch.compile, as it is", "torch"),
    ("budget-0.5", "torch.compile, memory budget 0.5", "torch"),
    ("aggressive", "torch.compile, aggressive recomputation", "torch"),
    ("auto", 'torch.compile(backend="fad")', "fad"),
]
COLORS = {"torch": "#8c959f", "fad": "#0969da"}
WIDTH, LEFT, TOP, STEP, BAR = 800, 330, 78, 32, 20
FONT = "font-family='Helvetica, Arial, sans-serif'"


def read(path):
    """The sizes of the model and, for each bar, (name, whose, MiB, time of a step as a ratio to
    that of torch.compile)."""
    model = json.loads(path.read_text())["models"][MODEL]
    own = model["configurations"]
    bars = [(name, whose, own[key]["saved"] / MIB, own[key]["ratio"]) for key, name, whose in BARS]
    return model["sizes"], bars


def text(x, y, words, size=14, anchor="start", color="#1f2328", weight="normal"):
    return (
        f"<text x='{x:g}' y='{y:g}' {FONT} font-size='{size}' text-anchor='{anchor}' "
        f"fill='{color}' font-weight='{weight}'>{html.escape(words)}</text>"
    )


def draw(sizes, bars):
    """The picture of `bars`, as text."""
    height = TOP + STEP * len(bars) + 14
    scale = (WIDTH - LEFT - 160) / max(size for _, _, size, _ in bars)
    lines = [
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{WIDTH}' height='{height}' "
        f"viewBox='0 0 {WIDTH} {height}' role='img'>",
        f"<title>{html.escape(TITLE)}</title>",
        # Also readable on a page with a dark background.
        f"<rect width='{WIDTH}' height='{height}' rx='8' fill='#ffffff'/>",
        text(20, 32, TITLE, size=18, weight="bold"),
        text(20, 54, SUBTITLE.format(**sizes), size=13, color="#59636e"),
    ]
    for number, (name, whose, size, ratio) in enumerate(bars):
        y = TOP + STEP * number
        weight = "bold" if number == len(bars) - 1 else "normal"
        lines += [
            text(LEFT - 10, y + BAR * 0.75, name, anchor="end", weight=weight),
            f"<rect x='{LEFT}' y='{y}' width='{size * scale:.1f}' height='{BAR}' rx='3' "
            f"fill='{COLORS[whose]}'/>",
            text(LEFT + size * scale + 8, y + BAR * 0.75, f"{size:.1f}", weight=weight),
            text(WIDTH - 20, y + BAR * 0.75, f"{ratio:.2f} of the time", anchor="end", size=13),
        ]
    return "\n".join([*lines, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--figures",
        type=pathlib.Path,
        default=ROOT / "benchmarks" / "results" / "torch_compile.json",
    )
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs" / "images" / "bert.svg")
    options = parser.parse_args()
    options.out.write_text(draw(*read(options.figures)))


if __name__ == "__main__":
    main()
