"""Elementwise functions of Python as kernels."""

import functools
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from .._arrays import Array, read_array
from .._module import parse
from .._nest import nest
from .._run import Executable
from .._run import compile as compile_module
from .emit import make_module, make_torch_source
from .symbols import trace

_ELEMENTS = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}


class _Kernel:
    """The code of a function: of its value, and of its value and derivatives."""

    def __init__(self, text: str) -> None:
        self._module = parse(text)
        self._lock = threading.Lock()
        self._value: Executable | None = None
        self._nested: Any = None

    def compute(self, arrays: list[Array]) -> Array:
        with self._lock:
            if self._value is None:
                self._value = compile_module(self._module, check=False)
        return self._value.call("f", *arrays)[0]

    def compute_derivatives(self, arrays: list[Array]) -> tuple[Array, ...]:
        """The value, and the derivative by each argument."""
        with self._lock:
            if self._nested is None:
                self._nested = nest(self._module, policy="fad")
        value, pullback = self._nested(*arrays)
        return value, *pullback(np.ones_like(value))


@functools.lru_cache(maxsize=256)
def _get_kernel(text: str) -> _Kernel:
    return _Kernel(text)


@functools.lru_cache(maxsize=256)
def _get_torch_function(source: str, name: str) -> Any:
    import torch

    from ..torch import elementwise as elementwise_of_tensors

    names: dict[str, Any] = {"torch": torch}
    exec(compile(source, f"<fad.elementwise of {name}>", "exec"), names)
    function = names["f"]
    function.__name__ = function.__qualname__ = name
    return elementwise_of_tensors(function)


def _is_number(value: Any) -> bool:
    """Whether `value` is a number of Python, which is a constant of the kernel."""
    return isinstance(value, (int, float)) and not isinstance(value, np.generic)


class Elementwise:
    """What `fad.elementwise` returns: a function of arrays."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._name = getattr(function, "__qualname__", "the function")
        functools.update_wrapper(self, function)

    def __repr__(self) -> str:
        return f"fad.elementwise({self._function!r})"

    def __call__(self, *arguments: Any) -> Any:
        """The value for `arguments`: arrays of numpy, all of one type, or tensors of
        PyTorch, and numbers. Shapes are broadcast."""
        torch = sys.modules.get("torch")
        if torch and any(isinstance(each, torch.Tensor) for each in arguments):
            return self._call_torch(arguments)
        kernel, arrays, shape = self._prepare(arguments)
        return kernel.compute(arrays).reshape(shape)

    def with_derivatives(self, *arguments: Any) -> tuple[Array, ...]:
        """The value, and the derivative by each argument that is an array: `y, d = f(x)`.
        All have the shape of the value."""
        kernel, arrays, shape = self._prepare(arguments)
        values = kernel.compute_derivatives(arrays)
        return tuple(each.reshape(shape) for each in values)

    def _trace(self, arguments: Any) -> Any:
        """Functions are traced at each call: they may read other numbers than before."""
        numbers = [each if _is_number(each) else None for each in arguments]
        return trace(self._function, self._name, numbers)

    def _prepare(self, arguments: Any) -> tuple[_Kernel, list[Array], tuple[int, ...]]:
        arrays = [
            self._read(index, each) for index, each in enumerate(arguments) if not _is_number(each)
        ]
        if not arrays:
            raise TypeError(f"{self._name} has no array among its arguments")
        dtypes = sorted({each.dtype.name for each in arrays})
        if len(dtypes) > 1:
            raise TypeError(
                f"the arguments of {self._name} are of {' and '.join(dtypes)}; convert them to "
                "one type with .astype"
            )
        program, result = self._trace(arguments)
        text = make_module(program, result, len(arrays), _ELEMENTS[dtypes[0]])
        shape = np.broadcast_shapes(*(each.shape for each in arrays))
        flat = [np.ascontiguousarray(np.broadcast_to(each, shape)).reshape(-1) for each in arrays]
        return _get_kernel(text), flat, shape

    def _read(self, index: int, value: Any) -> Array:
        place = f"argument {index} of {self._name}"
        array = read_array(value, place)
        if array.dtype.name not in _ELEMENTS:
            raise TypeError(
                f"{place} is of {array.dtype.name}; convert it with .astype to one of "
                f"{', '.join(_ELEMENTS)}"
            )
        return array

    def _call_torch(self, arguments: Any) -> Any:
        program, result = self._trace(arguments)
        tensors = [each for each in arguments if not _is_number(each)]
        source = make_torch_source(program, result, len(tensors))
        return _get_torch_function(source, self._name)(*tensors)


def elementwise(function: Callable[..., Any]) -> Elementwise:
    """`function`, written with operators and functions of numpy, as one kernel; also a
    decorator.

    The result computes with arrays of numpy, and with tensors of PyTorch as
    `fad.torch.elementwise` does, gradients included. `with_derivatives` is the value of
    arrays with the derivative by each. The function says what becomes of an element: it may
    use arithmetic, comparisons, `numpy.where`, `numpy.clip` and the functions of numpy that
    have a derivative, and `fad.erf`. Numbers that it reads are constants of the kernel.

    Elements are of f16, bf16, f32 or f64; those of 16 bits are computed in f32 and rounded
    once. Raises TypeError for a function that is not elementwise, when it is called."""
    if not callable(function):
        raise TypeError(f"a function is expected, not a {type(function).__name__}")
    return Elementwise(function)
