"""Tables of the figures that eager_models.py measures."""

import statistics
from typing import Any, Iterator, Sequence

from figures import MIB, print_header

METHODS = ("composed", "built-in", "checkpoint", "nest-auto", "nest-fad", "defer-auto",
           "defer-fad")  # fmt: skip
# The tables: of steps at one batch, and of the largest batches at one peak.
FIGURES = ("steps", "batches")
# The paper's figures of its method, against PyTorch as it is.
PAPER = "1.34 on average and at most 1.97 in the paper"


def _find_rows(
    data: dict[str, Any], models: Sequence[str], methods: Sequence[str], figure: str
) -> Iterator[tuple[str, str, str, dict[str, Any], dict[str, Any]]]:
    """Yields the model, activation, method and figures of each row, and all of its group."""
    for name in models:
        for activation, own in data["models"].get(name, {}).get("activations", {}).items():
            group = own.get(figure, {})
            for method in methods:
                if method in group:
                    yield name, activation, method, group[method], group


def _format_bytes(value: int | None, of: int | None) -> str:
    if value is None:
        return "-"
    return f"{value / MIB:.1f}" + (f" {value / of:.2f}" if of else "")


def _print_steps(data: dict[str, Any], models: Sequence[str], methods: Sequence[str]) -> None:
    print(
        "\nMiB kept between forward and backward (by the allocator; saved tensors of nodes), "
        "peak of\na step with gradients, and time, and ratios to the composition's\n"
    )
    print(
        f"{'model':10}{'activation':11}{'method':11}{'kept':>12}{'saved':>8}{'peak':>13}"
        f"{'time':>6}{'error':>8}"
    )
    for name, activation, method, own, group in _find_rows(data, models, methods, "steps"):
        of = group["composed"]
        print(
            f"{name:10}{activation:11}{method:11}{_format_bytes(own['kept'], of['kept']):>12}"
            f"{_format_bytes(own['saved'], None):>8}{_format_bytes(own['peak'], of['peak']):>13}"
            f"{own['ratio']:6.2f}{own['error']:8.0e}"
        )
    if "mlp" in models and "mlp" in data["models"]:
        sizes = data["models"]["mlp"]["sizes"]
        layers = 4 * sizes["width"] * sizes["batch"] * sizes["layers"]
        counts = [
            f"{method} {own['kept'] / layers:.2f}"
            for _, _, method, own, _ in _find_rows(data, ["mlp"], methods, "steps")
        ]
        print(f"\ntensors that are kept for a layer of the mlp: {', '.join(counts)}")


class Summary:
    """Ratios of batches to the composition's by method, and speeds against the checkpoint, beside
    the paper's."""

    def __init__(self) -> None:
        self.gains: dict[str, list[float]] = {}
        self.speeds: dict[tuple[str, str], list[float]] = {}

    def add(self, method: str, model: str, gain: float, speed: float | None) -> None:
        self.gains.setdefault(method, []).append(gain)
        if speed is not None:
            self.speeds.setdefault((method, model), []).append(speed)

    def print(self) -> None:
        print(f"\nbatches, {PAPER}, and speed against the checkpoint, 14% and 16.5% more there:")
        for method, ratios in self.gains.items():
            own = ", ".join(
                f"{name} {statistics.mean(each):.2f}"
                for (which, name), each in self.speeds.items()
                if which == method
            )
            mean, count = statistics.mean(ratios), max(map(len, self.gains.values()))
            part = f" ({len(ratios)} of {count})" if len(ratios) < count else ""
            end = f"; {own}" if own else ""
            print(f"{method:11} mean {mean:.2f}, at most {max(ratios):.2f}{part}{end}")


def _print_batches(data: dict[str, Any], models: Sequence[str], methods: Sequence[str]) -> None:
    print(
        "\nThe largest batch within the peak of the composition, in MiB, as a ratio, and "
        "throughput there\nas a ratio to the composition's and to that of the checkpoint\n"
    )
    print(
        f"{'model':10}{'activation':11}{'method':11}{'peak':>8}{'batch':>7}{'ratio':>7}"
        f"{'to composed':>13}{'to checkpoint':>15}"
    )
    summary = Summary()
    for name, activation, method, own, group in _find_rows(data, models, methods, "batches"):
        ratio = own["batch"] / group["composed"]["batch"]
        line = (
            f"{name:10}{activation:11}{method:11}{own['peak'] / MIB:8.1f}{own['batch']:7}"
            f"{ratio:7.2f}"
        )
        if "throughput" not in own:
            summary.add(method, name, ratio, None)
            print(f"{line}{'-':>13}{'-':>15}")
            continue
        speed = own["throughput"] / group["checkpoint"]["throughput"]
        summary.add(method, name, ratio, speed)
        print(f"{line}{own['throughput']:13.2f}{speed:15.2f}")
    summary.print()


def print_tables(
    data: dict[str, Any], models: Sequence[str], methods: Sequence[str], figures: Sequence[str]
) -> None:
    """Prints the setting, and a line for each model, activation and method."""
    models = [name for name in models if name in data["models"]]
    print_header(data, models, (
        own["repetitions"]
        for figure in figures
        for _, _, _, own, _ in _find_rows(data, models, methods, figure)
        if "repetitions" in own
    ))  # fmt: skip
    if "steps" in figures:
        _print_steps(data, models, methods)
    if "batches" in figures and any(_find_rows(data, models, methods, "batches")):
        _print_batches(data, models, methods)
