"""The patterns of operations that Inductor looks for on the host. It makes them at its first
graph, in half a second; the server of torch_python.py does so once, as it imports this."""

from unittest import mock

import torch
from torch._inductor.fx_passes import joint_graph, post_grad
from tqdm import tqdm

# torch.fx has bars of progress, which would start a thread.
with mock.patch.object(tqdm, "monitor_interval", 0):
    joint_graph.lazy_init(torch.device("cpu"))
    post_grad.lazy_init()
