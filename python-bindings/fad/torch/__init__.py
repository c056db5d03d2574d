"""PyTorch models: exported, compiled, nested."""

from typing import TYPE_CHECKING

from ._export.errors import ExportError
from ._export.export import Argument, Exported, Result, export
from ._export.joint import export_joint
from ._later import import_later
from ._saved_memory.measure import HeldTensor, SavedMemory, saved_memory

if TYPE_CHECKING:
    from . import nn
    from ._convert import Conversion, convert
    from ._elementwise.function import elementwise
    from ._fit import Fit, fit
    from .compile import Explanation, explain
    from .eager import nest
    from .integrations import FadCallback

__all__ = [
    "Argument",
    "Conversion",
    "ExportError",
    "Explanation",
    "Exported",
    "FadCallback",
    "Fit",
    "HeldTensor",
    "Result",
    "SavedMemory",
    "convert",
    "elementwise",
    "explain",
    "export",
    "export_joint",
    "fit",
    "nest",
    "nn",
    "saved_memory",
]

# Modules that torch.compile needs take a second to import.
__getattr__, __dir__ = import_later(
    globals(),
    {
        "Conversion": "._convert",
        "Explanation": ".compile",
        "FadCallback": ".integrations",
        "Fit": "._fit",
        "convert": "._convert",
        "elementwise": "._elementwise.function",
        "explain": ".compile",
        "fit": "._fit",
        "nest": ".eager",
        "nn": ".nn",
    },
)
