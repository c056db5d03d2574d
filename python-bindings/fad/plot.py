"""Plots of memory reports, curves and saved memory, by matplotlib."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Protocol

from ._bars import draw_bars, make_axes
from ._figures import choose_unit
from ._memory import MemoryReport, TimeMemoryCurve


class _SavedMemory(Protocol):
    """The parts of `fad.torch.SavedMemory` that are drawn: bytes by their holders."""

    @property
    def by_module(self) -> Mapping[str, int]: ...

    @property
    def by_operator(self) -> Mapping[str, int]: ...


def bytes_by_layer(report: MemoryReport) -> Mapping[str, list[int]]:
    """Returns the bytes that each policy keeps of each layer.

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


def layers(report: MemoryReport, axes: Any = None) -> Any:
    """Draws `bytes_by_layer`, a group of bars for each layer and in it a bar for
    each policy, and returns the axes.

    `axes` are those of matplotlib to draw into; by default, those of a new
    figure. `axes.figure.savefig("kept.svg")` writes the plot to a file."""
    sums = bytes_by_layer(report)
    axes = make_axes() if axes is None else axes
    width = 0.8 / max(1, len(sums))
    unit = choose_unit(each for heights in sums.values() for each in heights)
    for number, (policy, heights) in enumerate(sums.items()):
        places = [layer - 0.4 + (number + 0.5) * width for layer in range(len(heights))]
        axes.bar(
            places,
            [each / unit.size for each in heights],
            width,
            label=policy,
            color=_COLORS.get(policy),
        )
    axes.set_xlabel("layer: matrix products and convolutions so far")
    axes.set_ylabel(f"kept for backward, {unit.name}")
    axes.set_title(f"Memory report of @{report.entry}")
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
    axes = make_axes() if axes is None else axes
    points = [point for each in curves.values() for point in each.points]
    unit = choose_unit(point.bytes for point in points)
    time_unit = choose_unit(point.time for point in points)
    for name, each in curves.items():
        points = sorted(each.points, key=lambda point: point.bytes)
        axes.plot(
            [point.bytes / unit.size for point in points],
            [point.time / time_unit.size for point in points],
            drawstyle="steps-post",
            marker="o",
            label=name,
        )
    axes.set_xlabel(f"kept for backward, {unit.name}")
    axes.set_ylabel(f"estimated time, as {time_unit.name} that memory moves")
    axes.set_title("Time against memory under the policy auto")
    axes.legend()
    return axes


def saved(reports: Mapping[str, _SavedMemory], axes: Any = None, by: str = "module") -> Any:
    """Draws saved memory, by "module" or by "operator", and returns the axes.

    `reports` are those of `fad.torch.saved_memory` by name, such as those of a model in
    eager PyTorch and nested: each row has a bar for each of them, and equal layers are one row. `axes` are as for
    `layers`."""
    if by not in ("module", "operator"):
        raise ValueError(f"by is {by!r}; choose 'module' or 'operator'")
    sums = {name: getattr(report, f"by_{by}") for name, report in reports.items()}
    axes = draw_bars(sums, axes)
    axes.set_title("Saved memory of autograd")
    return axes
