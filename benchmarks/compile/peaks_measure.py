"""Measurements by peaks.py: selections within budgets, by Inductor's schedule, and their peaks."""

import json
import random
from typing import Any, Callable, Container, Iterator

from torch._inductor import config as inductor_config
from torch._inductor.async_compile import AsyncCompile

from fad.torch.compile import Partitioner
from fad.torch.compile._budget import Trial, find_within
from fad.torch.compile._alternatives import ANY_PEAK
from fad.torch.compile._layouts import get_layout
from fad.torch.compile._peak import Schedule
from fad.torch.compile._pytorch import Parts, bounds_memory

import compile_measure
import figures
from steps import Model, clear, measure_peak

# The bound of the selection without a budget is None.
Pair = dict[str, Any]


def describe() -> dict[str, Any]:
    """Returns the setting, in which time has no part."""
    setting = figures.describe("cpu")
    return {**setting, "clock": "kernels of Inductor are empty"}


class _Drawn(Partitioner):
    """Chooses within so many budgets, and then takes the selection of one estimate."""

    def __init__(self, count: int) -> None:
        super().__init__(budget=1)
        self.count = count
        # By budget, the scheduled peak, the bound of the selection that has it, and the highest peak
        # of faster selections that keep the budget, if there are any.
        self.found: dict[int, tuple[int, int | None, int | None]] = {}
        self.drawn: int | None = None
        # By the plan, and whether it is compiled for a budget, what is known from before.
        self.schedules: dict[str, tuple[Schedule, Schedule]] = {}

    def __getstate__(self) -> dict[str, Any]:
        # Inductor copies its configuration, in which this is, and no fake tensor can be copied.
        return {**super().__getstate__(), "schedules": {}}

    def _schedule(self, parts: Parts, *arguments: Any, **options: Any) -> tuple[Schedule, Schedule]:
        choices = bounds_memory(parts[0], self.has_budget), get_layout(parts[1])
        key = json.dumps([self.planned, choices], sort_keys=True)
        if key not in self.schedules:
            self.schedules[key] = super()._schedule(parts, *arguments, **options)
        return self.schedules[key]

    def choose_within(self, make_trial: Callable[[int | None], Trial], *_: object) -> Trial:
        if self.found:
            return make_trial(self.drawn)
        fastest = make_trial(ANY_PEAK)
        front = [make_trial(estimate) for estimate in fastest.plan["front"]]
        low = min(trial.peak for trial in (*front, make_trial(None)))
        draw = random.Random(0)
        for _ in range(self.count):
            budget = draw.randint(int(0.9 * low), fastest.peak)
            trial = find_within(make_trial, fastest, budget)
            # All are, of the one of no budget, which is taken where none keeps it.
            peaks = [each.peak for each in front if each.estimate > trial.estimate]
            faster = max((peak for peak in peaks if peak <= budget), default=None)
            self.found[budget] = trial.peak, trial.plan.get("peak"), faster
        self.drawn = trial.plan.get("peak")
        return trial

    def uuid(self) -> Any:
        return super().uuid(), self.drawn


def measure(model: Model, count: int, present: Container[str]) -> Iterator[tuple[int, Pair]]:
    """Yields so many budgets of `model`, but for those that are `present`, and what is found of each, when
    it is measured."""
    AsyncCompile.cpp_pybinding = lambda *arguments, **options: lambda *operands: None
    partitioner = _Drawn(count)
    with inductor_config.patch(fx_graph_cache=False):
        peak = _measure(model, partitioner)
        missing: dict[int | None, list[int]] = {partitioner.drawn: []}
        for budget, (_, bound, _) in partitioner.found.items():
            if str(budget) not in present:
                missing.setdefault(bound, []).append(budget)
        for bound, budgets in missing.items():
            if bound != partitioner.drawn:
                partitioner.drawn = bound
                peak = _measure(model, partitioner)
            for budget in budgets:
                scheduled, _, faster = partitioner.found[budget]
                pair = {"scheduled": scheduled, "measured": peak, "faster": faster}
                yield budget, {**pair, "warns": scheduled > budget}


def _measure(model: Model, partitioner: _Drawn) -> int:
    compile_measure.forget()
    step = compile_measure.compile_model(model, "", None, budget=partitioner)
    peak = measure_peak(model, step)
    clear(model)
    return peak
