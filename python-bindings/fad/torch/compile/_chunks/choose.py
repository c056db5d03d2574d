"""The choice of operations that a step computes in chunks, and of how many.

The largest products of forward come first, such as the logits of a loss. By default, chunks are for
those alone whose gradients forward can compute at once: these take the same operations, and a
chunk's memory in the place of all. Within a budget, or with a number of chunks, layers that are
wide inside have chunks, too, and backward repeats each."""

from typing import Literal, NamedTuple

from torch import fx

from .._graph import copy_graph
from .._log import log_chunks
from .._step_memory import AT_ONCE
from .._sizes import estimate_size
from .cost import count_beside, count_more_rows, count_wider, estimate_chunks
from .insert import insert_regions
from .losses import decompose_losses
from .regions import Region, count_bytes, find_regions, find_seeds
from .sizes import NotSeparable, evaluate, find_largest, know_equal, settle_sizes

Chunks = int | Literal["auto", "off"]

# The bytes of a product from which on chunks are worth their calls, and the part of the largest
# product's, below which a region is not the peak.
_LEAST_BYTES, _LEAST_PART = 2**25, 1 / 16
# The least rows of a chunk by the type of the device: fewer leave most of it idle.
_LEAST_UNITS = {"cpu": 128, "cuda": 512}
# A loss takes one of so many parts of its bytes: by default, and for budgets that these do not keep,
# whose chunks may have fewer rows.
_LOSSES, _FEWER_ROWS = (8, 16, 32), 4
# Those of a layer.
_LAYERS = (1, 2, 4, 8, 16)
# The part of a region's time by which chunks may be slower: by default, and for budgets.
_SLOWER, _SLOWER_IN_BUDGETS = 1 / 5, 1 / 2


class Counts(NamedTuple):
    """The parts of a loss's bytes of which it takes one, or its chunks where their number is given;
    and the most chunks of a layer."""

    losses: int
    layers: int


def check_chunks(chunks: Chunks) -> Chunks:
    """Returns `chunks`, or raises ValueError where it is none of them."""
    if chunks in ("auto", "off") or (type(chunks) is int and chunks > 0):
        return chunks
    raise ValueError(f"chunks is {chunks!r}; give 'auto', 'off', or a number of chunks, at least 1")


class Alternatives:
    """A joint graph, which may be for a compiler that fuses operations, as it is, and with some of it
    in as many chunks as `chunks` says or allows."""

    def __init__(self, graph: fx.Graph, chunks: Chunks, is_fused: bool) -> None:
        self._graph, self._chunks, self._is_fused = graph, chunks, is_fused
        least = _LEAST_BYTES if chunks == "auto" else 1
        is_off = chunks in ("off", 1) or not any(find_seeds(graph.nodes, least))
        self._least = 0 if is_off else least
        # By the most chunks, the graph, and the products of its regions, with their chunks.
        self._made: dict[Counts, tuple[fx.Graph, list[tuple[str, int]]]] = {}
        most = chunks if isinstance(chunks, int) else _LOSSES[0]
        self.first = Counts(most, _LAYERS[0] if chunks == "auto" else most)

    def make(self, counts: Counts) -> fx.Graph:
        """Returns the graph with `counts`, the same one each time."""
        return self._make(counts)[0]

    def list_finer(self, counts: Counts) -> list[list[Counts]]:
        """Returns those with more chunks of losses, and those with more of layers, the least first,
        where the number is fad's choice."""
        return [
            [each for each in more if self._differ(each, counts)]
            for more in self._list_more(counts)
        ]

    def list_finest(self, counts: Counts) -> list[Counts]:
        """Returns the last of each that `list_finer` does, without making those before it."""
        finest = (
            next((each for each in reversed(more) if self._differ(each, counts)), None)
            for more in self._list_more(counts)
        )
        return [each for each in finest if each]

    def has(self, counts: Counts) -> bool:
        """Tells whether `counts` are the first ones, or cut the graph in another way."""
        return counts == self.first or self._differ(counts, self.first)

    def _list_more(self, counts: Counts) -> list[list[Counts]]:
        if self._chunks != "auto" or not self._least:
            return []
        losses, layers = counts
        return [
            [Counts(number, layers) for number in _LOSSES if number > losses],
            [Counts(losses, number) for number in _LAYERS if number > layers],
        ]

    def _differ(self, one: Counts, other: Counts) -> bool:
        return self._make(one)[1] != self._make(other)[1]

    def _make(self, counts: Counts) -> tuple[fx.Graph, list[tuple[str, int]]]:
        if counts not in self._made:
            self._made[counts] = self._insert(counts)
        return self._made[counts]

    def _insert(self, counts: Counts) -> tuple[fx.Graph, list[tuple[str, int]]]:
        if not self._least:
            return self._graph, []
        graph = decompose_losses(copy_graph(self._graph))
        settle_sizes(graph)
        with know_equal(graph):
            return self._insert_into(graph, counts)

    def _insert_into(
        self, graph: fx.Graph, counts: Counts
    ) -> tuple[fx.Graph, list[tuple[str, int]]]:
        inserted: list[tuple[str, int]] = []
        # The bytes of the largest product of a loss, and of a layer.
        largest = {True: 0, False: 0}
        for seed in list(find_seeds(graph.nodes, self._least)):
            size = count_bytes(seed)
            if seed not in graph.nodes or size < _LEAST_PART * min(largest.values()):
                continue
            try:
                regions = find_regions(seed, list(graph.nodes))
            except NotSeparable as reason:
                _leave(seed, str(reason))
                continue
            is_loss = regions[-1].cotangent is not None
            most = counts.losses if is_loss else counts.layers
            if size < _LEAST_PART * largest[is_loss]:
                continue
            largest[is_loss] = max(largest[is_loss], size)
            try:
                number = _choose(regions, most, self._is_fused) if self._chunks == "auto" else most
            except NotSeparable as reason:
                _leave(seed, str(reason))
                continue
            if number > 1 and _cut(graph, regions, number, self._is_fused):
                inserted.append((seed.name, number))
        if inserted:
            return graph, inserted
        reasons = {each.name: each.meta[AT_ONCE] for each in graph.nodes if AT_ONCE in each.meta}
        for node in self._graph.nodes:
            if node.name in reasons:
                node.meta[AT_ONCE] = reasons[node.name]
        return self._graph, inserted


def _leave(seed: fx.Node, reason: str) -> None:
    """Leaves the region of `seed` without chunks, for a `reason`."""
    seed.meta[AT_ONCE] = reason
    log_chunks(seed, reason)


def _cut(graph: fx.Graph, regions: list[Region], number: int, is_fused: bool) -> bool:
    """Tells whether `regions` of `graph` are in so many chunks now."""
    try:
        insert_regions(graph, regions, number, is_fused)
    except NotSeparable as reason:
        _leave(regions[0].seed, str(reason))
        return False
    return True


def _choose(regions: list[Region], most: int, is_fused: bool) -> int:
    """Returns the number of chunks of regions for which nothing is asked: of a layer, at most `most`,
    and of a loss, so many that it takes one of `most` parts; but no more than there is work for."""
    last = regions[-1]
    is_loss = last.cotangent is not None
    least, slower = _LEAST_UNITS.get(last.device, _LEAST_UNITS["cuda"]), _SLOWER
    if not is_loss or most > _LOSSES[0]:
        slower = _SLOWER_IN_BUDGETS
    if is_loss and most > _LOSSES[0]:
        least //= _FEWER_ROWS
    units = estimate_size(evaluate(last.axis.units, last.seed.graph))
    at_once = estimate_chunks(regions, 1)

    def count(parts: int) -> int:
        wanted = _count_chunks(last, parts, is_fused) if is_loss and parts > 1 else parts
        return min(wanted, units // least)

    number = count(most)
    reason = f"{units} rows are fewer than 2 times {least}" if is_loss and number < 2 else ""
    while number > 1 and estimate_chunks(regions, number) > (1 + slower) * at_once:
        most, reason = most // 2, "chunks have too little work for their calls and sums"
        number = count(most)
    saved = last.bytes - last.bytes // max(number, 1)
    if number > 1 and count_wider(last) > saved:
        number, reason = 1, "sums of its gradients take more bytes than chunks save"
    elif number > 1 and is_loss and count_wider(last) + count_more_rows(last) > saved:
        number, reason = 1, "its results take more bytes than chunks save"
    if number <= 1 and reason:
        _leave(last.seed, reason)
    return number


def _count_chunks(region: Region, parts: int, is_fused: bool) -> int:
    """Returns the least number of chunks of a loss, of which one and what is alive beside it take one of
    so many `parts` of the bytes of all. Where twice as many chunks as parts do not suffice, as many
    as parts: more would be for little."""
    inner, beside = region.count_inner(is_fused), count_beside(region)
    units = evaluate(region.axis.units, region.seed.graph)
    for number in range(parts, 2 * parts + 1):
        largest = estimate_size(find_largest(units, number, region.device))
        if (inner * largest // estimate_size(units) + beside) * parts <= inner:
            return number
    return parts
