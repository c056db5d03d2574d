"""Tensors that the nodes of an autograd graph hold.

Each saved tensor of a node is read as it lies there (`SavedTensor.data`), without being
unpacked. Unpacking raises where the tensor was changed in place, calls hooks, and makes a
checkpoint compute again. Hooks of `torch.autograd.graph.saved_tensors_hooks` would
see each tensor as it is saved, but they change what is measured: they turn off PyTorch's
check of versions, and a node whose result they hold never dies."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .nested import is_sequence, read_recomputed, read_sequence
from .._pytorch import find_saved, get_coordinates, get_sequence_number, tree_leaves
from .._requirements import torch

# A sequence number that stands for none, which nodes of leaves have.
_NO_NUMBER = 2**64 - 1


@dataclass(frozen=True)
class Held:
    """A tensor that `node` holds by `name`."""

    node: Any
    name: str
    tensor: torch.Tensor


@dataclass(frozen=True)
class Graph:
    """Tensors of a function's graph: `held`, in the order of forward; the leaves that
    get a gradient; and the names of nodes that hold what Python cannot see."""

    held: list[Held]
    leaves: list[torch.Tensor]
    unseen: list[str]


def walk_graph(results: Iterable[torch.Tensor], stop: Iterable[torch.Tensor]) -> Graph:
    """Returns the tensors that the graph from `results` down to the tensors `stop` holds."""
    seen = {each.grad_fn for each in stop if each.grad_fn is not None}
    worklist = [each.grad_fn for each in results if each.grad_fn is not None]
    nodes, leaves = [], {}
    while worklist:
        node = worklist.pop()
        if node in seen:
            continue
        seen.add(node)
        variable = getattr(node, "variable", None)
        if isinstance(variable, torch.Tensor):
            leaves[id(variable)] = variable
        else:
            nodes.append(node)
        worklist += [each for each, _ in node.next_functions if each is not None]
    nodes.sort(key=lambda node: get_sequence_number(node) % _NO_NUMBER)
    unseen = {node.name() for node in nodes if _is_opaque(node)}
    held = [Held(node, *each) for node in nodes for each in _read(node, unseen)]
    return Graph(held, list(leaves.values()), sorted(unseen))


def _read(node: Any, unseen: set[str]) -> Iterator[tuple[str, torch.Tensor]]:
    """Yields the tensors that `node` holds, by name. Names of tensors that hooks of C++ other
    than those of nested sequences have replaced go to `unseen`."""
    if is_sequence(node):
        held, own = read_sequence(node)
        yield from held
        for other in own:
            for name, tensor in _read(other, unseen):
                yield f"{other.name()}.{name}", tensor
        return
    for name, saved in find_saved(node):
        for each in saved:
            try:
                data = each.data
            except RuntimeError:
                found = read_recomputed(node, name)
                yield from ((name, tensor) for tensor in found)
                if not found:
                    unseen.add(f"{node.name()}.{name}")
            else:
                yield from _name(name, data)
    # Tensors that a function in Python keeps by itself.
    for attribute, value in getattr(node, "__dict__", {}).items():
        yield from _name(attribute, value)


def _name(name: str, value: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """Yields the tensors of `value`: hooks may have packed one into something else."""
    for leaf in tree_leaves(value):
        if isinstance(leaf, torch.Tensor):
            yield name, leaf


def _is_opaque(node: Any) -> bool:
    """Tells whether `node` is one of C++ that neither PyTorch nor fad can read, or one that
    replaces another node, which has changed a part of a tensor in place."""
    return type(node).__name__ in ("CppFunction", "CopySlices") and not is_sequence(node)


def find_storages(tensor: torch.Tensor) -> list[torch.UntypedStorage]:
    """Returns the storages that `tensor` keeps alive."""
    if hasattr(tensor, "__tensor_flatten__"):
        names, _ = tensor.__tensor_flatten__()
        inner = [getattr(tensor, name) for name in names]
    elif tensor.layout is torch.strided:
        return [tensor.untyped_storage()]
    elif tensor.layout is torch.sparse_coo:
        inner = get_coordinates(tensor)
    elif tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        inner = [tensor.crow_indices(), tensor.col_indices(), tensor.values()]
    elif tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
        inner = [tensor.ccol_indices(), tensor.row_indices(), tensor.values()]
    else:
        # PyTorch's library for layouts of its own: no storage, and no size known.
        return []
    return [storage for part in inner for storage in find_storages(part)]
