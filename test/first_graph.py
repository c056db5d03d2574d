"""The first graph of Inductor's in a process, at which it makes patterns of operations and finds out
about its compiler. The server of torch_python.py imports this, and so has that done once; each
process would take most of a second. utils/setup.sh runs it for Inductor's precompiled header and
for bytecode, which the first tests would make otherwise."""

import contextlib
from unittest import mock

import torch
from torch._dynamo import guards
from torch._dynamo.utils import counters

try:
    from tqdm import tqdm
except ModuleNotFoundError:
    without_thread = contextlib.nullcontext()
else:
    # torch.fx has bars of progress of it, which would start a thread.
    without_thread = mock.patch.object(tqdm, "monitor_interval", 0)

# The graph has no gradients: at the first ones, autograd counts the devices, to which a script
# may add.
with without_thread:
    torch.compile(torch.nn.functional.silu)(torch.ones(1))
# The time that guards take, which only a log has, is measured with emptied caches of the processor:
# 20 ms for each graph.
guards.profile_guard_manager = lambda *_: 0.0
# Nothing of that graph stays.
torch._dynamo.reset()
counters.clear()
