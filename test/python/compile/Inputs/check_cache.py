"""PyTorch's caches know fad: a second process that compiles the same model does not ask
fad again, and one with another policy or option does. So does one for which fad has
warned, so that it warns again.

usage: check_cache.py [--every | CASE ...]

Without --every, the second process has one case of each kind: one that is found, one with
another option, and one that has warned."""

import os
import subprocess
import sys
import tempfile
import warnings

CASES = {
    "default": {},
    "policy": {"fad.policy": "recompute"},
    "option": {"fad.recompute": "nothing"},
    "budget": {"fad.budget": 1},
    "failing": {"fad.policy": "bp"},
}
# What each process compiles.
SAMPLE = [("default", "budget"), ("default", "option", "budget")]
EVERY = [
    ("default", "policy", "budget", "failing"),
    ("policy", "default", "option", "budget", "failing"),
]


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

    def fail(*_):
        raise NotImplementedError("no plan")

    _partitioner._partition = watch
    choose = _partitioner.Partitioner._choose
    for name in names:
        _partitioner.Partitioner._choose = fail if name == "failing" else choose
        count = 0
        counters.clear()
        torch._dynamo.reset()
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4))
        compiled = torch.compile(model, backend="fad", options=CASES[name])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            compiled(torch.randn(2, 8)).sum().backward()
        own = [str(each.message)[:12] for each in caught if each.category is RuntimeWarning]
        hits = counters["aot_autograd"]["autograd_cache_hit"]
        print(
            f"RESULT {name}: partitions {count}, hits {hits}, sum {model[0].weight.grad.sum():.5f}"
            f"{', warning: ' * bool(own)}{', '.join(own)}"
        )


def main(processes):
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "TORCHINDUCTOR_CACHE_DIR": folder,
            "TORCHINDUCTOR_FX_GRAPH_CACHE": "1",
            "TORCHINDUCTOR_AUTOGRAD_CACHE": "1",
            "TORCHINDUCTOR_COMPILE_THREADS": "1",
            "OMP_NUM_THREADS": "1",
        }
        for names in processes:
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
    if sys.argv[1:] in ([], ["--every"]):
        main(EVERY if sys.argv[1:] else SAMPLE)
    else:
        work(sys.argv[1:])
