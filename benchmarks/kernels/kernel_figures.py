"""Shared parts of the benchmarks of kernels: facts about the machine, tables, pictures, and
files of figures.

Figures are a dictionary: `made_with`, facts by name; `repetitions`; and `rows`, each
with `activation`, `type`, `size` and `seconds`, which holds, by who computes and by
pass, the time taken. One of them is the stream that the others are multiples of: it
reads and writes what keeping a derivative takes, three tensors in each pass."""

import json
import os
import pathlib
import platform
import sys

# In a kit, it is beside this file.
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "common"))

from records import format_records  # noqa: E402

BYTES = {"f32": 4, "bf16": 2, "f16": 2}
# Tensors that the stream reads and writes.
MOVED = {"forward": 3, "backward": 3, "both": 6}


def describe_machine():
    try:
        with open("/proc/cpuinfo") as file:
            names = [line.split(": ")[1].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = [platform.processor()]
    return {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {(names or ['?'])[0]}",
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def print_facts(figures, counted):
    """`counted` is the time of the repetitions that counts."""
    for key, value in figures["made_with"].items():
        print(f"{key}: {value}")
    print(f"repetitions: {figures['repetitions']}; the {counted} time counts")


def find_names(rows):
    """Returns all but the stream, in the order in which they appear."""
    names = {who: None for row in rows for who in row["seconds"]}
    return [who for who in names if who != "stream"]


def print_table(rows):
    widths = {who: max(16, len(who) + 2) for who in find_names(rows)}
    print(f"\n{'':34}{'stream':>10}   as multiples of the stream")
    titles = "".join(f"{who:>{width}}" for who, width in widths.items())
    print(f"{'activation type elements  pass':<34}{'GB/s':>10}{titles}")
    for row in rows:
        for direction, stream in row["seconds"]["stream"].items():
            moved = MOVED[direction] * row["size"] * BYTES[row["type"]]
            line = f"{row['activation']:<10} {row['type']:<5}{row['size']:<9} {direction:<8}"
            line += f"{moved / stream / 1e9:>10.1f}"
            for who, width in widths.items():
                taken = row["seconds"].get(who, {}).get(direction)
                line += f"{taken / stream:>{width}.2f}" if taken else " " * width
            print(line.rstrip())


def get_total(row, who):
    """Returns the time of both passes, measured, or that of one and of the other. Nothing for who
    has no backward pass, such as a copy."""
    seconds = row["seconds"].get(who, {})
    if "backward" not in seconds:
        return 0
    return seconds["both"] if "both" in seconds else sum(seconds.values())


# Readers' names for those who compute, and the color. Others have a color of the rest.
PLAIN = {
    "fad, fad": ("fad, derivative kept", "#0969da"),
    "fad, recompute": ("fad, computed again", "#54aeff"),
    "PyTorch": ("PyTorch", "#bc4c00"),
    "into outputs": ("PyTorch, into existing tensors", "#fb8f44"),
    "composed": ("PyTorch, composed", "#8c959f"),
    "compiled": ("torch.compile, composed", "#57606a"),
    "JAX": ("JAX", "#8250df"),
}
DOTS = {"linestyle": "", "marker": "o", "markersize": 6}
REST = ("#1a7f37", "#bf3989", "#9a6700", "#0a3069", "#6e7781")


def make_panels(rows):
    """Returns the rows by type and size, each in the order in which they appear."""
    panels = {}
    for row in rows:
        panels.setdefault((row["type"], row["size"]), []).append(row)
    return panels


def draw_panel(axes, rows, styles):
    """Dots for each activation, one for each who computes, on a logarithmic axis. Bars would
    have lengths, which mean nothing there."""
    width = 0.84 / len(styles)
    for index, (who, (_, color)) in enumerate(styles.items()):
        places = [place for place, row in enumerate(rows) if get_total(row, who)]
        axes.plot(
            [place - 0.42 + (index + 0.5) * width for place in places],
            [get_total(rows[place], who) / get_total(rows[place], "stream") for place in places],
            color=color,
            **DOTS,
        )
    axes.set_yscale("log")
    for place in range(1, len(rows)):
        axes.axvline(place - 0.5, color="black", linewidth=0.5, alpha=0.2)
    axes.axhline(1, color="black", linewidth=1)
    axes.set_xticks(range(len(rows)), [row["activation"].replace("_", " ") for row in rows])
    axes.set_xlim(-0.6, len(rows) - 0.4)
    axes.grid(axis="y", which="major", alpha=0.4)
    axes.set_axisbelow(True)


def set_ticks(axes, lowest, highest):
    """Round numbers on a logarithmic axis from `lowest` to `highest`, as they are read."""
    from matplotlib.ticker import NullFormatter

    ticks = [m * 10.0**e for e in range(-2, 4) for m in (1, 2, 5)]
    ticks = [each for each in ticks if lowest * 0.8 <= each <= highest * 1.25]
    axes.set_ylim(lowest * 0.8, highest * 1.25)
    axes.set_yticks(ticks, [f"{each:g}" for each in ticks])
    axes.yaxis.set_minor_formatter(NullFormatter())


def plot(rows, path):
    """Both passes together, as a multiple of both streams: a panel for each type and size."""
    import matplotlib

    matplotlib.use("Agg")
    # Equal figures make equal files.
    matplotlib.rcParams["svg.hashsalt"] = "fad"
    import matplotlib.pyplot as plt

    totals = {who: [get_total(row, who) for row in rows] for who in find_names(rows)}
    rest = iter(REST * 9)
    styles = {who: PLAIN.get(who) or (who, next(rest)) for who, each in totals.items() if any(each)}
    multiples = [
        total / get_total(row, "stream")
        for who in styles
        for row, total in zip(rows, totals[who])
        if total
    ]
    panels = make_panels(rows)
    columns = 1 if max(map(len, panels.values())) > 6 else 2
    lines = -(-len(panels) // columns)
    figure, grid = plt.subplots(
        lines, columns, figsize=(11, 1.6 + 2.9 * lines), squeeze=False, layout="constrained"
    )
    for axes, ((type_, size), part) in zip(grid.flat, panels.items()):
        draw_panel(axes, part, styles)
        set_ticks(axes, min(1, *multiples), max(multiples))
        axes.set_title(f"{type_}, {size:,} elements", fontsize=11)
        axes.set_ylabel("time / moving the data")
        if columns == 1:
            axes.tick_params(axis="x", labelsize=8)
    for axes in list(grid.flat)[len(panels) :]:
        axes.remove()
    handles = [
        matplotlib.lines.Line2D([], [], color=color, label=name, **DOTS)
        for name, color in styles.values()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, fontsize=9)
    figure.suptitle(
        "Forward and backward of an activation, as a multiple of moving its data (lower is faster)",
        fontsize=13,
    )
    # SVG has a date otherwise.
    metadata = {"Date": None} if str(path).endswith(".svg") else None
    figure.savefig(path, metadata=metadata)
    plt.close(figure)


def add_options(parser):
    parser.add_argument("--json", help="file for the figures")
    parser.add_argument("--table", help="file of figures to print")
    parser.add_argument("--plot", help="file for a picture, .svg or .png")


def read(parser, path):
    try:
        figures = json.loads(pathlib.Path(path).read_text())
    except (OSError, ValueError) as error:
        parser.error(f"{path}: {error}")
    if not isinstance(figures, dict) or not {"made_with", "repetitions", "rows"} <= figures.keys():
        parser.error(f"{path}: no figures of this benchmark; --json writes them")
    return figures


def write(figures, path):
    pathlib.Path(path).write_text(format_records(figures) + "\n")
