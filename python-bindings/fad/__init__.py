"""Differentiation of tensor programs in MLIR that saves memory in training.

>>> module = fad.parse_file("layer.mlir")
>>> nested = fad.nest(module)
>>> loss, pullback = nested(x, w)
>>> gradients = pullback(numpy.float32(1))
"""

from typing import Any

from ._choices import Contractions, Optimizer, Policy, Recompute, Target, suggest
from ._arrays import to_dlpack
from ._diagnostics import Diagnostic, DiagnosticWarning, Error, Location
from ._elementwise.function import Elementwise, elementwise
from ._elementwise.symbols import erf
from ._executable import Executable
from ._fad import version as __version__
from ._memory import (
    CurvePoint,
    Footprint,
    KeptValue,
    MemoryReport,
    OtherValue,
    PolicyReport,
    RecomputedOperation,
    TimeMemoryCurve,
)
from ._module import Module, parse, parse_file
from ._nest import Cotangent, Gradient, Nested, Pullback, Residual, Value, nest
from ._report import draw_residuals, memory_report, time_memory_curve
from ._run import compile, release_memory, run
from ._types import Signature, ValueType

__all__ = [
    "Contractions",
    "Cotangent",
    "CurvePoint",
    "Diagnostic",
    "DiagnosticWarning",
    "Elementwise",
    "Error",
    "Executable",
    "Footprint",
    "Gradient",
    "KeptValue",
    "Location",
    "MemoryReport",
    "Module",
    "Nested",
    "Optimizer",
    "OtherValue",
    "Policy",
    "PolicyReport",
    "Pullback",
    "Recompute",
    "RecomputedOperation",
    "Residual",
    "Signature",
    "Target",
    "TimeMemoryCurve",
    "Value",
    "ValueType",
    "__version__",
    "compile",
    "draw_residuals",
    "elementwise",
    "erf",
    "memory_report",
    "nest",
    "parse",
    "parse_file",
    "release_memory",
    "run",
    "time_memory_curve",
    "to_dlpack",
]


def __getattr__(name: str) -> Any:
    if name in ("iree", "plot", "torch"):
        hint = f" before it is imported; write: import fad.{name}"
    else:
        hint = suggest(name, __all__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}", name=name)
