"""PyTorch models: exported, and trained through fad."""

from ._export import Argument, Exported, ExportError, Result, export
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
