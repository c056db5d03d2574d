"""The first graph of Inductor's in a process, at which it makes patterns of operations and finds out
about its compiler. The server of torch_python.py imports this, and so has that done once; each
process would take most of a second."""

from unittest import mock

import torch
from torch._dynamo.utils import counters
from tqdm import tqdm

# torch.fx has bars of progress, which would start a thread. The graph has no gradients: at the
# first ones, autograd counts the devices, to which a script may add.
with mock.patch.object(tqdm, "monitor_interval", 0):
    torch.compile(torch.nn.functional.silu)(torch.ones(1))
# Nothing of that graph stays.
torch._dynamo.reset()
counters.clear()
