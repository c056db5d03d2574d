"""Tensors that nested sequences hold for backward, which PyTorch shows of its own nodes only."""

import ctypes
from typing import Any

from .._requirements import torch


def is_sequence(node: Any) -> bool:
    """Whether a node of autograd is that of a nested sequence. The extension is loaded, then."""
    return type(node).__name__ == "CppFunction" and node.name() == "FadBackward"


def read_sequence(node: Any) -> tuple[list[tuple[str, torch.Tensor]], list[Any]]:
    """Tensors that the node of a sequence holds, by names: "source", "constant", "derivative" or
    "bits"; and the nodes of PyTorch's that it keeps, with what they have saved."""
    # The object of a node of C++ is a head and a pointer to the node.
    address = ctypes.c_void_p.from_address(id(node) + object.__basicsize__).value
    held, nodes = [], []
    for name, tensor in zip(*torch.ops.fad._held(address)):
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
        getattr(node, f"_saved_{name}", None)
    except RuntimeError:
        pass
    finally:
        found = torch.ops.fad._peek(False)
    return found
