"""Other ways of PyTorch to save memory, together with fad: a loss whose logits are chunked, in
PyTorch's functions and by Inductor, policies of checkpoints that offload, and hooks of saved
tensors that are graphs.

usage: check_memory_features.py [nightly]"""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils import checkpoint

import fad.torch
import fad.torch.compile

ENGINE = {"fad.engine": "eager"}
POLICIES = checkpoint.CheckpointPolicy


def compile_by_fad(model, **options):
    torch._dynamo.reset()
    return torch.compile(model, backend="fad", options={**ENGINE, **options})


def train(model, call):
    """The loss of `call`, and the gradients of the parameters of `model`."""
    model.zero_grad()
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        loss = call()
    loss.backward()
    return [loss.detach(), *(parameter.grad.clone() for parameter in model.parameters())]


def compare(name, found, expected, tolerance=1e-6):
    close = [torch.allclose(a, b, tolerance, tolerance) for a, b in zip(found, expected)]
    print(f"{name}: {'right' if all(close) else 'wrong'}")


def make_layers(*more):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 32), *more)


class Chunked(nn.Module):
    """A network whose loss computes its logits in chunks."""

    def __init__(self):
        super().__init__()
        self.layers, self.head = make_layers(), nn.Linear(32, 512, bias=False)

    def forward(self, x, target):
        options = torch.nn.LinearCrossEntropyOptions()
        return F.linear_cross_entropy(self.layers(x), self.head.weight, target, options=options)


def check_linear_cross_entropy():
    """The function is one operation for fad; the rest of its graph is planned."""
    model, batch = Chunked(), (torch.randn(256, 32), torch.randint(512, (256,)))
    expected = train(model, lambda: model(*batch))
    compiled = compile_by_fad(model)
    compare("linear_cross_entropy", train(model, lambda: compiled(*batch)), expected)
    kept = [fad.torch.saved_memory(each, *batch, measure=False).bytes for each in (compiled, model)]
    print(f"  logits {256 * 512 * 4} bytes; kept {kept[0]}, eager {kept[1]}")


class Checkpointed(nn.Module):
    """Layers in a checkpoint, with one policy for their matrix products."""

    def __init__(self, policy):
        super().__init__()
        self.layers = make_layers()

        def choose(_, operator, *arguments, **options):
            is_product = operator is torch.ops.aten.addmm.default
            return policy if is_product else POLICIES.PREFER_RECOMPUTE

        self.make_context = lambda: checkpoint.create_selective_checkpoint_contexts(choose)

    def forward(self, x):
        y = checkpoint.checkpoint(self.layers, x, use_reentrant=False, context_fn=self.make_context)
        return y.square().mean()


def check_policies():
    """torch.compile saves a result where a policy has it offloaded, on the device; fad
    keeps to that, whatever else it might repeat."""
    x = torch.randn(256, 32)
    for policy in (POLICIES.MUST_SAVE, POLICIES.MUST_CPU_OFFLOAD, POLICIES.MUST_RECOMPUTE):
        model = Checkpointed(policy)
        expected = train(model, lambda: model(x))
        compiled = compile_by_fad(model, **{"fad.recompute": "contractions"})
        compare(policy.name, train(model, lambda: compiled(x)), expected)
        kept = fad.torch.saved_memory(compiled, x, measure=False).bytes
        print(f"  kept {kept} bytes")


def check_graph_hooks():
    """Hooks that are graphs become a part of forward and backward."""
    pack = torch.fx.symbolic_trace(lambda tensor: tensor.to(torch.bfloat16))
    unpack = torch.fx.symbolic_trace(lambda tensor: tensor.to(torch.float32))
    model, x = make_layers(nn.LayerNorm(32)), torch.randn(256, 32)

    def call(function):
        with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
            return function(x)

    expected = train(model, lambda: model(x).square().mean())
    compiled = compile_by_fad(model)
    found = train(model, lambda: call(compiled).square().mean())
    compare("hooks that are graphs", found, expected, 1e-3)
    hooked = fad.torch.saved_memory(lambda: call(compiled), measure=False)
    plain = fad.torch.saved_memory(lambda: compiled(x), measure=False)
    types = sorted({tensor.dtype for tensor in hooked.tensors if tensor.counts})
    print(f"  kept {hooked.bytes} of {plain.bytes} bytes, as {', '.join(types)}")


class Logits(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers, self.head = make_layers(), nn.Linear(32, 4096, bias=False)

    def forward(self, x, target):
        return F.cross_entropy(self.head(self.layers(x)), target)


def check_chunker():
    """Inductor chunks the joint graph, which fad gets afterwards."""
    model, batch = Logits(), (torch.randn(1024, 32), torch.randint(4096, (1024,)))
    expected = train(model, lambda: model(*batch))
    for options in ({}, {"auto_chunker.enable": True}):
        compiled = compile_by_fad(model, **{"fad.engine": "inductor"}, **options)
        name = "auto-chunker" if options else "Inductor"
        compare(name, train(model, lambda: compiled(*batch)), expected, 1e-5)
        memory = fad.torch.saved_memory(compiled, *batch)
        print(f"  kept {memory.bytes / 2**20:.1f} MiB, peak {memory.peak / 2**20:.1f} MiB")


if __name__ == "__main__":
    check_linear_cross_entropy()
    check_policies()
    check_graph_hooks()
    if sys.argv[1:] == ["nightly"]:
        check_chunker()
