"""The choice within a budget: estimates order selections, and Inductor's schedules judge.

Selections are those of a front: the slower one is, the lower is the estimate of its peak, which does
not know all of Inductor's fusions. So the peak of a selection is that of its
schedule, and the fastest one within the budget is searched for in few schedules. Each shows by how much
the estimate is off. Between the slowest selection above the budget and the fastest one within it, the
error is interpolated, and the next one to be scheduled is the fastest whose corrected estimate is
within (regula falsi). After the fastest of all, the error is taken to grow in proportion to the fall of
the estimate. Where even the larger of both errors lets none be within, the search ends, or
tries the next faster one if much of the budget is left.

For a GPU, schedules tell times, too, and estimates of these may be wrong in which of two neighbors is
faster. So the selections next to the one that is found are scheduled, as long as each of them takes less
time than those before.

Of selections that are the same for all budgets, the fastest one within a larger budget is no slower, and
its peak is no lower. Those that are scheduled are others for each budget, so that a larger one may lead
to a lower peak, as a smaller one need not schedule a faster selection that has it, or to a slower
selection. Only schedules of the whole front, of 10 to 100 selections, would rule this out. A bisection,
whose places follow from the schedules before, has no slower selection for a larger budget, but takes
more schedules, and leaves lower peaks, too."""

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ._pytorch import Parts
from ._sizes import estimate_time

# So many selections of a graph are scheduled for a budget: the fastest, one by its error, and three
# more by those of the others, of which the second is the lowest, where none before is within. If the
# lowest is not, `_MORE` others and the one of no budget follow.
_MOST = 5

# So many selections more where none keeps a budget, as the lowest estimate need not be the lowest peak.
_MORE = 2

# So many selections more that are slower by the estimate, where schedules tell times.
_SLOWER = 2

# The part of a budget that is left without a trial of the next faster selection.
_SLACK = 1 / 32

# The error of a selection, less that of the fastest one, as a part of the difference of their estimates.
_GROWTH = 1 / 8

# The slope of errors between two selections, as a multiple of that of a line: errors jump where Inductor
# fuses as no estimate knows, mostly near the faster one. Of 1200 budgets of a ViT, a ResNet and a GPT-2
# with an earlier estimate, 51 left out a faster selection that keeps them, and 87 with a multiple of 1.
_RISE = 2


@dataclass(eq=False)
class Trial:
    """A graph as one selection splits it: the `plan` of fad, and the `peak` of the schedule, in which
    Inductor `fuses` as it does without a budget, or not. On a GPU, it tells the `seconds` of a step."""

    parts: Parts
    plan: dict[str, Any]
    peak: int
    fuses: bool = False
    seconds: float | None = None

    @property
    def estimate(self) -> int:
        """That of the peak; 0 of the selection that needs no budget."""
        return self.plan.get("peak", 0)


def find_within(split: Callable[[int | None], Trial], fastest: Trial, budget: int) -> Trial:
    """Returns the fastest of some trials within the `budget`, of which one is the `fastest` of all by
    estimates; where there is none, that of the lowest peak. `split` makes the trial of the fastest
    selection whose estimate is within a bound, or else the lowest, and with None, that of the
    selection without a budget."""
    if fastest.peak <= budget:
        return fastest
    estimates = fastest.plan["front"]
    # By the place on the front, the fastest first.
    tried = {0: fastest}
    while len(tried) < _MOST:
        peaks = {place: trial.peak for place, trial in tried.items()}
        place = _find_next(estimates, peaks, budget)
        if place is None:
            break
        tried[place] = split(estimates[place])
    if any(trial.peak <= budget for trial in tried.values()):
        return choose_of(_try_slower(split, estimates, tried, budget), budget)
    # A budget that a warning names is one that is kept.
    last = len(estimates) - 1
    if last not in tried:
        tried[last] = split(estimates[last])
    trials = [*tried.values()]
    return choose_of([*try_lowest(split, trials, trials), split(None)], budget)


def _try_slower(
    split: Callable[[int | None], Trial],
    estimates: list[int],
    tried: dict[int, Trial],
    budget: int,
) -> list[Trial]:
    """Returns the trials that were `tried`, by their places on the front of `estimates`, some within
    the `budget`, and others behind the first of these that may take less time."""
    place = min(place for place, trial in tried.items() if trial.peak <= budget)
    best, found = tried[place], [*tried.values()]
    for estimate in estimates[place + 1 : place + 1 + _SLOWER] if best.seconds else ():
        found.append(split(estimate))
        if found[-1].peak <= budget:
            best = choose_of([best, found[-1]], budget)
            if best is not found[-1]:
                break
    return found


def try_lowest(
    split: Callable[[int | None], Trial], trials: list[Trial], known: Iterable[Trial]
) -> list[Trial]:
    """Returns `trials` and more of the lowest peaks, where none of `trials`, with the lowest estimate
    among them, keeps a budget. As long as another estimate would be a lower peak if it were off by as
    much as the one of `known` trials that is off the most, that is tried, too, the lowest first. `split`
    is that of `find_within`."""
    errors = [trial.estimate - trial.peak for trial in known if trial.estimate]
    tried = {trial.estimate for trial in trials}
    untried = [each for each in reversed(trials[0].plan["front"]) if each not in tried]
    found = [*trials]
    for estimate in untried[:_MORE]:
        if estimate - max(errors) >= min(trial.peak for trial in found):
            break
        found.append(split(estimate))
        errors.append(estimate - found[-1].peak)
    return found


def choose_of(trials: list[Trial], budget: int) -> Trial:
    """Returns the fastest of `trials` within the `budget`, which are those of one front, the one that
    needs no budget, and others above the budget; where none is, that of the lowest peak. Times are those
    of schedules, where these tell them."""
    within = [trial for trial in trials if trial.peak <= budget]
    if not within:
        return min(trials, key=lambda trial: trial.peak)
    if within[0].seconds:
        return min(within, key=lambda trial: (trial.seconds, trial.peak))
    # The faster one is, the higher is its estimate, but for the one that has none.
    fastest = max(within, key=lambda trial: trial.estimate)
    others = [trial for trial in within if not trial.estimate and trial is not fastest]
    if not others:
        return fastest
    return min([fastest, *others], key=lambda each: (estimate_arithmetic(each.parts), each.peak))


def _find_next(estimates: list[int], peaks: dict[int, int], budget: int) -> int | None:
    """Returns the place among falling `estimates` of the selection to be scheduled next, where `peaks`
    are those of schedules by place, the first one above the `budget`; None where none is likely to be
    faster than those within, and little of the budget is left."""
    errors = {place: estimates[place] - peak for place, peak in peaks.items()}
    end = min((place for place, peak in peaks.items() if peak <= budget), default=len(estimates))
    start = max(place for place in peaks if place < end)
    between = range(start + 1, end)

    def find_first(correct: Callable[[int], float]) -> int | None:
        return next((each for each in between if estimates[each] - correct(each) <= budget), None)

    if end not in peaks:
        growth = _GROWTH if len(peaks) == 1 else 0

        def correct(each: int) -> float:
            return errors[start] + growth * (estimates[start] - estimates[each])

        found = None if len(peaks) == _MOST - 2 else find_first(correct)
        return between[-1] if found is None and between else found
    if find_first(lambda _: max(errors[start], errors[end])) is None:
        is_near = peaks[end] >= (1 - _SLACK) * budget
        return None if is_near or not between else end - 1
    slope = _RISE * (errors[end] - errors[start]) / (estimates[end] - estimates[start])
    least, most = sorted((errors[start], errors[end]))

    def interpolate(each: int) -> float:
        return min(max(errors[start] + slope * (estimates[each] - estimates[start]), least), most)

    found = find_first(interpolate)
    return end - 1 if found is None else found


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
