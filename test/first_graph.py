"""The first graph of Inductor's in a process, at which it makes patterns of operations and finds out
about its compiler. The server of torch_python.py imports this, and so has that done once; each
process would take most of a second."""

from unittest import mock

import torch
from torch._dynamo.utils import counters
from tqdm import tqdm

# torch.fx has bars of progress, which would start a thread.
with mock.patch.object(tqdm, "monitor_interval", 0):
    x = torch.ones(1, requires_grad=True)
    torch.compile(torch.nn.functional.silu)(x).backward()
# Nothing of that graph stays.
torch._dynamo.reset()
counters.clear()
