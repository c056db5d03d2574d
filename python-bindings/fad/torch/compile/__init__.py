"""Residuals for `torch.compile`: the backend `fad`, and fad as Inductor's partitioner.

A joint graph of AOTAutograd passes through these modules:

- graph: `_graph` says what its nodes do, `_sizes` estimates their sizes and times, and `_import`
  makes of it a function for fad's selection;
- plan: `_partitioner` has the options and the budget, and asks for the plan; `_peak` is the
  memory of a step; `_log` records plans, and warns of budgets, once for a model;
- apply: `_apply` puts the plan into the graph, with new nodes of `_build`;
- inductor: `_backend` compiles both parts, with the decompositions of `_scalars` and the
  choices of `_inductor`;
- explain: `_explain` compares partitioners and measures steps, `_step_memory` has the tensors and
  the memory of one partition, and `_report` the figures, with their text and pictures.

`_scalars` has the operators that PyTorch and MLIR share, and `_pytorch` all that is used of
PyTorch's own internals."""

from torch.compiler import list_backends

from .._releases import explain_missing

try:
    from ._backend import backend
    from ._explain import Explanation, explain
    from ._partitioner import Partitioner
    from ._pytorch import register_backend
except ImportError as error:
    raise explain_missing(error) from error

__all__ = ["Explanation", "Partitioner", "backend", "explain"]

# An installed package has an entry point for it.
if "fad" not in list_backends(exclude_tags=()):
    register_backend(backend, name="fad")
