"""Measurements of eager_overhead.py."""

import contextlib
import os
import platform
import sys
import time

import torch
from torch import nn
from torch.utils.benchmark import Timer

import fad.torch
from fad.torch.eager import _kernels

CALLS = 100
# Elements of large activations, and steps of one in a row, so that caches are its own.
LARGE, STEPS = (393216, 1 << 22), 3
POLICIES = {"eager": None, "auto": "auto", "fad": "fad"}


def gelu(x):
    return 0.5 * x * (1.0 + torch.tanh(0.8 * (x + 0.045 * torch.pow(x, 3.0))))


class Tiny(nn.Module):
    """Two linear layers of width 32, and an activation that is spelled out."""

    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(32, 32), nn.Linear(32, 32)

    def forward(self, x):
        return self.down(gelu(self.up(x)))


def minimum(calls, rounds, count):
    """Returns the least seconds of each call, of rounds in which they take turns."""
    least = [float("inf")] * len(calls)
    for _ in range(rounds):
        for number, call in enumerate(calls):
            start = time.thread_time()
            for _ in range(count):
                call()
            least[number] = min(least[number], (time.thread_time() - start) / count)
    return least


def within(policy, call, min_numel=0):
    """Returns a call of many operators in one context, so that entering it does not count."""
    context = fad.torch.nest(policy=policy, min_numel=min_numel) if policy else None

    def run():
        with context or contextlib.nullcontext():
            for _ in range(CALLS):
                call()

    return run


def measure_operators(rounds):
    x = torch.randn(8, 8, requires_grad=True)
    y = torch.randn(8, 8)
    weight = torch.randn(8, 8)
    # One operator more than the one before, of each list.
    cases = {
        "nfad: softmax": [None, lambda: torch.softmax(x, 1)],
        "fad, without gradient: tanh": [None, lambda: torch.tanh(y)],
        "NY: tanh": [None, lambda: torch.tanh(x)],
        "YY: mul after sigmoid": [lambda: torch.sigmoid(x), lambda: x * torch.sigmoid(x)],
        "YY: tanh after softplus": [
            lambda: nn.functional.softplus(x),
            lambda: torch.tanh(nn.functional.softplus(x)),
        ],
        "YY: mul by a number after tanh": [lambda: torch.tanh(x), lambda: torch.tanh(x) * 2],
        "YN: mm after tanh": [lambda: torch.tanh(x), lambda: torch.tanh(x) @ weight],
    }
    found = {}
    for name, (before, after) in cases.items():
        runs = [
            call
            for policy in (None, "auto", "fad")
            for call in ([within(policy, before)] if before else []) + [within(policy, after)]
        ]
        times = [each / CALLS * 1e6 for each in minimum(runs, rounds, 1)]
        if before:
            times = [times[i + 1] - times[i] for i in (0, 2, 4)]
        found[name] = dict(zip(("eager", "auto", "fad"), times))
        # Below the limit, operators are seen and left alone.
        if not before:
            small = within("auto", after, 4096)
            plain = within(None, after)
            times = [each / CALLS * 1e6 for each in minimum([plain, small], rounds, 1)]
            found[name]["left alone"] = found[name]["eager"] + times[1] - times[0]
    return found


def measure_model(rounds):
    """Microseconds of a step."""
    model, x = Tiny(), torch.randn(4, 32)

    def step(model):
        def run():
            model(x).sum().backward()
            for parameter in model.parameters():
                parameter.grad = None

        return run

    nested = {
        name: fad.torch.nest(model, **options)
        for name, options in {
            "left alone": {},
            "auto": {"min_numel": 0},
            "fad": {"policy": "fad", "min_numel": 0},
        }.items()
    }
    names = ["eager", *nested]
    times = minimum([step(each) for each in [model, *nested.values()]], rounds, 20)
    return {name: each * 1e6 for name, each in zip(names, times)}


def measure_large(rounds):
    """Microseconds of forward and backward of a GELU, by elements, and the largest error of
    a gradient of the deferred engine."""
    found = {}
    for elements in LARGE:
        x, ones = torch.randn(elements, requires_grad=True), torch.ones(elements)

        def step(policy):
            def run():
                nest = fad.torch.nest(policy=policy, engine="deferred") if policy else None
                with nest or contextlib.nullcontext():
                    y = gelu(x)
                return torch.autograd.grad(y, x, ones)[0]

            return run

        steps = {name: step(policy) for name, policy in POLICIES.items()}
        for run in steps.values():
            # The second step has the kernels compiled, in a thread.
            run()
            run()
        if not _kernels.wait():
            raise SystemExit("there are no kernels")
        expected = steps["eager"]()
        errors = [(run() - expected).abs().max().item() for run in steps.values()]
        times = minimum(list(steps.values()), rounds, STEPS)
        found[str(elements)] = {
            **{name: each * 1e6 for name, each in zip(steps, times)},
            "error": max(errors),
        }
    return found


# Layers so small that a step is calls, as on a GPU where kernels are short.
LAYERS = """
import torch, fad.torch
from torch import nn
from overhead_measure import gelu
torch.set_num_threads(1)
class Layer(nn.Linear):
    def forward(self, x):
        return gelu(super().forward(x))
model, x = nn.Sequential(*(Layer(8, 8) for _ in range(8))), torch.randn(4, 8)
nested = {form}
def step():
    model.zero_grad()
    nested(x).square().mean().backward()
for _ in range(4):
    step()
"""
FORMS = {
    "eager": "model",
    "left alone": "fad.torch.nest(model)",
    "auto": "fad.torch.nest(model, min_numel=0)",
    "fad": "fad.torch.nest(model, min_numel=0, policy='fad')",
}


def count_instructions():
    """Instructions of a step of eight layers, which valgrind counts in a minute each."""
    here = [os.path.dirname(os.path.abspath(__file__)), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(here)
    # PyTorch's timer starts the program `python`.
    folders = [os.path.dirname(sys.executable), os.environ.get("PATH", "")]
    os.environ["PATH"] = os.pathsep.join(folders)
    found = {}
    for name, form in FORMS.items():
        timer = Timer("step()", LAYERS.replace("{form}", form))
        stats = timer.collect_callgrind(number=10, collect_baseline=False)
        found[name] = stats.counts() / 10
    return found


def measure(rounds):
    torch.set_num_threads(1)
    return {
        "torch": torch.__version__,
        "machine": f"{platform.system()} {platform.machine()}",
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "threads": 1,
        "rounds": rounds,
        "unit": "microseconds of a thread's CPU time",
        "operators": measure_operators(rounds),
        "model": measure_model(rounds),
        "large": measure_large(rounds),
    }
