#!/usr/bin/env python3
"""Draws what BERT-base keeps between forward and backward: by eager PyTorch, by the
partitioner of torch.compile, and by fad. The figures are those that
benchmarks/residuals/saved_bytes.py measured; the picture is SVG, made by this script
alone, so that the same figures give the same file."""

import argparse
import html
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
MIB = 1 << 20
NETWORK, ACTIVATION = "bert-base", "gelu"
TITLE = "What BERT-base keeps for backward, MiB a sample"
SUBTITLE = "a training step on 128 tokens in f32, with GELU and dropout; beside weights and inputs"

# A bar for each: the name in the figures, what a reader calls it, and whose it is.
BARS = [
    ("eager", "PyTorch, eager", "torch"),
    ("inductor-min-cut", "torch.compile, as it is", "torch"),
    ("inductor-budget-0.5", "torch.compile, memory budget 0.5", "torch"),
    ("inductor-aggressive", "torch.compile, aggressive recomputation", "torch"),
    ("fad", "fad, the paper\N{RIGHT SINGLE QUOTATION MARK}s policy: derivatives", "fad"),
    ("auto-elementwise", "fad, default policy: auto", "fad"),
]
COLORS = {"torch": "#8c959f", "fad": "#0969da"}
WIDTH, LEFT, TOP, STEP, BAR = 800, 330, 78, 32, 20
FONT = "font-family='Helvetica, Arial, sans-serif'"


def read_bars(path):
    """Yields (name, whose, MiB a sample) for each bar."""
    for row in json.loads(path.read_text())["rows"]:
        if (row["network"], row["activation"]) == (NETWORK, ACTIVATION):
            for key, name, whose in BARS:
                yield name, whose, row["bytes"][key] / row["batch"] / MIB


def text(x, y, words, size=14, anchor="start", color="#1f2328", weight="normal"):
    return (
        f"<text x='{x:g}' y='{y:g}' {FONT} font-size='{size}' text-anchor='{anchor}' "
        f"fill='{color}' font-weight='{weight}'>{html.escape(words)}</text>"
    )


def draw(bars):
    """The picture of `bars`, as text."""
    height = TOP + STEP * len(bars) + 14
    scale = (WIDTH - LEFT - 80) / max(size for _, _, size in bars)
    lines = [
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{WIDTH}' height='{height}' "
        f"viewBox='0 0 {WIDTH} {height}' role='img'>",
        f"<title>{html.escape(TITLE)}</title>",
        # Also readable on a page with a dark background.
        f"<rect width='{WIDTH}' height='{height}' rx='8' fill='#ffffff'/>",
        text(20, 32, TITLE, size=18, weight="bold"),
        text(20, 54, SUBTITLE, size=13, color="#59636e"),
    ]
    for number, (name, whose, size) in enumerate(bars):
        y = TOP + STEP * number
        weight = "bold" if number == len(bars) - 1 else "normal"
        lines += [
            text(LEFT - 10, y + BAR * 0.75, name, anchor="end", weight=weight),
            f"<rect x='{LEFT}' y='{y}' width='{size * scale:.1f}' height='{BAR}' rx='3' "
            f"fill='{COLORS[whose]}'/>",
            text(LEFT + size * scale + 8, y + BAR * 0.75, f"{size:.1f}", weight=weight),
        ]
    return "\n".join([*lines, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--figures",
        type=pathlib.Path,
        default=ROOT / "benchmarks" / "results" / "saved_bytes.json",
    )
    parser.add_argument(
        "--out", type=pathlib.Path, default=ROOT / "docs" / "images" / "bert-base.svg"
    )
    options = parser.parse_args()
    options.out.write_text(draw(list(read_bars(options.figures))))


if __name__ == "__main__":
    main()
