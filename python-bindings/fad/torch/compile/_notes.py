"""Whether graphs keep their budgets, which is kept for the warnings of `_log`.

Each function tells whether there is something to warn of."""

import math
from collections.abc import Mapping

from torch import fx

from ._log import note_budget
from ._peak import peak_bytes
from ._pytorch import Parts, has_other_budget
from ._sizes import assume_sizes


def note_bytes(kind: str, budget: int, lowest: int) -> bool:
    """Notes that a graph needs `lowest` bytes where `budget` are its budget."""
    exceeds = lowest > budget
    note_budget(kind, budget, lowest, exceeds)
    return exceeds


def note_fraction(fraction: float, peak: int, fastest: int) -> bool:
    """Notes that a graph has the `peak` where its budget is a fraction of the `fastest` one's."""
    exceeds = peak > int(fraction * fastest)
    # The least number of three digits that is enough.
    need = math.ceil(1000 * peak / max(fastest, 1)) / 1000
    note_budget("fraction", fraction, need, exceeds)
    return exceeds


def note_sizes(
    kind: str, parts: Parts, sizes: Mapping[str, int], budget: int, planned: int
) -> bool:
    """Notes what a graph in a checkpoint that is planned with `sizes`, and then takes `planned`
    bytes, takes with those of the batch. The plan's estimate grows as that of the graphs' peak, or
    of their saved tensors, where `kind` is "saved"."""
    found = []
    for each in (sizes, {}):
        with assume_sizes(each):
            peak = peak_bytes(*parts)
        found.append(peak.saved if kind == "saved" else peak.bytes)
    return note_bytes(f"{kind} in a checkpoint", budget, planned * found[1] // max(found[0], 1))


def note_other_budgets(graph: fx.Graph) -> bool:
    """Notes whether there is a budget that is for PyTorch's partitioner."""
    has_budget = has_other_budget(graph)
    if has_budget:
        note_budget("of PyTorch", 0, 1, True)
    return has_budget
