"""Parts of checks of losses and layers in chunks: the log, a backend of PyTorch's operators, and steps
whose losses and gradients are compared."""

import logging
import sys

import torch
from fad.torch.compile import Partitioner
from fad.torch.compile._pytorch import aot_autograd, box
from fad.torch.compile._scalars import find_decompositions

BATCH, LENGTH, WIDTH, WORDS = 4, 6, 8, 96
EVERY = "--every" in sys.argv


class Messages(logging.Handler):
    """The messages of the logger of fad's plans."""

    def __init__(self):
        super().__init__()
        self.texts = []
        logger = logging.getLogger("fad.torch.compile")
        logger.setLevel(logging.DEBUG)
        logger.propagate = False
        logger.addHandler(self)

    def emit(self, record):
        self.texts.append(record.getMessage())

    def find(self, part):
        return [text for text in self.texts if part in text]


MESSAGES = Messages()


def split(chunks, table=None):
    """Returns a backend that runs PyTorch's operators on the graphs that Inductor has, or on those of
    another table of decompositions."""
    partitioner = Partitioner(chunks=chunks)
    partitioner.is_fused = False
    table = find_decompositions() if table is None else table

    def compile_graph(graph, inputs):
        return aot_autograd(
            fw_compiler=lambda graph, _: box(graph),
            bw_compiler=lambda graph, _: box(graph),
            partition_fn=partitioner,
            decompositions=table,
            keep_inference_input_mutations=True,
        )(graph, inputs)

    return compile_graph


def make_inputs(dtype, batch=BATCH, length=LENGTH):
    torch.manual_seed(0)
    hidden = torch.randn(batch, length, WIDTH, dtype=dtype)
    weight, bias = torch.randn(WORDS, WIDTH, dtype=dtype), torch.randn(WORDS, dtype=dtype)
    target = torch.randint(0, WORDS, (batch, length))
    target[0, 1], target[-1, -2] = 3, 1
    return hidden, weight, bias, target


def run_step(function, inputs):
    """Returns the loss and the gradients, all in f64."""
    tensors = [each.detach().clone() for each in inputs]
    for each in tensors:
        each.requires_grad_(each.is_floating_point())
    torch.manual_seed(0)
    results = function(*tensors)
    results = results if isinstance(results, tuple) else (results,)
    loss = sum(
        3.0 * 0.5**n * (each * torch.linspace(0.5, 1.5, each.numel()).view(each.shape)).sum()
        for n, each in enumerate(results)
        if each.requires_grad
    )
    loss.backward()
    found = [loss, *results, *(each.grad for each in tensors)]
    return [each if each is None else each.detach().double() for each in found]


def compare(found, reference):
    errors = [0.0]
    for one, other in zip(found, reference, strict=True):
        if one is None or other is None:
            errors.append(float(one is not other))
        else:
            largest = max(other.abs().max().item(), 1e-3)
            errors.append(((one - other).abs().max() / largest).item())
    return max(errors)
