"""Compares the gradients of two processes, of nested models in DistributedDataParallel and
under fully_shard, with those of one process that has all samples."""

import copy
import os
import tempfile

import torch
import torch.distributed as dist
from activations import Model
from checks import raises
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

import fad.torch


def gradients(model, x):
    model.zero_grad()
    model(x).square().mean().backward()
    found = [parameter.grad for parameter in model.parameters()]
    return [each.full_tensor() if hasattr(each, "full_tensor") else each.clone() for each in found]


def is_nested(model, x):
    """Whether the graph of backward has a node of a sequence."""
    found, worklist = set(), [model(x).grad_fn]
    while worklist:
        node = worklist.pop()
        if node is not None and node not in found:
            found.add(node)
            worklist += [each for each, _ in node.next_functions]
    return any(node.name() == "FadBackward" for node in found)


def shard(model):
    mesh = dist.device_mesh.init_device_mesh("cpu", (2,))
    for part in (model.up, model.down):
        fully_shard(part, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def is_reduced(rank, engine):
    """Whether a sequence is right about what a collective writes to afterwards: the
    deferred engine has a copy, and the interactive one refuses in backward."""
    x = torch.ones(4, 8, dtype=torch.double, requires_grad=True)
    constant = torch.full((4, 8), rank + 1.0, dtype=torch.double)
    with fad.torch.nest(engine=engine, min_numel=0):
        y = torch.sin(x) * torch.tanh(x) * constant
        dist.all_reduce(constant)
        value = y.sum()
    expected = torch.sin(x) * torch.tanh(x) * (rank + 1)
    if not torch.allclose(value, expected.sum()) or constant[0, 0] != 3:
        return False
    if engine == "interactive":
        return raises("modified by a batch normalization or a collective", value.backward)
    (found,) = torch.autograd.grad(value, x)
    return torch.allclose(found, *torch.autograd.grad(expected.sum(), x))


class Scaled(torch.nn.Module):
    """Parameters that sequences read, and that are gathered again for backward."""

    def __init__(self, number):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.arange(4.0).double() + number, number > 0)
        self.shift = torch.nn.Parameter(-torch.arange(4.0).double() + number)

    def forward(self, x):
        shift = self.shift.view(1, 4)
        return torch.sigmoid(torch.tanh(x * self.scale + shift) + shift)


def is_gathered(engine):
    """Whether gathers within nest, of parameters that it reads, leave the gradients right."""
    x = torch.linspace(-1, 1, 8).view(2, 4).double()
    whole = torch.nn.Sequential(Scaled(0), Scaled(1))
    sharded = copy.deepcopy(whole)
    mesh = dist.device_mesh.init_device_mesh("cpu", (2,))
    for part in (*sharded, sharded):
        fully_shard(part, mesh=mesh)
    (whole(x) * whole(2 * x)).sum().backward()
    with fad.torch.nest(engine=engine, min_numel=0):
        (sharded(x) * sharded(2 * x)).sum().backward()
    return all(
        torch.allclose(part.grad.full_tensor(), other.grad)
        for part, other in zip(sharded.parameters(), whole.parameters())
        if other.requires_grad
    )


def worker(rank, folder):
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2)
    torch.manual_seed(0)
    model, x = Model().double(), torch.randn(4, 8, dtype=torch.double)
    expected = gradients(model, x)
    own = x[2 * rank : 2 * rank + 2]
    sharded = gradients(shard(copy.deepcopy(model)), own)
    count, wrong = 0, 0
    for policy in ("auto", "fad"):
        nest = fad.torch.nest(policy=policy, min_numel=0)
        for name, wrapped, reference in [
            ("DDP", DistributedDataParallel(nest(copy.deepcopy(model))), expected),
            (
                "DDP deferred",
                DistributedDataParallel(
                    fad.torch.nest(
                        copy.deepcopy(model), policy=policy, min_numel=0, engine="deferred"
                    )
                ),
                expected,
            ),
            ("fully_shard", shard(nest(copy.deepcopy(model))), sharded),
        ]:
            count += 1
            found = gradients(wrapped, own)
            if (
                not is_nested(wrapped, own)
                or not all(map(torch.allclose, found, reference))
                or not all(map(torch.allclose, found, expected))
            ):
                wrong += 1
                print(f"wrong: {name}, {policy}, process {rank}", flush=True)
        if not raises("nest the model first", lambda: nest(shard(copy.deepcopy(model)))):
            wrong += 1
    for engine in fad.torch.eager._state.ENGINES:
        if not is_reduced(rank, engine):
            wrong += 1
            print(f"wrong: a collective, {engine}, process {rank}", flush=True)
        if not is_gathered(engine):
            wrong += 1
            print(f"wrong: gathered parameters, {engine}, process {rank}", flush=True)
    if rank == 0:
        print(f"{count} models, {wrong} wrong", flush=True)
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
