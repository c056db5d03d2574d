"""Tables of the figures that torch_compile.py measures."""

from typing import Any, Callable, Sequence

from figures import MIB, print_header

# PyTorch's budgets are shares of all that it would save, fad's of Inductor's bytes, and of
# the way from the lowest peak to that of the fastest selection.
BUDGETS = (0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95)
RESIDUALS = (0.4, 0.7)
PEAKS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 1.0)
# How much more memory or time of a point counts as none.
TOLERANCE = 0.02
# Dropout's masks drawn anew; rounding errors are far below.
WRONG = 0.5
# The tables, by what they show.
TITLES = {
    "saved": "MiB saved for backward, and their ratio to Inductor's",
    "peak": "Peak of a step in MiB, with gradients, and its ratio to Inductor's",
    "ratio": "Time of a step, as a ratio to Inductor's",
    "error": "Largest error of a gradient, against Inductor's",
    "budgets": "Budgets of fad's for the peak, and the peak that was measured, in MiB",
    "estimates": "Estimates of the peak, and the peak that was measured, in MiB",
    "points": (
        "Configurations of fad's with no more peak and no more time than PyTorch's, "
        f"within {TOLERANCE:.0%}"
    ),
}
ORDER = (
    "inductor", "eager", "auto", "fad", "bp", "recompute", "auto-reductions", "aggressive",
    *(f"budget-{budget}" for budget in BUDGETS),
    *(f"auto-residuals-{budget}" for budget in RESIDUALS),
    *(f"auto-peak-{budget}" for budget in PEAKS),
)  # fmt: skip


def _get_rows(
    data: dict[str, Any], models: Sequence[str], names: Sequence[str] | None
) -> list[str]:
    present = {
        configuration
        for model in models
        for configuration in data["models"][model]["configurations"]
    }
    return [name for name in names or ORDER if name in present]


def _format(figures: dict[str, Any] | None, name: str, of: dict[str, Any] | None) -> str:
    if figures is None:
        return ""
    if "failed" in figures:
        return "failed"
    value = figures.get(name)
    if value is None:
        return "-"
    if name == "error":
        return f"{value:.0e}"
    if name == "ratio":
        return f"{value:.2f}"
    # A ratio to next to nothing says nothing.
    share = f" {value / of[name]:.2f}" if of and of.get(name, 0) > 1024 else ""
    return f"{value / MIB:.1f}{share}"


def print_tables(
    data: dict[str, Any],
    models: Sequence[str],
    configurations: Sequence[str] | None,
    figures: Sequence[str],
) -> None:
    """Prints a table of each of `figures`, which are of `TITLES`: a line per
    configuration, a column per model."""
    models = [name for name in models if name in data["models"]]
    print_header(data, models, (
        measured["repetitions"]
        for name in models
        for measured in data["models"][name]["configurations"].values()
    ))  # fmt: skip
    rows = _get_rows(data, models, configurations)
    for figure in figures:
        if figure == "points":
            _print_points(data, models)
            continue
        if figure in ("budgets", "estimates"):
            _print_peaks(data, models, rows, figure)
            continue
        print(f"\n{TITLES[figure]}\n")
        print(" " * 20 + "".join(f"{name:>12}" for name in models))
        for row in rows:
            cells = []
            for name in models:
                own = data["models"][name]["configurations"]
                cells.append(_format(own.get(row), figure, own.get("inductor")))
            print((f"{row:20}" + "".join(f"{cell:>12}" for cell in cells)).rstrip())


def _get_peaks(own: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Returns the measured points of fad's budgets for the peak."""
    return {name: own[name] for name in ORDER if "budget" in own.get(name, {})}


def _rises(points: dict[str, dict[str, Any]], figure: str) -> bool:
    """Tells whether no larger budget has less of `figure`."""
    values = [point[figure] for point in points.values()]
    return all(one <= other for one, other in zip(values, values[1:]))


def _print_peaks(
    data: dict[str, Any], models: Sequence[str], rows: Sequence[str], figure: str
) -> None:
    """Prints the budgets or the estimates, each with the peak that was measured, and for
    budgets whether they are kept, and whether a larger one ever has a lower peak or saves
    fewer bytes."""
    points = {model: _get_peaks(data["models"][model]["configurations"]) for model in models}
    points = {model: own for model, own in points.items() if own}
    if not points:
        return
    print(f"\n{TITLES[figure]}\n")
    print(" " * 20 + "".join(f"{model:>15}" for model in points))
    key = "budget" if figure == "budgets" else "estimate"
    for row in rows:
        if not any(row in own for own in points.values()):
            continue
        cells = []
        for own in points.values():
            point = own.get(row)
            mark = "!" if point and key == "budget" and point["peak"] > point[key] else " "
            cells.append(
                f"{point[key] / MIB:7.1f}{point['peak'] / MIB:7.1f}{mark}" if point else " " * 15
            )
        print(f"{row:20}{''.join(cells)}".rstrip())
    if key != "budget":
        return

    def list_models(holds: Callable[[dict[str, dict[str, Any]]], bool]) -> str:
        return ", ".join(model for model, own in points.items() if holds(own)) or "none"

    broken = list_models(lambda own: any(p["peak"] > p["budget"] for p in own.values()))
    print(f"\nmodels with a budget that is exceeded (!): {broken}")
    for name, text in ("peak", "has a lower peak"), ("saved", "saves fewer bytes"):
        print(f"where a larger budget {text}: {list_models(lambda own: not _rises(own, name))}")


def _get_points(own: dict[str, Any], is_fad: bool) -> dict[str, dict[str, Any]]:
    """Returns the measured points of fad, or those of PyTorch with `torch.compile`."""
    return {
        # All times are ratios to that of Inductor, which differs from itself by noise.
        name: {**own[name], "ratio": 1.0} if name == "inductor" else own[name]
        for name in ORDER
        if name in own
        and "failed" not in own[name]
        and name != "eager"
        and is_fad == name.startswith(("auto", "fad", "bp", "recompute"))
    }


def _compare(point: dict[str, Any], other: dict[str, Any]) -> tuple[float, float]:
    """Peak and time of `point` as ratios to those of `other`."""
    return point["peak"] / max(other["peak"], 1), point["ratio"] / other["ratio"]


def find_dominating(
    point: dict[str, Any], candidates: dict[str, dict[str, Any]]
) -> tuple[str, tuple[float, float], bool]:
    """Returns the candidate that is nearest to having no more peak and no more time than `point`,
    its ratios, and whether both are within the tolerance. Of several that are, the one that has the
    least of one times the other."""
    ratios = {name: _compare(candidate, point) for name, candidate in candidates.items()}
    within = {name: each for name, each in ratios.items() if max(each) <= 1 + TOLERANCE}
    if within:
        best = min(within, key=lambda name: within[name][0] * within[name][1])
        return best, within[best], True
    nearest = min(ratios, key=lambda name: max(ratios[name]))
    return nearest, ratios[nearest], False


def _print_points(data: dict[str, Any], models: Sequence[str]) -> None:
    """Prints for each of PyTorch's points one of fad's that needs no more of both."""
    cells: dict[str, dict[str, str]] = {}
    notes = []
    for model in models:
        own = data["models"][model]["configurations"]
        candidates = _get_points(own, is_fad=True)
        for name, point in _get_points(own, is_fad=False).items() if candidates else ():
            best, (peak, time), is_within = find_dominating(point, candidates)
            cell = best if is_within else "none"
            if not is_within:
                notes.append(
                    f"{model} {name}: the nearest is {best}, with {peak:.2f} of its peak and "
                    f"{time:.3f} of its time"
                )
            if point.get("error", 0) > WRONG:
                cell += "!"
            cells.setdefault(name, {})[model] = cell
    print(f"\n{TITLES['points']}\n")
    width = max([12, *(len(cell) + 2 for row in cells.values() for cell in row.values())])
    columns = [name for name in models if any(name in row for row in cells.values())]
    print(" " * 20 + "".join(f"{name:>{width}}" for name in columns))
    for row, own in cells.items():
        line = "".join(f"{own.get(name, ''):>{width}}" for name in columns)
        print(f"{row:20}{line}".rstrip())
    if any("!" in cell for row in cells.values() for cell in row.values()):
        notes.append("! PyTorch's gradients are wrong there: dropout has another mask in backward")
    if notes:
        print("\n" + "\n".join(notes))
