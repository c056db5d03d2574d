"""Compares the bytes that random programs keep for backward in eager PyTorch and under
fad.torch.nest, in sequences of one type and of several, and gradients of some functions.

The policy auto keeps no more, but for bits of a kink whose operand another sequence keeps: eager
PyTorch keeps that for both. Nor does the policy fad with the deferred engine; with the
interactive one, a value that something reads after the sequence has gone on, or of which there is
a view, keeps its own tensor, where two operators of eager PyTorch may save one: that is counted."""

import argparse
import collections
import functools
import itertools
import sys

import torch
import torch.nn.functional as F
from checks import Checks
from random_programs import LARGE, Execution, autocast, describe, generate

import fad.torch
from fad.torch._saved_memory.allocator import watch_allocator

# Instructions without which a program has one outcome: values, and nothing else of them.
PLAIN = "unary binary consumer matmul view cast mixed detach".split()
MODES = [(policy, engine) for policy in ("auto", "fad") for engine in ("interactive", "deferred")]


def compute_loss(program, nest, *leaves):
    execution = Execution(program, copies=False, facts=set())
    execution.leaves, execution.values = list(leaves), list(leaves)
    with autocast(program):
        with nest():
            for instruction in program.instructions:
                execution.execute(*instruction)
        return execution.make_loss()


def make(seed, mixed):
    """A program that keeps something, or None."""
    program = generate(seed, plain=True, mixed=mixed)
    if not mixed:
        program.dtype = torch.float32
    if any(kind not in PLAIN for kind, _, _ in program.instructions):
        return None
    program.size = LARGE
    leaves = Execution(program, copies=False, facts=set()).leaves
    loss = compute_loss(program, torch.enable_grad, *leaves)
    return program if loss.requires_grad else None


def count_kept(program, nest):
    """The bytes, and those of bits."""
    leaves = Execution(program, copies=False, facts=set()).leaves
    function = functools.partial(compute_loss, program, nest)
    found = fad.torch.saved_memory(function, *leaves, measure=False)
    return found.bytes, sum(each.bytes for each in found.tensors if each.name == "bits")


def add_constants(h, weight):
    """Eager PyTorch saves no constant of a sum."""
    for _ in range(4):
        h = h + torch.randn(h.shape)
    return h


def fork(h, first, second, is_there):
    """Two functions of a value that is there at their ends, or not."""
    v = torch.tanh(h * 2)
    values = [first(v), second(v)]
    return [*values, v.flip(0)] if is_there else values


# Functions of a tensor that something before computes, and of a weight.
CASES = {
    "constants of sums": lambda h, w: torch.sin(add_constants(torch.sigmoid(h), w)) @ w,
    "constants after one operator": lambda h, w: add_constants(torch.sigmoid(h), w) @ w,
    "a frozen weight": lambda h, w: F.silu(h * 2) @ w.detach(),
    "a frozen weight behind a product": lambda h, w: (h * torch.randn(h.shape)) @ w.detach(),
    "a kink before a frozen weight": lambda h, w: F.relu(h) @ w.detach(),
    "a copy that nothing reads inside": lambda h, w: h.bfloat16(),
    "one tensor of two sums": lambda h, w: (h.sin() + h.cos()) @ w.detach(),
    "of a leaf": lambda h, w: (w.sin() + w.cos()) @ w.detach(),
    "a value that is read before": lambda h, w: [v := torch.sqrt(h.abs()), v.flip(0), v.cos()],
    "a value before a longer sequence": lambda h, w: [
        s := F.silu(v := torch.tanh(h * 2)),
        v.flip(0),
        s.flip(0),
    ],
    "a value after a longer sequence": lambda h, w: [
        s := F.silu(v := torch.tanh(h * 2)),
        s.flip(0),
        v.flip(0),
    ],
    "a value within a longer sequence": lambda h, w: [
        s := F.silu(2 * (v := torch.tanh(h * 2))),
        v.flip(0),
        s.flip(0),
    ],
    "a value and its double": lambda h, w: [v := (w.abs() + 1).log(), v * 2],
    "two functions of a value": lambda h, w: fork(h, F.silu, torch.sin, False),
    "two functions of a value that is read": lambda h, w: fork(h, F.silu, torch.sin, True),
    "two long functions of a value": lambda h, w: fork(
        h, lambda v: (v * 2).exp().sin(), lambda v: F.silu(v) * 3, False
    ),
    "functions of a function": lambda h, w: fork(
        h, F.silu, lambda v: F.gelu(v) + v.cos() * 2, False
    ),
    "a function in a wider type": lambda h, w: fork(
        h, lambda v: v.double(), lambda v: v.double() * 2, True
    ),
    "a cast that is squared": lambda h, w: (
        (v := h.bfloat16().float()) * (v.square().mean(-1, keepdim=True) + 1).rsqrt()
    ),
    "a kink of a leaf and what it changes": lambda h, w: [
        v := F.leaky_relu(w),
        (u := v - w).flip(0),
        u * torch.ones(h.shape),
        v * torch.ones(h.shape),
    ][1:],
    "a norm of a multiple": lambda h, w: (
        (v := h * 2) * (v.square().mean(-1, keepdim=True) + 1).rsqrt()
    ),
    "a function of a multiple": lambda h, w: (h * 2).sin().flip(0),
    "functions of a multiple": lambda h, w: [v := h * 2, v.sin().flip(0), v.cos().flip(0)][1:],
    "a product of a multiple, and a function": lambda h, w: [
        v := h * 2,
        (v * v).flip(0),
        v.sin().flip(0),
    ][1:],
    "a square of a multiple, and of its view": lambda h, w: [
        v := h * 2,
        v.square().flip(0),
        v.view(-1).sin().flip(0),
    ][1:],
    "a kink whose reader saves it": lambda h, w: F.relu(h).cumprod(1),
    "a kink of a multiple, whose reader saves it": lambda h, w: F.relu(h * 2 - 1).cumprod(1),
    "a kink whose view a reader saves": lambda h, w: F.relu(h).view(-1).cumprod(0),
    "a kink before a batch normalization": lambda h, w: F.batch_norm(
        F.relu(h), None, None, training=True
    ).square(),
    "a kink of a leaf's view": lambda h, w: [v := w.t().clamp(0.2, 0.8), u := v - 0.5 * v, u @ u][
        2
    ],
    "a kink of a transposed value": lambda h, w: [v := h.t().relu(), (v * 2).flip(0)][1],
    "three slopes of a leaf's view": lambda h, w: w.t().abs().clamp_max(0.8) @ w.detach(),
    "a product with a constant": lambda h, w: torch.exp(h * torch.rand(h.shape)).cumprod(1),
    "a view whose reader saves it": lambda h, w: (
        torch.sigmoid(h.bfloat16() + w.bfloat16()).view(-1).cumprod(0)
    ),
    "two functions, of a view and of its base": lambda h, w: [
        v := torch.sigmoid(h),
        v.t().sin(),
        v.cos(),
    ][1:],
    "two functions, of the double of a view and of its base": lambda h, w: [
        v := torch.exp(h),
        (v.view(-1) * 2).sin(),
        v.cos(),
    ][1:],
    "a difference of a result that another sequence kept": lambda h, w: [
        v := torch.tanh(h.bfloat16().float()),
        (v / (v * v + 1)).mean(0).detach(),
        (-v) - (-v),
    ][2],
    "a result that another sequence kept": lambda h, w: [
        v := torch.tanh(h.bfloat16().float()),
        (v / (v * v + 1)).mean(0).detach(),
        -v,
    ][2],
}
# More is kept by these.
READ_LATER = (
    "a value before a longer sequence",
    "a value after a longer sequence",
    "two functions of a value",
    "two functions of a value that is read",
    "functions of a function",
    "two functions, of a view and of its base",
    "two functions, of the double of a view and of its base",
    "a product of a multiple, and a function",
)
EXCEPT = {("fad", "interactive"): READ_LATER}


def keeps_no_more(function, policy, engine, is_view=False):
    """Of a weight that may be a view, as of a buffer of all weights, and is a leaf itself."""

    def run(nest, x, weight):
        torch.manual_seed(0)
        h = torch.cumsum(x, 0)
        with nest():
            y = function(h, weight)
        del h
        y = [y] if isinstance(y, torch.Tensor) else y
        return sum((each.float() * 2).sum() for each in y)

    weights = torch.rand(2, LARGE, LARGE)
    leaves = [torch.rand(LARGE, LARGE), weights[1] if is_view else weights[1].clone()]
    leaves = [each.requires_grad_() for each in leaves]
    nest = functools.partial(fad.torch.nest, policy=policy, engine=engine, min_numel=0)
    loss, expected = run(nest, *leaves), run(torch.enable_grad, *leaves)
    assert torch.equal(loss, expected) or engine == "deferred", (loss, expected)
    pairs = (torch.autograd.grad(each, leaves, allow_unused=True) for each in (loss, expected))
    for gradient, reference in zip(*pairs):
        bound = 1e-5 * reference.abs().max().item() if reference is not None else 0
        torch.testing.assert_close(gradient, reference, rtol=1e-4, atol=bound)
    calls = [functools.partial(run, each, *leaves) for each in (nest, torch.enable_grad)]
    found, most = (fad.torch.saved_memory(call, measure=False).bytes for call in calls)
    assert found <= most, (found, most)
    # Tensors that nodes save may keep others, by their values. Losses are a few numbers.
    found, most = (watch_allocator(call, on_gpu=False)[1].resident for call in calls)
    assert found <= most + 64 or policy == "fad", (found, most)


def read_norm(x):
    return F.layer_norm(x, (LARGE,))


# Functions, and how many tensors like the operand the deferred engine keeps of them before a
# product, beside statistics.
NORMS = {
    "a norm": (read_norm, 0),
    "a norm of a norm": (lambda h: read_norm(read_norm(h)), 1),
    "a norm of a value": (lambda h: read_norm(F.gelu(h)), 1),
    "a norm of a view": (lambda h: read_norm(F.gelu(h).view(2, -1, LARGE)).flatten(0, 1), 1),
    "a value of a norm": (lambda h: F.gelu(read_norm(h)), 1),
    "a wider value of a norm": (lambda h: F.gelu(read_norm(h).float()).to(h.dtype), 1),
    "in place": (lambda h: F.silu(read_norm(h), inplace=True), 1),
}


def keeps_tensors(function, count, dtype):
    def run(h):
        with fad.torch.nest(engine="deferred", min_numel=0):
            y = function(h)
            return y @ torch.eye(LARGE, dtype=dtype).requires_grad_()

    h = torch.rand(LARGE, LARGE).to(dtype).requires_grad_() * 1
    found = fad.torch.saved_memory(run, h, measure=False).bytes
    statistics = 4 * LARGE * h.element_size()
    assert found <= count * h.nbytes + statistics, (found, h.nbytes)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="numbers of programs")
    parser.add_argument("--seed", type=int, default=0, help="the first")
    parser.add_argument("--fad", action="store_true", help="print those of fad, interactive, too")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    check = Checks()
    for (name, function), mode, is_view in itertools.product(CASES.items(), MODES, (False, True)):
        if name not in EXCEPT.get(mode, ()):
            check(
                f"{name}, {mode}{', a view' * is_view}",
                lambda: keeps_no_more(function, *mode, is_view),
            )
    for (name, (function, count)), dtype in itertools.product(
        NORMS.items(), (torch.float32, torch.bfloat16)
    ):
        check(f"{name}, {dtype}", lambda: keeps_tensors(function, count, dtype))
    wrong = len(check.wrong)
    for mixed in (False, True):
        kept, more, programs = collections.Counter(), collections.Counter(), 0
        for seed in range(arguments.seed, arguments.seed + arguments.count):
            program = make(seed, mixed)
            if program is None:
                continue
            programs += 1
            most, _ = count_kept(program, torch.enable_grad)
            kept["eager"] += most
            for mode in MODES:
                nest = functools.partial(
                    fad.torch.nest, policy=mode[0], engine=mode[1], min_numel=0
                )
                found, bits = count_kept(program, nest)
                kept[mode] += found
                more[mode] += found - bits > most
                is_wrong = mode != ("fad", "interactive")
                if found - bits > most and (is_wrong or arguments.fad):
                    wrong += is_wrong
                    print(f"seed {seed}, {mode}: {found} bytes, eager {most}")
                    print(describe(program))
        for mode in MODES:
            print(
                f"{'mixed' if mixed else 'one type'}, {' '.join(mode)}: "
                f"{kept[mode] / kept['eager']:.2f} of eager's bytes, "
                f"more in {more[mode]} of {programs} programs"
            )
    print(f"more where none is allowed: {wrong}")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
