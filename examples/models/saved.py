"""Bytes that PyTorch keeps between forward and backward."""

import contextlib
from collections.abc import Mapping

import torch


def call(module, inputs):
    """Returns the loss that `module` returns for `inputs`, by name or in order."""
    by_name = isinstance(inputs, Mapping)
    output = module(**inputs) if by_name else module(*inputs)
    return getattr(output, "loss", output)


def storage(tensor):
    """Returns a key that is the same for all views of one piece of memory, also where there is
    none, as under FakeTensorMode."""
    return tensor.untyped_storage()._cdata


@contextlib.contextmanager
def count_saved(module, inputs):
    """Yields the sizes in bytes of the tensors that autograd saves meanwhile: every storage
    once; parameters, buffers and inputs, which are alive anyway, left out."""
    tensors = (*module.parameters(), *module.buffers(), *inputs.values())
    alive = {storage(tensor) for tensor in tensors}
    sizes = {}
    # A storage that is freed could come back as another one.
    kept = []

    def pack(tensor):
        kept.append(tensor)
        if storage(tensor) not in alive:
            sizes[storage(tensor)] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        yield sizes


def eager_bytes(module, inputs):
    """Returns the bytes that autograd saves in a call of `module` on `inputs`."""
    with count_saved(module, inputs) as sizes:
        call(module, inputs)
    return sum(sizes.values())
