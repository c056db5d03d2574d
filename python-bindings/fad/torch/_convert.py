"""Activations of a model, replaced by those of fad."""

import copy
import sys
from dataclasses import dataclass

from torch import nn

from ._elementwise.function import check_keep
from ._pytorch import get_parts, has_hooks
from ._text import align
from .nn import ACTIVATIONS, ElementwiseModule, _Activation

# Activations of transformers without parameters, of its module `activations`.
_OF_TRANSFORMERS = (
    "AccurateGELUActivation",
    "ClippedGELUActivation",
    "FastGELUActivation",
    "GELUActivation",
    "GELUTanh",
    "LaplaceActivation",
    "MishActivation",
    "NewGELUActivation",
    "PytorchGELUTanh",
    "QuickGELUActivation",
    "ReLUSquaredActivation",
    "SiLUActivation",
)


@dataclass(frozen=True)
class Replacement:
    """The module `name` of a model, of the class `before` and now of `after`; or where
    `reason` says why not, of `before` still."""

    name: str
    before: str
    after: str
    reason: str = ""


@dataclass(frozen=True)
class Conversion:
    """The result of `convert`: `model` has the modules `replaced` instead of its own, and
    activations that were `left`. `str(conversion)` is a table."""

    model: nn.Module
    replaced: tuple[Replacement, ...]
    left: tuple[Replacement, ...]

    def __str__(self) -> str:
        if not self.replaced and not self.left:
            return "no activations that are modules"
        rows = [[r.name or "(model)", r.before, r.after] for r in self.replaced]
        rows += [[r.name or "(model)", r.before, f"left: {r.reason}"] for r in self.left]
        return align([["module", "before", "after"], *rows], 3)


def convert(
    model: nn.Module,
    *,
    copy_model: bool = False,
    keep: str = "auto",
    derivative_bits: int | None = None,
) -> Conversion:
    """Replaces the activations of `model` that are modules by those of `fad.torch.nn`.

    With `copy_model`, a copy has the new ones, and `model` stays as it is. `keep` and
    `derivative_bits` are those of `fad.torch.elementwise`. An activation of `torch.nn`
    stays the same object, with its hooks and its names, and changes its class; one of
    transformers becomes the part `module` of an `ElementwiseModule`. States have the
    same names before and after. Functions that a model calls, such as
    `torch.nn.functional.gelu`, are not modules, and stay."""
    check_keep(keep, derivative_bits)
    if not isinstance(model, nn.Module):
        raise TypeError(f"{type(model).__name__} is no torch.nn.Module")
    if copy_model:
        model = copy.deepcopy(model)
    replaced, left = [], []
    wrapped: dict[nn.Module, ElementwiseModule] = {}
    inner: set[nn.Module] = set()
    for name, module in list(model.named_modules()):
        if module in inner:
            continue
        if isinstance(module, ElementwiseModule):
            inner.update(module.modules())
        before = f"{type(module).__module__}.{type(module).__qualname__}"
        reason = _find_obstacle(module)
        if reason is None:
            continue
        if not reason:
            if type(module) in ACTIVATIONS:
                module.__class__ = ACTIVATIONS[type(module)]
                module.keep, module.derivative_bits = keep, derivative_bits
                after = type(module)
            elif module is model:
                reason = "the model itself; wrap it in an ElementwiseModule"
            else:
                wrapped[module] = ElementwiseModule(module, keep, derivative_bits)
                wrapped[module].training = module.training
                inner.update(module.modules())
                after = ElementwiseModule
        if reason:
            left.append(Replacement(name, before, "", reason))
        else:
            replaced.append(Replacement(name, before, f"{after.__module__}.{after.__name__}"))
    for parent in list(model.modules()):
        parts = get_parts(parent)
        for name, child in parts.items():
            if child in wrapped and parent is not wrapped[child]:
                parts[name] = wrapped[child]
    return Conversion(model, tuple(replaced), tuple(left))


def _find_obstacle(module: nn.Module) -> str | None:
    """Why `module` stays, empty if it does not; None for what is no activation, or one of
    fad's already."""
    is_known = type(module) in ACTIVATIONS
    if isinstance(module, (_Activation, ElementwiseModule)):
        return None
    if not is_known and not _is_of_transformers(module):
        if isinstance(module, tuple(ACTIVATIONS)):
            return "a subclass, which may do something else"
        if isinstance(module, nn.PReLU):
            return "its weight is a parameter of another shape"
        return None
    if "forward" in module.__dict__:
        return "its forward is one of its own"
    if not is_known and has_hooks(module):
        return "it has hooks"
    return ""


def _is_of_transformers(module: nn.Module) -> bool:
    activations = sys.modules.get("transformers.activations")
    kind = type(module)
    return (
        activations is not None
        and kind.__name__ in _OF_TRANSFORMERS
        and getattr(activations, kind.__name__, None) is kind
        and not any(True for _ in module.parameters())
        and not any(True for _ in module.buffers())
    )
