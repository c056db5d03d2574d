"""Residuals for `torch.compile`: the backend `fad`, and fad as Inductor's partitioner."""

from torch._dynamo import list_backends, register_backend

from ._backend import backend
from ._explain import explain
from ._explanation import Explanation
from ._partitioner import Partitioner

__all__ = ["Explanation", "Partitioner", "backend", "explain"]

# An installed package has an entry point for it.
if "fad" not in list_backends(exclude_tags=()):
    register_backend(backend, name="fad")
