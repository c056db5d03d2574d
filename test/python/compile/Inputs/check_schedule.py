"""Budgets by Inductor's schedule: measured peaks are the schedule's, within each budget that has no
warning, and no lower for a larger one. A budget that a warning names is kept, and one below it warns.
Where the estimate of each selection is above a budget that the schedule keeps, nothing warns.
Without a schedule, the estimate bounds the peak, and the log says why. Kernels are empty, as the
allocator gives what they need whatever they compute.

usage: check_schedule.py [--every]

Without --every, one model has two budgets and one that is too small."""

import logging
import re
import sys
import warnings
from unittest import mock

import torch
import torch.nn.functional as F
from torch import nn
from torch._inductor.async_compile import AsyncCompile

from fad.torch.compile import _schedule
from fad.torch.compile._explain import measure_peak

EVERY = "--every" in sys.argv
LOGGER = logging.getLogger("fad.torch.compile")


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        layers = (nn.Sequential(nn.Linear(64, 64), nn.GELU()) for _ in range(3))
        self.layers = nn.Sequential(*layers, nn.Linear(64, 1))

    def forward(self, x):
        return self.layers(x).square().mean()


class Chunks(nn.Module):
    """A loss in chunks, whose estimates are twice the peaks."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(32, 1024, False)

    def forward(self, x):
        parts = (self.head(part.bfloat16().float()) for part in x.chunk(4))
        targets = torch.arange(len(x)) % 1024
        losses = [F.cross_entropy(*each, reduction="sum") for each in zip(parts, targets.chunk(4))]
        return sum(losses)


def measure(model, x, budget):
    """The peak of a step, and the budget that a warning names or None."""
    torch._dynamo.reset()
    call = torch.compile(model, backend="fad", options={"fad.budget": budget})

    def step():
        model.zero_grad()
        call(x).backward()

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        step()
    named = re.search("give a budget of ([0-9,]+)", "".join(str(each.message) for each in caught))
    step()
    model.zero_grad()
    return measure_peak(step), named and int(named[1].replace(",", ""))


def check(model, x):
    name = type(model).__name__
    _, lowest = measure(model, x, 1)
    budgets = [lowest, 2 * lowest]
    if EVERY:
        most, _ = measure(model, x, 2**40)
        budgets = [lowest, (lowest + most) // 2, most]
    if measure(model, x, lowest - 1)[1] != lowest:
        yield f"{name}: a budget below the lowest has no warning of it"
    before = 0
    for budget in budgets:
        peak, named = measure(model, x, budget)
        print(f"{name}: budget {budget}, measured {peak}")
        if named or peak > budget:
            yield f"{name}: a budget of {budget} is not kept by {peak}"
        if peak < before:
            yield f"{name}: a larger budget has the lower peak {peak}"
        before = peak


def check_failure(model, x):
    """The schedule of no graph is known."""
    messages = []
    handler = logging.Handler()
    handler.emit = lambda record: messages.append(record.getMessage())
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    with mock.patch.object(_schedule, "schedule_parts", side_effect=AttributeError("no kernels")):
        measure(model, x, 2**40)
    expected = "no schedule, so the estimate bounds the peak: AttributeError: no kernels"
    if expected not in messages:
        yield f"the log is {messages}"


def main():
    AsyncCompile.cpp_pybinding = lambda *arguments, **options: lambda *operands: None
    torch._inductor.config.fx_graph_cache = False
    torch.manual_seed(0)
    x = torch.randn(512, 64)
    wrong = [*check(Chunks(), torch.randn(256, 32, requires_grad=True))]
    if EVERY:
        wrong += check(Layers(), x)
    wrong += check_failure(Layers(), x)
    print("\n".join(wrong))
    print(f"{len(wrong)} wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
