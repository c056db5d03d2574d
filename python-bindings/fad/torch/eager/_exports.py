"""Exports of tensors' memory to other libraries, which may write there unseen.

`numpy()` asks PyTorch for an alias, which the extension sees. DLPack takes the memory
without an operator; sequences that read it are computed before. Its table of C functions
takes it without Python, too: the class of tensors has none any more, and libraries that
look for one go on with `__dlpack__`."""

import functools
from collections.abc import Callable
from typing import Any

from .._requirements import torch
from . import _state

_TABLE = "__dlpack_c_exchange_api__"


def _compute_before(export: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(export)
    def wrapped(tensor: Any, *arguments: Any, **keywords: Any) -> Any:
        if isinstance(tensor, torch.Tensor):
            _state.compute_readers(tensor)
        return export(tensor, *arguments, **keywords)

    return wrapped


def watch() -> None:
    """Once in a process. `Tensor.__dlpack__` calls these functions by their names."""
    places = [
        (torch._C, "_to_dlpack"),
        (torch._C, "_to_dlpack_versioned"),
        (torch, "to_dlpack"),
        (torch.utils.dlpack, "to_dlpack"),
    ]
    for place, name in places:
        setattr(place, name, _compute_before(getattr(place, name)))
    if _TABLE in vars(torch.Tensor):
        delattr(torch.Tensor, _TABLE)
