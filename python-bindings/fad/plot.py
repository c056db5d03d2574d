"""Plots of memory reports, by matplotlib."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from ._memory import MemoryReport


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
        policy: [of_layer[layer] for layer in range(count)]
        for policy, of_layer in sums.items()
    }


def layers(report: MemoryReport, axes: Any = None) -> Any:
    """Draws `bytes_by_layer`, a group of bars for each layer and in it a bar for
    each policy, and returns the axes.

    `axes` are those of matplotlib to draw into; by default, those of a new
    figure. `axes.figure.savefig("kept.svg")` writes the plot to a file."""
    sums = bytes_by_layer(report)
    if axes is None:
        from matplotlib.figure import Figure

        axes = Figure(layout="constrained").add_subplot()
    width = 0.8 / max(1, len(sums))
    for number, (policy, heights) in enumerate(sums.items()):
        places = [layer - 0.4 + (number + 0.5) * width for layer in range(len(heights))]
        axes.bar(places, [each / 2**20 for each in heights], width, label=policy)
    axes.set_xlabel("contractions so far")
    axes.set_ylabel("MiB kept")
    axes.set_title(f"What crosses from forward to backward of @{report.entry}")
    axes.legend()
    return axes
