"""Budgets by the schedule of a GPU that is not there: the peak of the schedule is that of the one
by which Inductor writes its kernels, in a model whose input has no gradient. Of the selections that are
scheduled for a budget, the one of the least time within it is taken, by these kernels. With a slowdown,
the schedule of PyTorch's parts is a bound, by the rates of the GPU. Triton's interpreter executes kernels
that write over operands."""

import math
import pathlib
import re
import sys

import torch
from torch import nn
from torch._inductor.scheduler import Scheduler

sys.path.insert(0, str(pathlib.Path(__file__).parents[4] / "benchmarks/compile"))
sys.path.insert(0, str(pathlib.Path(__file__).parents[4] / "benchmarks/common"))

import check_overwrite
import fake_cuda
from chunk_steps import MESSAGES
from fad.torch.compile._backend import make_inner
from fad.torch.compile._judge import estimate_step_time
from fad.torch.compile._peak import find_scheduled_peak, list_scheduled
from fad.torch.compile._schedule import _Walk
from traffic_measure import Block, Mixed


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(64, 64)
        layers = (nn.Sequential(nn.LayerNorm(64), nn.Linear(64, 64), nn.SiLU()) for _ in range(3))
        self.layers = nn.Sequential(*layers)

    def forward(self, tokens):
        return self.layers(self.words(tokens)).square().mean()


# The schedules by which Inductor writes kernels.
SCHEDULES = []


def write_kernels(scheduler, nodes, codegen=Scheduler._codegen):
    # Code follows, which has its own plan of reuse.
    SCHEDULES.append(_Walk(scheduler, False).read())
    scheduler.completed_operations.clear()
    return codegen(scheduler, nodes)


def write(model, inputs, **options):
    """Writes the kernels of a step. Returns the peak and the seconds by their schedules."""
    SCHEDULES.clear()
    MESSAGES.texts.clear()
    partitioner = fake_cuda.Kept(**options)
    fake_cuda.write(model, inputs, partitioner, make_inner(partitioner, {}))
    schedules = tuple(SCHEDULES)
    peak, _ = find_scheduled_peak(list_scheduled(*partitioner.parts, schedules))
    with fake_cuda.pretend():
        return peak, estimate_step_time(partitioner.parts, schedules)


def list_trials():
    """Returns the peaks and the seconds of the selections that were scheduled."""
    pattern = re.compile(r"(\d+) bytes at the scheduled peak, .*, ([\d.]+) s$")
    found = filter(None, map(pattern.match, MESSAGES.texts))
    return [(int(trial[1]), float(trial[2])) for trial in found]


def main():
    Scheduler._codegen = write_kernels
    words = Words(), (torch.randint(64, (2048,)),)
    peak, _ = write(*words, budget=2**40)
    scheduled = [peak for peak, _ in list_trials()]
    print(f"scheduled {scheduled}, of the kernels {peak}")
    share = 0.995
    block = Mixed(Block(1024)), (torch.randn(8192, 1024),)
    bounded, taken = write(*block, budget=share, chunks="off")
    first, *trials = list_trials()
    within = [trial for trial in trials if trial[0] <= share * first[0]]
    least = min(within, key=lambda trial: trial[1])
    is_least = bounded == least[0] and math.isclose(taken, least[1], abs_tol=1e-6)
    # The one behind the fastest by the estimate is faster, and the one behind that is not.
    is_least &= within.index(least) == 1 and len(within) > 1
    print(f"the least time within a budget is taken: {is_least}, {taken:.6f} of {within}")
    _, taken = write(*words, slowdown=1.0)
    print(*MESSAGES.find("rates of"), sep="\n")
    pattern = re.compile(r"([\d.]+) s by its schedule, and ([\d.]+)")
    judged = [*filter(None, map(pattern.match, MESSAGES.texts))]
    times = [float(text) for text in judged[-1].groups()]
    # The last selection that is tried is within the time of PyTorch's parts, or else the faster
    # of two is taken.
    is_within = math.isclose(taken, times[0], abs_tol=1e-6) and times[0] <= times[1]
    is_within |= math.isclose(taken, min(times), abs_tol=1e-6)
    print(f"the time is that of stock at most: {is_within}, {taken:.6f} of {times}")
    check_overwrite.main()
    return scheduled != [peak] or not is_least or not is_within


if __name__ == "__main__":
    sys.exit(main())
