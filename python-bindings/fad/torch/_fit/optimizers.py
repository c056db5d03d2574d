"""Optimizers by name, as training programs make them."""

import functools
from collections.abc import Callable
from typing import Any

from ..._choices import check_choice
from .._requirements import torch

_NAMES: dict[str, Callable] = {
    "sgd": torch.optim.SGD,
    "momentum": functools.partial(torch.optim.SGD, momentum=0.9),
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
}
NAMES = ("none", *_NAMES)


def find_optimizer(optimizer: Any, device: str) -> tuple[str, Callable | None]:
    """Returns the name of `optimizer`, and the function that makes one of parameters; None for
    "none". It is a name of `NAMES`, or such a function."""
    if isinstance(optimizer, torch.optim.Optimizer):
        kind = type(optimizer).__name__
        raise TypeError(
            f"optimizer is an {kind} of parameters; give a name, or a function that makes one, such "
            f"as lambda parameters: torch.optim.{kind}(parameters, lr=1e-3)"
        )
    if callable(optimizer):
        made = getattr(optimizer, "func", optimizer)
        name = getattr(made, "__name__", type(made).__name__)
        return name, functools.partial(_make, optimizer, device)
    name = check_choice("optimizer is", optimizer, NAMES)
    if name == "none":
        return name, None
    return name, functools.partial(_make, _NAMES[name], device)


def _make(make: Callable, device: str, parameters: list[torch.nn.Parameter]) -> Any:
    """Returns the optimizer that `make` makes of `parameters`, as on the `device`: on a GPU, PyTorch
    updates all at once, unless it is told otherwise."""
    optimizer = make(parameters)
    for group in optimizer.param_groups:
        if "foreach" in group and group["foreach"] is None and not group.get("fused"):
            group["foreach"] = device != "cpu"
    return optimizer
