"""What the benchmarks of kernels share: facts about the machine, tables, pictures, and
files of figures.

Figures are a dictionary: `made_with`, facts by name; `repetitions`; and `rows`, each
with `activation`, `type`, `size` and `seconds`, which holds, by who computes and by
pass, the time taken. One of them is the stream that the others are multiples of: it
reads and writes what keeping a derivative takes, three tensors in each pass."""

import json
import os
import pathlib
import platform

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
        "system": platform.platform(),
        "python": platform.python_version(),
    }


def print_facts(figures, counted):
    """`counted` is the time of the repetitions that counts."""
    for key, value in figures["made_with"].items():
        print(f"{key}: {value}")
    print(f"repetitions: {figures['repetitions']}; the {counted} time counts")


def find_names(rows):
    """All but the stream, in the order in which they appear."""
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
    """The time of both passes, measured, or that of one and of the other. Nothing for
    who has no backward pass, such as a copy."""
    seconds = row["seconds"].get(who, {})
    if "backward" not in seconds:
        return 0
    return seconds["both"] if "both" in seconds else sum(seconds.values())


def plot(rows, path):
    """Both passes together, as a multiple of both streams."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    totals = {who: [get_total(row, who) for row in rows] for who in ["stream", *find_names(rows)]}
    names = [who for who, each in totals.items() if any(each)]
    figure, axes = plt.subplots(figsize=(max(9, 0.55 * len(rows)), 4))
    width = 0.8 / len(names)
    for index, who in enumerate(names):
        heights = [total / stream for total, stream in zip(totals[who], totals["stream"])]
        axes.bar([i + index * width for i in range(len(rows))], heights, width, label=who)
    labels = [f"{row['activation']}\n{row['type']}\n{row['size']}" for row in rows]
    axes.set_xticks([i + 0.4 for i in range(len(rows))], labels, fontsize=7)
    axes.set_ylabel("forward + backward, in streams")
    axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path)
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
    pathlib.Path(path).write_text(json.dumps(figures, indent=1) + "\n")
