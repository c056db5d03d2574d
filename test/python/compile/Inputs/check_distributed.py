"""Trains a model on two processes, with DDP and with FSDP2, compiled as a whole, block by block with
layers in chunks, and within a budget that has chunks, and compares losses with those of one
process. Both processes have to plan alike.

usage: check_distributed.py [ENGINE]"""

import hashlib
import json
import multiprocessing
import pathlib
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

STEPS, BATCH, WIDTH = 3, 32, 16


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(WIDTH, 64), nn.Linear(64, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, x):
        return x + self.second(F.silu(self.first(self.norm(x))))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(2))

    def forward(self, x):
        for block in self.blocks:
            x = F.silu(block(x))
        return x


class Words(Model):
    """The model with a loss of words, whose logits and layers are wide."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(WIDTH, 256)

    def forward(self, x):
        target = (100 * x).long().sum(1) % 256
        return F.cross_entropy(self.head(super().forward(x)), target)


def make(model=Model):
    torch.manual_seed(0)
    return model()


def train(model, rank, count):
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    values = []
    for step in range(STEPS):
        torch.manual_seed(step)
        x = torch.randn(BATCH, WIDTH)[rank::count]
        optimizer.zero_grad()
        result = model(x)
        loss = result.square().mean() if result.dim() else result
        loss.backward()
        optimizer.step()
        values.append(loss.item())
    return values


def work(engine, folder, rank):
    from fad.torch.compile import _partitioner
    from fad.torch.compile._chunks import choose, cost
    from torch.distributed.fsdp import fully_shard
    from torch.nn.parallel import DistributedDataParallel

    plans = []
    apply_plan = _partitioner.apply_plan

    def watch(graph, plan, *arguments):
        plans.append(hashlib.sha256(json.dumps(plan, sort_keys=True).encode()).hexdigest())
        return apply_plan(graph, plan, *arguments)

    parts = []
    record = _partitioner.record

    def watch_parts(made, *arguments):
        parts.extend(str(part.graph) for part in made)
        return record(made, *arguments)

    _partitioner.apply_plan, _partitioner.record = watch, watch_parts
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2)
    # Buckets so small that DDP makes several graphs.
    dist._DEFAULT_FIRST_BUCKET_BYTES = 4096

    def shard(model):
        for part in model.blocks:
            fully_shard(part)
        return fully_shard(model)

    def distribute(model):
        return DistributedDataParallel(model, bucket_cap_mb=0.005)

    def compile_blocks(model):
        for block in model.blocks:
            block.compile(**tiled)
        return model

    # Chunks of any size, and layers in chunks where whole ones do not keep a budget.
    choose._LEAST_BYTES, choose._LEAST_UNITS = 1, {"cpu": 4, "cuda": 4}
    cost._CALL = 0.0
    budget = {"backend": "fad", "options": {"fad.engine": engine, "fad.budget": 0.5}}
    compiled = {"backend": "fad", "options": {"fad.engine": engine, "fad.chunks": "off"}}
    tiled = {"backend": "fad", "options": {"fad.engine": engine, "fad.chunks": 2}}
    makers = {
        "DDP": lambda: torch.compile(distribute(make()), **compiled),
        "FSDP": lambda: torch.compile(shard(make()), **compiled),
        "DDP, by block": lambda: distribute(compile_blocks(make())),
        "FSDP, by block": lambda: shard(compile_blocks(make())),
        "DDP, chunks": lambda: torch.compile(distribute(make(Words)), **budget),
        "FSDP, chunks": lambda: torch.compile(shard(make(Words)), **budget),
    }
    result = {}
    for kind, make_model in makers.items():
        torch._dynamo.reset()
        plans.clear()
        parts.clear()
        # DDP's buckets would cut layers apart.
        with torch._dynamo.config.patch(optimize_ddp=kind != "DDP, by block"):
            result[kind] = train(make_model(), rank, 2)
        result[f"{kind} plans"] = list(plans)
        result[f"{kind} parts"] = list(parts)
    pathlib.Path(folder, f"{rank}.json").write_text(json.dumps(result))
    dist.destroy_process_group()


def main(engine="eager"):
    # Forked processes have the modules that this one has imported; it has no threads before.
    fork = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as folder:
        workers = [fork.Process(target=work, args=(engine, folder, rank)) for rank in range(2)]
        for worker in workers:
            worker.start()
        expected = {model: train(make(model), 0, 1) for model in (Model, Words)}
        for worker in workers:
            worker.join(1500)
        if any(worker.exitcode != 0 for worker in workers):
            for worker in workers:
                worker.kill()
            return 1
        results = [
            json.loads(pathlib.Path(folder, f"{rank}.json").read_text()) for rank in range(2)
        ]
    for kind in [name for name in results[0] if f"{name} plans" in results[0]]:
        losses = zip(*(result[kind] for result in results))
        means = [sum(pair) / 2 for pair in losses]
        reference = expected[Words if "chunks" in kind else Model]
        worst = max(abs(a - b) / abs(b) for a, b in zip(means, reference))
        first, second = (result[f"{kind} plans"] for result in results)
        parts, others = (result[f"{kind} parts"] for result in results)
        plans = "equal" if first == second and first and parts == others else "different"
        # Forward and backward alternate; backward has chunks of layers alone.
        chunked, layers = (sum("fad_region" in part for part in parts[at::2]) for at in (0, 1))
        right = "right" if worst < 1e-6 else f"off by {worst:.1e}"
        chunks = f"{chunked} parts of forward and {layers} of backward in chunks"
        print(f"{kind}: {len(first)} plans, {plans}; {chunks}; losses {right}")
    return 0


if __name__ == "__main__":
    torch.set_num_threads(1)
    sys.exit(main(*sys.argv[1:]))
