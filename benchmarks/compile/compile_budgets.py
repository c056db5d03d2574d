"""Budgets for the peak of a step, over the whole range in which they make a difference to
fad's choice."""

import math
from typing import Any

from fad.torch.compile import Partitioner
from fad.torch.compile._partitioner import _ANY_PEAK, _GRADIENT_RESERVE, _RESERVE


class InRange(Partitioner):
    """fad's partitioner with a budget between the lowest that some selection keeps, at a
    `share` of 0, and the lowest that the fastest selection keeps, at 1. It has the `budget`
    in bytes, and the `estimate` of the selection that it chose."""

    def __init__(self, share: float) -> None:
        # What stands for the budget, which is known with the graph.
        super().__init__(budget=1)
        self.share = share
        self.budget = self.estimate = 0

    def _plan(
        self, module: Any, options: dict[str, Any], gradient_bytes: int
    ) -> dict[str, Any]:
        def plan(budget: int) -> dict[str, Any]:
            return Partitioner._plan(
                self, module, {**options, "peak_budget": budget}, gradient_bytes
            )

        ends = [_add_reserve(plan(each)["peak"], gradient_bytes) for each in (0, _ANY_PEAK)]
        self.budget = ends[0] + round(self.share * (ends[1] - ends[0]))
        chosen = plan(self.budget)
        self.estimate = chosen["peak"]
        return chosen

    def uuid(self) -> Any:
        return super().uuid(), self.share


def _add_reserve(peak: int, gradient_bytes: int) -> int:
    """The lowest budget that a selection of that estimated `peak` keeps: what fad leaves
    free for Inductor's kernels belongs to a budget."""
    rest = peak - gradient_bytes * (1 - _GRADIENT_RESERVE)
    # One more for what is rounded.
    return gradient_bytes + math.ceil(rest / (1 - _RESERVE)) + 1
