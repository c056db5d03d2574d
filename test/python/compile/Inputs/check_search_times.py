"""Checks the searches for a selection of a GPU by the seconds of its schedule, of made-up ones: within a
budget, and within a slowdown, with a bound of the bytes alive or without one.

usage: check_search_times.py"""

import sys
import types
from unittest import mock

from check_search import Table
from fad.torch.compile import _alternatives, _judge
from fad.torch.compile._budget import Trial, find_within


def check_times():
    """Errors of the search for a GPU, whose schedules tell times that are not in the order of estimates:
    selections behind the fastest one within the budget by its estimate are scheduled, as long as they
    take less time, two at most. One that is above the budget ends nothing, and none is taken. Without
    times, none is scheduled."""
    peaks = [100, 90, 82, 70, 60, 50, 40]
    for budget, above, seconds, expected in (
        (75, None, [1, 2, 3, 4, 5, 6, 7], (70, [60])),
        (75, None, [1, 2, 3, 5, 4, 6, 7], (60, [60, 50])),
        (75, None, [1, 2, 3, 5, 4, 3, 2], (50, [60, 50])),
        (75, None, [1, 2, 3, 4, 4, 5, 2], (60, [60, 50])),
        (75, 60, [1, 2, 3, 4, 5, 6, 7], (70, [60, 50])),
        (75, 60, [1, 2, 3, 5, 2, 4, 7], (50, [60, 50])),
        (45, None, [9, 8, 7, 6, 5, 4, 3], (40, [])),
        (100, None, [9, 8, 7, 6, 5, 4, 3], (100, [])),
        (75, None, [None] * 7, (70, [])),
        (85, None, [9, 8, 7, 6, 5, 6, 7], (60, [70, 60])),
    ):
        tried = []

        def split(bound):
            place = next(place for place, peak in enumerate(peaks) if peak <= bound)
            tried.append(peaks[place])
            peak = 2 * budget if peaks[place] == above else peaks[place]
            plan = {"peak": peaks[place], "front": peaks}
            return Trial(None, plan, peak, seconds=seconds[place])

        found = find_within(split, split(100), budget).estimate
        first = max(each for each in tried if each <= budget)
        behind = [each for each in tried if each < first]
        if (found, behind) != expected:
            yield f"within {budget}, {found} is found, with {behind}, for {expected}"


def check_slowdown_search():
    """Errors of the search by seconds, with units of a second: estimates of time are above by the bytes
    that products move, 10, or 16 where the first selection repeats one, and at 150 seconds lack 12."""
    # By the estimate, the seconds, and the arithmetic of products.
    rows = {100: (90, 50), 130: (114, 74), 140: (126, 76), 150: (146, 78)}

    def find(most):
        tried = []

        def make_trial(factor):
            time = max(each for each in rows if each <= 100 * factor)
            tried.append(time)
            return Trial(Parted(rows[time][1]), {"time": time}, 0), rows[time][0]

        plan = {"time": 130, "fastest_time": 100, "calls": 90}
        found = _judge.find_lowest(make_trial, Trial(Parted(74), plan, 0), most)
        return found and found.plan["time"], tried

    rates = types.SimpleNamespace(bandwidth=1 / 8)
    with (
        mock.patch.object(_judge, "estimate_arithmetic", lambda parts: parts.arithmetic),
        mock.patch.object(_judge, "find_rates", lambda device: rates),
        mock.patch.object(_judge, "find_device", lambda graph: None),
    ):
        for most, expected in (
            (128, (140, [140])),
            (137, (140, [150, 140])),
            (150, (150, [150])),
            (110, (None, [])),
        ):
            if find(most) != expected:
                yield f"within {most} seconds, {find(most)} is found for {expected}"


def check_launches():
    """Errors of the choice by time: fewer launches than PyTorch's, of ten seconds each, do not make up for
    bytes, of a second each, though a bound of the launches alone would take them."""
    rates = types.SimpleNamespace(bandwidth=1, launch=10)

    def choose(traffic, kernels):
        def make(traffic, kernels):
            half = types.SimpleNamespace(traffic=traffic / 2, kernels=kernels // 2)
            return Parted(0), (half, half)

        first, other = make(90, 10), make(traffic, kernels)
        plan = {"time": 1000, "fastest_time": 1000, "calls": 0, "proposed_time": 2000}
        trials = [Trial(first[0], plan, 0), Trial(other[0], {**plan, "time": 1400}, 0)]
        schedules = {id(parts): schedule for parts, schedule in (first, other)}
        chosen = _judge.choose_by_time(
            lambda options: trials[options is not None],
            lambda parts: schedules[id(parts)],
            lambda: make(100, 10),
            1.0,
        )
        return trials.index(chosen)

    with (
        mock.patch.object(_judge, "estimate_arithmetic", lambda parts: 0),
        mock.patch.object(_judge, "find_rates", lambda device: rates),
        mock.patch.object(_judge, "find_device", lambda graph: None),
        mock.patch.object(_judge, "list_scheduled", lambda *_: []),
    ):
        for traffic, kernels, expected in (100, 10, 1), (110, 4, 0), (98, 12, 0), (100, 4, 1):
            if choose(traffic, kernels) != expected:
                yield f"{traffic} bytes in {kernels} kernels: {1 - expected} is chosen"


def check_bound():
    """Errors of the bound of kernels for a slowdown: there is one, the estimate, where the schedule is above
    that by more than a thirty-second, and the step is as fast with it."""
    rates = types.SimpleNamespace(bandwidth=1, launch=0)

    def choose(peak, bounded):
        """Returns the bound of a selection of an estimate of 320, whose schedule has the `peak`, and moves
        90 bytes, or `bounded` within the bound."""
        bounds = [None]

        def schedule(parts):
            traffic = 90 if bounds[-1] is None else bounded
            return (types.SimpleNamespace(traffic=traffic / 2, kernels=0),) * 2

        plan = {"time": 1000, "fastest_time": 1000, "calls": 0, "peak": 320}
        with (
            mock.patch.object(_judge, "bound_alive", lambda _, most: bounds.append(most)),
            mock.patch.object(_judge, "find_scheduled_peak", lambda _: (peak, 0)),
        ):
            _judge.choose_by_time(
                lambda options: Trial(Parted(0), {**plan, "time": 1400} if options else plan, 0),
                schedule,
                lambda: (Parted(0), (types.SimpleNamespace(traffic=75, kernels=0),) * 2),
                1.0,
            )
        return bounds[-1]

    with (
        mock.patch.object(_judge, "estimate_arithmetic", lambda parts: 0),
        mock.patch.object(_judge, "find_rates", lambda device: rates),
        mock.patch.object(_judge, "find_device", lambda graph: None),
        mock.patch.object(_judge, "list_scheduled", lambda *_: []),
    ):
        for peak, bounded, expected in (330, 90, None), (331, 150, 320), (331, 151, None):
            if (found := choose(peak, bounded)) != expected:
                yield f"a peak of {peak}, {bounded} bytes: the bound is {found} for {expected}"


class Timed(Table):
    """Alternatives of a GPU by the chunks of layers: the selections have a peak, the time of products, an
    estimate of the step's time, and the seconds of a schedule, which may be None."""

    def __init__(self, rows):
        super().__init__({n: [row[:2] for row in each] for n, each in rows.items()})
        self.times = {(n, row[0]): row[2:] for n, each in rows.items() for row in each}

    def split(self, layers, bound):
        parts, plan = super().split(layers, bound)
        return parts, {**plan, "time": self.times[parts[:2]][0]}

    def schedule(self, parts, fuses):
        return super().schedule(parts, fuses)[0], self.times[parts[:2]][1]


def check_chunk_times():
    """Errors of the search for layers in chunks on a GPU that keep the budget in less time: seconds of
    schedules decide, and estimates of the step whether there are any. Products alone tell otherwise in
    each case but the last, where nothing else is known."""
    whole = (60, 30, 300, 30), (100, 10, 100, 10)
    for chunks, expected in (
        ([(70, 40, 200, 20)], (70, [70])),
        ([(70, 20, 200, 35)], (60, [70])),
        ([(70, 20, 350, 20)], (60, [])),
        ([(70, 20, 0, None)], (70, [70])),
    ):
        table = Timed({1: whole, 4: chunks})
        with mock.patch.object(_alternatives, "estimate_arithmetic", lambda parts: parts[2]):
            found = table.find(80)[0][1]
        scheduled = [peak for layers, peak, _ in table.scheduled if layers == 4]
        if (found, scheduled) != expected:
            yield f"{chunks}: {found} is found with {scheduled} for {expected}"
    # Of several numbers of chunks, that of the least time is tried.
    more = {2: [(75, 20, 250, 25)], 4: [(70, 40, 200, 20)], 8: [(65, 18, 220, 22)]}
    with mock.patch.object(_alternatives, "estimate_arithmetic", lambda parts: parts[2]):
        found = Timed({1: whole, **more}).find(80)[0][1]
    if found != 70:
        yield f"of {[*more]} chunks, {found} is found for 70"


class Parted(list):
    """Parts of a graph whose products take some time."""

    def __init__(self, arithmetic):
        super().__init__([types.SimpleNamespace(graph=None)])
        self.arithmetic = arithmetic


def main():
    checks = check_times, check_chunk_times, check_slowdown_search, check_launches, check_bound
    wrong = [message for check in checks for message in check()]
    print(*wrong, f"{len(checks)} searches, {len(wrong)} wrong", sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
