"""Steps of deep models by those of few of their equal layers, for check_fit.py."""

import collections
import contextlib
import types
from unittest import mock

import torch
from torch import nn

import fad.torch
from fad.torch._fit import deep, layers
from fad.torch._fit.fit import _Answer, _Step
from fad.torch._fit.layers import Layers, Windows, extend, find_windows
from fad.torch.compile._step_memory import Allocation, make_step_memory


class Block(nn.Module):
    """One of equal layers."""

    def __init__(self):
        super().__init__()
        self.norm, self.up, self.drop = nn.LayerNorm(16), nn.Linear(16, 32), nn.Dropout(0.1)
        self.down = nn.Linear(32, 16)

    def forward(self, x):
        return self.down(self.drop(nn.functional.gelu(self.up(self.norm(x)))))


class Keeping(Block):
    def forward(self, x):
        y = super().forward(x)
        self.kept = y.mean()
        return y


def check_deep():
    """Equal layers are planned by few of them, and all storages are those of a plan of all."""
    model, x = nn.Sequential(*(Block() for _ in range(10))), torch.empty(64, 16, device="meta")
    planned, traced = [], []
    schedule, trace = _Step.schedule, _Step.trace

    def count(step, *arguments):
        planned.append(len(step.loss.model))
        return schedule(step, *arguments)

    def count_traced(step, example, updates):
        traced.append((len(step.loss.model), example.get_size("batch")))
        return trace(step, example, updates)

    with (
        mock.patch.object(_Step, "schedule", count),
        mock.patch.object(_Step, "trace", count_traced),
    ):
        one = fad.torch.fit(model, x, plans=["fad"], memory="1MB")["fad"]
    # The largest batch takes no plan of all layers, and few plans at all.
    assert planned[:2] == [4, 5] and len(planned) <= 6 and {*planned} == {4, 5}, planned
    assert traced == [(10, 64), (4, 64), (5, 64), (4, 128)], traced
    assert 0.99 * 10**6 <= one.largest_peak <= 10**6
    with mock.patch.object(_Answer, "_make_deep", lambda answer: None):
        other = fad.torch.fit(model, x, plans=["fad"])["fad"]
    assert other.peak == one.peak and other.kept == one.kept
    found, wanted = (
        collections.Counter((a.first, a.last, a.bytes, a.kind, a.module) for a in each)
        for each in (one.memory.allocations, other.memory.allocations)
    )
    assert found == wanted, (found - wanted, wanted - found)
    # Layers that keep a tensor cannot be copied.
    keeping = nn.Sequential(*(Keeping() for _ in range(10)))
    assert fad.torch.fit(keeping, x, plans=["fad"])["fad"].peak > 0
    # Layers that differ have no equal steps.
    model[7].drop.p = 0.0
    with mock.patch.object(_Step, "schedule", autospec=True) as planned:
        planned.side_effect = ValueError
        with contextlib.suppress(ValueError):
            fad.torch.fit(model, x, plans=["fad"])
    steps = [len(call.args[0].loss.model) for call in planned.mock_calls]
    assert steps == [10], steps
    print("deep: storages are those of a plan of all layers")


def check_growth():
    """One layer more is planned until storages for all layers have grown by as much at two sizes, and
    where a structure differs."""

    def list_planned(growth, structures):
        planned = []

        def make(layers):
            def schedule(size, budgets, has_stock):
                planned.append((size, layers))
                memory = make_step_memory([], 2 + structures[size], 1)
                return {"fad": types.SimpleNamespace(graphs=[memory], join=lambda: memory)}

            return types.SimpleNamespace(schedule=schedule)

        with mock.patch.object(deep, "shorten", lambda model, layers, count: count):
            loss = types.SimpleNamespace(model=None)
            found = deep.Deep(types.SimpleNamespace(loss=loss), Layers("", 0, 10), make)
        windows = [Windows(0, 1, 1, 1, growth={0: each}) for each in growth]
        with (
            mock.patch.object(deep, "find_windows", lambda few, more: windows.pop(0)),
            mock.patch.object(deep, "extend", lambda memory, *_: memory),
        ):
            for size in range(len(structures)):
                assert found.schedule(size, {"fad": None}, False)
        return [size for size, layers in planned if layers == 5]

    assert list_planned([8, 8], [0, 0, 0, 0]) == [0, 1]
    assert list_planned([8, 16, 16], [0, 0, 0, 0]) == [0, 1, 2]
    assert list_planned([8, 8, 8, 8], [0, 0, 1, 1, 1]) == [0, 1, 2, 3]


def check_windows():
    """Storages of a layer that are there to the end of forward, as for a result beside the loss, are so
    with more layers. Of steps without windows, few of the places where these may be are tried."""

    def make(count, odd=0):
        def add(bytes_, kind, first, last):
            return Allocation(bytes_, kind, f"{kind} {bytes_}", "", "", first, last)

        start, end = 2 * count, 3 * count
        made = [
            each
            for layer in range(count)
            for each in (
                add(8, "saved tensor", 2 * layer, end - 1 - layer),
                add(16, "temporary", 2 * layer + 1, start - 1),
                add(4 + odd, "gradient", end - 1 - layer, end),
            )
        ]
        return make_step_memory(sorted(made, key=lambda each: each.first), end, start)

    def describe(memory):
        return sorted((a.first, a.last, a.bytes, a.kind) for a in memory.allocations)

    found = find_windows(make(4), make(5))
    assert found and describe(extend(make(4), found, 6)) == describe(make(10)), found
    with (
        mock.patch.object(layers, "_MOST", 3),
        mock.patch.object(layers, "_explain", return_value=None) as explain,
    ):
        assert find_windows(make(4), make(5)) is None and explain.call_count == 3
    assert find_windows(make(4), make(5, 1)) is None


def check_alternating():
    """Storages whose ends alternate from layer to layer are those of the layer before, where this
    changes few of the bytes that are alive; and where it changes more, there are no windows."""

    def make(count, bytes_):
        made = []
        for layer in range(count):
            first, last = 2 * layer, 3 * count - 1 - layer
            end = min(first + layer % 2, 2 * count - 1)
            made.append(Allocation(bytes_, "temporary", "add", "", "", first, end))
            made.append(Allocation(1000, "saved tensor", "mm", "", "", first + 1, last))
        return make_step_memory(made, 3 * count, 2 * count)

    few, more = make(4, 8), make(5, 8)
    windows = find_windows(few, more)
    assert windows is not None
    assert extend(few, windows, 6).bytes == make(10, 8).bytes, extend(few, windows, 6).bytes
    assert find_windows(make(4, 800), make(5, 800)) is None
    # Other ends are those of no layer beside it.
    missing, extra = (collections.Counter([(0, last, "temporary", "add", 8)]) for last in (9, 3))
    for distance, is_removed in ((5, False), (6, True)):
        left = missing.copy(), extra.copy()
        assert layers._remove_ends(*left, distance) == 8 * is_removed
        assert left == ((collections.Counter(),) * 2 if is_removed else (missing, extra))
