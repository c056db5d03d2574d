"""Runs Triton's kernels in its interpreter and checks what they compute.

usage: check_triton.py BENCHMARKS UTILS"""

import os
import sys

os.environ["TRITON_INTERPRET"] = "1"
sys.path[:0] = sys.argv[1:3]
import torch
from gpu import checks, triton_kernels


def interpret(activation, kind):
    dtype = checks.get_dtype(torch, kind)
    tensors = {role: torch.randn(3000, dtype=dtype) for role in ("x", "g", "y", "d", "dx")}
    tensors["x"][:6] = torch.tensor([0.0, -0.0, 1000.0, -1000.0, 25.0, -25.0])
    configurations = triton_kernels.list_configurations()
    passes = triton_kernels.make(activation, tensors, (configurations[0], configurations[-1]))
    passes["both"]()
    checks.check_results(torch, f"{activation}, {kind}", activation, tensors)


for kind in checks.TOLERANCE:
    for activation in triton_kernels.ACTIVATIONS:
        interpret(activation, kind)
        print(f"{activation}, {kind}: right")
