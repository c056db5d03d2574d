"""The time that chunks of a region take beyond that of its operations at once.

Each chunk reads the weights again, adds its term to the sums in memory, and launches kernels, which
fewer rows do not hide. The rates of the device say how long that takes, as they do for a plan."""

from typing import Iterable

import torch
from torch import fx

from .._pytorch import get_packet, identify_storage
from .._rates import find_rates
from .._sizes import estimate_time
from .axes import PRODUCTS, Role, Span
from .regions import Region, count_bytes, count_elements
from .sizes import list_tensors

# A unit is the time of an eighth of a byte.
_UNITS = 8
# The seconds that a kernel takes at least to be called: those of a CPU are functions of a module.
_CALL = 1e-5
# A chunk has the kernels of each product, and one for the elements between two.
_KERNELS = 2


def accumulated_type(dtype: torch.dtype) -> torch.dtype:
    """Returns the type of a sum over chunks of terms of `dtype`."""
    return torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype


def estimate_chunks(regions: Iterable[Region], chunks: int) -> int:
    """Returns the time of `regions` in so many chunks, in units of `fad.opaque`: of products, of sums
    over the chunks, and of the elements between products, which is that of the bytes."""
    return round(sum(_estimate(region, chunks) for region in regions))


def _estimate(region: Region, chunks: int) -> float:
    device = region.seed.meta["val"].device
    rates = find_rates(device)
    launch = max(rates.launch, _CALL if device.type == "cpu" else 0.0)
    products = [node for node in region.nodes if get_packet(node) in PRODUCTS]
    of_products = sum(
        max(estimate_time(node), _UNITS * _count_traffic(region, node, chunks)) for node in products
    )
    calls = chunks * _KERNELS * len(products) * _UNITS * rates.bandwidth * launch
    return of_products + calls + _UNITS * 2 * region.bytes


def _count_traffic(region: Region, product: fx.Node, chunks: int) -> int:
    """Returns the bytes that all chunks of `product` move."""
    total = 0
    for node in (product, *list_tensors(product)):
        label, size = region.axis.labels.get(node), count_bytes(node)
        times = 1 if isinstance(label, Span) else chunks
        if label is Role.SUM and chunks > 1:
            # A sum is written by each chunk, and read by all but the first.
            size = count_elements(node) * accumulated_type(node.meta["val"].dtype).itemsize
            times = 2 * chunks - 1
        total += times * size
    return total


def count_wider(region: Region) -> int:
    """Returns the bytes of sums in a wider type than the gradients that they become, which are alive
    from forward to backward."""
    sums = [node for node in region.results if region.axis.labels[node] is Role.SUM]
    types = [(node, node.meta["val"].dtype) for node in sums]
    return sum(
        count_elements(node) * accumulated_type(dtype).itemsize
        for node, dtype in types
        if accumulated_type(dtype) != dtype
    )


def count_beside(region: Region) -> int:
    """Returns the bytes that are alive beside each chunk, besides weights and their gradients: rows that
    chunks read, and what gradients are wider while they are summed."""
    return _count_rows(region, region.find_inputs()) + count_wider(region)


def count_more_rows(region: Region) -> int:
    """Returns the bytes of the rows of results beyond those of the operands: backward reads the
    results in the place of the operands."""
    rows = _count_rows(region, region.results) - _count_rows(region, region.find_inputs())
    return max(rows, 0)


def _count_rows(region: Region, nodes: Iterable[fx.Node]) -> int:
    rows = [each for each in nodes if isinstance(region.axis.labels[each], Span)]
    # Views are of one memory.
    return sum({identify_storage(each.meta["val"]): count_bytes(each) for each in rows}.values())
