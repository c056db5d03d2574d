"""Compares the gradients of two processes with those of one that has all samples."""

import os
import tempfile

import torch
import torch.distributed as dist
from activations import Model
from torch.nn.parallel import DistributedDataParallel

import fad.torch


def gradients(model, x):
    model(x).square().mean().backward()
    return [parameter.grad for parameter in model.parameters()]


def worker(rank, folder):
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2)
    torch.manual_seed(0)
    model, x = Model().double(), torch.randn(4, 8, dtype=torch.double)
    expected = [gradient.clone() for gradient in gradients(model, x)]
    wrong = 0
    for policy in ("auto", "fad"):
        model.zero_grad()
        nested = fad.torch.nest(model, policy=policy, min_numel=0)
        found = gradients(DistributedDataParallel(nested), x[2 * rank:2 * rank + 2])
        wrong += not all(map(torch.allclose, found, expected))
    if rank == 0:
        print(f"2 policies, {wrong} wrong", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    # Forked processes have the modules that this one has imported.
    with tempfile.TemporaryDirectory() as folder:
        children = []
        for rank in range(2):
            child = os.fork()
            if not child:
                worker(rank, folder)
                os._exit(0)
            children.append(child)
        raise SystemExit(any(os.waitpid(child, 0)[1] for child in children))
