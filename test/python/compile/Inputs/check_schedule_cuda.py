"""Budgets by the schedule of a GPU that is not there: the peak of the schedule is that of the one
by which Inductor writes its kernels, in a model whose input has no gradient. With a slowdown, the
schedule of PyTorch's parts is a bound, by the rates of the GPU. Triton's interpreter executes kernels
that write over operands."""

import logging
import math
import re
import sys

import torch
from torch import nn
from torch._inductor.scheduler import Scheduler

import check_overwrite
import fake_cuda
from fad.torch.compile._backend import make_inner
from fad.torch.compile._judge import estimate_step_time
from fad.torch.compile._peak import find_scheduled_peak, list_scheduled
from fad.torch.compile._schedule import _Walk


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(64, 64)
        layers = (nn.Sequential(nn.LayerNorm(64), nn.Linear(64, 64), nn.SiLU()) for _ in range(3))
        self.layers = nn.Sequential(*layers)

    def forward(self, tokens):
        return self.layers(self.words(tokens)).square().mean()


def main():
    messages, schedules = [], []
    handler = logging.Handler()
    handler.emit = lambda record: messages.append(record.getMessage())
    logger = logging.getLogger("fad.torch.compile")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    write = Scheduler._codegen

    def read(self, nodes):
        # Code follows, which has its own plan of reuse.
        schedules.append(_Walk(self, False).read())
        self.completed_operations.clear()
        return write(self, nodes)

    Scheduler._codegen = read
    partitioner = fake_cuda.Kept(budget=2**40)
    fake_cuda.write(
        Words(), (torch.randint(64, (2048,)),), partitioner, make_inner(partitioner, {})
    )
    trials = [re.match(r"(\d+) bytes at the scheduled peak", each) for each in messages]
    scheduled = [int(trial[1]) for trial in trials if trial]
    peak, _ = find_scheduled_peak(list_scheduled(*partitioner.parts, tuple(schedules)))
    print(f"scheduled {scheduled}, of the kernels {peak}")
    messages.clear()
    partitioner = fake_cuda.Kept(slowdown=1.0)
    schedules.clear()
    fake_cuda.write(
        Words(), (torch.randint(64, (2048,)),), partitioner, make_inner(partitioner, {})
    )
    print(*(message for message in messages if "rates of" in message), sep="\n")
    judged = [re.match(r"([\d.]+) s by its schedule, and ([\d.]+)", each) for each in messages]
    times = [float(text) for text in [each for each in judged if each][-1].groups()]
    with fake_cuda.pretend():
        taken = estimate_step_time(partitioner.parts, tuple(schedules))
    # The last selection that is tried is within the time of PyTorch's parts, or else the faster
    # of two is taken.
    is_within = math.isclose(taken, times[0], abs_tol=1e-6) and times[0] <= times[1]
    is_within |= math.isclose(taken, min(times), abs_tol=1e-6)
    print(f"the time is that of stock at most: {is_within}, {taken:.6f} of {times}")
    check_overwrite.main()
    return scheduled != [peak] or not is_within


if __name__ == "__main__":
    sys.exit(main())
