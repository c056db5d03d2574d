"""A training step of a model by eager PyTorch."""

import contextlib
from typing import Dict, NamedTuple, Sequence

from .program import CallPattern
from .._pytorch import get_buffers
from .._requirements import torch


class Step(NamedTuple):
    """The results of a step: the loss, and by their names the gradients of the
    parameters and the new values of the buffers."""

    loss: "torch.Tensor"
    gradients: Dict[str, "torch.Tensor"]
    buffers: Dict[str, "torch.Tensor"]


@contextlib.contextmanager
def _undisturbed(model):
    """Gives the buffers of `model` and the generators of random numbers back what
    they had."""
    devices = range(torch.cuda.device_count())
    saved = [
        (get_buffers(module), name, each, each.clone())
        for module in model.modules()
        for name, each in get_buffers(module).items()
        if each is not None
    ]
    with torch.random.fork_rng(devices=devices):
        try:
            yield
        finally:
            with torch.no_grad():
                for buffers, name, each, value in saved:
                    buffers[name] = each
                    # Some cannot be written to.
                    if not torch.equal(each, value):
                        each.copy_(value)


def run_eagerly(model, pattern: CallPattern, tensors: Sequence) -> Step:
    """Returns a step of `model` by PyTorch, which leaves the model as it is."""
    parameters = {name: each for name, each in model.named_parameters() if each.requires_grad}
    with _undisturbed(model), torch.enable_grad():
        loss = pattern.compute_loss(model, tensors)
        gradients = torch.autograd.grad(loss, list(parameters.values()), allow_unused=True)
        buffers = {name: each.clone() for name, each in model.named_buffers()}
    found = dict(zip(parameters, gradients))
    return Step(
        loss.detach(),
        # That of a table may be sparse.
        {name: each.to_dense() for name, each in found.items() if each is not None},
        buffers,
    )
