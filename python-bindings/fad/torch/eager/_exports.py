"""Exports of tensors' memory to other libraries, which may write there unseen.

`numpy()` asks PyTorch for an alias, which the extension sees. DLPack takes the memory
without an operator; sequences that read it are computed before."""

import functools
from collections.abc import Callable
from typing import Any

from .._requirements import torch
from . import _state
from ._pytorch import replace_exports


def _compute_before(export: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(export)
    def wrapped(tensor: Any, *arguments: Any, **keywords: Any) -> Any:
        if isinstance(tensor, torch.Tensor):
            _state.compute_readers(tensor)
        return export(tensor, *arguments, **keywords)

    return wrapped


def watch() -> None:
    """Once in a process."""
    replace_exports(_compute_before)
