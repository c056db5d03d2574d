"""Tables of what torch_compile.py measures."""

from typing import Any, Sequence

MIB = 1 << 20
# PyTorch's budgets are shares of what it would save, fad's of what Inductor saves, and of
# Inductor's peak.
BUDGETS = (0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95)
FAD_BUDGETS = (0.25, 0.4, 0.55, 0.7, 0.85)
PEAKS = (0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
ORDER = (
    "inductor", "eager", "auto", "fad", "bp", "recompute", "auto-reductions", "aggressive",
    *(f"budget-{budget}" for budget in BUDGETS),
    *(f"auto-budget-{budget}" for budget in FAD_BUDGETS),
    *(f"auto-peak-{budget}" for budget in PEAKS),
)  # fmt: skip


def _get_rows(data: dict[str, Any], names: Sequence[str] | None) -> list[str]:
    present = {
        configuration
        for model in data["models"].values()
        for configuration in model["configurations"]
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
    data: dict[str, Any], models: Sequence[str], configurations: Sequence[str] | None
) -> None:
    """Prints a table of each figure: a line per configuration, a column per model."""
    setting = data["setting"]
    versions = ", ".join(f"{name} {version}" for name, version in setting["versions"].items())
    print(
        f"{setting['device']}, {setting['machine']}, {setting['instructions']}, "
        f"{setting['threads']} threads; {versions}; {setting['clock']}"
    )
    models = [name for name in models if name in data["models"]]
    for name in models:
        sizes = data["models"][name]["sizes"]
        print(f"{name}: " + ", ".join(f"{key} {value}" for key, value in sizes.items()))
    counts = {
        figures["repetitions"]
        for name in models
        for figures in data["models"][name]["configurations"].values()
    }
    if counts:
        print(f"medians of {min(counts)} to {max(counts)} repetitions, in turns with Inductor's")
    rows = _get_rows(data, configurations)
    for figure, title in (
        ("saved", "MiB saved for backward, and their ratio to Inductor's"),
        ("peak", "Peak of a step in MiB, with gradients, and its ratio to Inductor's"),
        ("ratio", "Time of a step, as a ratio to Inductor's"),
        ("error", "Largest error of a gradient, against Inductor's"),
    ):
        print(f"\n{title}\n")
        print(" " * 17 + "".join(f"{name:>12}" for name in models))
        for row in rows:
            cells = []
            for name in models:
                own = data["models"][name]["configurations"]
                cells.append(_format(own.get(row), figure, own.get("inductor")))
            print(f"{row:17}" + "".join(f"{cell:>12}" for cell in cells))
