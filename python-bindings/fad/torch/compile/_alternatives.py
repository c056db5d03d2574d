"""The choice of operations that a joint graph computes in chunks, within a budget.

The graph is planned with chunks of its losses alone. Where no selection of it keeps the budget, it
is planned with more chunks of these, or with wide layers in chunks, as long as that lowers the
peak. Where one keeps it by repeating operations, layers in chunks may do so in less time."""

import bisect
import json
import math
from typing import Any, Callable, NamedTuple, Sequence

from torch import fx

from ._budget import Trial, choose_of, estimate_arithmetic, find_within, try_lowest
from ._chunks import Alternatives, Counts
from ._import import NotPlanned
from ._log import log_refused, log_trial
from ._pytorch import Parts

# A budget that every selection keeps.
ANY_PEAK = 2**62

# The parts of a graph, and the plan of fad; None where nothing is chosen.
Split = tuple[Parts, dict[str, Any] | None]


class Splits:
    """Splits of graphs by `split`, which takes a graph and a bound, once for each selection: all bounds
    between two neighbors of a front have the same one, and the front is known from the first plan. Where
    nothing is asked for but the plan, `plan` returns it in less time. Splits are others for other bytes
    that `find_alive` returns: values that are alive beside a graph are not in its estimates."""

    def __init__(
        self,
        split: Callable[[fx.Graph, int | None], Split],
        plan: Callable[[fx.Graph, int | None], dict[str, Any] | None] | None = None,
        find_alive: Callable[[], int | None] = lambda: None,
    ) -> None:
        self._split, self._plan = split, plan or (lambda graph, bound: split(graph, bound)[1])
        self._find_alive = find_alive
        self._fronts: dict[fx.Graph, list[int]] = {}
        self._known: dict[tuple[fx.Graph, int | None, int | None], Split] = {}
        self._plans: dict[tuple[fx.Graph, int | None, int | None], dict[str, Any] | None] = {}

    def get(self, graph: fx.Graph, bound: int | None) -> Split:
        """Returns the split of the fastest selection within `bound`, the lowest there is, or with None,
        the one that needs no budget."""
        bound, alive = self._find_selected(graph, bound), self._find_alive()
        found = self._known.get((graph, bound, alive))
        if found is None:
            found = self._split(graph, bound)
            bound = self._add_front(graph, bound, found[1])
            self._known[graph, bound, alive] = found
            self._plans[graph, bound, alive] = found[1]
        return found

    def find_plan(self, graph: fx.Graph, bound: int | None) -> dict[str, Any] | None:
        """Returns the plan of the split that `get` returns."""
        bound, alive = self._find_selected(graph, bound), self._find_alive()
        key = graph, bound, alive
        if key not in self._plans:
            plan = self._plan(graph, bound)
            key = graph, self._add_front(graph, bound, plan), alive
            self._plans[key] = plan
        return self._plans[key]

    def _find_selected(self, graph: fx.Graph, bound: int | None) -> int | None:
        """Returns the estimate of the selection within `bound`, where the front is known."""
        front = self._fronts.get(graph)
        if not front or bound is None:
            return bound
        return next((estimate for estimate in front if estimate <= bound), front[-1])

    def _add_front(
        self, graph: fx.Graph, bound: int | None, plan: dict[str, Any] | None
    ) -> int | None:
        """Keeps the front of a `plan` within `bound`, and returns the estimate of its selection."""
        if plan is None or "front" not in plan:
            return bound
        self._fronts[graph] = plan["front"]
        return plan["peak"]


class Selection(NamedTuple):
    """A selection that a search has chosen, by which it is found again for about the same sizes: the
    counts, its place in the front, and the length of that, from the end; the estimate of its peak,
    and its peak. Of the one that needs no budget, place and estimate are those of the lowest."""

    counts: Counts
    place: int
    length: int
    estimate: int
    peak: int
    #: The counts of the lowest estimate of all selections.
    least: Counts
    #: Whether Inductor fuses as without a budget, of the one that needs none.
    fuses: bool | None = None


# The part by which estimates of one selection may differ at other sizes, and by which they may be
# above peaks; and the part by which peaks beside estimates may grow, and within which estimates that
# were right before are right again.
_NEAR, _EQUAL = 1 / 4, 1 / 100
# The part by which estimates differ at sizes with the same chunks.
_SAME = 1 / 32


def _get_peak(trial: Trial) -> int:
    return trial.peak


def _is_near(growth: float, part: float) -> bool:
    """Tells whether a selection is about as large as before, by a `part` at most."""
    return growth > 0 and abs(math.log(growth)) <= math.log(1 + part)


def _is_right(found: Selection | Trial) -> bool:
    """Tells whether an estimate is near the peak of the schedule."""
    return abs(found.estimate - found.peak) <= _EQUAL * found.peak


def _is_faster(trial: Trial, other: Trial) -> bool:
    """Tells whether `trial` takes less time than `other`, by the first measure that both have: seconds
    of schedules, estimates of a step, or the time of products."""
    if trial.seconds and other.seconds:
        return trial.seconds < other.seconds
    if trial.plan.get("time") and other.plan.get("time"):
        return trial.plan["time"] < other.plan["time"]
    return estimate_arithmetic(trial.parts) < estimate_arithmetic(other.parts)


class Search:
    """Trials of a joint graph with any of `alternatives`, by their `splits`. `schedule` returns the peak
    of both parts where Inductor fuses as without a budget, or not, and the seconds of a trial. Without
    that, the estimate is the peak. `count_saved` returns bytes that every schedule of parts has alive at
    once."""

    def __init__(
        self,
        alternatives: Alternatives,
        splits: Splits,
        schedule: Callable[[Parts, bool], tuple[int, float | None]] | None = None,
        count_saved: Callable[[Parts], int] = lambda _: 0,
    ) -> None:
        self._alternatives, self._splits, self._schedule = alternatives, splits, schedule
        self._count_saved = count_saved
        self._counts = alternatives.first
        self._trials: dict[str, Trial] = {}
        # By counts, the lowest estimate of a peak.
        self._floors: dict[Counts, int] = {}
        # That of the first trial.
        self.fastest: Trial | None = None

    def restart(self) -> None:
        """Lets the next search begin with the first counts; selections that were tried are known."""
        self._counts, self.fastest = self._alternatives.first, None

    def make_trial(self, bound: int | None, fuses: bool | None = None) -> Trial:
        """Returns the trial of the selection within `bound`, the same one for the same selection. The
        one that needs no budget is that of the lower peak, where Inductor `fuses`, or where not."""
        parts, plan = self._split_within(bound)
        key = json.dumps([self._counts, plan, fuses], sort_keys=True)
        if key not in self._trials:
            free = (False, True) if fuses is None else (fuses,)
            trial = self._trials[key] = self._try_fusions(
                parts, plan, free if bound is None else (False,)
            )
            log_trial(trial.estimate, trial.peak, trial.seconds)
        self.fastest = self.fastest or self._trials[key]
        return self._trials[key]

    def _try_fusions(self, parts: Parts, plan: dict[str, Any], choices: Sequence[bool]) -> Trial:
        if not self._schedule:
            return Trial(parts, plan, plan["peak"])
        found = {fuses: self._schedule(parts, fuses) for fuses in choices}
        fuses = min(found, key=lambda each: found[each][0])
        peak, seconds = found[fuses]
        return Trial(parts, plan, peak, fuses, seconds)

    def find_least(self, before: Selection | None = None) -> int:
        """Returns the lowest estimate of a peak that there is with any counts. These are those of the
        selection `before`, if that is about as large again."""
        is_same = before and _is_near(self._find_estimate(before) / before.estimate, _SAME)
        counts = before.least if before and is_same else self._find_least_counts()
        return self._find_floor(counts)

    def split_first(self) -> Trial:
        """Returns the trial of the lowest estimate with the first counts, of which nothing is
        scheduled."""
        parts, plan = self._split_within(0)
        return Trial(parts, plan, plan["peak"])

    def _find_least_counts(self) -> Counts:
        """Returns the counts of the lowest estimate: more chunks are taken as long as they lower it."""
        counts = self._counts
        while True:
            finest = self._alternatives.list_finest(counts)
            floor = self._find_floor(counts)
            lower = next((each for each in finest if self._find_floor(each) < floor), None)
            if lower is None:
                return counts
            counts = lower

    def find_lowest(self, before: Selection | None = None) -> Trial:
        """Returns the trial of the lowest peak with any counts. With the first ones none is tried where
        estimates are far above a peak with others, or above it where they are right, as the selection
        `before` of another size with the first counts tells."""
        first, least = self._counts, self._find_least_counts()
        if least != first:
            self._counts = least
            found = self._try(0, 0)
            is_right = before and before.counts == first and before.fuses is None
            are_right = is_right and all(map(_is_right, (before, found)))
            margin = 2 * _EQUAL if are_right else _NEAR
            if found and self._find_floor(first) > (1 + margin) * found.peak:
                # Other estimates may be right.
                return self._try_lower(found, Trial(found.parts, found.plan, found.estimate), 0)
            self._counts = first
        return self.refine(self._find_lower_without(self.make_trial(0)), 1)

    def _find_lower_without(self, trial: Trial) -> Trial:
        """Returns the one of the lower peak of `trial` and the selection that needs no budget, which is
        scheduled only where it saves fewer bytes than the peak of `trial`."""
        if self._schedule and self._count_saved(self._split_within(None)[0]) >= trial.peak:
            return trial
        return min(trial, self.make_trial(None), key=_get_peak)

    def describe(self, trial: Trial) -> Selection | None:
        """Returns the selection of `trial`; None where no bound has it."""
        key = next(key for key, each in self._trials.items() if each is trial)
        counts = Counts(*json.loads(key)[0])
        front = self._plan_within(0, counts).get("front", ())
        is_free = not trial.estimate
        estimate = self._find_floor(counts) if is_free else trial.estimate
        if estimate not in front:
            return None
        place, least = len(front) - front.index(estimate), self._find_least_counts()
        fuses = trial.fuses if is_free else None
        return Selection(counts, place, len(front), estimate, trial.peak, least, fuses)

    def find_again(self, selection: Selection) -> Trial | None:
        """Returns the trial of a `selection` for other sizes; None where these are too far from its
        own for that."""
        estimate = self._find_estimate(selection)
        growth = estimate / selection.estimate
        if not _is_near(growth, _NEAR):
            return None
        if not _is_near(growth, _SAME) and self._find_least_counts() != selection.least:
            return None
        before, self._counts = (self._counts, self.fastest), selection.counts
        is_free = selection.fuses is not None
        trial = self.make_trial(None if is_free else estimate, selection.fuses)
        if trial.peak <= (1 + _EQUAL) * growth * selection.peak:
            return trial
        self._counts, self.fastest = before
        return None

    def _find_estimate(self, selection: Selection) -> int:
        """Returns the estimate of a `selection` for these sizes; 0 where there is none."""
        if not self._alternatives.has(selection.counts):
            return 0
        front = self._plan_within(0, selection.counts).get("front", ())
        return front[-selection.place] if len(front) == selection.length else 0

    def refine(self, trial: Trial, budget: int) -> Trial:
        """Returns a better trial than `trial` for the `budget`, with other counts, or itself. Where
        none keeps it, the lowest estimates tell which counts are lower, and only of the last ones are
        other selections tried."""
        refused: set[Counts] = set()
        first, best = self._counts, trial
        lowest = self._find_lowest_estimate(trial, budget)
        while best.peak > budget:
            before = self._counts
            bound = self._find_bound(best, budget)
            finer = [
                self._find_lower(each, bound) for each in self._alternatives.list_finer(before)
            ]
            others = [counts for counts in finer if counts not in (None, *refused)]
            if not others:
                return best if before == first else self._try_lower(best, trial, budget)
            self._counts = others[0]
            found = self._try(budget, bound)
            own = found and self._find_lowest_estimate(found, budget)
            if own is not None and (own.peak < lowest.peak or found.peak < best.peak):
                lowest, best = own, min(best, found, key=lambda trial: trial.peak)
            else:
                refused.add(self._counts)
                self._counts = before
        return self._find_faster(best, budget)

    def _find_lowest_estimate(self, trial: Trial, budget: int) -> Trial:
        """Returns the trial of the lowest estimate with the counts, where `trial` is the best of those,
        and none that is tried keeps the budget: then that is one of them."""
        return self.make_trial(0) if self._schedule and trial.peak > budget else trial

    def _try_lower(self, best: Trial, first: Trial, budget: int) -> Trial:
        """Returns a better trial than `best`, which is above the budget, of other selections with the
        counts, or itself. If the best with the `first` counts is the one of no budget, so may that
        of these be."""
        if not self._schedule:
            return best
        try:
            lowest = self.make_trial(0)
            tried = try_lowest(self.make_trial, [lowest], [lowest, best, first])
            more = [] if first.estimate else [self.make_trial(None)]
            return choose_of([best, *tried, *more], budget)
        except Exception as error:
            log_refused(*self._counts, error)
            return best

    def _find(self, budget: int, bound: int) -> Trial:
        if not self._schedule:
            return self.make_trial(max(0, budget))
        if self._find_floor(self._counts) > bound:
            # None is likely to be within.
            trial = self.make_trial(0)
            if trial.peak > budget:
                return trial
        return find_within(self.make_trial, self.make_trial(ANY_PEAK), budget)

    def _try(self, budget: int, bound: int) -> Trial | None:
        """Returns the trial with the counts, where estimates are to be within `bound`; None where
        Inductor has no schedule of one. Others are no worse for it."""
        try:
            return self._find(budget, bound)
        except Exception as error:
            log_refused(*self._counts, error)
            return None

    def _find_lower(self, finer: list[Counts], budget: int) -> Counts | None:
        """Returns those of `finer` of the least time within the `budget`, by estimates; or where none
        keeps it, the most, if their lowest estimate is below that of the counts. The more chunks,
        the lower is the peak, and the longer they take, but the less is repeated beside them."""
        if not finer or self._find_floor(finer[-1]) > budget:
            is_lower = finer and self._find_floor(finer[-1]) < self._find_floor(self._counts)
            return finer[-1] if is_lower else None
        first = bisect.bisect_left(finer, True, key=lambda each: self._find_floor(each) <= budget)
        found, least = finer[first], self._estimate(finer[first], budget)
        for counts in finer[first + 1 :]:
            time = self._estimate(counts, budget)
            if time >= least:
                break
            found, least = counts, time
        return found

    def _find_faster(self, trial: Trial, budget: int) -> Trial:
        """Returns a trial within the `budget` with layers in chunks, if its time is below that of
        `trial`, which is within it."""
        before = self._counts
        if trial is self.fastest or before.layers > self._alternatives.first.layers:
            return trial
        bound = self._find_bound(trial, budget)
        for counts in self._alternatives.list_finer(before)[-1:]:
            lower = self._find_lower(counts, bound)
            if lower is None or not _is_faster(
                Trial(*self._split_within(max(0, bound), lower), 0), trial
            ):
                continue
            self._counts = lower
            found = self._try(budget, bound)
            if found and found.peak <= budget and _is_faster(found, trial):
                return found
        self._counts = before
        return trial

    def _find_bound(self, trial: Trial, budget: int) -> int:
        """Returns the bound of estimates for a `budget`: these are off as that of a similar selection,
        `trial`, or where that has none, as that of the fastest one."""
        similar = trial if trial.estimate else self.fastest
        return budget + (similar.estimate - similar.peak if similar else 0)

    def _find_floor(self, counts: Counts) -> int:
        """Returns the estimate of the lowest peak that there is with `counts`."""
        if counts not in self._floors:
            self._floors[counts] = self._plan_within(0, counts)["peak"]
        return self._floors[counts]

    def _estimate(self, counts: Counts, budget: int) -> int:
        """Returns the time with `counts` within the `budget`: for a GPU, of a step, and for others of
        products."""
        time = self._plan_within(budget, counts).get("time")
        return time or estimate_arithmetic(self._split_within(budget, counts)[0])

    def _split_within(self, bound: int | None, counts: Counts | None = None) -> tuple[Parts, dict]:
        parts, plan = self._splits.get(self._alternatives.make(counts or self._counts), bound)
        return parts, _check_plan(plan)

    def _plan_within(self, bound: int | None, counts: Counts) -> dict[str, Any]:
        return _check_plan(self._splits.find_plan(self._alternatives.make(counts), bound))


def _check_plan(plan: dict[str, Any] | None) -> dict[str, Any]:
    if plan is None:
        raise NotPlanned("nothing is chosen")
    return plan
