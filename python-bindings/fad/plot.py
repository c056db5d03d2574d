"""Plots of memory reports, curves and what autograd holds, by matplotlib."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ._memory import MemoryReport, TimeMemoryCurve

if TYPE_CHECKING:
    from .torch import SavedMemory


def bytes_by_layer(report: MemoryReport) -> Mapping[str, list[int]]:
    """The bytes that each policy keeps of each layer.

    A layer begins with a contraction, such as a matmul or a convolution, and
    goes up to the next one; layer 0 is what comes before the first. Raises
    ValueError where bytes depend on sizes that are not given."""
    sums = {}
    for policy in report.policies.values():
        if policy.bytes is None:
            raise ValueError(
                f"what {policy.policy!r} keeps of {report.entry} is {policy.size} "
                "bytes; give the sizes to fad.memory_report"
            )
        of_layer = Counter()
        for value in policy.values:
            of_layer[value.layer] += value.bytes
        sums[policy.policy] = of_layer
    count = 1 + max((layer for each in sums.values() for layer in each), default=0)
    return {
        policy: [of_layer[layer] for layer in range(count)] for policy, of_layer in sums.items()
    }


# The color that a policy has in each plot.
_COLORS = {"bp": "#bc4c00", "recompute": "#8250df", "fad": "#0969da", "auto": "#1a7f37"}


def _choose_unit(sizes: Iterable[int]) -> tuple[int, str]:
    """The unit in which the largest of `sizes`, in bytes, is a number of 1 or more."""
    largest = max(sizes, default=0)
    for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if largest >= 2**power:
            return 2**power, unit
    return 1, "bytes"


def _make_axes() -> Any:
    from matplotlib.figure import Figure

    return Figure(layout="constrained").add_subplot()


def layers(report: MemoryReport, axes: Any = None) -> Any:
    """Draws `bytes_by_layer`, a group of bars for each layer and in it a bar for
    each policy, and returns the axes.

    `axes` are those of matplotlib to draw into; by default, those of a new
    figure. `axes.figure.savefig("kept.svg")` writes the plot to a file."""
    sums = bytes_by_layer(report)
    axes = _make_axes() if axes is None else axes
    width = 0.8 / max(1, len(sums))
    size, unit = _choose_unit(each for heights in sums.values() for each in heights)
    for number, (policy, heights) in enumerate(sums.items()):
        places = [layer - 0.4 + (number + 0.5) * width for layer in range(len(heights))]
        axes.bar(
            places,
            [each / size for each in heights],
            width,
            label=policy,
            color=_COLORS.get(policy),
        )
    axes.set_xlabel("layer: matrix products and convolutions so far")
    axes.set_ylabel(f"kept, {unit}")
    axes.set_title(f"What crosses from forward to backward of @{report.entry}")
    axes.legend()
    return axes


def curve(curves: TimeMemoryCurve | Mapping[str, TimeMemoryCurve], axes: Any = None) -> Any:
    """Draws time against bytes, a line for each curve, and returns the axes.

    `curves` is a curve of `fad.time_memory_curve`, or several by name, such as those
    of different levels of `recompute`. A line goes along the bytes at the time of a
    point up to the next point, which is what a budget between them takes at most.
    `axes` are as for `layers`."""
    if isinstance(curves, TimeMemoryCurve):
        curves = {f"auto, @{curves.entry}": curves}
    axes = _make_axes() if axes is None else axes
    points = [point for each in curves.values() for point in each.points]
    size, unit = _choose_unit(point.bytes for point in points)
    time_size, time_unit = _choose_unit(point.time for point in points)
    for name, each in curves.items():
        points = sorted(each.points, key=lambda point: point.bytes)
        axes.plot(
            [point.bytes / size for point in points],
            [point.time / time_size for point in points],
            drawstyle="steps-post",
            marker="o",
            label=name,
        )
    axes.set_xlabel(f"kept, {unit}")
    axes.set_ylabel(f"estimated time, as {time_unit} that memory moves")
    axes.set_title("Time against memory under the policy auto")
    axes.legend()
    return axes


def saved(reports: "Mapping[str, SavedMemory]", axes: Any = None, by: str = "module") -> Any:
    """Draws what autograd holds, by "module" or by "operator", and returns the axes.

    `reports` are those of `fad.torch.saved_memory` by name, such as those of a model in
    eager PyTorch and nested: each row has a bar for each of them. `axes` are as for
    `layers`."""
    if by not in ("module", "operator"):
        raise ValueError(f"by is {by!r}; choose 'module' or 'operator'")
    sums = {name: getattr(report, f"by_{by}") for name, report in reports.items()}
    rows = list(dict.fromkeys(row for each in sums.values() for row in each))
    axes = _make_axes() if axes is None else axes
    width = 0.8 / max(1, len(sums))
    size, unit = _choose_unit(held for each in sums.values() for held in each.values())
    for number, (name, each) in enumerate(sums.items()):
        places = [row - 0.4 + (number + 0.5) * width for row in range(len(rows))]
        lengths = [each.get(row, 0) / size for row in rows]
        axes.barh(places, lengths, width, label=name)
    axes.set_yticks(range(len(rows)), [row or "(model)" for row in rows])
    axes.invert_yaxis()
    axes.set_xlabel(f"held, {unit}")
    axes.set_title("What autograd holds between forward and backward")
    if any(reports):
        axes.legend()
    return axes
