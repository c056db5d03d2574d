"""Activations of `torch.nn` on fad's kernels.

Each class has the name, the arguments, the values and the gradients of the one of
`torch.nn` that it is a subclass of. Modules have no more state than PyTorch's, so states
and pickles go from one to the other.

`keep` and `derivative_bits` of a module, or of a class, are those of
`fad.torch.elementwise`. A module that writes its result to its argument, with
`inplace=True`, keeps the derivative or the result."""

import functools
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

from ._elementwise.function import Elementwise, check_keep


@functools.cache
def _get_function(function: Callable, keep: str, derivative_bits: int | None) -> Elementwise:
    return Elementwise(function, keep, derivative_bits)


class _Activation(torch.nn.Module):
    """The base of all activations. `function` is of PyTorch, and `constants` are the
    attributes of the module that it takes after the tensor."""

    keep = "auto"
    derivative_bits: int | None = None
    function: Callable
    constants: tuple[str, ...] = ()

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        if torch.compiler.is_compiling():
            return super().forward(input)
        function = _get_function(type(self).function, self.keep, self.derivative_bits)
        constants = [getattr(self, name) for name in self.constants]
        if getattr(self, "inplace", False):
            return function.call_in_place(input, *constants)
        return function(input, *constants)


def _gelu(x: torch.Tensor, approximate: str) -> torch.Tensor:
    return F.gelu(x, approximate=approximate)


# PyTorch's functions, and what they take of a module.
_FUNCTIONS: dict[type[torch.nn.Module], tuple[Callable, tuple[str, ...]]] = {
    torch.nn.CELU: (F.celu, ("alpha",)),
    torch.nn.ELU: (F.elu, ("alpha",)),
    torch.nn.GELU: (_gelu, ("approximate",)),
    torch.nn.Hardshrink: (F.hardshrink, ("lambd",)),
    torch.nn.Hardsigmoid: (F.hardsigmoid, ()),
    torch.nn.Hardswish: (F.hardswish, ()),
    torch.nn.Hardtanh: (F.hardtanh, ("min_val", "max_val")),
    torch.nn.LeakyReLU: (F.leaky_relu, ("negative_slope",)),
    torch.nn.LogSigmoid: (F.logsigmoid, ()),
    torch.nn.Mish: (F.mish, ()),
    torch.nn.ReLU: (torch.relu, ()),
    torch.nn.ReLU6: (F.relu6, ()),
    torch.nn.SELU: (torch.selu, ()),
    torch.nn.SiLU: (F.silu, ()),
    torch.nn.Sigmoid: (torch.sigmoid, ()),
    torch.nn.Softplus: (F.softplus, ("beta", "threshold")),
    torch.nn.Softshrink: (F.softshrink, ("lambd",)),
    torch.nn.Softsign: (F.softsign, ()),
    torch.nn.Tanh: (torch.tanh, ()),
    torch.nn.Tanhshrink: (F.tanhshrink, ()),
    torch.nn.Threshold: (F.threshold, ("threshold", "value")),
}


def _make(base: type[torch.nn.Module]) -> type[torch.nn.Module]:
    function, constants = _FUNCTIONS[base]
    return type(
        base.__name__,
        (_Activation, base),
        {
            "__doc__": f"`torch.nn.{base.__name__}` on a kernel of fad.",
            "__module__": __name__,
            "function": staticmethod(function),
            "constants": constants,
        },
    )


# By PyTorch's class.
ACTIVATIONS = {base: _make(base) for base in _FUNCTIONS}
globals().update({each.__name__: each for each in ACTIVATIONS.values()})


class ElementwiseModule(torch.nn.Module):
    """A module without parameters that is an elementwise function, on a kernel of fad.

    `keep` and `derivative_bits` are those of `fad.torch.elementwise`."""

    def __init__(
        self,
        module: torch.nn.Module,
        keep: str = "auto",
        derivative_bits: int | None = None,
    ) -> None:
        super().__init__()
        check_keep(keep, derivative_bits)
        self.module = module
        self._elementwise = Elementwise(module.forward, keep, derivative_bits)

    def forward(self, *inputs: Any) -> torch.Tensor:
        return self._elementwise(*inputs)


__all__ = ["ACTIVATIONS", "ElementwiseModule", *(base.__name__ for base in _FUNCTIONS)]
