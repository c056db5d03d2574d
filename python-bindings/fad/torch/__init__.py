"""PyTorch models: exported, and trained through fad."""

from ._errors import ExportError
from ._export import Argument, Exported, Result, export
from ._joint import export_joint
from ._step import TrainStep, train_step
from .compile import Explanation, explain

__all__ = [
    "Argument",
    "ExportError",
    "Explanation",
    "Exported",
    "Result",
    "TrainStep",
    "explain",
    "export",
    "export_joint",
    "train_step",
]
