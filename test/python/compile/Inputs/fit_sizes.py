"""Searches of the largest size, for check_fit.py: which sizes are tried, and how."""

import importlib
import math
from unittest import mock

import torch
from torch import nn

import fad.torch
from fad.torch._fit.compiled import _Kept
from fad.torch._fit.fit import _Step
from fad.torch._fit.search import find_largest
from fad.torch.compile._alternatives import Search, Splits
from check_search import Table

# The package has a function of the same name.
fit_module = importlib.import_module("fad.torch._fit.fit")


class Wide(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(32), nn.Linear(32, 128), nn.Linear(128, 32)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


class Mean(nn.Module):
    def forward(self, x):
        return x.square().mean()


class Parted(nn.Module):
    """Has a large graph and a small one."""

    def __init__(self):
        super().__init__()

        def make(count):
            parts = (
                (nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 64), nn.GELU()) for _ in range(count)
            )
            return nn.Sequential(*(each for part in parts for each in part))

        self.first, self.second = make(3), make(1)

    def forward(self, x):
        x = self.first(x)
        torch._dynamo.graph_break()
        return self.second(x).square().mean()


def check_steered():
    """The largest batch of a budget, and of the lowest, is that which it takes when it is planned
    alone, though the fastest selections alone, or estimates, tell that others are far from it."""
    model = nn.Sequential(Wide(), Wide(), Wide(), Mean())
    schedule = _Step.schedule
    for name, options in (
        ("budget", {"plans": [], "budget": 0.7}),
        ("lowest", {"plans": ["lowest"]}),
    ):
        left = []

        def count(*arguments):
            found = schedule(*arguments)
            left.extend(each.is_left for each in found.values())
            return found

        with mock.patch.object(_Step, "schedule", count):
            one = fad.torch.fit(model, torch.empty(4, 32), memory="4MB", **options)[name]
        other = fad.torch.fit(model, torch.empty(one.largest, 32), **options)[name]
        assert other.peak == one.largest_peak, (one.largest, one.largest_peak, other.peak)
        # The search ends where 1% of the memory is left.
        assert 0.99 * 4e6 <= one.largest_peak <= 4e6, one.largest_peak
        assert not left[0] and not left[-1] and len(left) <= 5, left
        assert any(left) or name == "budget", left


def check_planted():
    """The check of steered searches fails where guides are taken for what a budget chooses."""
    schedule = _Step.schedule

    def claim(*arguments):
        found = schedule(*arguments)
        for each in found.values():
            if each.is_left:
                claimed.append(each)
                each.is_left = False
        return found

    claimed = []
    # All but the first size are far from what the memory leaves.
    with mock.patch.object(fit_module, "_LOW", 2), mock.patch.object(_Step, "schedule", claim):
        try:
            check_steered()
        except AssertionError as error:
            ((largest, said, planned),) = error.args
            assert claimed and said > planned, (largest, said, planned)
        else:
            raise AssertionError("guides are taken for choices, and no check fails")


def check_traced():
    """For a search, the step runs once with the example, and once with twice its size."""
    trace, sizes = _Step.trace, []

    def count(step, example, updates):
        sizes.append(example.get_size("batch"))
        return trace(step, example, updates)

    with mock.patch.object(_Step, "trace", count):
        fad.torch.fit(
            nn.Sequential(Wide(), Mean()), torch.empty(4, 32), plans=["inductor"], memory="1MB"
        )
    assert sizes == [4, 8], sizes


class Mixed(nn.Module):
    """Has two graphs for batches of more than `most`."""

    def __init__(self, most=1024, *between):
        super().__init__()
        self.most = most
        self.one = nn.Sequential(nn.Linear(32, 64), *between)
        self.two = nn.Linear(64, 32)

    def forward(self, x):
        y = torch.tanh(self.one(x))
        if len(x) > self.most:
            torch._dynamo.graph_break()
        return torch.tanh(self.two(y)).square().mean()


def check_mixed():
    """Searches pass through sizes with one graph, and with several, which have no fastest step."""
    options = {"plans": [], "budget": 0.7}
    model = Mixed(1024, nn.SiLU(), nn.LayerNorm(64), nn.GELU())
    schedule, sizes = _Step.schedule, []

    def count(step, example, *arguments):
        sizes.append(example.get_size("batch"))
        return schedule(step, example, *arguments)

    with mock.patch.object(_Step, "schedule", count):
        one = fad.torch.fit(model, torch.empty(64, 32), memory="2MB", **options)["budget"]
    # After a size with several graphs, none is tried by a guide first.
    again = [size for before, size in zip(sizes, sizes[1:]) if before == size]
    assert len(again) == 1, sizes
    other = fad.torch.fit(model, torch.empty(one.largest, 32), **options)["budget"]
    assert one.largest > 1024 and other.peak == one.largest_peak <= 2e6, (one, other)


def check_parted():
    """Several graphs have one budget at each size, that of the one that needs the most. The options are
    those of the largest size."""
    model = Parted()
    one = fad.torch.fit(model, torch.empty(64, 64), plans=["lowest"], memory="1.2MB")["lowest"]
    other = fad.torch.fit(model, torch.empty(one.largest, 64), plans=["lowest"])["lowest"]
    assert one.largest > 64 and other.peak == one.largest_peak <= 1.2e6, (one, other)
    assert one.options == other.options, (one.options, other.options)


def check_least():
    """The guide of the lowest is the estimate of the most chunks that lower it, without a schedule."""
    rows = {1: [(60, 30), (80, 20)], 2: [(50, 26)], 8: [(38, 16), (46, 17)]}
    for chunks, least in ((rows, 38), ({1: [(60, 30)], 2: [(60, 9)]}, 60)):
        table = Table(chunks, {1: 5, 8: 5})
        found = Search(table, Splits(table.split), table.schedule).find_least()
        assert (found, table.scheduled) == (least, []), found


def check_again():
    """At a second size near the first, one selection alone is scheduled, that of the lowest peak at the
    first; far from it, as many are as there. Both times, the peak is that of a search by itself. In
    the second model, the lowest is the selection that needs no budget."""
    layers = nn.Linear(32, 128), nn.SiLU(), nn.Dropout(0.1), nn.Linear(128, 32)
    wide = nn.Sequential(Wide(), Wide(), Mean())
    free = nn.Sequential(nn.LayerNorm(32), *layers)
    schedule, schedule_step = _Kept._schedule, _Step.schedule

    def count(*arguments):
        counts[-1] += 1
        return schedule(*arguments)

    def begin(*arguments):
        counts.append(0)
        return schedule_step(*arguments)

    def find(model, size, **options):
        x = torch.empty(size, 32, device="meta")
        return fad.torch.fit(model, x, plans=["lowest"], **options)["lowest"]

    for model, size, memory, is_near in (
        (wide, 512, "1.4MB", True),
        (wide, 128, "1.4MB", False),
        (free, 512, "1.25MB", True),
    ):
        counts = []
        with (
            mock.patch.object(_Kept, "_schedule", count),
            mock.patch.object(_Step, "schedule", begin),
        ):
            one = find(model, size, memory=memory)
        first, second, *others = filter(None, counts)
        # Later ones are near the second.
        assert first > 1 == max([1, *others]), (size, counts)
        assert second == (1 if is_near else first), (size, counts)
        assert one.largest > size and (one.largest < size * 5 / 4) == is_near, (size, one.largest)
        assert one.largest_peak == find(model, one.largest).peak, (size, one)


def check_search():
    for count, largest in (
        (lambda size: 100 + 7 * size, 142842),
        (lambda size: 100 + 7 * size + 3 * size**2, 576),
        (lambda size: 7 * size if size <= 5000 else math.inf, 5000),
        (lambda size: max(7 * size, 900_000 + size), 100_000),
        (lambda size: 10**7, 0),
    ):
        for size in (1, 16, 512):
            found, _ = find_largest({size: count(size)}, count, 100, 10**6)
            # Where a model stops to run, no bytes lead.
            least = 0.99 * largest if math.isinf(count(largest + 1)) else largest
            assert least <= found <= largest, (size, found, largest)

    # Predictions do not know that a model has 2048 positions, or needs two rows.
    def count(size):
        tried.append(size)
        return 100 + 7 * size if 2 <= size <= 2048 else math.inf

    tried = []
    assert find_largest({8: 156}, count, 100, 10**6, lambda size: 100 + 7 * size)[0] == 2048
    assert len(tried) < 20, tried
    assert find_largest({64: 548}, count, 100, 110) == (0, 548) and tried[-1] == 1

    # Within a slack, a step that bends is found in few sizes by what one of them tells.
    def bend(size, tried):
        tried.append(size)
        return max(100 + 7 * size, 300_000 + 4 * size)

    tried = []
    found, bytes_ = find_largest(
        {16: bend(16, tried)},
        lambda size: bend(size, tried),
        100,
        10**6,
        scale=lambda near, size: bend(near[0], []) + 9 * (size - near[0]),
        slack=0.01,
        is_linear=True,
    )
    assert 0.99 * 10**6 <= bytes_ <= 10**6 and bytes_ == bend(found, []) and len(tried) <= 6, tried

    # Of steps of 2% of the memory, none may be in the middle of the slack.
    tried = []
    known, follow = {16: 420}, lambda near, size: 100 + 20 * size
    count = lambda size: tried.append(size) or 100 + 20 * size
    assert find_largest(known, count, 100, 1000, scale=follow, slack=0.01, is_linear=True)[0] == 45
    assert tried == [45], tried

    # Chunks take less at a second size than at the first, so that no line through both leads on.
    # Predictions are those of sizes near one that was tried.
    def chunk(size):
        return 100 + (28 if size < 20 else 7) * size

    def follow(near, size):
        one, other = near if len(near) > 1 else (near[0], 0)
        slope = (chunk(one) - chunk(other)) / (one - other)
        return chunk(one) + max(slope, 0) * (size - one)

    for is_linear in True, False:
        tried, known = [], {16: chunk(16)}
        found, bytes_ = find_largest(
            known,
            lambda size: tried.append(size) or chunk(size),
            100,
            900,
            lambda size: chunk(size) if any(abs(each - size) < 40 for each in tried) else None,
            follow,
            0.01,
            is_linear,
        )
        assert bytes_ >= 0.99 * 900 and len(tried) <= 2, (is_linear, found, tried)
