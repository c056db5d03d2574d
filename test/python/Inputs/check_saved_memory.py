"""Compares what fad.torch.saved_memory finds with what hooks see, and with known cases."""

import json
import math
import os
import tempfile
from unittest import mock

import torch
from torch import nn
from torch.autograd.graph import save_on_cpu, saved_tensors_hooks
from torch.profiler import profile
from torch.utils.checkpoint import checkpoint

import fad.torch
import fad.torch.compile
from fad.torch import saved_memory

ROWS, WIDTH = 32, 64
TENSOR = ROWS * WIDTH * 4


class ComposedGELU(nn.Module):
    def forward(self, x):
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))
        return 0.5 * x * (1.0 + torch.tanh(inner))


def make_network(activation):
    layers = [part for _ in range(6) for part in (nn.Linear(WIDTH, WIDTH), activation())]
    return nn.Sequential(*layers)


def count_by_hooks(model, *inputs):
    """The bytes of all storages that are saved, but for parameters and inputs."""
    alive = []

    def pack(tensor):
        alive.append(tensor)
        return tensor

    with saved_tensors_hooks(pack, lambda tensor: tensor):
        result = model(*inputs)
    sizes = {t.untyped_storage()._cdata: t.untyped_storage().nbytes() for t in alive}
    for tensor in [*model.parameters(), *model.buffers(), *inputs]:
        sizes.pop(tensor.untyped_storage()._cdata, None)
    del result
    return sum(sizes.values())


def count_large(saved):
    """How many tensors of the size of the network's are held."""
    return sum(tensor.counts and tensor.bytes == TENSOR for tensor in saved.tensors)


def check_network():
    x = torch.randn(ROWS, WIDTH)
    composed, built_in = make_network(ComposedGELU), make_network(lambda: nn.GELU("tanh"))
    saved = saved_memory(composed, x)
    # pow and two products keep their operands, tanh its result: 0.5 * x, x, tanh, 1 + tanh.
    # The next layer keeps the product, which the last one returns.
    assert count_large(saved) == 6 * 4 + 5, count_large(saved)
    # Hooks do not see the numbers, of 8 bytes each.
    numbers = sum(tensor.bytes for tensor in saved.tensors if tensor.shape == ())
    assert 0 < numbers == saved.bytes - count_by_hooks(composed, x) < 8 * 40, numbers
    assert set(saved.by_operator) >= {"TanhBackward0", "PowBackward0", "AddmmBackward0"}
    assert saved.by_operator["TanhBackward0"] == 6 * TENSOR
    assert saved.by_operator["AddmmBackward0"] == 5 * TENSOR
    assert saved.by_module["2"] == TENSOR and saved.by_module["1"] >= 4 * TENSOR
    # All of it, and the result, are what the allocator has given.
    assert saved.resident >= saved.bytes + TENSOR
    assert saved.resident < saved.bytes + 2 * TENSOR
    assert saved.peak >= saved.forward_peak >= saved.resident
    assert saved.by_kind["parameter"] == 5 * WIDTH * WIDTH * 4, saved.by_kind
    assert saved.by_kind["input"] == TENSOR
    saved = saved_memory(built_in, x)
    assert saved.bytes == 11 * TENSOR == count_by_hooks(built_in, x)
    assert saved.resident == 12 * TENSOR


def check_unpacked_never():
    """Hooks are not called, checkpoints compute nothing, and versions do not matter."""
    calls = []

    class Block(nn.Module):
        def forward(self, x):
            calls.append(x)
            return x.exp().sin()

    block, x = Block(), torch.randn(ROWS, WIDTH, requires_grad=True)
    saved = saved_memory(lambda: checkpoint(block, x, use_reentrant=False) * 2, measure=False)
    assert saved.bytes <= 8 and len(calls) == 1, (saved, len(calls))

    def offload():
        with save_on_cpu():
            return x.exp()

    assert saved_memory(offload, measure=False).bytes == TENSOR

    def change():
        y = x.exp()
        y.add_(1)
        return y

    assert saved_memory(change, measure=False).bytes == TENSOR


def check_storages():
    """Each storage counts once, and those that are alive anyway not at all."""
    w = nn.Parameter(torch.randn(WIDTH, WIDTH))
    x = torch.randn(ROWS, WIDTH)
    b = torch.randn(WIDTH)

    def call(x):
        y = x @ w.t() * b
        first, second = y[: ROWS // 2], y[ROWS // 2 :]
        return (first * second).sum() + (y * y).sum()

    saved = saved_memory(call, x, measure=False)
    assert saved.bytes == TENSOR, saved
    (tensor,) = [tensor for tensor in saved.tensors if tensor.counts]
    assert len(tensor.holders) >= 2, tensor
    kinds = {t.kind: t.bytes for t in saved.tensors if not t.counts}
    assert kinds == {"input": TENSOR, "buffer": 4 * WIDTH}, kinds
    assert {t.kind for t in saved_memory(lambda: (w * w).exp()).tensors} == {
        "parameter",
        "result",
    }


class Kept(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.exp())
        ctx.table = {"sine": x.sin()}
        return x.exp()

    @staticmethod
    def backward(ctx, gradient):
        (value,) = ctx.saved_tensors
        return gradient * value


def check_functions():
    x = torch.randn(ROWS, WIDTH, requires_grad=True)
    saved = saved_memory(Kept.apply, x)
    assert saved.by_operator == {"KeptBackward": 2 * TENSOR}, saved
    assert {tensor.name for tensor in saved.tensors} == {"tensors", "table"}

    def assign(x):
        y = x * 2
        y[0] = y[1].exp()
        return y

    assert saved_memory(assign, x).unseen == ("torch::autograd::CopySlices",)


def check_compiled():
    model, x = make_network(ComposedGELU), torch.randn(ROWS, WIDTH)
    explained = fad.torch.explain(model, x, options={"fad.engine": "eager"})
    compiled = torch.compile(model, backend="fad", options={"fad.engine": "eager"})
    saved = saved_memory(compiled, x)
    assert saved.bytes == explained.fad_bytes, (saved, explained)
    assert set(saved.by_operator) == {"CompiledFunctionBackward"}
    assert saved.bytes < saved_memory(model, x, measure=False).bytes
    # A compiled part has one name.
    parts = nn.Sequential(nn.Linear(WIDTH, WIDTH), torch.compile(model, backend="aot_eager"))
    parts(x)
    compilations = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    assert set(saved_memory(parts, x).by_module) == {""}
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == compilations


def check_state():
    """The function's state and PyTorch's are as before."""
    model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.BatchNorm1d(WIDTH), nn.Dropout())
    before = {name: value.clone() for name, value in model.state_dict().items()}
    seed = torch.get_rng_state()
    saved_memory(model, torch.randn(ROWS, WIDTH))
    torch.set_rng_state(seed)
    saved = saved_memory(model, torch.randn(ROWS, WIDTH))
    torch.set_rng_state(seed)
    torch.randn(ROWS, WIDTH)
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name]), name
    assert all(p.grad is None for p in model.parameters())
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in model.modules())
    assert list(saved.by_module) == ["1", "2"]
    assert saved.by_kind["buffer"] or saved.by_kind["parameter"]


def check_names():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.act = nn.Tanh()
            self.block = nn.Sequential(nn.Linear(WIDTH, WIDTH), self.act)

        def forward(self, x, scale):
            return (self.act(self.block(x)) * scale).exp()

    model = Model()
    x = torch.randn(ROWS, WIDTH)
    saved = saved_memory(model, x, kwargs={"scale": torch.ones(())})
    assert saved.by_module == {"act": 2 * TENSOR, "": TENSOR}, saved.by_module
    other = nn.Sigmoid()
    saved = saved_memory(lambda x: other(model(x, scale=2.0)), x)
    assert set(saved.by_module) == {"model.act", "model", "other"}, saved.by_module


def check_results():
    """A result that is held is named, and what is before the inputs is not counted."""
    x = torch.randn(ROWS, WIDTH, requires_grad=True).exp().sin()
    saved = saved_memory(torch.tanh, x)
    assert saved.bytes == TENSOR == saved.by_kind["result"]
    assert saved.resident == TENSOR
    try:
        saved_memory(torch.tanh, torch.randn(3))
    except ValueError as error:
        assert "needs a gradient" in str(error)
    else:
        raise AssertionError("a function without gradients is an error")


def check_edges():
    """Empty tensors, rank 0, sparse tensors, and tensors without data."""
    x = torch.randn(0, 3, requires_grad=True)
    assert saved_memory(torch.exp, x).bytes == 0
    assert saved_memory(torch.exp, torch.tensor(1.0, requires_grad=True)).bytes == 4
    sparse = torch.eye(WIDTH).to_sparse()
    w = torch.randn(WIDTH, 3, requires_grad=True)
    kinds = saved_memory(lambda: torch.sparse.mm(sparse, w), measure=False).by_kind
    assert set(kinds) <= {"buffer"}, kinds
    meta = torch.randn(ROWS, WIDTH, device="meta", requires_grad=True)
    assert saved_memory(torch.exp, meta).bytes == TENSOR


def check_forms():
    model, x = make_network(nn.SiLU), torch.randn(ROWS, WIDTH)
    saved = saved_memory(model, x)
    data = json.loads(saved.to_json())
    assert data["bytes"] == saved.bytes and len(data["tensors"]) == len(saved.tensors)
    text = str(saved)
    for part in ("kept for backward", "SiluBackward0.self", "peak of the step", "by module"):
        assert part in text, text
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return
    axes = saved.plot(by="operator")
    assert [t.get_text() for t in axes.get_yticklabels()] == ["SiluBackward0", "AddmmBackward0"]
    other = fad.torch.saved_memory(make_network(ComposedGELU), x)
    axes = fad.plot.saved({"SiLU": saved, "GELU": other})
    # Of six layers, the first has no input that needs a gradient, and the last a result.
    assert len(axes.patches) == 2 * len(axes.get_yticklabels()) < 2 * len(other.by_module)


def check_stderr():
    """Messages of PyTorch's profiler are not on stderr; all else is."""
    x = torch.randn(ROWS, WIDTH, requires_grad=True)
    start = profile.start

    def say(self):
        start(self)
        os.write(2, b"another library\n")

    stderr = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            with mock.patch.object(profile, "start", say):
                saved_memory(torch.exp, x)
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
        file.seek(0)
        said = file.read().splitlines()
    # The allocator is watched in forward, and in a step.
    assert said == 2 * [b"another library"], said


CHECKS = (
    check_network,
    check_unpacked_never,
    check_storages,
    check_functions,
    check_compiled,
    check_state,
    check_names,
    check_results,
    check_edges,
    check_forms,
    check_stderr,
)
torch.manual_seed(0)
for check in CHECKS:
    check()
print(f"{len(CHECKS)} checks passed")
