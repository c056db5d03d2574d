"""Tensors that nested sequences hold for backward, which PyTorch shows of its own nodes only."""

from typing import Any

from .._pytorch import find_node_address, unpack_saved
from .._requirements import torch


def is_sequence(node: Any) -> bool:
    """Tells whether a node of autograd is that of a nested sequence. The extension is loaded,
    then."""
    return type(node).__name__ == "CppFunction" and node.name() == "FadBackward"


def read_sequence(node: Any) -> tuple[list[tuple[str, torch.Tensor]], list[Any]]:
    """Returns the tensors that the node of a sequence holds, by names: "source", "constant",
    "derivative" or "bits"; and the nodes of PyTorch's that it keeps, with what they have saved."""
    held, nodes = [], []
    for name, tensor in zip(*torch.ops.fad._held(find_node_address(node))):
        if name == "own":
            nodes.append(tensor.grad_fn)
        else:
            held.append((name, tensor))
    return held, nodes


def read_recomputed(node: Any, name: str) -> list[torch.Tensor]:
    """Sources of `name` in a reader's node, in place of the tensor it would have saved; nothing
    where it is not a nested sequence that has replaced that."""
    if not hasattr(torch.ops.fad, "_peek"):
        return []
    try:
        torch.ops.fad._peek(True)
        unpack_saved(node, name)
    except RuntimeError:
        pass
    finally:
        found = torch.ops.fad._peek(False)
    return found
