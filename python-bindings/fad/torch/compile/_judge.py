"""The choice of a selection for a GPU by time: estimates propose, and Inductor's schedules judge.

The seconds of a selection are those of the bytes that its scheduled kernels move, of their launches,
and of the arithmetic of matrix products. Estimates lack some of Inductor's fusions.

- The fastest selection by the estimate competes with PyTorch's own choice where their estimates are
  so near that these may be wrong; the one of fewer seconds is taken.
- A slowdown bounds the seconds by those of PyTorch's own schedule. From there, the bound goes down by
  a little more than what a selection takes too long (the chord method), until one is within; as they are
  ordered by time, and their peaks fall with it, the first within has the lowest peak of those."""

import math
from collections.abc import Callable
from typing import Any

from ._alternatives import ANY_PEAK
from ._budget import Trial, estimate_arithmetic
from ._graph import find_device
from ._log import log_judgement, log_unscheduled
from ._peak import Schedule, find_scheduled_peak, list_scheduled
from ._pytorch import Parts, bound_alive
from ._rates import find_rates

# So many selections of a graph are scheduled for a slowdown.
_MOST = 3

# By how many times the seconds that a selection takes too long a bound is lowered.
_CAUTION = 11 / 10

# The part by which estimates of times may be wrong, for selections of one graph.
_ERROR = 0.05

# The part by which a scheduled peak may be above its estimate where kernels have no bound.
_EXCESS = 1 / 32


def is_near_proposal(plan: dict[str, Any]) -> bool:
    """Tells whether the estimated time of `plan` is so near that of PyTorch's choice that the
    estimate may be wrong in which is less. Only plans for a GPU have times."""
    return plan.get("time", 0) > (1 - _ERROR) * (plan.get("proposed_time") or math.inf)


def estimate_step_time(
    parts: Parts, schedules: tuple[Schedule, Schedule], fewest: int = 0
) -> float:
    """Returns the seconds of a step of `parts` on a GPU: of the bytes that the kernels of their
    `schedules` move, of their launches, the `fewest` or more, and of the arithmetic of matrix products."""
    rates = find_rates(find_device(parts[0].graph))
    traffic = sum(schedule.traffic for schedule in schedules)
    kernels = max(fewest, _count_kernels(schedules))
    return (traffic + estimate_arithmetic(parts) / 8) / rates.bandwidth + kernels * rates.launch


def _count_kernels(schedules: tuple[Schedule, Schedule]) -> int:
    return sum(schedule.kernels for schedule in schedules)


def find_lowest(
    make_trial: Callable[[float], tuple[Trial, float]], first: Trial, most: float
) -> Trial | None:
    """Returns a trial of the lowest peak whose step takes at most `most` seconds on a GPU, by its
    schedule; None where those that are tried take longer, and where the estimate finds none beyond
    the `first`. `make_trial` makes that of the lowest peak that is estimated to take at most so
    many times as long as the fastest one, and tells its seconds."""
    unit = 8 * find_rates(find_device(first.parts[0].graph)).bandwidth
    fastest = first.plan["fastest_time"]
    # Estimates count the bytes that products move, schedules do not.
    rest = first.plan["calls"] - estimate_arithmetic(first.parts)
    factor = (most * unit + rest) / fastest
    for _ in range(_MOST):
        if factor <= first.plan["time"] / fastest:
            break
        trial, seconds = make_trial(factor)
        if seconds <= most:
            return trial
        factor = (trial.plan["time"] - _CAUTION * (seconds - most) * unit) / fastest
    return None


def choose_by_time(
    split: Callable[[dict[str, Any] | None], Trial],
    schedule: Callable[[Parts], tuple[Schedule, Schedule]],
    schedule_stock: Callable[[], tuple[Parts, tuple[Schedule, Schedule]]],
    slowdown: float | None,
) -> Trial:
    """Returns the trial of a selection that is meant to be fast. Where its estimated time is
    near that of PyTorch's choice, Inductor's schedules of both tell which is. With a `slowdown`,
    the step may take as long as that of the parts that `schedule_stock` makes, those of PyTorch
    alone. `split` makes the trial of some options of selection, with None, of the given ones, and
    `schedule` the schedules of its parts."""
    chosen = split(None)
    if not chosen.plan.get("time"):
        return chosen

    def measure(parts: Parts) -> float:
        return estimate_step_time(parts, schedule(parts), fewest)

    def make_trial(factor: float) -> tuple[Trial, float]:
        trial = split({"peak_budget": ANY_PEAK, "slowdown": factor})
        schedules = schedule(trial.parts)
        trial.peak, _ = find_scheduled_peak(list_scheduled(*trial.parts, schedules))
        seconds = estimate_step_time(trial.parts, schedules, fewest)
        log_judgement(seconds, most / (slowdown or 1.0))
        return trial, seconds

    # A CUDA graph has no launches: fewer than PyTorch's do not make up for bytes.
    most, fewest = math.inf, 0
    try:
        if slowdown:
            stock, schedules = schedule_stock()
            most = slowdown * estimate_step_time(stock, schedules)
            fewest = _count_kernels(schedules)
            lowest = find_lowest(make_trial, chosen, most)
            if lowest:
                if lowest.peak > (1 + _EXCESS) * lowest.estimate:
                    # The estimate has no kernels that let more wait, which may move fewer bytes.
                    bound_alive(lowest.parts, lowest.estimate)
                    if measure(lowest.parts) > most:
                        bound_alive(lowest.parts, None)
                return lowest
        is_near = is_near_proposal(chosen.plan)
        own = measure(chosen.parts) if slowdown or is_near else 0.0
        if own > most or is_near:
            # The first proposal is PyTorch's choice without options.
            other = split({"peak_budget": ANY_PEAK, "proposal": 0})
            others = measure(other.parts)
            log_judgement(own, others)
            if own > (slowdown or 1.0) * others:
                return other
    except Exception as error:
        log_unscheduled(error)
    return chosen
