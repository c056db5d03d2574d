"""The choice within a budget, by Inductor's own schedule of each part.

Selections are made by an estimate, which knows neither Inductor's order of kernels nor all of its
fusions. So the peak of a selection is that of its schedule. The fastest one shows how far estimates
are off, which gives a bound for them. Where the peak of the selection within that is above the
budget or far below, the bound is corrected again. As the first one is the same for all budgets, a
larger budget begins with a larger bound."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ._pytorch import Parts
from ._sizes import estimate_time

# The key of a part's meta for the bytes that its kernels may have alive.
BOUND = "fad_bound"

# So many selections of a graph are scheduled for a budget: the fastest, one by its error, and two
# more by those of the others, of which the first is the lowest, where none before is within. If the
# lowest is not, the one of no budget follows.
_MOST = 4

# The part of a budget that may be left free while a faster selection may be within it.
_SLACK = 1 / 20

# The part of a budget that a corrected bound leaves free.
_MARGIN = 1 / 500


@dataclass(eq=False)
class Trial:
    """A graph as one selection splits it: the `plan` of fad, and the `peak` of the schedule."""

    parts: Parts
    plan: dict[str, Any]
    peak: int

    @property
    def estimate(self) -> int:
        """That of the peak; 0 of the selection that needs no budget."""
        return self.plan.get("peak", 0)


def find_within(split: Callable[[int | None], Trial], fastest: Trial, budget: int) -> Trial:
    """Returns the fastest of some trials within the `budget`, of which one is the `fastest` of all;
    where there is none, that of the lowest peak. `split` makes the trial of the fastest selection
    whose estimate is within a bound, or else the lowest, and with None, that of the selection
    without a budget. It returns a trial again where another bound has the same selection."""
    if fastest.peak <= budget:
        return fastest
    tried = [fastest]
    # Bounds between which there may be a better selection: the highest that gives one within the
    # budget, and the lowest estimate of one above.
    low, high = 0, fastest.estimate
    lowest = None
    # Some bounds have the selection of another one, which costs no schedule.
    for _ in range(2 * _MOST):
        most = max((each.peak for each in tried if each.peak <= budget), default=0)
        if most >= (1 - _SLACK) * budget or high - low <= 1 or len(tried) >= _MOST:
            break
        is_lost = len(tried) == _MOST - 2 and not most
        bound = 0 if is_lost else _correct(tried, budget, low, high)
        trial = split(bound)
        if trial not in tried:
            tried.append(trial)
        if trial.peak <= budget:
            low = max(low, bound, trial.estimate)
        elif trial.estimate > bound:
            lowest = trial
            break
        else:
            high = min(high, trial.estimate)
    within = [trial for trial in tried if trial.peak <= budget]
    if within:
        return max(within, key=lambda trial: trial.estimate)
    # A budget that a warning names is one that is kept.
    return min(*tried, lowest or split(0), split(None), key=lambda trial: trial.peak)


def _correct(tried: list[Trial], budget: int, low: int, high: int) -> int:
    """Returns a bound for the estimate between `low` and `high`, at which the schedule is likely to
    be little below the `budget`."""
    # An estimate has buffers too many, or lacks some, as that of a similar selection.
    for trial in sorted(tried, key=lambda trial: abs(trial.peak - budget)):
        bound = trial.estimate - trial.peak + int((1 - _MARGIN) * budget)
        if low < bound < high:
            return bound
    return (low + high) // 2


def estimate_arithmetic(parts: Parts) -> int:
    """Returns the time of the arithmetic of matrix products in a step of `parts`, chunks included,
    in units of `fad.opaque`."""
    nodes = [node for part in parts for node in part.graph.nodes if node.op != "output"]
    return sum(map(estimate_time, nodes))


# The parts of a budget for what Inductor's kernels take besides what the estimate knows,
# since it orders them anew: of the gradients, which are alive at the end in any case, and
# of all else.
_GRADIENT_RESERVE, _RESERVE = Fraction(1, 24), Fraction(1, 8)


def find_estimate(budget: int, gradient_bytes: int, is_fused: bool) -> int:
    """Returns the estimate of a peak that a `budget` allows where nothing is scheduled, and gradients
    have so many bytes."""
    gradients, rest = _find_parts(gradient_bytes, is_fused)
    return gradients + math.floor((budget - gradient_bytes) * rest)


def find_budget(peak: int, gradient_bytes: int, is_fused: bool) -> int:
    """Returns the lowest budget that a selection of the estimated `peak` keeps, where gradients
    have so many bytes: what fad leaves free for Inductor's kernels belongs to it."""
    gradients, rest = _find_parts(gradient_bytes, is_fused)
    return gradient_bytes + math.ceil((peak - gradients) / rest)


def _find_parts(gradient_bytes: int, is_fused: bool) -> tuple[int, Fraction]:
    """Returns the bytes of gradients in an estimate, and which part of all else in a budget."""
    if not is_fused:
        return gradient_bytes, Fraction(1)
    return math.floor(gradient_bytes * (1 - _GRADIENT_RESERVE)), 1 - _RESERVE


def check_fraction(budget: Any) -> float | None:
    """Returns `budget` if it is a fraction."""
    is_fraction = isinstance(budget, str) and re.fullmatch(r"\s*(0?\.\d+|\d+\s*%)\s*", budget)
    if is_fraction or not isinstance(budget, int | float | str | None):
        raise ValueError(
            f"budget is {budget!r}; give a fraction as a number, such as 0.5, a number of "
            'bytes, or text such as "2GB"'
        )
    if not isinstance(budget, float):
        return None
    if not 0 < budget <= 1:
        raise ValueError(
            f"budget is {budget}; give a fraction between 0 and 1, or a number of bytes"
        )
    return budget


def check_slowdown(slowdown: Any) -> float | None:
    """Returns `slowdown` if it is a factor by which a step may take longer."""
    if slowdown is None:
        return None
    is_number = isinstance(slowdown, int | float) and not isinstance(slowdown, bool)
    if not is_number or not 1 <= slowdown < math.inf:
        raise ValueError(
            f"slowdown is {slowdown!r}; give a factor of at least 1, such as 1.02 for steps that "
            "take 2% longer than the fastest"
        )
    return float(slowdown)
