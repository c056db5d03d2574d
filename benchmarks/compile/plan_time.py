#!/usr/bin/env python3
"""Time that fad and PyTorch take to choose what forward saves for backward.

The graphs are joint graphs of encoders like BERT, with dropout, as Inductor's
partitioners get them; the tensors have no data. Prints, for each number of layers,
the nodes of the graph, the CPU time of fad's choice (from the graph to the nodes to
save: import, selection, application), that of the whole partition by fad and of the
one by PyTorch's minimum cut, and the ratio of the last two. With --compile, also the
CPU time in which Inductor alone traces, splits and compiles such a model for a step, without
caches, its C++ compiler included, and the part of it that fad's choice takes.

Usage: plan_time.py [--layers N...] [--policy NAME] [--repetitions N] [--compile]
"""

import argparse
import contextlib
import gc
import os
import statistics
import time
import warnings

import torch
import torch.nn.functional as F
from torch import fx, nn
from torch._functorch import config as functorch_config
from torch._functorch import partitioners
from torch._functorch.aot_autograd import aot_module_simplified, make_boxed_func
from torch._guards import TracingContext, tracing
from torch._inductor import config as inductor_config
from torch._inductor import utils as inductor_utils
from torch._inductor.decomposition import select_decomp_table
from torch._inductor.fx_passes.joint_graph import joint_graph_passes
from torch._inductor.virtualized import V
from torch._subclasses.fake_tensor import FakeTensorMode

from fad.torch.compile import Partitioner
from fad.torch.compile._partitioner import copy_graph

WIDTH, HEADS, TOKENS, BATCH = 128, 4, 64, 2


class Layer(nn.Module):
    """Attention and a pair of dense layers, each with dropout, a residual
    connection and a normalization."""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.attended = (
            nn.Linear(WIDTH, WIDTH) for _ in range(4)
        )
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))

    def forward(self, x, mask):
        q, k, v = (
            project(x).view(BATCH, TOKENS, HEADS, -1).transpose(1, 2)
            for project in (self.query, self.key, self.value)
        )
        scores = q @ k.transpose(-1, -2) / (WIDTH // HEADS) ** 0.5 + mask
        read = F.dropout(torch.softmax(scores, -1), 0.1) @ v
        read = self.attended(read.transpose(1, 2).reshape(BATCH, TOKENS, WIDTH))
        x = self.norms[0](x + F.dropout(read, 0.1))
        dense = self.down(F.gelu(self.up(x)))
        return self.norms[1](x + F.dropout(dense, 0.1))


class Encoder(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.words = nn.Embedding(1000, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(layers))
        self.head = nn.Linear(WIDTH, 1000)

    def forward(self, tokens, mask):
        x = F.dropout(self.words(tokens), 0.1)
        for layer in self.layers:
            x = layer(x, mask)
        return (F.cross_entropy(self.head(x).flatten(0, 1), tokens.flatten()),)


class Traced(Exception):
    """Ends the compilation of a graph that has been traced."""


def trace(layers, visit):
    """Calls `visit` with the joint graph of an encoder, its inputs, and the number of
    its forward outputs, and returns the result."""
    results = []

    def partition(gm, joint_inputs, *, num_fwd_outputs, **options):
        joint_graph_passes(gm)
        results.append(visit(gm, joint_inputs, num_fwd_outputs))
        raise Traced

    mode = FakeTensorMode()
    with mode:
        model = Encoder(layers)
        tokens = torch.zeros(BATCH, TOKENS, dtype=torch.int64)
        mask = torch.zeros(BATCH, 1, 1, TOKENS)
    stop = contextlib.suppress(Traced)
    with tracing(TracingContext(mode)), V.set_fake_mode(mode), stop:
        aot_module_simplified(
            model,
            (tokens, mask),
            fw_compiler=make_boxed_func,
            partition_fn=partition,
            decompositions=select_decomp_table(),
        )
    return results[0]


class Timed(Partitioner):
    """Adds up the time of its choices."""

    seconds = 0.0

    def _choose(self, *arguments):
        start = time.process_time()
        saved = super()._choose(*arguments)
        self.seconds += time.process_time() - start
        return saved


def cpu_seconds():
    """Returns the CPU time of this process and of those that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def compile_step(layers):
    """Returns the CPU time in which Inductor compiles an encoder, and runs a step of it."""
    torch._dynamo.reset()
    model = Encoder(layers)
    tokens = torch.zeros(BATCH, TOKENS, dtype=torch.int64)
    mask = torch.zeros(BATCH, 1, 1, TOKENS)
    without_caches = (
        functorch_config.patch(enable_autograd_cache=False),
        inductor_config.patch(fx_graph_cache=False, compile_threads=1),
        inductor_utils.fresh_inductor_cache(),
    )
    with contextlib.ExitStack() as stack:
        for context in without_caches:
            stack.enter_context(context)
        start = cpu_seconds()
        torch.compile(model, fullgraph=True)(tokens, mask)[0].backward()
        return cpu_seconds() - start


def compare(layers, policy, repetitions):
    """Returns the nodes of the joint graph of an encoder, and the seconds of the choice by fad, of
    the partition by fad, and of the one by PyTorch."""

    def run(gm, inputs, outputs, partition):
        copy = fx.GraphModule(gm, copy_graph(gm.graph))
        gc.collect()
        start = time.process_time()
        partition(copy, inputs, num_fwd_outputs=outputs)
        return time.process_time() - start

    def visit(gm, inputs, outputs):
        rows = []
        for _ in range(repetitions):
            fad = Timed(policy)
            whole = run(gm, inputs, outputs, fad)
            stock = partitioners.min_cut_rematerialization_partition
            rows.append((fad.seconds, whole, run(gm, inputs, outputs, stock)))
        return len(gm.graph.nodes), *map(statistics.median, zip(*rows))

    # Where fad leaves the graph to PyTorch, there is no time of fad.
    warnings.simplefilter("error", RuntimeWarning)
    return trace(layers, visit)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, nargs="+", default=[1, 4, 14])
    parser.add_argument("--policy", default="auto")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--compile", action="store_true")
    options = parser.parse_args()

    print(f"torch {torch.__version__}; medians of {options.repetitions} repetitions")
    print(
        f"{'layers':>6} {'nodes':>7} {'choice s':>9} {'partition s':>12} "
        f"{'PyTorch s':>10} {'ratio':>6}" + f" {'compile s':>10} {'choice':>7}" * options.compile
    )
    for layers in options.layers:
        nodes, choice, whole, stock = compare(layers, options.policy, options.repetitions)
        row = f"{layers:>6} {nodes:>7} {choice:>9.3f} {whole:>12.3f} {stock:>10.3f}"
        row += f" {whole / stock:>6.2f}"
        if options.compile:
            seconds = compile_step(layers)
            row += f" {seconds:>10.1f} {choice / seconds:>7.1%}"
        print(row, flush=True)


if __name__ == "__main__":
    main()
