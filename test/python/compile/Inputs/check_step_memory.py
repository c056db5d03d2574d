"""Checks the storages that `fad.torch.explain` says to be alive over a step: their sums
against its peak, and each of them against PyTorch's profile of the allocator."""

import importlib.util
import itertools
import json
import pathlib
import sys
import tempfile
from collections import Counter

import torch
import torch.nn.functional as F
from torch import nn
from torch._C._profiler import _EventType
from torch.profiler import ProfilerActivity, profile

import fad.torch
from fad.torch.compile._step_memory import list_peak

EAGER = {"fad.engine": "eager"}


class Gate(nn.Module):
    """Forward functions of the same line share its row."""

    def __init__(self):
        super().__init__()
        self.up, self.gate = nn.Linear(64, 256), nn.Linear(64, 256)
        self.down = nn.Linear(256, 64)

    def forward(self, x):
        hidden = F.silu(self.gate(x)) * self.up(x)
        return self.down(hidden)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.second = Gate(), nn.BatchNorm1d(64), Gate()

    def forward(self, x):
        y = self.norm(self.first(x))
        return torch.tanh(self.second(y) + y)


class Loss(nn.Module):
    """A cotangent outside of the graph would be alive as long as its caller holds it."""

    def __init__(self):
        super().__init__()
        self.model = Model()

    def forward(self, x):
        return self.model(x).square().mean()


def make(kind=Model):
    torch.manual_seed(0)
    return kind(), torch.randn(128, 64)


def explain(options=EAGER):
    model, x = make()
    return fad.torch.explain(model, x, options=options)


def list_alive(memory):
    return Counter(allocation.bytes for allocation in memory.at_peak)


def check_sums():
    """The storages at the peak, and the curve over the step, have the bytes of the peak; those
    of each kind, the bytes that are known of it."""
    for options in (EAGER, {}, {**EAGER, "fad.policy": "bp"}, {**EAGER, "fad.budget": 0.7}):
        explanation = explain(options)
        graph = explanation.graphs[0]
        for part in (graph.fad, graph.pytorch):
            memory = part.memory
            assert sum(each.bytes for each in memory.at_peak) == part.peak > 0
            sums = [sum(counts) for counts in zip(*memory.count().values())]
            assert max(sums) == part.peak and sums.index(part.peak) == memory.peak
            assert (memory.peak >= memory.backward) == part.peak_in_backward
            kinds = Counter()
            for each in memory.allocations:
                assert 0 <= each.first <= each.last <= memory.operations, each
                kinds[each.kind] += each.bytes
            assert kinds["saved tensor"] == part.bytes, kinds
            model, x = make()
            # A bias and the weight of a normalization have gradients of their own, too.
            trained = sum(parameter.numel() * 4 for parameter in model.parameters())
            assert kinds["gradient"] == trained, (kinds, trained)
            assert kinds["cotangent"] == x.numel() * 4, kinds
        held = [*model.parameters(), *model.buffers()]
        expected = sum(tensor.numel() * tensor.element_size() for tensor in held)
        assert sum(explanation.parameters.values()) == expected, explanation.parameters


def profile_step(step):
    """The sizes of the storages that the allocator has given at the peak of `step`."""
    activities = [ProfilerActivity.CPU]
    # Allocations are events of the tree that the profiler has with stacks.
    with profile(activities=activities, profile_memory=True, record_shapes=True) as profiler:
        kept = step()
    events = profiler.profiler.kineto_results.experimental_event_tree()
    found = []
    while events:
        event = events.pop()
        events += event.children
        if event.tag == _EventType.Allocation:
            found.append((event.start_time_ns, len(found), event.extra_fields))
    alive, most, at_peak = {}, 0, []
    for _, _, change in sorted(found):
        if change.alloc_size > 0:
            alive[change.ptr] = change.alloc_size
        else:
            alive.pop(change.ptr, None)
        if sum(alive.values()) > most:
            most, at_peak = sum(alive.values()), list(alive.values())
    del kept
    return Counter(at_peak)


def check_profile():
    """The storages at the peak are those that PyTorch's allocator has given then."""
    model, x = make(Loss)
    explanation = fad.torch.explain(model, x, options=EAGER)
    torch._dynamo.reset()
    compiled = torch.compile(model, backend="fad", options=EAGER)

    def step():
        result = compiled(x)
        return result, torch.autograd.grad(result, [*model.parameters()])

    step()
    measured = profile_step(step)
    modeled = list_alive(explanation.graphs[0].fad.memory)
    # The profile has numbers that are made outside of the graph, and the buffers' counter.
    difference = (measured - modeled) + (modeled - measured)
    assert all(size <= 64 for size in difference), difference
    assert sum(modeled.elements()) == explanation.graphs[0].fad.peak


def check_rows():
    """There is a row for each module, line and kind, whose sum is the peak; the table and JSON
    have the same."""
    explanation = explain()
    part = explanation.graphs[0].fad
    rows = list_peak(part.memory, explanation.parameters)
    parameters = sum(row[0] for row in rows if row[1] == "parameter")
    assert parameters == sum(explanation.parameters.values()), rows
    assert sum(row[0] for row in rows) == part.peak + parameters, rows
    assert [row[0] for row in rows] == sorted((row[0] for row in rows), reverse=True)
    text = explanation.table().partition("alive at fad's peak")[2]
    assert text.startswith(f", with {parameters / 1024:.1f} KiB of parameters, in KiB:\n"), text
    printed = [line.split()[:2] for line in text.splitlines()[1:] if line]
    expected = [[f"{count / 1024:.1f}", kind.split()[0]] for count, kind, *_ in rows]
    assert [p for p in printed if "<" not in p[0]] == [e for e in expected if e[0] != "0.0"], text
    assert len(printed) == len(rows), text
    lines = [line for line in text.splitlines() if ": return self.down(" in line]
    assert any("saved tensor  first.down " in line for line in lines), text
    data = json.loads(explanation.to_json())["graphs"][0]["partitions"]["fad"]["memory"]
    assert (
        sum(
            each["bytes"]
            for each in data["allocations"]
            if each["first"] <= data["peak"] <= each["last"]
        )
        == part.peak
    )

    # Equal layers are one row; rows beyond the first are one where layers differ.
    for sizes, names in (([8] * 25, ["0-23.0 (x 24)"]), (range(8, 33), [])):
        layers = [nn.Sequential(nn.Linear(*size), nn.Tanh()) for size in itertools.pairwise(sizes)]
        model = nn.Sequential(*layers)
        deep = fad.torch.explain(model, torch.randn(4, 8), options=EAGER)
        rows = list_peak(deep.graphs[0].fad.memory, deep.parameters)
        total = deep.graphs[0].fad.peak + sum(deep.parameters.values())
        assert sum(row[0] for row in rows) == total, rows
        assert [row[2] for row in rows if row[1] == "parameter" and " (x " in row[2]] == names
        if not names:
            assert len(rows) == 21 and rows[-1][1].endswith(" more rows"), rows


def check_picture():
    """The picture names the modules of the most bytes, and PyTorch's partitioner."""
    if not importlib.util.find_spec("matplotlib"):
        return
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "memory.svg")
        explain().draw_memory(path)
        # A comment before each text has it.
        text = path.read_text()
        for name in ("second.up", "forward", "backward", "peak, fad", "torch.compile"):
            assert f"<!-- {name} -->" in text, name


def main():
    checks = check_sums, check_profile, check_rows, check_picture
    for check in checks:
        check()
        print(f"{check.__name__}: right")
    print(f"{len(checks)} checks passed")


if __name__ == "__main__":
    sys.exit(main())
