"""PyTorch models: exported, and trained through fad."""

from ._export import Argument, Exported, ExportError, Result, export

__all__ = ["Argument", "ExportError", "Exported", "Result", "export"]
