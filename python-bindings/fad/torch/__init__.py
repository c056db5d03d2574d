"""PyTorch models: exported, and trained through fad."""

from typing import TYPE_CHECKING, Any

from ._errors import ExportError
from ._export import Argument, Exported, Result, export
from ._joint import export_joint
from ._saved_memory import HeldTensor, SavedMemory, saved_memory
from ._step import TrainStep, train_step

if TYPE_CHECKING:
    from .compile import Explanation, explain
    from .eager import nest

__all__ = [
    "Argument",
    "ExportError",
    "Explanation",
    "Exported",
    "HeldTensor",
    "Result",
    "SavedMemory",
    "TrainStep",
    "explain",
    "export",
    "export_joint",
    "nest",
    "saved_memory",
    "train_step",
]


def __getattr__(name: str) -> Any:
    # Importing what torch.compile needs takes a second.
    if name in ("Explanation", "explain"):
        from . import compile

        return getattr(compile, name)
    if name == "nest":
        from .eager import nest

        return nest
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
