"""Budgets by Inductor's schedule: measured peaks are the schedule's, within each budget that has no
warning, and no lower for a larger one. A budget that a warning names is kept, and one below it warns.
Where the estimate of each selection is above a budget that the schedule keeps, nothing warns.
Without a schedule, the estimate decides, and the log says why. Schedules have what kernels of
libraries take for themselves, tuples that hold their parts, and tensors that backward may write
over. Kernels of Inductor are empty, as the allocator gives what they need whatever they compute.

usage: check_schedule.py [--every]

Without --every, models are smaller, and one has two budgets and one that is too small."""

import contextlib
import logging
import re
import sys
import types
import warnings
from unittest import mock

import torch
import torch.nn.functional as F
from torch import nn
from torch._inductor.async_compile import AsyncCompile

from fad.torch.compile import _inductor, _schedule, _workspace
from fad.torch.compile._explain import measure_peak
from fad.torch.compile._inductor import Choices, _unpack_early
from fad.torch.compile._pytorch import MultiOutput, WeakDep

EVERY = "--every" in sys.argv
# Chunks of a loss, and layers of a module.
CHUNKS, LAYERS = (4, 3) if EVERY else (2, 1)
LOGGER = logging.getLogger("fad.torch.compile")


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        layers = (nn.Sequential(nn.Linear(64, 64), nn.GELU()) for _ in range(LAYERS))
        self.layers = nn.Sequential(*layers, nn.Linear(64, 1))

    def forward(self, x):
        return self.layers(x).square().mean()


class Chunks(nn.Module):
    """A loss in chunks, whose estimates are twice the peaks."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(32, 1024, False)

    def forward(self, x):
        parts = (self.head(part.bfloat16().float()) for part in x.chunk(CHUNKS))
        targets = torch.arange(len(x)) % 1024
        losses = [
            F.cross_entropy(*each, reduction="sum") for each in zip(parts, targets.chunk(CHUNKS))
        ]
        return sum(losses)


class Convolutions(nn.Module):
    """oneDNN copies filters, and gradients of a convolution are a tuple."""

    def __init__(self):
        super().__init__()
        layers = [nn.Sequential(nn.Conv2d(32, 32, 3, padding=1), nn.SiLU()) for _ in range(LAYERS)]
        self.layers = nn.Sequential(nn.Conv2d(1, 32, 3, padding=1), *layers)

    def forward(self, x):
        return self.layers(x.view(8, 1, 64, 64)).square().mean()


class Products(nn.Module):
    """oneDNN copies operands of 16 bits."""

    def __init__(self):
        super().__init__()
        layers = (nn.Sequential(nn.Linear(256, 256), nn.SiLU()) for _ in range(LAYERS))
        self.layers = nn.Sequential(*layers).bfloat16()

    def forward(self, x):
        return self.layers(x.view(-1, 256).bfloat16()).float().square().mean()


class Scores(nn.Module):
    """The gradient of the scores of all classes is written over what forward saves of them."""

    def __init__(self):
        super().__init__()
        self.last = nn.Linear(64, 512)

    def forward(self, x):
        return F.cross_entropy(self.last(x).tanh(), torch.arange(len(x)) % 512)


class Permuted(nn.Module):
    """The gradient of the filter of a permuted image has another layout than the filter, and comes
    before a larger one."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2048, 512)
        self.mix = nn.Conv2d(64, 64, 7, padding=3)

    def forward(self, x):
        images = self.first(x.view(-1, 2048)).tanh().view(-1, 2, 4, 64)
        return self.mix(images.permute(0, 3, 1, 2)).square().mean()


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


@contextlib.contextmanager
def log():
    """The messages of the backend."""
    messages = []
    handler = logging.Handler()
    handler.emit = lambda record: messages.append(record.getMessage())
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    yield messages
    LOGGER.removeHandler(handler)


def check_exact(model, x, budget):
    """The schedule has all that the allocator gives."""
    with log() as messages:
        peak, _ = measure(model, x, budget)
    trials = [re.match(r"(\d+) bytes at the scheduled peak", each) for each in messages]
    expected = min(int(trial[1]) for trial in trials if trial)
    print(f"{type(model).__name__}: budget {budget}, scheduled {expected}, measured {peak}")
    if abs(peak - expected) > 1024:
        yield f"{type(model).__name__}: scheduled {expected}, measured {peak}"


def check_order():
    """The parts of a tuple are taken out before one of them is read. One that only waits for a tuple
    is a part of another."""
    scheduler = types.SimpleNamespace(name_to_fused_node={})

    def make(name, *reads, kind=object, after=()):
        node = mock.Mock(scheduler=scheduler)
        buffer = mock.Mock(node=object.__new__(kind), users=[])
        buffer.get_name.return_value = buffer.defining_op_name.return_value = name
        node.get_outputs.return_value, node.get_buffer_names.return_value = [buffer], {name}
        node.unmet_dependencies = {WeakDep(each.get_outputs()[0].get_name(), "") for each in reads}
        for each in (*reads, *after):
            user = types.SimpleNamespace(node=node, is_weak=each in after)
            each.get_outputs()[0].users.append(user)
        node.__str__ = lambda _: name
        scheduler.name_to_fused_node[name] = node
        return node

    both = make("tuple")
    one, other = (make(name, both, kind=MultiOutput) for name in ("one", "other"))
    reader = make("reader", one)
    later = make("later")
    part = make("part", later, kind=MultiOutput, after=(both,))
    order = list(map(str, _unpack_early([both, one, reader, other, later, part])))
    if order != ["tuple", "one", "other", "reader", "later", "part"]:
        yield f"a tuple waits in {order}"
    if "other" not in {dep.name for dep in reader.unmet_dependencies}:
        yield "another order may let a tuple wait"


def check_room():
    """Fusions are Inductor's where an eighth of the bytes that both share wait, or less. Of others, those of
    a GPU have room where the budget has the bytes that are alive and those that wait."""
    alive = mock.Mock(return_value=mock.Mock(find_most=lambda *_: 1000))
    nodes = [mock.Mock(min_order=order) for order in range(2)]
    for node in nodes:
        node.read_writes.reads = set()
    for bound, score, expected in (
        (None, 800, True),
        (None, 799, False),
        (1100, 799, True),
        (1099, 799, False),
        (1099, 800, True),
    ):
        choices = Choices(True, bound)
        # The bytes that wait are the fewer of both.
        choices._count_later, choices._count_earlier = lambda *_: 100, lambda *_: 200
        for allows in choices._may_wait, choices._may_share:
            scheduler = mock.Mock(name_to_fused_node=dict(enumerate(nodes)))
            with mock.patch.object(_inductor, "_Alive", alive):
                if allows(scheduler, *nodes, score) != expected:
                    yield f"{allows.__name__} of {score} shared bytes within {bound}: not {expected}"
    # As fusions leave a fifth of the kernels, the bytes alive are found again not for each.
    alive.reset_mock()
    choices, scheduler = Choices(True, 1100), mock.Mock()
    with mock.patch.object(_inductor, "_Alive", alive):
        for kernels in range(4000, 800, -1):
            scheduler.name_to_fused_node = dict(enumerate(range(kernels)))
            choices._has_room(scheduler, *nodes, 100)
    if not 16 < alive.call_count < 110:
        yield f"the bytes alive are found {alive.call_count} times"


def check_failure(model, x):
    """The schedule of no graph is known."""
    with (
        log() as messages,
        mock.patch.object(_schedule, "schedule_parts", side_effect=AttributeError("no kernels")),
    ):
        measure(model, x, 2**40)
    expected = "no schedule, so the estimate decides: AttributeError: no kernels"
    if expected not in messages:
        yield f"the log is {messages}"


def check_profile(model, x):
    """A profile of the first step has its events, and no workspace is measured beside it."""
    activities = [torch.profiler.ProfilerActivity.CPU]
    torch._dynamo.reset()
    call = torch.compile(model, backend="fad", options={"fad.budget": 2**40})
    with mock.patch.dict(_workspace._TAKEN, clear=True), log() as messages:
        with torch.profiler.profile(activities=activities) as profile:
            call(x).backward()
    if not profile.events():
        yield "the profile of a user is lost"
    expected = "RuntimeError: a profiler runs, so that workspaces of kernels are unknown"
    if not any(message.endswith(expected) for message in messages):
        yield f"beside a profiler, the log is {messages}"


def main():
    AsyncCompile.cpp_pybinding = lambda *arguments, **options: lambda *operands: None
    torch._inductor.config.fx_graph_cache = False
    torch.manual_seed(0)
    x = torch.randn(512, 64)
    wrong = [*check(Chunks(), torch.randn(256, 32, requires_grad=True))]
    for model, budget in (
        (Convolutions(), 1),
        (Products(), 2**40),
        (Scores(), 2**40),
        (Permuted(), 1),
    ):
        wrong += check_exact(model, x, budget)
    if EVERY:
        wrong += check(Layers(), x)
    wrong += [*check_order(), *check_room(), *check_profile(Scores(), x)]
    wrong += check_failure(Layers(), x)
    print("\n".join(wrong))
    print(f"{len(wrong)} wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
