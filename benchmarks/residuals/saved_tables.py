"""Tables of the figures that saved_bytes.py measures."""

import statistics

MIB, GIB = 1 << 20, 1 << 30
MEMORY = 11 * GIB
# Bytes of a parameter: itself, its gradient, and Adam's two moments, in f32.
STATE_BYTES = 16
# The batch that shares of the footprint are stated for.
SHARE_BATCH = 16
WIDTH = 9

# Columns, in groups: the names of figures, and what stands above them.
FAD = {"bp": "bp", "recompute": "recompute", "fad": "fad"}
AUTO = {
    "auto-bits": "3 bits",
    "auto-nothing": "nothing",
    "auto-elementwise": "elementw.",
    "auto-reductions": "reduct.",
    "auto-all": "all",
}
KEPT = {
    "PyTorch": {
        "eager": "eager",
        "aot-default": "default",
        "min-cut": "min-cut",
        "inductor-min-cut": "inductor",
        "inductor-all": "all",
    },
    "fad": FAD,
    "auto, which may recompute": AUTO,
}
TORCH_CURVE = {
    "inductor-default": "default",
    "inductor-min-cut": "min-cut",
    "inductor-aggressive": "aggress.",
    "inductor-materialized": "material.",
    "inductor-all": "all",
    "inductor-aggressive-all": "both",
    "inductor-budget-0.75": "0.75",
    "inductor-budget-0.5": "0.5",
    "inductor-budget-0.25": "0.25",
}
CURVE = {
    "PyTorch's min-cut, Inductor's decompositions": TORCH_CURVE,
    "auto, which may recompute": AUTO,
}
WITHIN = {"auto, within the bytes of PyTorch's min-cut": TORCH_CURVE}


def print_header(title, groups, label):
    print(f"\n{title}\n")
    above = "".join(
        "| " + name.ljust(len(columns) * (WIDTH + 1)) for name, columns in groups.items()
    )
    print((" " * len(label) + above).rstrip())
    names = "".join(
        "| " + "".join(f"{column:>{WIDTH}} " for column in columns.values())
        for columns in groups.values()
    )
    print((label + names).rstrip())


def print_table(title, rows, groups, get, form):
    """Prints a table with a line for each row and a column for each figure of `groups`,
    which `get` makes of a row and the figure's name and `form` turns into text.
    Columns that no row has are left out."""
    groups = {
        group: {
            name: column
            for name, column in columns.items()
            if any(get(row, name) is not None for row in rows)
        }
        for group, columns in groups.items()
    }
    groups = {group: columns for group, columns in groups.items() if columns}
    print_header(title, groups, f"{'network':<16} {'activation':<19}")
    for row in rows:
        line = f"{row['network']:<16} {row['activation']:<19}"
        for columns in groups.values():
            line += "| "
            for name in columns:
                value = get(row, name)
                text = "" if value is None else format(value, form)
                line += f"{text:>{WIDTH}} "
        print(line.rstrip())


def get_kept(row, name):
    """Returns the bytes a sample that `name` keeps, or None where that is not known."""
    kept = row["bytes"].get(name)
    return None if kept is None else kept / row["batch"]


def get_time(row, name):
    """Returns the time in which backward reads what `name` keeps and computes the rest again, in
    the MiB a sample that memory moves in that time, or None where that is not known."""
    time = row["recompute_time"].get(name)
    return None if time is None else (time + row["bytes"][name]) / row["batch"] / MIB


def get_time_within(row, name):
    """Returns the same for auto, within the bytes of the point `name` of PyTorch's curve."""
    point = row["within"].get(name)
    if point is None:
        return None
    return (point["recompute_time"] + point["bytes"]) / row["batch"] / MIB


def get_peak(row, name):
    """Returns the bytes a sample that a step needs beside weights, or None."""
    return row["peak_bytes_a_sample"].get(name)


def get_workspace(row):
    """Returns the bytes a sample that a step of eager PyTorch needs for a while, beside what it
    keeps."""
    return get_peak(row, "eager") - get_kept(row, "eager")


def get_state(row):
    """Returns the bytes that do not grow with the batch."""
    return STATE_BYTES * row["parameters"] + row["buffer_bytes"]


class Batches:
    """How many samples a step has memory for."""

    def __init__(self, rows):
        # The memory that compiled steps of PyTorch need for a while is not known: as much as
        # eager with the activation that needs the least.
        self.workspace = {}
        for row in rows:
            least = self.workspace.get(row["network"], get_workspace(row))
            self.workspace[row["network"]] = min(least, get_workspace(row))

    def get(self, row, name):
        """Returns the largest batch where `name` decides what is kept, or None."""
        sample, kept = get_peak(row, name), get_kept(row, name)
        if kept is None:
            return None
        if sample is None:
            sample = kept + self.workspace[row["network"]]
        sample += row["input_bytes"] / row["batch"]
        return max(0, int((MEMORY - get_state(row)) / sample))


def get_share(row, name):
    """Returns the share of the footprint in percent: of all that activations keep, of all that else
    is kept, and of the rest."""
    of_activations = row["activation_bytes"] / row["batch"]
    others = get_kept(row, "eager") - of_activations
    rest = get_state(row) / SHARE_BATCH + get_workspace(row)
    parts = {"activations": of_activations, "others": others, "rest": rest}
    return 100 * parts[name] / sum(parts.values())


def print_ratios(rows, batches):
    """Prints how much larger the largest batch is than that of eager PyTorch, where the
    activation is composed, by network."""
    print("\nLargest batch against eager PyTorch's, composed activations\n")
    print(f"{'network':<16} {'':<19}| {'mean':>{WIDTH}} {'at best':>{WIDTH}}")
    for network in dict.fromkeys(row["network"] for row in rows):
        composed = [
            row
            for row in rows
            if row["network"] == network and row["activation"].endswith("-composed")
        ]
        for name in [*FAD, *AUTO]:
            ratios = [
                batches.get(row, name) / batches.get(row, "eager")
                for row in composed
                if batches.get(row, name) and batches.get(row, "eager")
            ]
            if ratios:
                print(
                    f"{network:<16} {name:<19}"
                    f"| {statistics.mean(ratios):>{WIDTH}.2f} {max(ratios):>{WIDTH}.2f}"
                )


def print_points_ahead(rows):
    """Prints the points of PyTorch's curve that are ahead of fad's: where every choice of
    fad keeps more, or takes more time."""
    names = [name for columns in (FAD, AUTO) for name in columns]
    print("\nWhere PyTorch is ahead: kept, and time, MiB a sample\n")
    found = False
    for row in rows:
        points = [(get_kept(row, name), get_time(row, name)) for name in names]
        points += [
            (point["bytes"] / row["batch"], get_time_within(row, name))
            for name, point in row["within"].items()
        ]
        points = [(kept, time) for kept, time in points if time is not None]
        if not points:
            continue
        for name in TORCH_CURVE:
            kept, time = get_kept(row, name), get_time(row, name)
            if time is None or any(k <= kept and t <= time for k, t in points):
                continue
            found = True
            print(
                f"{row['network']:<16} {row['activation']:<19}| {name:<24}"
                f"{kept / MIB:>{WIDTH}.2f} {time:>{WIDTH}.2f}"
            )
    if not found:
        print("nowhere")


def in_mebibytes(get):
    """Returns the same as `get`, in MiB."""

    def get_mebibytes(row, name):
        size = get(row, name)
        return None if size is None else size / MIB

    return get_mebibytes


def print_tables(rows):
    mib = in_mebibytes(get_kept)
    print_table("Kept, MiB a sample", rows, KEPT, mib, ".2f")
    print_table(
        "Peak of a step beside weights, MiB a sample",
        rows,
        KEPT,
        in_mebibytes(get_peak),
        ".2f",
    )
    print_table("Kept by what may be recomputed, MiB a sample", rows, CURVE, mib, ".2f")
    print_table(
        "Time to read that and compute the rest, as MiB a sample that memory moves",
        rows,
        CURVE,
        get_time,
        ".2f",
    )
    print_table(
        "The same for auto within as many bytes",
        rows,
        WITHIN,
        get_time_within,
        ".2f",
    )
    print_points_ahead(rows)
    batches = Batches(rows)
    print_table("Largest batch for 11 GiB", rows, KEPT, batches.get, "d")
    print_ratios(rows, batches)
    shares = {
        "percent": {
            "activations": "activ.",
            "others": "others",
            "rest": "rest",
        }
    }
    print_table(
        f"Footprint of eager PyTorch at a batch of {SHARE_BATCH}",
        rows,
        shares,
        get_share,
        ".1f",
    )
