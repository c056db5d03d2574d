"""Writes to values through their aliases, which no version of the tensors tells: no sequence begins
at such a value, whatever saves it, and gradients are those of the values that operators have read.

usage: check_aliases.py [--every]

Without --every, most aliases have one kind of writes."""

import contextlib
import functools
import itertools
import sys

import torch
from check_within import ENGINES, VALUES, of
from within_programs import LEAF, SIZE, save
from checks import Checks

POLICIES = ("auto", "fad")


def without_graph(v):
    with torch.no_grad():
        return v.t()


# Tensors that have memory of a value, through which programs write to it.
ALIASES = {
    "itself": lambda v: v,
    "a view": lambda v: v.view(-1),
    "a view of a view": lambda v: v.t().t().view(-1),
    "a slice": lambda v: v[1:],
    "a slice of a slice": lambda v: v[1:].t()[2:],
    "a slice of a view": lambda v: v.t()[:2],
    "a chunk": lambda v: v.chunk(2)[1],
    "an unsafe chunk": lambda v: torch.unsafe_chunk(v, 2)[1],
    "an unsafe view": lambda v: torch.ops.aten._unsafe_view(v, [-1]),
    "an expansion": lambda v: v[None].expand(1, SIZE, SIZE),
    "other strides": lambda v: v.as_strided((2, 2), (1, 2)),
    "another type": lambda v: v.view(torch.int32),
    "no graph": without_graph,
    "no graph, of a slice": lambda v: without_graph(v[1:]),
}


def write_uncounted(alias):
    with torch.no_grad(), torch.autograd._unsafe_preserve_version_counter(alias):
        alias.fill_(0)


# How no version tells of a write.
WRITES = {
    "data": lambda alias: alias.data.fill_(0),
    "an array": lambda alias: alias.detach().numpy().fill(0),
    "an operator": write_uncounted,
    "an array of data": lambda alias: alias.data.numpy().fill(0),
}


def go_on(v):
    """A sequence of which eager PyTorch saves the first value, and not `v`."""
    u = v * 1.5
    return u.sin() + u.cos()


# When the value `v` is written to. A sequence goes on from it, whose end comes first in the list,
# and something saves it.
ORDERS = {
    "between": lambda v, alias, write: [go_on(v).flip(0), write(alias(v)), save(v)],
    "an operator saves it": lambda v, alias, write: [
        go_on(v).flip(0),
        write(alias(v)),
        v * v,
    ],
    "before the end": lambda v, alias, write: [
        found := go_on(v),
        save(v),
        write(alias(v)),
        found.flip(0),
    ][::-1],
    "after a reader": lambda v, alias, write: [
        found := go_on(v),
        v.flip(0),
        write(alias(v)),
        save(v),
        found.flip(0),
    ][::-1],
    "an alias from before": lambda v, alias, write: [
        found := go_on(v),
        own := alias(v),
        save(v),
        write(own),
        found.flip(0),
    ][::-1],
    "an alias from before the save": lambda v, alias, write: [
        found := go_on(v),
        own := alias(v),
        found.flip(0),
        write(own),
        save(v),
    ][2:],
}


def check_slope(loss, leaf):
    (found,) = torch.autograd.grad(loss, leaf)
    torch.testing.assert_close(found, 3 * ((LEAF * 3).cos() - (LEAF * 3).sin()))


def is_written_silently(compute, nest, alias, write, order, is_outside):
    """Nothing begins at a value whose memory an alias has written to, which no version tells. Where that
    `is_outside` of nest, so is what comes after it."""
    leaf = LEAF.clone().requires_grad_()
    with contextlib.ExitStack() as stack:
        stack.enter_context(nest())

        def write_to(tensor):
            if is_outside:
                stack.close()
            write(tensor)

        v = compute(leaf.flip(0))
        loss = order(v, alias, write_to)[0].sum()
        assert not alias(v).any()
    check_slope(loss, leaf)


def main():
    torch.set_num_threads(1)
    check = Checks()
    for name, compute in VALUES.items():
        for engine, policy, alias, write, order, is_outside in itertools.product(
            ENGINES, POLICIES, ALIASES, WRITES, ORDERS, (False, True)
        ):
            is_plain = write == "data" and not is_outside
            if not is_plain and alias != "a slice" and "--every" not in sys.argv:
                continue
            nest = functools.partial(of(engine), policy=policy)
            check(
                f"{alias}, {write}, {order}{', outside' * is_outside}{name}, {engine}, {policy}",
                lambda: is_written_silently(
                    compute, nest, ALIASES[alias], WRITES[write], ORDERS[order], is_outside
                ),
            )
    check.finish()


if __name__ == "__main__":
    main()
