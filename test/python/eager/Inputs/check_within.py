"""Saves values that sequences which have ended have within them: these begin there, and let go of
their sources. Compares bytes and gradients with eager PyTorch, in backwards of several kinds."""

import functools
import itertools
import sys
import threading

import torch
from checks import Checks
from within_programs import LEAF, PROGRAMS, WEIGHT, multiply, save

import fad.torch
from fad.torch.eager import _kernels
from fad.torch._saved_memory.allocator import watch_allocator

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


def is_referred_to_weakly(engine):
    """A sequence ends with the own node of an operator, whose value has lost its tensor, and not
    what describes that."""
    for _ in range(20):
        leaf = LEAF.clone().requires_grad_()
        with of(engine)():
            v = leaf.flip(0).sigmoid()
            weak = torch._C._WeakTensorRef(v)
            y = v * 3
            del v
            loss = y.flip(0).sum()
        assert weak.expired()
        (found,) = torch.autograd.grad(loss, leaf)
        torch.testing.assert_close(found, 3 * LEAF.sigmoid() * (1 - LEAF.sigmoid()))


def keeps_bits_of_a_logged_kink(engine):
    """Reads without gradients are none of a function, which may save the value."""

    def call():
        leaf = LEAF.clone().requires_grad_()
        with of(engine)():
            v = (leaf.flip(0) - 0.5).relu()
            for without_gradients in (torch.no_grad, torch.inference_mode):
                with without_gradients():
                    v.norm()
            return v.flip(0).sum()

    found = fad.torch.saved_memory(call, measure=False).bytes
    assert found <= LEAF.nbytes / 16, found


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
    for engine in ENGINES:
        check(f"a logged kink, {engine}", lambda: keeps_bits_of_a_logged_kink(engine))
        check(f"a weak reference, {engine}", lambda: is_referred_to_weakly(engine))
    for name, compute in VALUES.items():
        check(f"a write{name}", lambda: is_copied(compute))
        check(f"another thread{name}", lambda: is_read_by_another_thread(compute))
    check.finish()


if __name__ == "__main__":
    main()
