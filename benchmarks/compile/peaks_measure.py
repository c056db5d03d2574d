"""Measurements by peaks.py: selections within budgets, by Inductor's schedule, and their peaks."""

import random
from typing import Any, Callable, Iterator

from torch._inductor import config as inductor_config
from torch._inductor.async_compile import AsyncCompile

from fad.torch.compile import Partitioner
from fad.torch.compile._budget import Trial, find_within
from fad.torch.compile._alternatives import ANY_PEAK

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
        # By budget, the scheduled peak, and the bound of the selection that has it.
        self.found: dict[int, tuple[int, int | None]] = {}
        self.drawn: int | None = None

    def choose_within(self, make_trial: Callable[[int | None], Trial], *_: object) -> Trial:
        if self.found:
            return make_trial(self.drawn)
        fastest = make_trial(ANY_PEAK)
        low = min(fastest.peak, make_trial(0).peak, make_trial(None).peak)
        draw = random.Random(0)
        for _ in range(self.count):
            budget = draw.randint(int(0.9 * low), fastest.peak)
            trial = find_within(make_trial, fastest, budget)
            self.found[budget] = trial.peak, trial.plan.get("peak")
        self.drawn = trial.plan.get("peak")
        return trial

    def uuid(self) -> Any:
        return super().uuid(), self.drawn


def measure(model: Model, count: int) -> Iterator[tuple[int, Pair]]:
    """Yields so many budgets of `model`, and what is found of each."""
    AsyncCompile.cpp_pybinding = lambda *arguments, **options: lambda *operands: None
    partitioner, peaks = _Drawn(count), {}
    with inductor_config.patch(fx_graph_cache=False):
        peaks[partitioner.drawn] = _measure(model, partitioner)
        for bound in {bound for _, bound in partitioner.found.values()} - peaks.keys():
            partitioner.drawn = bound
            peaks[bound] = _measure(model, partitioner)
    for budget, (scheduled, bound) in partitioner.found.items():
        measured, warns = peaks[bound], scheduled > budget
        yield budget, {"scheduled": scheduled, "measured": measured, "warns": warns}


def _measure(model: Model, partitioner: _Drawn) -> int:
    compile_measure.forget()
    step = compile_measure.compile_model(model, "", None, budget=partitioner)
    peak = measure_peak(model, step)
    clear(model)
    return peak
