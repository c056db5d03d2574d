"""PyTorch's caches know fad: a second process that compiles the same model does not ask
fad again, and one with another policy or option does. So does one for which fad has
warned, so that it warns again.

usage: check_cache.py [--every]

Without --every, the second process has one case of each kind: one that is found, one with
another option, and one that has warned."""

import os
import pathlib
import sys
import uuid
import warnings

# Keys of this run's own: graphs of other runs are not found, and kernels are, since both are
# in one folder.
os.environ.update(
    TORCH_COMPILE_CACHE_KEY_TAG=uuid.uuid4().hex,
    TORCHINDUCTOR_FX_GRAPH_CACHE="1",
    TORCHINDUCTOR_AUTOGRAD_CACHE="1",
    TORCHINDUCTOR_COMPILE_THREADS="1",
    OMP_NUM_THREADS="1",
)
import torch
import torch._inductor.compile_fx
from torch import nn
from torch._dynamo.utils import counters

# The first graph, once for both processes.
sys.path.append(str(pathlib.Path(__file__).parents[3]))
import first_graph  # noqa: F401

CASES = {
    "default": {},
    "policy": {"fad.policy": "recompute"},
    "option": {"fad.recompute": "nothing"},
    "budget": {"fad.budget": 1},
    "failing": {"fad.policy": "bp"},
}
# Cases that each process compiles.
SAMPLE = [("default", "budget"), ("default", "option", "budget")]
EVERY = [
    ("default", "policy", "budget", "failing"),
    ("policy", "default", "option", "budget", "failing"),
]


def work(names):
    from fad.torch.compile import _partitioner

    count = 0
    split = _partitioner.partition_joint

    def watch(*arguments):
        nonlocal count
        count += 1
        return split(*arguments)

    def fail(*_):
        raise NotImplementedError("no plan")

    _partitioner.partition_joint = watch
    choose = _partitioner.Partitioner._choose
    for name in names:
        _partitioner.Partitioner._choose = fail if name == "failing" else choose
        count = 0
        counters.clear()
        torch._dynamo.reset()
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(8, 16, bias=False), nn.Tanh())
        compiled = torch.compile(model, backend="fad", options=CASES[name])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            compiled(torch.randn(2, 8)).sum().backward()
        own = [str(each.message)[:12] for each in caught if each.category is RuntimeWarning]
        hits = counters["aot_autograd"]["autograd_cache_hit"]
        print(
            f"{name}: partitions {count}, hits {hits}, sum {model[0].weight.grad.sum():.5f}"
            f"{', warning: ' * bool(own)}{', '.join(own)}"
        )


def main(processes):
    for names in processes:
        sys.stdout.flush()
        number = os.fork()
        if not number:
            work(names)
            return 0
        if status := os.waitpid(number, 0)[1]:
            return os.waitstatus_to_exitcode(status) or 1
    return 0


if __name__ == "__main__":
    sys.exit(main(EVERY if "--every" in sys.argv else SAMPLE))
