"""Runs kernels_gpu.py of a kit, or the checks of its kernels, with tensors in the host's memory, for
the driver of tests: what it measures says nothing about a GPU.

usage: run_on_host.py KIT ARGUMENTS..., or run_on_host.py KIT --checks FOLDER SANITIZER"""

import argparse
import pathlib
import sys
import time

import torch

kit = sys.argv.pop(1)
sys.path.insert(0, kit)
import kernels_gpu
from gpu import checks
from gpu.device import Device


class Host(Device):
    name = "cpu"
    capability = 9, 0

    def __init__(self):
        self.torch = torch

    def describe(self):
        return {"gpu": "none: a test"}

    def get_stream(self):
        return None

    def get_free_memory(self):
        return 1 << 32

    def synchronize(self):
        pass

    def release_memory(self):
        pass

    def time(self, function, repetitions, moved):
        taken = []
        for _ in range(repetitions):
            start = time.perf_counter()
            function()
            taken.append(time.perf_counter() - start)
        return taken


list_sizes = checks.list_sizes
# A million elements take a while here.
checks.list_sizes = lambda tile: list_sizes(tile)[:-1]
if sys.argv[1:2] == ["--checks"]:
    sys.path.insert(0, sys.argv[2])
    import kernel_checks
    import outcomes

    kernel_checks.make_device = Host
    options = argparse.Namespace(device="cpu", quick=True, sanitizer=sys.argv[3])
    options.kernels = pathlib.Path(kit)
    tally = outcomes.Tally()
    for list_checks in kernel_checks.list_kernels, kernel_checks.list_sanitizer:
        outcomes.run_here("kernels", list_checks, options, tally)
    tally.finish()
else:
    kernels_gpu.main(Host)
