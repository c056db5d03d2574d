"""Checks the searches for a selection of made-up ones: within a budget, for the lowest peak, and with
layers in chunks; and how often a graph is split for them.

usage: check_search.py"""

import pathlib
import sys
import types
from unittest import mock

from fad.torch._fit.compiled import _Lowest
from fad.torch.compile import Partitioner, _alternatives, _budget
from fad.torch.compile._alternatives import ANY_PEAK, Search, Selection, Splits
from fad.torch.compile._budget import Trial, estimate_arithmetic, find_within
from fad.torch.compile._chunks import Counts

sys.path.insert(0, str(pathlib.Path(__file__).parents[4] / "benchmarks/compile"))

from compile_budgets import InRange


def check_search():
    """Errors of the search by schedules: the fastest selection within a budget but for 4%, after five
    schedules, about three on average, of which it is the fastest within the budget. A larger budget has
    no slower selection, and no lower peak but once. Estimates lack nothing in some selections, and have
    buffers too many in faster ones, or in slower ones, as those of a GPT-2, whose peaks rise again
    between, or in more and more of four."""
    faster = [(each, each - 60) for each in range(328, 223, -8)]
    faster += [(215, 155), (198, 138), (181, 121), (165, 104), (126, 126), (116, 116), (100, 100)]
    slower = [(276, 276), (250, 250), (244, 210), (238, 203), (232, 197), (231, 196), (208, 174)]
    slower += [(193, 167), (189, 167)]
    rising = [*slower[:5], (225, 193), (219, 186), (212, 190), (208, 174), (206, 172), (200, 167)]
    rising += [(194, 167), (190, 167)]
    falling = [300, 293, 285, 280, 272, 265, 257, 249, 241, 235, 230, 225, 217, 212, 205, 198, 190]
    falling += [183, 178, 172]
    more = [
        (each, each - min(max(place - 2, 0), 4) * 59 // 4) for place, each in enumerate(falling)
    ]
    cases = (faster, 5, 0, 513), (slower, 0, 0, 575), (rising, 4, 1, 586), (more, 0, 0, 706)
    for front, *allowed in cases:
        left = falls = schedules = 0
        before = Trial(None, {}, 0)
        budgets = range(95, front[0][1] + 1)
        for budget in budgets:
            trials = {}

            def split(bound):
                within = [(0, 277)] if bound is None else [c for c in front if c[0] <= bound]
                estimate, peak = within[0] if within else front[-1]
                plan = {"peak": estimate, "front": [each for each, _ in front]}
                return trials.setdefault(estimate, Trial(None, plan, peak))

            trial = find_within(split, split(2**62), budget)
            peak = trial.peak
            kept = [each.estimate for each in trials.values() if each.peak <= budget]
            if kept and max(kept) != trial.estimate:
                yield f"within {budget}, {max(kept)} is faster than {trial.estimate}"
            if before.peak < budget and before.estimate > trial.estimate:
                yield f"within {budget}, {trial.estimate} is slower than {before.estimate} within less"
            most = max((peak for _, peak in front if peak <= budget), default=0)
            left += most - peak > 0.04 * budget
            falls += peak < before.peak
            schedules += len(trials)
            if peak > budget and most or len(trials) > 5 and peak <= budget:
                yield f"within {budget}, {peak} is found by {sorted(trials)}"
            before = trial
        if left > allowed[0] or falls > allowed[1] or schedules > allowed[2]:
            counts = f"{left} leave 4% more than they have to, {falls} fall"
            yield f"of {len(budgets)} budgets, {counts}, with {schedules} schedules"


def check_lowest():
    """Errors of the search where no selection that it expects to keep a budget does: the lowest peak is
    not that of the lowest estimate, and another is scheduled only where it may be lower. Of those that
    keep the budget after all, the fastest is taken, of which the one of no budget may be one."""
    peaks = {100: 92, 60: 55, 50: 40, 45: 44}
    lower = {**peaks, 45: 39}
    late = {115: 85, 73: 45, 71: 46, 62: 44, 60: 39, 54: 46}
    order = [115, 73, 71, 54, 60, 62]
    for peaks, budget, free, time, expected in (
        (peaks, 30, 90, 0, (40, [100, 45, 50])),
        (lower, 30, 90, 0, (39, [100, 45])),
        (late, 43, 90, 0, (39, order)),
        (late, 44, 90, 0, (44, order)),
        (late, 44, 40, 5, (44, order)),
        (late, 44, 40, -5, (40, order)),
        (late, 44, 40, 0, (40, order)),
        (late, 38, 38, 5, (38, [115, 73, 62, 54, 60])),
    ):
        tried = []

        def split(bound):
            if bound is None:
                return Trial(time, {}, free)
            estimate = next((each for each in peaks if each <= bound), min(peaks))
            tried.append(estimate)
            return Trial(0, {"peak": estimate, "front": [*peaks]}, peaks[estimate])

        with mock.patch.object(_budget, "estimate_arithmetic", lambda parts: parts):
            found = find_within(split, split(2**62), budget).peak, tried
        if found != expected:
            yield f"within {budget}, {found} is found for {expected}, with none at {free}"


class Table:
    """Alternatives that are rows of a table: by the chunks of layers, the selections as pairs of a peak
    and a time, the lowest peak first. Schedules have `off` bytes more than estimates, by layers or by the
    estimate of one selection besides."""

    first = Counts(8, 1)

    def __init__(self, rows, off=None):
        self.rows, self.off, self.tried, self.scheduled = rows, off or {}, [], []

    def make(self, counts):
        return counts.layers

    def list_finer(self, counts):
        finer = [Counts(counts.losses, each) for each in self.rows if each > counts.layers]
        return [[], finer] if finer else []

    def list_finest(self, counts):
        return [finer[-1] for finer in self.list_finer(counts) if finer]

    def has(self, counts):
        return counts.layers in self.rows

    def split(self, layers, bound):
        self.tried.append(layers)
        within = [row for row in self.rows[layers] if bound is None or row[0] <= bound]
        peak, time = within[-1] if within else self.rows[layers][0]
        # The selection that needs no budget has no estimate.
        plan = {"peak": peak, "front": [row[0] for row in reversed(self.rows[layers])]}
        return (layers, peak, time), {} if bound is None else plan

    def schedule(self, parts, fuses):
        if not fuses:
            self.scheduled.append(parts)
        layers, estimate, _ = parts
        return estimate + self.off.get((layers, estimate), self.off.get(layers, 0)), None

    def find(self, budget):
        """Returns the layers, the peak and the time that a search finds, and those that it tries."""
        search = Search(self, Splits(self.split), self.schedule)
        fastest = search.make_trial(2**62)
        trial = search.refine(find_within(search.make_trial, fastest, budget), budget)
        return trial.parts, set(self.tried)


def check_lowest_counts():
    """Errors of the search for the lowest peak with any chunks: the first ones are tried where their
    estimates are near, and of the last ones those that may be lower if an estimate is right."""
    whole = [(60, 30), (80, 20), (100, 10)]
    for rows, off, expected in (
        ({1: whole}, {}, (60, [60, 100])),
        ({1: whole, 4: [(50, 26)]}, {}, (50, [50, 60, 100])),
        ({1: whole, 4: [(40, 26), (44, 20)]}, {}, (40, [40])),
        ({1: whole, 4: [(40, 26), (44, 20)]}, {(4, 40): 6}, (44, [40, 44])),
        ({1: whole, 4: [(40, 26), (44, 20)]}, {4: 20, 1: -10}, (50, [40, 60, 100])),
        ({1: whole, 4: [(40, 26)]}, {4: None}, (60, [40, 60, 100, 40])),
    ):
        table = Table(rows, off)
        trial = Search(table, Splits(table.split), table.schedule).find_lowest()
        found = trial.peak, [estimate for _, estimate, _ in table.scheduled]
        if found != expected:
            yield f"{rows} off by {off}: {found} is the lowest for {expected}"


def check_before():
    """Errors of searches that know the lowest peak at another size: where its estimate was right, and that
    with more chunks is, the first ones are not tried unless they are about as low by theirs. And of
    the selection without a budget, which is scheduled only where it saves less than the lowest peak."""
    rows = {1: [(60, 30), (80, 20)], 4: [(50, 26)]}
    before = Selection(Counts(8, 1), 1, 2, 100, 100, Counts(8, 1))
    for more, off, selection, expected in (
        ([(50, 26)], {}, before, [50]),
        ([(50, 26)], {}, None, [50, 60, 80]),
        ([(50, 26)], {}, before._replace(peak=98), [50, 60, 80]),
        ([(50, 26)], {}, before._replace(counts=Counts(8, 4)), [50, 60, 80]),
        ([(50, 26)], {}, before._replace(fuses=True), [50, 60, 80]),
        ([(50, 26)], {4: 2}, before, [50, 60, 80]),
        ([(59, 26)], {}, before, [59, 60, 80]),
    ):
        table = Table({**rows, 4: more}, off)
        Search(table, Splits(table.split), table.schedule).find_lowest(selection)
        found = [estimate for _, estimate, _ in table.scheduled]
        if found != expected:
            yield f"{more} off by {off} after {selection}: {found} are scheduled for {expected}"
    for saved, expected in (59, [60, 80]), (60, [60]):
        table = Table({1: rows[1]})
        Search(table, Splits(table.split), table.schedule, lambda _: saved).find_lowest()
        found = [estimate for _, estimate, _ in table.scheduled]
        if found != expected:
            yield f"where {saved} bytes are saved, {found} are scheduled for {expected}"


def check_again():
    """Errors of a selection that is found again for other sizes: one is scheduled, unless these are far,
    or it takes more than it did."""
    rows = {1: [(100, 30), (200, 20)], 4: [(40, 26), (44, 20), (60, 15)]}

    def make(factor, more=(), **changes):
        longer = {layers: [(factor * e, t) for e, t in row] for layers, row in rows.items()}
        longer.update(changes.get("rows", {}))
        table = Table(longer, {(4, 40 * factor): 8 * factor, **dict(more)})
        return table, Search(table, Splits(table.split), table.schedule)

    _, search = make(1)
    selection = search.describe(search.find_lowest())
    if selection != ((8, 4), 2, 3, 44, 44, (8, 4), None):
        yield f"the selection is {selection}"
    yield from check_free_again()
    for name, (table, search), expected in (
        ("near", make(1.2), 44 * 1.2),
        ("far", make(1.5), None),
        ("more bytes", make(1.2, {(4, 44 * 1.2): 4}), None),
        ("another front", make(1.1, rows={4: [(44, 26), (50, 20)]}), None),
        ("new chunks", make(1.1, rows={8: [(30, 26)]}), None),
        ("about the same", make(1.03, rows={8: [(30, 26)]}), 44 * 1.03),
        ("no such chunks", make(1.1, rows={4: [(44, 26)], 8: [(40, 26)]}), None),
    ):
        table.rows = (
            {1: table.rows[1], 8: table.rows[8]} if name == "no such chunks" else table.rows
        )
        found = search.find_again(selection)
        tried = len(table.scheduled)
        # Whether that many chunks are known to be the lowest.
        least = search.find_least(selection)
        expected_least = min(row[0][0] for row in table.rows.values())
        if name == "about the same":
            expected_least = 40 * 1.03
        if least != expected_least:
            yield f"{name}: {least} is the lowest estimate for {expected_least}"
        if (found and found.peak) != expected or tried != (
            name in ("near", "more bytes", "about the same")
        ):
            yield f"{name}: {found and found.peak} is found by {tried} schedules"
        # Where none is found, a search begins anew.
        lowest = min(table.schedule((n, *row), 0)[0] for n in table.rows for row in table.rows[n])
        if not found and search.find_lowest().peak != lowest:
            yield f"{name}: {lowest} is not found"


def check_free_again():
    """Errors of the one selection that needs no budget, which is found again by one schedule."""
    tried = []

    def make(factor, peak):
        table = Table({1: [(100 * factor, 30), (200 * factor, 20)]})

        def schedule(parts, fuses):
            # Both selections of the highest estimate have the same parts.
            tried.append((parts[1] / factor, fuses))
            own = parts[1] if parts[1] == 100 * factor else peak + 20 * (not fuses)
            return factor * own, None

        return Search(table, Splits(table.split), schedule)

    search = make(1, 60)
    selection = search.describe(search.find_lowest())
    if selection != ((8, 1), 1, 2, 100, 60, (8, 1), True):
        yield f"the selection without a budget is {selection}"
    for peak, expected in (60, 72), (64, None):
        tried.clear()
        search = make(1.2, peak)
        found = search.find_again(selection)
        if (found and found.peak) != expected or tried != [(200, True)] or search.fastest != found:
            yield f"without a budget, {found} is found for {expected} by {tried}"
        # A search tries the other one as well.
        if not found and (search.make_trial(None).peak != 1.2 * peak or len(tried) != 3):
            yield f"without a budget, a search tries {tried}"


def check_splits():
    """Errors of splits: one of each selection and graph, whatever the bound is within which that is the
    fastest, and another for other bytes that kernels may have alive."""
    table = Table({1: [(60, 30), (80, 20), (100, 10)], 2: [(50, 26), (70, 14)]})
    alive = None
    splits = Splits(table.split, find_alive=lambda: alive)
    bounds = ANY_PEAK, 100, 130, 99, 80, 60, 0, None, None
    calls = [(1, bound) for bound in bounds] + [(2, bound) for bound in (0, 50, 69, 70, ANY_PEAK)]
    found = [splits.get(*call)[0][1] for call in calls]
    for alive in 7, 7, None:
        found.append(splits.get(1, 100)[0][1])
    expected = [100, 100, 100, 80, 80, 60, 60, 100, 100, 50, 50, 50, 70, 70, 100, 100, 100]
    if found != expected or table.tried != [1, 1, 1, 1, 2, 2, 1]:
        yield f"{found} are found by splits of {table.tried}"
    # Plans alone, of which each is made once, and none where there is a split.
    planned = []

    def plan(*call):
        planned.append(call)
        return table.split(*call)[1]

    splits = Splits(table.split, plan)
    table.tried.clear()
    found = [splits.find_plan(1, bound)["peak"] for bound in (0, 0, 90, 80)]
    found += [splits.get(1, 100)[0][1], splits.find_plan(1, 200)["peak"], splits.get(1, 85)[0][1]]
    if found != [60, 60, 80, 80, 100, 100, 80] or planned != [(1, 0), (1, 80)]:
        yield f"{found} are found by plans of {planned}"
    if len(table.tried) != 4:
        yield f"plans and splits are made {len(table.tried)} times"


class Steps(Table):
    """Alternatives by the chunks of losses and of layers, of which the most of each are tried."""

    def make(self, counts):
        return tuple(counts)

    def list_finer(self, counts):
        losses, layers = counts
        return [
            [Counts(*each) for each in self.rows if each[1] == layers and each[0] > losses],
            [Counts(*each) for each in self.rows if each[0] == losses and each[1] > layers],
        ]


def check_chunk_search():
    """Errors of the search for a number of chunks: the least time within a budget, where no selection
    of the whole graph keeps it, and where one does in more time."""
    whole = [(60, 30), (80, 20), (100, 10)]
    chunks = {1: whole, 2: [(50, 26), (70, 14)], 4: [(40, 22), (48, 15)], 8: [(38, 16), (46, 17)]}
    steps = {
        (8, 1): [(100, 1), (102, 1), (104, 1)],
        (16, 1): [(70, 1), (72, 1), (74, 1)],
        (16, 4): [(60, 1), (62, 1), (64, 1), (66, 1)],
    }
    off = {(8, 1): -20, ((16, 1), 70): -2, ((16, 4), 60): -1, ((16, 4), 62): -7}
    _alternatives.estimate_arithmetic, before = lambda parts: parts[2], estimate_arithmetic
    cases = {
        "the fastest keeps it": (Table(chunks), 100, (1, 100, 10), {1}),
        "chunks take less time": (Table(chunks), 80, (2, 70, 14), {1, 2, 4, 8}),
        "chunks take more time": (Table({1: whole, 2: [(70, 21)]}), 80, (1, 80, 20), {1, 2}),
        "their schedule is higher": (Table(chunks, {2: 20}), 80, (1, 80, 20), {1, 2, 4, 8}),
        "only chunks keep it": (Table(chunks), 50, (4, 48, 15), {1, 2, 4, 8}),
        "only the most keep it": (Table(chunks), 38, (8, 38, 16), {1, 4, 8}),
        "chunks have no schedule": (Table(chunks, {2: None}), 80, (1, 80, 20), {1, 2, 4, 8}),
        "nothing keeps it": (Table(chunks), 30, (8, 38, 16), {1, 8}),
        "the next one is lower": (Table(chunks, {1: -10, (8, 46): -12}), 27, (8, 46, 17), {1, 8}),
        "only the last is tried more": (Steps(steps, off), 20, ((16, 4), 62, 1), {*steps}),
        "a late one keeps it": (Steps(steps, off), 56, ((16, 4), 62, 1), {*steps}),
        "chunks have no lower peak": (Table({1: whole, 2: [(60, 9)]}), 50, (1, 60, 30), {1, 2}),
    }
    try:
        for name, (table, budget, *expected) in cases.items():
            found = table.find(budget)
            if [*found] != expected:
                yield f"{name}: {found} is found for {expected}"
        # No schedules of chunks that estimates tell to take more time, and one where none keep a budget.
        # Others might be as low where estimates are off by more than that of the lowest.
        for name, expected in (
            ("chunks take more time", []),
            ("nothing keeps it", [(8, 38, 16)]),
            ("the next one is lower", [(8, 38, 16), (8, 46, 17)]),
            (
                "only the last is tried more",
                [((16, 1), 70, 1), ((16, 4), 60, 1), ((16, 4), 62, 1), ((16, 4), 64, 1)],
            ),
        ):
            found = [parts for parts in cases[name][0].scheduled if parts[0] not in (1, (8, 1))]
            if found != expected:
                yield f"{name}: {found} are scheduled for {expected}"
    finally:
        _alternatives.estimate_arithmetic = before


def check_bounds():
    """Errors of the bytes that kernels of a GPU may have alive: those of the budget for each selection
    within one, after the fastest of all, which shows what a fraction is. Others of a CPU have no bound."""
    peaks = {ANY_PEAK: 100, 60: 60, 0: 40}

    def list_bounds(partitioner, bound):
        partitioner.bound, found = bound, []

        def make_trial(most):
            found.append((most, partitioner.bound))
            plan = {"peak": most or 0, "front": [2**62, 60, 0]}
            return Trial(None, plan, peaks.get(most, 100))

        partitioner.choose_within(make_trial)
        return found

    fastest = (ANY_PEAK, ANY_PEAK)
    for name, partitioner, expected in (
        ("bytes", Partitioner(budget=70), [(ANY_PEAK, 70), (60, 70)]),
        ("a share", Partitioner(budget=0.7), [fastest, (ANY_PEAK, 70), (60, 70)]),
        ("a range", InRange(0.5, []), [fastest, (0, 1), (ANY_PEAK, 70), (60, 70)]),
    ):
        found = list_bounds(partitioner, ANY_PEAK)
        if found != expected:
            yield f"{name}: trials are {found}"
        if any(bound is not None for _, bound in list_bounds(partitioner, None)):
            yield f"{name}: a CPU has a bound"
    for bound, expected in (ANY_PEAK, 1), (None, None):
        lowest, found = _Lowest("auto"), []

        def find(*_):
            found.append(lowest.bound)
            return Trial(None, {}, 40)

        lowest.bound = bound
        lowest.choose(
            types.SimpleNamespace(
                find_least=lambda before: find(before).peak,
                find_lowest=find,
                describe=lambda _: None,
            )
        )
        if found != [expected, expected]:
            yield f"the lowest: bounds are {found}"


def main():
    checks = check_search, check_lowest, check_splits, check_chunk_search, check_bounds
    checks += check_lowest_counts, check_before, check_again
    wrong = [message for check in checks for message in check()]
    print(*wrong, f"{len(checks)} searches, {len(wrong)} wrong", sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
