"""The first graph of Inductor's in a process, at which it makes patterns of operations, loads what
it needs for products and reductions, and finds out about its compiler. The server of
`%torch_python` imports this, and so has that done once; each process would take more than a second.
utils/setup.sh runs it for Inductor's precompiled header and for bytecode, which the first tests
would make otherwise."""

import contextlib
from unittest import mock

import torch
import torch.nn.functional as F
from torch._dynamo import guards
from torch._dynamo.utils import counters

try:
    from tqdm import tqdm
except ModuleNotFoundError:
    without_thread = contextlib.nullcontext()
else:
    # torch.fx has bars of progress of it, which would start a thread.
    without_thread = mock.patch.object(tqdm, "monitor_interval", 0)


def first_graph(x):
    return (F.silu(F.softmax(x @ x, 1)) - x.mean(1, keepdim=True)).sum()


# The graph has no gradients: at the first ones, autograd counts the devices, to which a script
# may add.
with without_thread:
    torch.compile(first_graph)(torch.ones(8, 8))
# MKL finds out about the processor at the first of its functions of vectors. Where two threads of a
# script come to that at once, one may round otherwise.
torch.tanh(torch.ones(64))
# The time that guards take, which only a log has, is measured with emptied caches of the processor:
# 20 ms for each graph.
guards.profile_guard_manager = lambda *_: 0.0
# Nothing of that graph stays.
torch._dynamo.reset()
counters.clear()
