"""PyTorch models: exported, compiled, nested."""

import importlib
from typing import TYPE_CHECKING, Any

from .._choices import suggest
from ._export.errors import ExportError
from ._export.export import Argument, Exported, Result, export
from ._export.joint import export_joint
from ._saved_memory.measure import HeldTensor, SavedMemory, saved_memory

if TYPE_CHECKING:
    from . import nn
    from ._convert import Conversion, convert
    from ._elementwise.function import elementwise
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
    "HeldTensor",
    "Result",
    "SavedMemory",
    "convert",
    "elementwise",
    "explain",
    "export",
    "export_joint",
    "nest",
    "nn",
    "saved_memory",
]


# Where names come from that are imported when they are needed: what torch.compile needs
# takes a second.
_LATER = {
    "Conversion": "._convert",
    "Explanation": ".compile",
    "FadCallback": ".integrations",
    "convert": "._convert",
    "elementwise": "._elementwise.function",
    "explain": ".compile",
    "nest": ".eager",
}


def __getattr__(name: str) -> Any:
    if name == "nn":
        return importlib.import_module(".nn", __name__)
    if name in _LATER:
        return getattr(importlib.import_module(_LATER[name], __name__), name)
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}{suggest(name, __all__)}",
        name=name,
    )


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
