"""The layout of images for the gradients of convolutions in groups, on a CPU.

Inductor has images in "channels last" where a graph computes a convolution. Backward computes none
where it repeats none, but the gradients of some: for these, Inductor copies images to the strides that
PyTorch's operations would have, and oneDNN, which has no kernel for these strides, copies them once
more. In "channels last", it copies none, and is several times as fast; but it pads each group of a
filter to 16 channels there, so that a filter of one channel a group is copied in 256 times its bytes.

So backward has the layout where such copies of each filter are less than its images. With a budget,
the schedules of both layouts tell which has the lower peak."""

import math
from collections.abc import Callable, Container
from typing import Any

import torch
from torch import fx

from .._releases import copies_filters
from ._peak import Schedule, find_scheduled_peak, list_scheduled
from ._pytorch import Parts, get_fusions, inductor_config
from ._sizes import estimate_size

# The places of the filter and of the number of groups among the operands of convolution_backward.
_FILTER, _GROUPS = 2, 9

# To so many channels, oneDNN pads those of a group.
_PADDED = 16

# By whether Inductor fuses as without a budget, whether images are in "channels last", in the metadata
# of the backward part.
_LAYOUTS = "fad.layouts"

# Options of Inductor by which a user decides on layouts.
_OPTIONS = ("layout_optimization", "force_layout_optimization")


def find_grouped(graph: fx.GraphModule) -> list[fx.Node]:
    """Returns the operations of `graph` for gradients of convolutions in groups, on a CPU."""
    target = torch.ops.aten.convolution_backward.default
    return [
        node
        for node in graph.graph.find_nodes(op="call_function", target=target)
        if node.args[_GROUPS] != 1 and node.args[1].meta["val"].device.type == "cpu"
    ]


def list_layouts(parts: Parts, options: Container[str]) -> list[bool]:
    """Returns what there is to choose from for backward, whether images are in "channels last": the one
    that is better without a budget first. A user who has set Inductor's `options` may have decided."""
    grouped = find_grouped(parts[1])
    if not grouped or not _may_choose(options):
        return []
    is_last = _is_worth(grouped)
    return [False] if copies_filters() else [is_last, not is_last]


def choose_layout(
    parts: Parts,
    options: Container[str] | None,
    schedule: Callable[[Parts], tuple[Schedule, Schedule]],
) -> tuple[int, tuple[Schedule, Schedule]]:
    """Marks backward with the layout by which schedules of `parts` have the lowest peak, where a user has
    set Inductor's `options`, and returns the peak and these. With None, there is nothing to choose."""
    found: dict[bool | None, tuple[int, tuple[Schedule, Schedule]]] = {}
    layouts = [] if options is None else list_layouts(parts, options)
    for layout in layouts or [None]:
        mark_layout(parts, layout)
        schedules = schedule(parts)
        found[layout] = find_scheduled_peak(list_scheduled(*parts, schedules))[0], schedules
    best = min(found, key=lambda each: found[each][0])
    mark_layout(parts, best)
    return found[best]


def mark_layout(parts: Parts, is_last: bool | None) -> None:
    """Lets backward have images in "channels last", or not, or with None, as `find_layout_options` says,
    where Inductor fuses as it now does."""
    layouts = parts[1].meta.setdefault(_LAYOUTS, {})
    layouts[get_fusions(parts[1])] = is_last


def get_layout(part: fx.GraphModule) -> bool | None:
    """Returns whether images are marked to be in "channels last"; None where there is no mark."""
    return part.meta.get(_LAYOUTS, {}).get(get_fusions(part))


def find_layout_options(
    graph: fx.GraphModule, bounds: bool, options: Container[str]
) -> dict[str, Any]:
    """Returns the options of Inductor for the layout of images in `graph`, a part of a step, where a
    user has set `options`. Without one, and where memory `bounds` no fusions, it is Inductor's where that
    takes less."""
    grouped = find_grouped(graph)
    if not grouped or not _may_choose(options):
        return {}
    is_last = get_layout(graph)
    if is_last is None:
        is_last = _is_worth(grouped)
        if not is_last and not bounds:
            return {}
    if is_last:
        return {"force_layout_optimization": True}
    return {"layout_optimization": False}


def _may_choose(options: Container[str]) -> bool:
    """Tells whether fad may choose the layout, where a user has set `options`."""
    is_free = inductor_config.layout_optimization and not inductor_config.force_layout_optimization
    return is_free and not any(name in options for name in _OPTIONS)


def _is_worth(grouped: list[fx.Node]) -> bool:
    """Tells whether images in "channels last" take less than copies of filters do there."""
    # In earlier releases, gradients may have them without the option.
    if copies_filters():
        return False
    onednn = torch.backends.mkldnn
    return onednn.is_available() and onednn.enabled and all(map(_has_small_filter, grouped))


def _has_small_filter(node: fx.Node) -> bool:
    image, filter_ = (node.args[place].meta["val"] for place in (1, _FILTER))
    # Inductor has no such layout of rows and volumes.
    if image.dim() != 4:
        return False
    results, channels, *sizes = map(estimate_size, filter_.shape)
    groups = node.args[_GROUPS]
    padded = math.prod(-(-count // _PADDED) * _PADDED for count in (results // groups, channels))
    copied = groups * padded * math.prod(sizes) * filter_.element_size()
    return copied <= estimate_size(image.untyped_storage().nbytes())
