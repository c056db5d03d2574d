"""Differentiation of tensor programs in MLIR, for training with less memory."""

from ._diagnostics import Diagnostic, DiagnosticWarning, Error, Location
from ._module import Executable, Module, compile, parse, parse_file, run
from ._nest import Cotangent, Gradient, Nested, Value, nest
from ._types import Signature, ValueType

__all__ = [
    "Cotangent",
    "Diagnostic",
    "DiagnosticWarning",
    "Error",
    "Executable",
    "Gradient",
    "Location",
    "Module",
    "Nested",
    "Signature",
    "Value",
    "ValueType",
    "compile",
    "nest",
    "parse",
    "parse_file",
    "run",
]
