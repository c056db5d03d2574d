"""The choice of operations that a step computes in chunks, and of how many.

The largest products of forward come first, such as the logits of a loss. By default, chunks are for
those alone whose gradients forward can compute at once: these take the same operations, and a
chunk's memory in the place of all. With a number of chunks, layers that are wide inside have
chunks, too, and backward repeats each."""

from typing import Iterator, Literal

from torch import fx

from .._graph import copy_graph
from .._log import log_chunks
from .axes import NotSeparable, Role
from .losses import decompose_losses
from .regions import Region, count_bytes, count_elements, find_regions, find_seeds
from .write import accumulated_type, insert_regions

Chunks = int | Literal["auto", "off"]

# The bytes of a product from which on chunks are worth their calls, and the part of the largest
# product's, below which a region is not the peak.
_LEAST_BYTES, _LEAST_PART = 2**25, 1 / 16
# The least rows of a chunk by the type of the device: fewer leave most of it idle.
_LEAST_UNITS = {"cpu": 128, "cuda": 512}
# The number of chunks, and those for budgets that these do not keep, whose chunks may have
# fewer rows.
_CHUNKS = 8
_MORE, _FEWER_ROWS = (16, 32), 4


def check_chunks(chunks: Chunks) -> Chunks:
    """Returns `chunks`, or raises ValueError where it is none of them."""
    if chunks in ("auto", "off") or (type(chunks) is int and chunks > 0):
        return chunks
    raise ValueError(f"chunks is {chunks!r}; give 'auto', 'off', or a number of chunks, at least 1")


def chunk_joint(graph: fx.Graph, chunks: Chunks) -> Iterator[fx.Graph]:
    """Yields `graph`, a joint graph, or one that computes some of it in `chunks`, and then those with
    more chunks, where the number is fad's choice."""
    if chunks in ("off", 1) or not any(_find_seeds(graph, chunks)):
        yield graph
        return
    numbers = [_CHUNKS, *_MORE] if chunks == "auto" else [chunks]
    before = 0
    for most in numbers:
        changed = decompose_losses(copy_graph(graph))
        count = _insert_chunks(changed, chunks, most)
        if count > before:
            yield changed
        elif not before:
            yield graph
        if count <= before:
            return
        before = count


def _find_seeds(graph: fx.Graph, chunks: Chunks) -> Iterator[fx.Node]:
    return find_seeds(graph.nodes, _LEAST_BYTES if chunks == "auto" else 1)


def _insert_chunks(graph: fx.Graph, chunks: Chunks, most: int) -> int:
    """Replaces regions of `graph`, and returns the sum of their numbers of chunks, each `most` or
    less."""
    count, largest = 0, 0
    for seed in list(_find_seeds(graph, chunks)):
        size = count_bytes(seed)
        if seed not in graph.nodes or size < _LEAST_PART * largest:
            continue
        largest = max(largest, size)
        try:
            regions = find_regions(seed, list(graph.nodes))
        except NotSeparable as reason:
            log_chunks(seed, 0, str(reason))
            continue
        number = _choose(regions, most) if chunks == "auto" else most
        if number > 1:
            insert_regions(graph, regions, number)
            count += number
            log_chunks(seed, number)
    return count


def _choose(regions: list[Region], most: int) -> int:
    """Returns the number of chunks, at most `most`, of regions for which nothing is asked."""
    last = regions[-1]
    if last.cotangent is None:
        return 1
    device = last.cotangent.meta["val"].device.type
    least = _LEAST_UNITS.get(device, _LEAST_UNITS["cuda"])
    number = min(most, last.axis.units // (least if most <= _CHUNKS else least // _FEWER_ROWS))
    if number > 1 and _count_wider(last) > last.bytes - last.bytes // number:
        log_chunks(last.seed, 0, "sums of its gradients take more bytes than chunks save")
        return 1
    return number


def _count_wider(region: Region) -> int:
    """Returns the bytes of sums in a wider type than the gradients that they become, which are alive
    from forward to backward."""
    sums = [node for node in region.results if region.axis.labels[node] is Role.SUM]
    types = [(node, node.meta["val"].dtype) for node in sums]
    return sum(
        count_elements(node) * accumulated_type(dtype).itemsize
        for node, dtype in types
        if accumulated_type(dtype) != dtype
    )
