"""Residuals for `torch.compile`."""

from ._backend import backend
from ._partitioner import Partitioner

__all__ = ["Partitioner", "backend"]
