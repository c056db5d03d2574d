"""Chunks of rows of which there are others in each step, compiled by Inductor: labels are an input of their
own, whose size is a symbol until a guard says that it is that of the rows. Gradients against eager
PyTorch's in f64.

usage: check_chunk_sizes.py [--every]

Without --every, there is one loss alone."""

import copy
import itertools
import warnings

import torch
import torch.nn.functional as F
from torch import nn

import fad.torch.compile
from chunk_steps import EVERY, MESSAGES, compare

WIDTH, WORDS, CHUNKS = 16, 512, 4


class Rows(nn.Module):
    """A loss of rows by labels."""

    def __init__(self):
        super().__init__()
        self.inner, self.head = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WORDS)

    def forward(self, hidden, target):
        return F.cross_entropy(self.head(torch.relu(self.inner(hidden))), target)

    def make_inputs(self, rows):
        return torch.randn(rows, WIDTH), torch.randint(WORDS, (rows,))


class Language(nn.Module):
    """A loss of batches of words, by the words after them."""

    def __init__(self):
        super().__init__()
        self.words, self.head = nn.Embedding(WORDS, WIDTH), nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, words, target):
        logits = self.head(torch.tanh(self.words(words)))
        return F.cross_entropy(logits.flatten(0, 1), target.flatten())

    def make_inputs(self, rows):
        return [torch.randint(WORDS, (rows // 8, 8)) for _ in range(2)]


class Wide(nn.Module):
    """A wide layer, and a loss by a number for each row."""

    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(WIDTH, WORDS), nn.Linear(WORDS, WIDTH)

    def forward(self, hidden, target):
        rows = hidden + self.down(F.silu(self.up(hidden)))
        return (rows - rows.mean(0)).square().mean(1).sub(target).square().mean()

    def make_inputs(self, rows):
        return torch.randn(rows, WIDTH), torch.randn(rows)


def run(model, function, inputs):
    model.zero_grad()
    function(*inputs).backward()
    return [each.grad.double() for each in model.parameters()]


def check(make, how):
    """Prints whether steps of several sizes are right, of how many graphs."""
    torch._dynamo.reset()
    MESSAGES.texts.clear()
    torch.manual_seed(0)
    model = make()
    exact = copy.deepcopy(model).double()
    options = {"fad.chunks": CHUNKS}
    dynamic = True if how == "dynamic=True" else None
    compiled = torch.compile(model, backend="fad", options=options, dynamic=dynamic)
    right = True
    for rows in (64, 48, 56, 88):
        inputs = model.make_inputs(rows)
        if how == "mark_dynamic":
            for each in inputs:
                torch._dynamo.mark_dynamic(each, 0)
        wide = [each.double() if each.is_floating_point() else each for each in inputs]
        reference = run(exact, exact, wide)
        found, own = (compare(run(model, each, inputs), reference) for each in (compiled, model))
        right &= found < max(1e-6, 4 * own)
    graphs = len(MESSAGES.find("is computed in"))
    print(f"{make.__name__}, {how}: {graphs} graphs in chunks, right: {right}")


if __name__ == "__main__":
    assert fad.torch.compile
    # No program falls back.
    warnings.filterwarnings("error", "fad leaves this graph")
    # Graphs are counted as they are split.
    torch._functorch.config.enable_autograd_cache = False
    ways = "a second size", "mark_dynamic", "dynamic=True"
    cases = list(itertools.product((Rows, Language, Wide), ways))
    for case in cases if EVERY else cases[:1]:
        check(*case)
