"""Budgets for the peak of a step, over the whole range in which they make a difference to
fad's choice."""

import json
from typing import Any, NamedTuple, Sequence

from fad.torch.compile import Partitioner
from fad.torch.compile._partitioner import ANY_PEAK


class Choice(NamedTuple):
    """The choice of fad within a `budget` in bytes, as a text that is the same for equal
    selections, and the `estimate` of its peak."""

    budget: int
    estimate: int
    selection: str


class InRange(Partitioner):
    """fad's partitioner with a budget between the lowest that some selection keeps, at a
    `share` of 0, and the lowest that the fastest selection keeps, at 1. Its `choices` are
    those of all `shares`, where it has planned a graph."""

    def __init__(self, share: float, shares: Sequence[float]) -> None:
        # A name that stands for the budget, which is known with the graph.
        super().__init__(budget=1)
        self.share, self.shares = share, shares
        self.choices: dict[float, Choice] = {}

    def find_plan(
        self, module: Any, options: dict[str, Any], gradient_bytes: int
    ) -> dict[str, Any]:
        def plan(budget: int) -> dict[str, Any]:
            return Partitioner.find_plan(
                self, module, {**options, "peak_budget": budget}, gradient_bytes
            )

        low, high = (self.find_budget(plan(end)["peak"], gradient_bytes) for end in (0, ANY_PEAK))
        plans = {}
        for share in {*self.shares, self.share}:
            budget = low + round(share * (high - low))
            plans[share] = plan(budget)
            selection = json.dumps(plans[share], sort_keys=True)
            self.choices[share] = Choice(budget, plans[share]["peak"], selection)
        return plans[self.share]

    def uuid(self) -> Any:
        return super().uuid(), self.share
