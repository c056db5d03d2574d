"""fad in trainers: callbacks that compile a model in place by the backend `fad`.

`FadCallback` is for transformers' Trainer and TRL's, `LightningCallback` for Lightning.
Each trainer is imported with its name here, and not before."""

import importlib
from typing import TYPE_CHECKING, Any

from ..._choices import suggest

if TYPE_CHECKING:
    from ._lightning import LightningCallback
    from ._step import StepReport
    from ._torchtitan import register_memory_policy
    from ._transformers import FadCallback

__all__ = ["FadCallback", "LightningCallback", "StepReport", "register_memory_policy"]

_LATER = {
    "FadCallback": "._transformers",
    "LightningCallback": "._lightning",
    "StepReport": "._step",
    "register_memory_policy": "._torchtitan",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(importlib.import_module(_LATER[name], __name__), name)
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}{suggest(name, __all__)}",
        name=name,
    )


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
