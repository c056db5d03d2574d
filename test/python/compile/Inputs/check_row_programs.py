"""Programs of rows in chunks, against the same without chunks in f64: random ones, ones with each
operator that has a rule, and parts of operations with several results.

usage: check_row_programs.py [--every]

Without --every, there are two random programs, and none under Inductor."""

import warnings
from unittest import mock

import torch
import torch.nn.functional as F

from check_chunks import run_lengths
from chunk_steps import EVERY, compare, run_step, split
from fad.torch.compile._chunks.axes import GRADIENTS
from fad.torch.compile._chunks.loop import _Body
from fad.torch.compile._pytorch import get_packet
from random_rows import RowProgram, make_rows

aten = torch.ops.aten


def check_random(seeds, engine=""):
    """Random programs of rows, in chunks or not, of sizes that are symbols or not, under an engine of
    fad's, or as a backend of PyTorch's operators runs them."""
    failed, chunked = [], 0
    for seed in seeds:
        program, number = RowProgram(seed), 2 + seed % 3
        is_dynamic = seed % 2 == 1
        options = {"fad.chunks": number, "fad.engine": engine} if engine else None
        compiled = torch.compile(
            program.__call__,
            backend="fad" if engine else split(number),
            options=options,
            dynamic=is_dynamic,
        )
        lengths = ((3, 5 + seed % 4), (4, 7))[: 1 + is_dynamic]
        error, found = run_lengths(compiled, program, make_rows, lengths)
        limit = 1e-5 if program.rounds else 1e-10
        if error > limit:
            failed.append(seed)
        chunked += bool(found)
    half = chunked >= len(seeds) / 2
    print(
        f"random programs{engine and f' of {engine}'}: {failed} failed; at least half in chunks: {half}"
    )


def check_rules():
    """Operators that Inductor decomposes, or that random programs may miss."""
    programs = (
        (None, "mean", ("parts", "select")),
        ({}, "mean", ("halves", "kinks", "gate", "tanh", "silu")),
        ({}, "layer", ("parts", "select", "norm", "biased norm", "mish")),
    )
    norms = aten.native_layer_norm, aten.native_layer_norm_backward
    missing = {*GRADIENTS, *norms, aten.select, aten.select_backward, aten.select_scatter}
    missing |= {aten.slice_backward, aten.split, aten.split_with_sizes}
    write = _Body.copy

    def record(body, node):
        if node in body.region.nodes:
            missing.discard(get_packet(node))
        return write(body, node)

    with mock.patch.object(_Body, "copy", record):
        for table, end, steps in programs:
            program = RowProgram(0, steps)
            program.ends = [end]
            compiled = torch.compile(
                program.__call__, backend=split(3, table), dynamic=end == "layer"
            )
            error, chunked = run_lengths(compiled, program, make_rows, ((3, 6), (4, 7)))
            print(*steps, f"are right: {error < 1e-10}, in chunks: {chunked > 0}")
    print("rules that did not run:", *missing)


def check_parts():
    """Parts of one operation that others read, and a part that is larger than the first."""

    def split_within(hidden, wide, narrow, others):
        value = F.linear(hidden, wide).tanh()
        first, second = F.linear(value, narrow).split((1, 3), -1)
        return hidden + (first * value).sin() @ wide, second.sin()

    def find_places(hidden, wide, narrow, others):
        value = F.linear(hidden, wide).tanh()
        largest, places = F.linear(value, narrow).max(-1, keepdim=True)
        return hidden + (largest * value).sin() @ wide, places

    def split_input(hidden, wide, narrow, others):
        _, second = others.detach().split((6, 24), -1)
        return hidden + (F.linear(hidden, wide) * second).tanh() @ wide

    torch.manual_seed(0)
    shapes = (18, 4), (24, 4), (4, 24), (18, 30)
    inputs = [torch.randn(shape, dtype=torch.float64) / 2 for shape in shapes]
    for function in split_within, find_places, split_input:
        torch._dynamo.reset()
        found = run_step(torch.compile(function, backend=split(3)), inputs)
        print(f"{function.__name__} is right:", compare(found, run_step(function, inputs)) < 1e-12)


if __name__ == "__main__":
    # No program falls back.
    warnings.filterwarnings("error", "fad leaves this graph")
    check_random(range(40 if EVERY else 2))
    if EVERY:
        # Others than those of the operators.
        check_random(range(40, 46), "inductor")
    check_rules()
    check_parts()
