"""PyTorch models: exported, and trained through fad."""

from ._errors import ExportError
from ._export import Argument, Exported, Result, export
from ._joint import export_joint
from ._step import TrainStep, train_step

__all__ = [
    "Argument",
    "ExportError",
    "Exported",
    "Result",
    "TrainStep",
    "export",
    "export_joint",
    "train_step",
]
