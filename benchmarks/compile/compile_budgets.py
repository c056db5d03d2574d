"""Budgets for the peak of a step, over the whole range in which they make a difference to
fad's choice."""

import json
from typing import Any, Callable, NamedTuple, Sequence

from fad.torch.compile import Partitioner
from fad.torch.compile._budget import Trial, find_budget, find_within
from fad.torch.compile._alternatives import ANY_PEAK


# A trial or a plan, its peak, and the plan.
Found = tuple[Any, int, dict[str, Any]]


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

    def choose_within(self, make_trial: Callable[[int | None], Trial], *_: object) -> Trial:
        """Within budgets for Inductor's schedule."""
        fastest = make_trial(ANY_PEAK)
        self.narrow(1)
        lowest = make_trial(0)

        def find(budget: int) -> Found:
            self.narrow(budget)
            within = make_trial(ANY_PEAK) if self.bound else fastest
            trial = find_within(make_trial, within, budget)
            return trial, trial.peak, trial.plan

        return self._choose_share(*sorted((lowest.peak, fastest.peak)), find)

    def find_plan(
        self, module: Any, options: dict[str, Any], gradient_bytes: int
    ) -> dict[str, Any]:
        """Within budgets for the estimate, where nothing is scheduled."""
        if self.trial is not None:
            return super().find_plan(module, options, gradient_bytes)

        def find(budget: int) -> Found:
            within = {**options, "peak_budget": budget}
            plan = Partitioner.find_plan(self, module, within, gradient_bytes)
            return plan, plan["peak"], plan

        ends = (find(end)[1] for end in (0, ANY_PEAK))
        low, high = (find_budget(peak, gradient_bytes, self.is_fused) for peak in ends)
        return self._choose_share(low, high, find)

    def _choose_share(self, low: int, high: int, find: Callable[[int], Found]) -> Any:
        chosen = {}
        for share in {*self.shares, self.share}:
            budget = low + round(share * (high - low))
            chosen[share], estimate, plan = find(budget)
            self.choices[share] = Choice(budget, estimate, json.dumps(plan, sort_keys=True))
        return chosen[self.share]

    def uuid(self) -> Any:
        return super().uuid(), self.share
