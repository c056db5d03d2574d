"""Checks `fad.torch.explain` against what compiled steps save, tensor by tensor."""

import importlib.util
import json
import pathlib
import re
import sys
import tempfile

import torch
import torch.nn.functional as F
from torch import nn
from torch._functorch import config as functorch_config
from torch._functorch import partitioners

import fad.torch
from fad.torch.compile import Partitioner, _explain, _partitioner
from fad.torch.compile._import import NotPlanned
from fad.torch.compile._backend import compile_eager

EAGER = {"fad.engine": "eager"}


class Block(nn.Module):
    def __init__(self, with_break=False):
        super().__init__()
        self.norm, self.drop = nn.LayerNorm(32), nn.Dropout(0.1)
        self.mlp = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 32))
        self.with_break = with_break

    def forward(self, x):
        if self.with_break:
            torch._dynamo.graph_break()
        return x + self.drop(F.silu(self.mlp(self.norm(x))))


class Model(nn.Module):
    def __init__(self, with_break=False):
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block(with_break)])
        self.last = nn.BatchNorm1d(32)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.last(x)


def count_saved(call, x, static):
    """The bytes of storages that `call(x)` saves for backward, without hooks on modules."""
    known = {tensor.untyped_storage().data_ptr() for tensor in static}
    saved = {}

    def pack(value):
        storage = value.untyped_storage()
        if storage.data_ptr() not in known:
            saved[storage.data_ptr()] = (storage.nbytes(), value)
        return value

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda value: value):
        # Backward may have hooks as long as the result is alive.
        result = call(x)
    del result
    return sum(count for count, _ in saved.values())


def make(with_break=False):
    torch.manual_seed(0)
    model, x = Model(with_break), torch.randn(16, 32)
    return model, x, [x, *model.parameters(), *model.buffers()]


def check_bytes():
    """The bytes of all columns are those that autograd is given."""
    model, x, static = make()
    compare = ["aggressive", "budget=0.3"]
    explanation = fad.torch.explain(model, x, options=EAGER, compare=compare)
    torch._dynamo.reset()
    stock = partitioners.min_cut_rematerialization_partition
    bytes_ = explanation.bytes
    assert list(bytes_) == ["fad", "torch.compile", "aggressive", "budget=0.3", "eager"], bytes_
    for name, setting, partition in (
        ("fad", {}, Partitioner()),
        ("torch.compile", {}, stock),
        ("aggressive", {"aggressive_recomputation": True}, stock),
        ("budget=0.3", {"activation_memory_budget": 0.3}, stock),
        ("eager", {}, None),
    ):

        def backend(graph, inputs):
            return compile_eager(graph, inputs, partition)

        call = torch.compile(model, backend=backend) if partition else model
        with functorch_config.patch(setting):
            saved = count_saved(call, x, static)
        assert saved == bytes_[name] > 0, (name, saved, bytes_)
        of_modules = sum(counts[name] for counts in explanation.by_module.values())
        assert of_modules == saved, (name, of_modules, saved)
        torch._dynamo.reset()
    assert len(set(bytes_.values())) == 5, bytes_
    assert functorch_config.activation_memory_budget == 1
    # A tensor that fad saves as well is marked in each column.
    graph = explanation.graphs[0]
    own = {tensor.name for tensor in graph.fad.tensors}
    for name in ("torch.compile", *compare):
        tensors = graph.partitions[name].tensors
        assert all(tensor.is_common for tensor in tensors if tensor.name in own), (name, tensors)
    assert graph.fad.bytes < graph.fad.peak and not graph.fallback and not graph.errors
    counts = explanation.fad_bytes, explanation.pytorch_bytes, explanation.eager_bytes
    assert counts == tuple(bytes_[name] for name in ("fad", "torch.compile", "eager"))
    assert explanation.fad_bytes < explanation.pytorch_bytes


def check_places():
    """Tensors are of the modules and lines that make them, with a reason and readers."""
    model, x, _ = make()
    for call in model, lambda x: model(x).square().sum():
        explanation = fad.torch.explain(call, x)
        # Operations after the model are of no module.
        names = [name for name in explanation.by_module if name]
        assert names[:3] == ["blocks.0", "blocks.0.norm", "blocks.0.drop"], names
        tensors = {t.name: t for t in explanation.graphs[0].fad.tensors if t.bytes}
        first = next(t for t in tensors.values() if "addmm" in t.operation)
        assert first.module == "blocks.0.mlp.0" and first.shape == ("16", "64"), first
        assert "check_explain.py" in first.line and "self.mlp(self.norm(x))" in first.line
        assert all(tensor.reason and tensor.readers for tensor in tensors.values())
        bits = next(t for t in tensors.values() if t.dtype == "uint8")
        assert bits.module == "blocks.0.drop" and "1 bit" in bits.reason and not bits.is_common
        # Parameters cross as well, but take no bytes.
        assert any(t.is_input and not t.bytes for t in explanation.graphs[0].fad.tensors)
        others = [t for t in explanation.graphs[0].pytorch.tensors if not t.is_common]
        assert any(tensor.dtype == "bool" for tensor in others)


def check_forms():
    """The table, JSON and pictures have the same figures."""
    model, x, _ = make(with_break=True)
    explanation = fad.torch.explain(model, x, options={**EAGER, "fad.policy": "bp"})
    assert len(explanation.graphs) == 2, len(explanation.graphs)
    table = str(explanation)
    assert "graph 0:" in table and "graph 1:" in table
    data = json.loads(explanation.to_json())
    assert data["bytes"] == explanation.bytes and list(data["bytes"]) == data["columns"]
    assert table.startswith(explanation.summary() + "\n"), table
    tensors = [t for g in data["graphs"] for t in g["partitions"]["fad"]["tensors"] if t["bytes"]]
    assert sum(tensor["bytes"] for tensor in tensors) == explanation.fad_bytes
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "saved.dot")
        explanation.draw(path)
        # An edge may be of several equal tensors.
        edges = [line for line in path.read_text().splitlines() if " -> " in line]
        counts = [re.search(r"\(x (\d+)\)\\n", edge.partition("[label=")[2]) for edge in edges]
        assert sum(int(count[1]) if count else 1 for count in counts) == len(tensors), edges
        if importlib.util.find_spec("matplotlib"):
            explanation.draw(f"{folder}/saved.svg")
            # A comment before each text has it.
            assert (
                "<!-- blocks.0-1.mlp.0 (x 2) -->" in pathlib.Path(folder, "saved.svg").read_text()
            )


def check_state():
    """Nothing of the model changes, and random numbers are those of before."""
    model, x, static = make()
    before = [tensor.clone() for tensor in static]
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    explanation = fad.torch.explain(model, x, options=EAGER, time=True, compare=["aggressive"])
    assert torch.equal(torch.rand(3), expected)
    assert all(torch.equal(a, b) for a, b in zip(before, static))
    assert all(parameter.grad is None for parameter in model.parameters())
    assert tuple(explanation.measurements) == explanation.columns
    # A column has the name of the call; scripts may have its former one.
    measurements = explanation.measurements
    assert measurements["PyTorch"] is measurements["torch.compile"]
    for measurement in explanation.measurements.values():
        assert measurement.peak > explanation.fad_bytes and measurement.seconds > 0
    _, peaks, times = explanation.summary().splitlines()
    assert re.fullmatch(
        r"fad has a peak of [\d.]+ KiB, torch.compile [\d.]+ \((0|[-+]\d+)%\), "
        r"aggressive [\d.]+ \((0|[-+]\d+)%\), eager [\d.]+ \((0|[-+]\d+)%\)",
        peaks,
    ), peaks
    time = r"\d+\.\d{1,2}"
    assert re.fullmatch(
        rf"fad takes {time} ms a step, torch.compile {time}, aggressive {time}, eager {time}", times
    ), times
    # The peak is that of steps under each setting.
    assert measurements["aggressive"].peak < measurements["eager"].peak, measurements


def check_dynamic():
    """Sizes may be symbols; bytes are those of the example."""
    model = nn.Sequential(nn.Linear(8, 24), nn.GELU(), nn.Linear(24, 8))
    x = torch.randn(6, 8)
    explanation = fad.torch.explain(model, x, dynamic=True)
    assert explanation.fad_bytes == 6 * 24 * 4, explanation.fad_bytes
    tensor = next(t for t in explanation.graphs[0].fad.tensors if t.bytes)
    assert not tensor.shape[0].isdigit() and tensor.shape[1] == "24", tensor.shape


def check_chunks():
    """Products of losses have chunks, or a reason against these."""
    head, x, labels = torch.nn.Linear(8, 64), torch.randn(32, 8), torch.zeros(32, dtype=torch.long)

    def compute(returns):
        logits = head(x)
        loss = torch.nn.functional.cross_entropy(logits, labels)
        return (loss, logits) if returns else loss

    options = {**EAGER, "fad.chunks": 2}
    text = str(fad.torch.explain(compute, False, options=options))
    assert "fad: aten.addmm.default runs in 2 chunks" in text, text
    text = str(fad.torch.explain(compute, True, options=options))
    reason = "the graph returns a value of its size"
    assert f"fad: aten.addmm.default runs at once, not in chunks: {reason}" in text, text


def check_failures():
    """A graph that fad cannot plan says so; a model without gradients is refused."""
    model, x, _ = make()
    choose = _partitioner.import_joint

    def fail(*arguments):
        raise NotPlanned("no plan")

    _partitioner.import_joint = fail
    try:
        explanation = fad.torch.explain(model, x, options=EAGER)
    finally:
        _partitioner.import_joint = choose
    graph = explanation.graphs[0]
    assert graph.fallback.endswith("NotPlanned: no plan"), graph.fallback
    assert graph.fad.bytes == graph.pytorch.bytes
    assert graph.fallback in explanation.table()

    # One of PyTorch's settings fails.
    partition = _explain.partition_by_pytorch

    def fail_aggressive(*arguments, **options):
        if functorch_config.aggressive_recomputation:
            raise RuntimeError("no partition")
        return partition(*arguments, **options)

    _explain.partition_by_pytorch = fail_aggressive
    try:
        explanation = fad.torch.explain(model, x, options=EAGER, compare=["aggressive"])
    finally:
        _explain.partition_by_pytorch = partition
    assert explanation.bytes["aggressive"] is None and explanation.pytorch_bytes
    assert ", aggressive -, eager " in explanation.summary(), explanation.summary()
    text = explanation.table()
    assert "aggressive: PyTorch's partitioner fails: RuntimeError: no partition" in text, text
    rows = text.partition(" by module")[2].partition("\n\n")[0].splitlines()[1:]
    assert rows and all(row.split()[-2] == "-" for row in rows), text

    for options, call, message in (
        (EAGER, model.requires_grad_(False), "no result of the model needs a gradient"),
        ({"fad.engine": "fast"}, model, "fad.engine is 'fast'"),
    ):
        try:
            fad.torch.explain(call, x, options=options)
        except ValueError as error:
            assert message in str(error), error
        else:
            raise AssertionError(f"no error that says: {message}")


def main():
    checks = (
        check_bytes,
        check_places,
        check_forms,
        check_state,
        check_dynamic,
        check_chunks,
        check_failures,
    )
    for check in checks:
        check()
        print(f"{check.__name__}: right")
    print(f"{len(checks)} checks passed")


if __name__ == "__main__":
    sys.exit(main())
