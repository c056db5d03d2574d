"""Compiled by IREE: forward and backward functions that run at speed."""

from ._compile import CompileError, compile, translate
from ._executable import Executable, Forward, Timing

__all__ = [
    "CompileError",
    "Executable",
    "Forward",
    "Timing",
    "compile",
    "translate",
]
