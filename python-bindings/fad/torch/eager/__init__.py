"""Nested forward differentiation of eager PyTorch: `fad.torch.nest`."""

from ._extension import ExtensionError, build
from ._nest import nest
from ._report import LeftOperator, NestReport, Sequence, report
from ._trace import trace

__all__ = [
    "ExtensionError",
    "LeftOperator",
    "NestReport",
    "Sequence",
    "build",
    "nest",
    "report",
    "trace",
]
