"""Saves values that sequences which have ended have within them: these begin there, and let go of
their sources. Compares bytes and gradients with eager PyTorch, in backwards of several kinds."""

import functools
import itertools
import sys
import threading

import torch
from checks import Checks

import fad.torch
from fad.torch.eager import _kernels
from fad.torch._saved_memory.allocator import watch_allocator

SIZE = 66
CONSTANT = torch.rand(SIZE, SIZE)
LEAF = torch.rand(SIZE, SIZE)
WEIGHT = torch.rand(SIZE, SIZE)


def multiply(v):
    return v * CONSTANT


def save(v):
    return v.cumprod(1)


# Functions of a value that an operator has computed, and of a weight. All that they return has a
# part in the loss.
PROGRAMS = {
    "a reader that saves a result": lambda h, w: [v := h.exp(), multiply(v).flip(0), save(v)][1:],
    "far behind the end": lambda h, w: [
        v := h.exp(),
        (multiply(v).sin() * 2).cos().flip(0),
        save(v),
    ][1:],
    "a second reader": lambda h, w: [
        v := h.sin() * 2,
        (v.cos() * v).flip(0),
        v.flip(0),
        save(v),
    ][1:],
    "before the end": lambda h, w: [
        v := h * 2,
        a := v.sin() + v.cos(),
        save(v),
        a.flip(0),
    ][2:],
    "after the end": lambda h, w: [v := h * 2, (v.sin() + v.cos()).flip(0), save(v)][1:],
    "two open sequences": lambda h, w: [v := h * 2, a := v.sin(), b := v * v, a.flip(0), b.flip(0)][
        3:
    ],
    "an operator's own node": lambda h, w: [v := h * 2, (v * v).flip(0), v.sin().flip(0)][1:],
    "a view, before the end": lambda h, w: [v := h.exp(), v.cos(), v.t().sin()][1:],
    "a view, after the end": lambda h, w: [v := h.exp(), v.cos().flip(0), v.t().sin().flip(0)][1:],
    "a view that a reader saves": lambda h, w: [
        v := h.exp(),
        multiply(v).flip(0),
        v.t().cumprod(0),
    ][1:],
    "a slice that a reader saves": lambda h, w: [
        v := h * 2,
        (v.sin() + v.cos()).flip(0),
        v[1:].cumprod(1),
    ][1:],
    "a slice, before the end": lambda h, w: [
        v := h * 2,
        a := v.sin() + v.cos(),
        v[1:].t()[2:].cumprod(1),
        a.flip(0),
    ][2:],
    "a slice, before the sequence": lambda h, w: [
        v := h * 2,
        v[1:].cumprod(1),
        (v.sin() + v.cos()).flip(0),
    ][1:],
    "a slice at which a sequence begins": lambda h, w: [
        v := h * 2,
        (v.sin() + v.cos()).flip(0),
        v[1:].sin().flip(0),
    ][1:],
    "a slice that nothing saves": lambda h, w: [
        v := h * 2,
        (v.sin() + v.cos()).flip(0),
        v[1:].flip(0),
        save(v),
    ][1:],
    "a slice whose reader goes": lambda h, w: [
        v := h * w,
        u := v * 2,
        v[1:].square().mean().item(),
        [v.flip(0), u.flip(0)],
    ][3],
    "a value whose reader goes": lambda h, w: [
        v := h * w,
        u := v * 2,
        save(v).mean().item(),
        [v.flip(0), u.flip(0)],
    ][3],
    "chunks of a kink": lambda h, w: [
        v := h.relu(),
        u := v * h,
        c := v.chunk(2, 1),
        [u.flip(0), (c[0] * c[1]).flip(0), v.flip(0)],
    ][3],
    "a slice of a cast": lambda h, w: [
        v := h.double(),
        (v.sin() + v.cos()).flip(0),
        v[1].cumprod(0),
    ][1:],
    "chunks": lambda h, w: [
        v := h * 2,
        a := (v.sin() + v.cos()).flip(0),
        c := v.chunk(2, 1),
        [a, (c[0] * c[1].sigmoid()).flip(0), (v.sin() * v).flip(0)],
    ][3],
    "a product with a leaf": lambda h, w: [
        v := h * 2,
        v.sin().mean(),
        v.cos().mean(),
        v.square().mean(),
        v * w,
    ][1:],
    "a reader that computes what it saves": lambda h, w: [
        v := h.exp(),
        multiply(v).sin() @ w,
        save(v),
    ][1:],
    "sequences that share a value": lambda h, w: [
        v := h.exp(),
        a := multiply(v).sin(),
        (a.exp() * 2).cos().flip(0),
        (a.cos() * a).flip(0),
        a @ w,
        save(v),
    ][2:],
    "two values": lambda h, w: [
        v := h.exp(),
        u := h.sigmoid(),
        (v * u).sin().flip(0),
        save(v),
        save(u),
    ][2:],
    "one after the other": lambda h, w: [
        v := h.exp(),
        u := multiply(v).sin().exp(),
        (u.cos() * u).flip(0),
        save(v),
        save(u),
    ][2:],
    "a source that is needed still": lambda h, w: [
        v := h.exp(),
        (v * h.sin()).cos().flip(0),
        save(v),
    ][1:],
    "a source that is within, too": lambda h, w: [
        v := h.exp(),
        a := v + h,
        v.flip(0),
        (v * a).sin().flip(0),
    ][2:],
    "in a wider type": lambda h, w: [
        v := h.exp(),
        (v.double().sin() * 2).exp().flip(0),
        save(v),
    ][1:],
    "a cast": lambda h, w: [v := h.double(), (v.sin() + v.cos()).flip(0), save(v)][1:],
    "a cast, before the end": lambda h, w: [
        v := (h * 2).double(),
        a := v.sin() + v.cos(),
        save(v),
        a.flip(0),
    ][2:],
    "a cast of several sequences": lambda h, w: [
        v := h.double(),
        (v.sin() + v.cos()).flip(0),
        (v.exp() * v).flip(0),
        save(v),
        (v.sin() * v).flip(0),
    ][1:],
    "a view of a cast": lambda h, w: [
        v := h.double(),
        (v.exp() * v.sin()).flip(0),
        v.t().cumprod(0),
    ][1:],
    "a cast and another value": lambda h, w: [
        v := h.double(),
        u := v.exp(),
        (u.sin() * v).flip(0),
        save(u),
        save(v),
    ][2:],
}


def read_in(order, compute):
    """Reads values, by their names, in an order. No tensor has one any more once it is read."""

    def program(h, w):
        values = compute(h)
        del h
        return [values.pop(name).flip(0) for name in order]

    return program


def fork(s, other):
    """A value, its multiple, and another function of it."""
    return {"s": s, "q": s * 3 - 1, "n": other(s)}


for order in ("sqn", "snq", "nsq", "nqs", "qsn", "qn", "nq"):
    PROGRAMS |= {
        f"a result and its multiple, {order}": read_in(
            order, lambda h: fork((h * 2).sigmoid(), torch.sin)
        ),
        f"a result, its multiple and its cast, {order}": read_in(
            order, lambda h: fork(h.tanh(), torch.Tensor.double)
        ),
        f"a kink and its multiple, {order}": read_in(
            order, lambda h: fork((h @ h.t() - 20).relu(), save)
        ),
        f"results of a slice, {order}": read_in(order, lambda h: fork(h[:9].tanh(), save)),
        f"powers of a slice, {order}": read_in(order, lambda h: fork(h[:9] ** 3, lambda s: s * 2)),
    }


class Save(torch.autograd.Function):
    """A function of Python's, which saves what it reads."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.square()

    @staticmethod
    def backward(ctx, gradient):
        return 2 * gradient * ctx.saved_tensors[0]


# Kinks, of which few bits are kept until something else keeps their results.
PROGRAMS |= {
    "a kink that is saved later": lambda h, w: [r := (h - 0.5).relu(), r.flip(0), save(r)][1:],
    "a kink whose view is saved later": lambda h, w: [r := h.relu(), r.flip(0), save(r.t())][1:],
    "a kink whose chunks are saved later": lambda h, w: [
        r := h.relu(),
        r.flip(0),
        c := r.chunk(2, 1),
        c[0] @ c[1].t(),
    ][1::2],
    "a kink of a product": lambda h, w: [r := (h - 0.5).relu(), r.flip(0), r * h.sin()][1:],
    "a kink that is read twice at once": lambda h, w: [
        r := h.relu(),
        s := torch.stack([r, r]).sum(0),
        s * r,
    ][1:],
    "a kink that is within": lambda h, w: [
        r := (h - 0.5).relu(),
        u := r.sin(),
        r.flip(0),
        u.flip(0),
        save(r),
    ][2:],
    "a kink whose slice is a factor": lambda h, w: [
        r := (h - 0.5).relu(),
        u := r.sin(),
        r[:9] * w[:9],
        r.flip(0),
        u.flip(0),
    ][2:],
}
# Values and views of them.
PROGRAMS |= {
    "a value and its view": lambda h, w: [v := h.tanh(), v * v.t()][1:],
    "a kink and its view": lambda h, w: [v := (h + h - 0.5).relu(), v * v.view_as(v)][1:],
    "a value, its view and a function": lambda h, w: [
        v := h.sigmoid(),
        a := v.sin(),
        v * v.view(-1).view(v.shape) * a,
        a.flip(0),
    ][2:],
    "a power and its source": lambda h, w: [
        a := (h * 0.3) ** 3,
        b := a + h,
        a.flip(0),
        b.flip(0),
    ][2:],
    "a slice of a value within": lambda h, w: [
        e := (h * 0.1).exp(),
        s := e.sin(),
        t := s[:-1],
        e.flip(0),
        t.flip(0),
    ][3:],
    "a slice of a value that is read": lambda h, w: [
        e := (h * 0.1).exp(),
        s := e.sin(),
        t := s[:-1],
        u := s.cos(),
        e.flip(0),
        t.flip(0),
        u.flip(0),
    ][4:],
    "a function of Python's": lambda h, w: [e := h.sigmoid(), Save.apply(e), e.flip(0)][1:],
}
# Values that an operator has computed, of a source.
VALUES = {"": lambda h: h * 2, ", of a cast": lambda h: (h * 2).double()}
ENGINES = ("interactive", "deferred")


def run(function, nest, dtype=torch.float32):
    """The results, and the leaves."""
    leaves = [each.to(dtype, copy=True).requires_grad_() for each in (LEAF, WEIGHT)]
    with nest():
        h = leaves[0].flip(0)
        values = function(h, leaves[1])
    return [each.double().sum() for each in values], leaves


def of(engine):
    return functools.partial(fad.torch.nest, engine=engine, min_numel=0)


def agrees(backward, function, engine, dtype=torch.float32, reference=None):
    """Whether a backward, which returns gradients, has those of eager PyTorch, by a backward of the
    same kind or the given one."""
    found = backward(*run(function, of(engine), dtype))
    expected = (reference or backward)(*run(function, torch.enable_grad, dtype))
    tolerance = 1e-10 if dtype == torch.double else 1e-4
    for one, other in zip(found, expected, strict=True):
        if other is None:
            assert one is None or not one.any()
        else:
            bound = tolerance * other.abs().max().item()
            torch.testing.assert_close(one, other, rtol=tolerance, atol=bound)


def keeps_no_more(function, engine):
    calls = [
        lambda nest=nest: sum(run(function, nest)[0]) for nest in (of(engine), torch.enable_grad)
    ]
    found, most = (fad.torch.saved_memory(call, measure=False).bytes for call in calls)
    assert found <= most, (found, most)
    found, most = (watch_allocator(call, on_gpu=False)[1].resident for call in calls)
    assert found <= most + 512, (found, most)


def whole(losses, leaves):
    return torch.autograd.grad(sum(losses), leaves, allow_unused=True)


def twice(losses, leaves):
    loss = sum(losses)
    grad = functools.partial(torch.autograd.grad, allow_unused=True)
    return [*grad(loss, leaves, retain_graph=True), *grad(loss, leaves)]


def apart(losses, leaves, is_reversed):
    """A backward of each result, which all keep the graph but the last one."""
    found = []
    for i, loss in enumerate(losses[::-1] if is_reversed else losses):
        found += torch.autograd.grad(
            loss, leaves, allow_unused=True, retain_graph=i < len(losses) - 1
        )
    return found


def of_one(losses, leaves, i):
    return torch.autograd.grad(sum(losses), leaves[i], allow_unused=True)


def second(losses, leaves):
    first = torch.autograd.grad(sum(losses), leaves, allow_unused=True, create_graph=True)
    total = sum(each.square().sum() for each in first if each is not None)
    return torch.autograd.grad(total, leaves, allow_unused=True)


def second_apart(losses, leaves):
    """Those of each result, where its gradient has a graph in eager PyTorch."""
    grad, found = functools.partial(torch.autograd.grad, allow_unused=True, retain_graph=True), []
    for loss in losses:
        first = grad(loss, leaves, create_graph=True)
        total = sum(each.square().sum() for each in first if each is not None)
        found += grad(total, leaves) if total.requires_grad else (None,) * len(leaves)
    return found


def compiled(losses, leaves):
    with torch._dynamo.compiled_autograd._enable(torch.compile(backend="eager")):
        sum(losses).backward()
    return [leaf.grad for leaf in leaves]


KINDS = {
    "one backward": whole,
    "two backwards": twice,
    "one after the other": functools.partial(apart, is_reversed=False),
    "the last one first": functools.partial(apart, is_reversed=True),
    "of the source alone": functools.partial(of_one, i=0),
    "of the weight alone": functools.partial(of_one, i=1),
    "second derivatives": second,
    "second derivatives apart": second_apart,
}


def with_kernels(function, engine):
    """The same with the kernels of sequences that the deferred engine has met twice."""
    for _ in range(2):
        whole(*run(function, of(engine)))
    _kernels.wait()
    agrees(whole, function, engine)


# A compilation takes a second.
KERNELS = ("far behind the end", "a source that is within, too", "chunks")
COMPILED = ("far behind the end", "a view, after the end", "one after the other", "a cast")


def survives_its_owners():
    """The value is there after the operator that saved it, and its tensor, have gone."""
    leaf = LEAF.clone().requires_grad_()
    with of("interactive")():
        v = leaf.flip(0).exp()
        loss = multiply(v).sin().flip(0).sum()
        save(v)
        del v
    (found,) = torch.autograd.grad(loss, leaf)
    (expected,) = torch.autograd.grad(multiply(leaf.flip(0).exp()).sin().sum(), leaf)
    torch.testing.assert_close(found, expected)


def is_copied(compute):
    """A write to the value, after its sequence has begun there, is none to what backward reads."""
    leaf = LEAF.clone().requires_grad_()
    with of("interactive")():
        v = compute(leaf.flip(0))
        loss = (v.sin() + v.cos()).flip(0).sum()
        save(v)
        v += 1
    (found,) = torch.autograd.grad(loss, leaf)
    doubled = LEAF * 2
    torch.testing.assert_close(found, 2 * (doubled.cos() - doubled.sin()))


def is_read_by_another_thread(compute):
    """Another thread saves the value while backward runs."""
    for _ in range(20):
        leaf = LEAF.clone().requires_grad_()
        with of("interactive")():
            v = compute(leaf.flip(0))
            loss = (v.sin() + v.cos()).flip(0).sum()
            v.flip(0)
        (expected,) = torch.autograd.grad(loss, leaf, retain_graph=True)
        begin, kept = threading.Barrier(2), []

        def read(begin=begin, kept=kept, v=v):
            begin.wait()
            with of("interactive")():
                kept.append(save(v))

        thread = threading.Thread(target=read)
        thread.start()
        begin.wait()
        for _ in range(5):
            (found,) = torch.autograd.grad(loss, leaf, retain_graph=True)
            torch.testing.assert_close(found, expected)
        thread.join()


def main():
    torch.set_num_threads(1)
    check = Checks()
    for (name, function), engine in itertools.product(PROGRAMS.items(), ENGINES):
        check(f"{name}, {engine}, bytes", lambda: keeps_no_more(function, engine))
        for kind, backward in KINDS.items():
            # Second derivatives of exponential functions lose digits.
            for dtype in (torch.float32, torch.double)[kind.startswith("second") :]:
                check(
                    f"{name}, {engine}, {kind}, {dtype}",
                    lambda: agrees(backward, function, engine, dtype),
                )
        if engine == "deferred" and (name in KERNELS or "--every" in sys.argv):
            check(f"{name}, {engine}, kernels", lambda: with_kernels(function, engine))
        if name in COMPILED or "--every" in sys.argv:
            check(
                f"{name}, {engine}, compiled",
                lambda: agrees(compiled, function, engine, reference=whole),
            )
    check("after the owners", survives_its_owners)
    for name, compute in VALUES.items():
        check(f"a write{name}", lambda: is_copied(compute))
        check(f"another thread{name}", lambda: is_read_by_another_thread(compute))
    check.finish()


if __name__ == "__main__":
    main()
