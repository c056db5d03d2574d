"""Checks what fad.torch.saved_memory and reports of nested models say."""

import json
import threading
import types

import torch
import torch.nn.functional as F
from checks import raises
from torch import nn

import fad.torch
from fad.torch.eager import _kernels, report


class ComposedGELU(nn.Module):
    def forward(self, x):
        return 0.5 * x * (1.0 + torch.tanh(0.8 * (x + 0.045 * torch.pow(x, 3.0))))


torch.manual_seed(0)
layers = [part for _ in range(6) for part in (nn.Linear(128, 128), ComposedGELU())]
model, x = nn.Sequential(*layers), torch.randn(64, 128)
size, wrong = x.nbytes, 0
eager = fad.torch.saved_memory(model, x)
assert eager.bytes // size == 29 and not eager.unseen, eager
# In tensors of a layer's size: under auto the sources and the result; under fad the
# derivatives, what the next layers read, and the result.
for policy, expected in (("auto", 7), ("fad", 12)):
    nested = fad.torch.nest(model, policy=policy, min_numel=0)
    saved = fad.torch.saved_memory(nested, x)
    # The allocator gives at least 64 bytes for each tensor, and the result.
    held = {"FadBackward", "AddmmBackward0"} if policy == "fad" else {"FadBackward"}
    if (
        (saved.resident // size, saved.bytes) != (expected, (expected - 1) * size)
        or saved.unseen
        or set(saved.by_operator) != held
        or not {"1", "3", "5"} < set(saved.by_module)
    ):
        wrong += 1
        print(policy, saved)
    # The result is nobody's residual.
    made = nested.fad_report(x)
    if (made.bytes // size, made.eager_bytes // size, len(made.sequences)) != (
        expected - 1,
        29,
        6,
    ) or [each.module for each in made.sequences] != ["1", "3", "5", "7", "9", "11"]:
        wrong += 1
        print(policy, made)
print(f"2 policies, {wrong} wrong")


def check_holders():
    """Tensors that are held of each form, with the names that nodes have for it."""
    gate, up = (torch.randn(64, 128, requires_grad=True) for _ in range(2))
    half = torch.full((64, 128), 0.5)
    other = torch.randn(128, 128, requires_grad=True)
    for name, options, function, expected in [
        ("derivative", {"policy": "fad"}, lambda: ComposedGELU()(1 * gate).sum(), ["derivative"]),
        ("source", {}, lambda: ComposedGELU()(1 * gate).sum(), ["source"]),
        ("sources", {}, lambda: (F.silu(1 * gate) * (1 * up)).sum(), ["source", "source"]),
        ("constant", {}, lambda: (F.silu(1 * gate) * half).sum(), ["source", "constant"]),
        ("bits", {}, lambda: F.relu(1 * gate).sum(), ["bits"]),
        ("levels", {"derivative_bits": 2}, lambda: F.silu(1 * gate).sum(), ["bits"]),
        ("own", {"policy": "fad"}, lambda: (2 * torch.tanh(gate)).sum(), ["TanhBackward0.result"]),
        ("reader", {}, lambda: (2 * F.silu(1 * gate)) @ other, ["source"]),
    ]:
        for engine in ("interactive", "deferred"):
            nested = fad.torch.nest(function, min_numel=0, engine=engine, **options)
            saved = fad.torch.saved_memory(nested)
            own = [t for t in saved.tensors if any("FadBackward" in each for each in t.holders)]
            names = sorted(t.name for t in own)
            # A kernel computes the derivative in the place of the operator's saved tensor.
            is_computed = (name, engine) == ("own", "deferred")
            expected_here = ["derivative"] if is_computed else sorted(expected)
            assert (names, saved.unseen) == (expected_here, ()), (name, engine, saved)
            if name == "reader":
                assert "MmBackward0.self" in own[0].holders, saved
    # Gradients are there afterwards: nothing was computed or released. A variable of the
    # function would count as known, and its graph as no part of the function's.
    with fad.torch.nest(min_numel=0):
        made = types.SimpleNamespace(y=F.silu(1 * gate) @ other)
    saved = fad.torch.saved_memory(lambda: made.y, measure=False)
    assert any("FadBackward.source" in t.holders for t in saved.tensors), saved
    expected = torch.autograd.grad(F.silu(1 * gate) @ other, gate, torch.ones(64, 128))
    assert torch.equal(torch.autograd.grad(made.y, gate, torch.ones(64, 128))[0], expected[0])


def check_shared():
    """An operator and its reader save one tensor, also where few bits are asked for."""
    gate, other = (torch.randn(64, 64, requires_grad=True) for _ in range(2))
    for function in (torch.relu, torch.tanh):
        for engine in ("interactive", "deferred"):
            for bits in (None, 2):
                nested = fad.torch.nest(
                    lambda: function(1 * gate) @ other,
                    policy="fad",
                    min_numel=0,
                    engine=engine,
                    derivative_bits=bits,
                )
                assert fad.torch.saved_memory(nested).bytes == gate.nbytes, (function, engine, bits)
                made = report(nested)
                assert made.bytes == gate.nbytes, made


def check_threads():
    """Other threads may call the model meanwhile: their modules are not those of this one."""
    other = nn.Sequential(nn.Linear(8, 8), ComposedGELU())
    x, stop = torch.randn(4, 8), threading.Event()

    def run():
        while not stop.is_set():
            other(x)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(20):
            found = fad.torch.saved_memory(other, x, measure=False).by_module
            assert found == {"1": 4 * x.nbytes + 24}, found
    finally:
        stop.set()
        for thread in threads:
            thread.join()


check_holders()
check_shared()
check_threads()

# Each decision, with its bytes and those of eager PyTorch, in tensors.
weight = torch.randn(128, 128, requires_grad=True)


def twice(y):
    """Reads a value by two operators, the second of which saves it."""
    return y.sum() + (y @ weight).sum()


def gated(x, y):
    return (F.silu(x) * y) @ weight


for name, function, expected in [
    ("linear", lambda x, y: ((2 * x + 1) - x / 3).sum(), [("number", 0, 0)]),
    ("tanh", lambda x, y: torch.tanh(x) @ weight, [("own node", 1, 1)]),
    ("silu", lambda x, y: F.silu(x) @ weight, [("own node, value recomputed", 1, 2)]),
    ("relu", lambda x, y: F.relu(x).sum(), [("mask", 1 / 32, 1)]),
    ("three values", lambda x, y: (F.relu(x) - F.relu(-x - 1) / 3).sum(), [("source", 1, 2)]),
    ("composed", lambda x, y: (x * torch.sigmoid(x)).sum(), [("source", 1, 2)]),
    ("gated", gated, [("two sources, value recomputed", 2, 4)]),
    ("a constant", lambda x, y: (x.tanh() * y.detach()).sum(), [("source", 2, 2)]),
    ("a mask after relu", lambda x, y: F.relu(x) * 2, [("own node", 1, 1)]),
    (
        "two readers",
        lambda x, y: (F.silu(x) @ weight) + F.silu(x) @ weight,
        [("own node, value recomputed", 1, 2), ("own node, value recomputed", 0, 1)],
    ),
    ("a constant between", lambda x, y: (2 * x * y.detach() * 3).sum(), [("own node", 1, 1)]),
    ("a constant and a sum of two", lambda x, y: x * y.detach() + y, [("own node", 1, 1)]),
    (
        "a constant and a product",
        lambda x, y: (x * y.detach()) @ weight,
        [("own node, value recomputed", 2, 2)],
    ),
    ("a scaled result", lambda x, y: (torch.tanh(x + 1) * 3).sum(), [("own node", 1, 1)]),
    ("a result twice", lambda x, y: twice(torch.tanh(x + 1)), [("own node", 1, 1)]),
    ("an inner slope", lambda x, y: F.leaky_relu(x + 1).sum(), [("own node", 1, 1)]),
    ("nothing", lambda x, y: x @ weight, []),
]:
    leaves = [torch.randn(64, 128).requires_grad_() for _ in range(2)]
    made = report(fad.torch.nest(function, min_numel=0), *leaves)
    found = [(each.decision, each.bytes / size, each.eager_bytes / size) for each in made.sequences]
    if found != expected or json.loads(made.to_json())["bytes"] != made.bytes:
        wrong += 1
        print(name, found, expected)
    # The deferred engine keeps no more, and says so of its tensors.
    for policy in ("auto", "fad"):
        forms = [
            fad.torch.nest(function, policy=policy, min_numel=0, engine=engine)
            for engine in ("interactive", "deferred")
        ]
        one, other = (report(each, *leaves) for each in forms)
        held = [fad.torch.saved_memory(each, *leaves).resident for each in forms]
        if (
            (other.bytes, held[1]) > (one.bytes, held[0])
            or held[1] > held[0]
            or (one.eager_bytes != other.eager_bytes)
            or any(each.computed == "at once" for each in other.sequences)
        ):
            wrong += 1
            print(name, policy, held, one, other)
made = report(fad.torch.nest(gated, policy="fad", min_numel=0), *leaves)
assert [(each.operators, each.readers) for each in made.sequences] == [(("silu",), ("mul",))], made
assert made.sequences[0].line.startswith("check_saved.py:") and "F.silu(x)" in str(made), made
# A kernel is there after the second time.
late = fad.torch.nest(lambda x, y: gated(x, y * 3), min_numel=0, engine="deferred")
reports = [report(late, *leaves) for _ in range(3) if _kernels.wait() >= 0]
for made, how in (
    (reports[0], "operator by operator, before its kernel is compiled"),
    (reports[2], "by a kernel"),
):
    assert made.sequences[0].computed == how and f"computed {how}\n" in str(made), made
late = fad.torch.nest(lambda x: (x**2.5 * x).sum(), min_numel=0, engine="deferred")
assert report(late, leaves[0]).sequences[0].computed.endswith("as no kernel is called")
assert raises("call it with what the model takes", nested.fad_report)
# Nothing is observed afterwards, also where forward fails.
assert raises("shapes cannot be multiplied", lambda: nested.fad_report(x[:, 1:]))
small = fad.torch.nest(nn.ReLU()).fad_report(x[:1].requires_grad_())
assert nested(x).requires_grad and not small.sequences and "There are none" in str(small)
print(f"reports, {wrong} wrong")
