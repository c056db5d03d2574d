"""fad in trainers: callbacks that compile a model in place by the backend `fad`.

`FadCallback` is for transformers' Trainer and TRL's, `LightningCallback` for Lightning.
Each trainer is imported with its name here, and not before."""

from typing import TYPE_CHECKING

from .._later import import_later

if TYPE_CHECKING:
    from ._lightning import LightningCallback
    from ._step import StepReport
    from ._torchtitan import register_memory_policy
    from ._transformers import FadCallback

__all__ = ["FadCallback", "LightningCallback", "StepReport", "register_memory_policy"]

__getattr__, __dir__ = import_later(
    globals(),
    {
        "FadCallback": "._transformers",
        "LightningCallback": "._lightning",
        "StepReport": "._step",
        "register_memory_policy": "._torchtitan",
    },
)
