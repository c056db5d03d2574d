"""PyTorch's caches know fad: a second process that compiles the same model does not ask
fad again, and one with another policy or option does.

usage: check_cache.py [CASE ...]"""

import os
import subprocess
import sys
import tempfile

CASES = {
    "default": {},
    "policy": {"fad.policy": "recompute"},
    "option": {"fad.recompute": "nothing"},
}
# What each process compiles.
PROCESSES = [("default", "policy"), ("policy", "default", "option")]


def work(names):
    import torch
    from fad.torch.compile import _partitioner
    from torch import nn
    from torch._dynamo.utils import counters

    count = 0
    split = _partitioner._partition

    def watch(*arguments):
        nonlocal count
        count += 1
        return split(*arguments)

    _partitioner._partition = watch
    for name in names:
        count = 0
        counters.clear()
        torch._dynamo.reset()
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4))
        compiled = torch.compile(model, backend="fad", options=CASES[name])
        compiled(torch.randn(2, 8)).sum().backward()
        hits = counters["aot_autograd"]["autograd_cache_hit"]
        print(
            f"RESULT {name}: partitions {count}, hits {hits}, sum {model[0].weight.grad.sum():.5f}"
        )


def main():
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "TORCHINDUCTOR_CACHE_DIR": folder,
            "TORCHINDUCTOR_FX_GRAPH_CACHE": "1",
            "TORCHINDUCTOR_AUTOGRAD_CACHE": "1",
            "TORCHINDUCTOR_COMPILE_THREADS": "1",
            "OMP_NUM_THREADS": "1",
        }
        for names in PROCESSES:
            output = subprocess.run(
                [sys.executable, __file__, *names],
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            ).stdout
            for line in output.splitlines():
                if line.startswith("RESULT"):
                    print(line[7:], flush=True)


if __name__ == "__main__":
    work(sys.argv[1:]) if len(sys.argv) > 1 else main()
