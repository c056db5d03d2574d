"""Elementwise functions of Python as kernels."""

import dataclasses
import functools
import importlib
import inspect
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from .._arrays import Array, read_array
from .._executable import Executable
from .._nest import nest
from .._operators.writer import Scalar, make_module
from .._run import compile as compile_module
from .emit import make_scalar, make_torch_source
from .symbols import Symbol, trace

_ELEMENTS = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}


class _Kernel:
    """The code of a function: of its value, and of its value and derivatives."""

    def __init__(self, scalar: Scalar) -> None:
        self._module = make_module(scalar)
        self._lock = threading.Lock()
        self._value: Executable | None = None
        self._nested: Any = None

    def compute(self, arrays: list[Array]) -> Array:
        with self._lock:
            if self._value is None:
                self._value = compile_module(self._module, check=False)
        return self._value.call("f", *arrays)[0]

    def compute_derivatives(self, arrays: list[Array]) -> tuple[Array, ...]:
        """Returns the value, and the derivative by each argument."""
        with self._lock:
            if self._nested is None:
                self._nested = nest(self._module, policy="fad")
        value, pullback = self._nested(*arrays)
        return value, *pullback(np.ones_like(value))


@functools.lru_cache(maxsize=256)
def _get_kernel(scalar: Scalar) -> _Kernel:
    return _Kernel(scalar)


@functools.lru_cache(maxsize=256)
def _get_torch_function(source: str, name: str) -> Any:
    import torch

    # The package for PyTorch builds on this one, and is imported when a tensor comes.
    package = importlib.import_module("fad.torch")
    names: dict[str, Any] = {"torch": torch}
    exec(compile(source, f"<fad.elementwise of {name}>", "exec"), names)
    function = names["f"]
    function.__name__ = function.__qualname__ = name
    return package.elementwise(function)


def _is_number(value: Any) -> bool:
    """Tells whether `value` is a number of Python, which is a constant of the kernel."""
    return isinstance(value, (int, float)) and not isinstance(value, np.generic)


@dataclasses.dataclass(frozen=True)
class _Call:
    """A call of a function: its arguments, what errors call them, and the names of the last
    ones, which are keywords."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    labels: list[str]
    keywords: tuple[str, ...]

    def run(self, *values: Any) -> Any:
        """Returns the result for other values of the arguments."""
        count = len(values) - len(self.keywords)
        return self.function(*values[:count], **dict(zip(self.keywords, values[count:])))


class Elementwise:
    """The result of `fad.elementwise`: a function of arrays, or a method."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._name = getattr(function, "__qualname__", "the function")
        functools.update_wrapper(self, function)

    def __repr__(self) -> str:
        return f"fad.elementwise({self._function!r})"

    def __get__(self, instance: Any, owner: type | None = None) -> "Elementwise":
        if instance is None or not hasattr(self._function, "__get__"):
            return self
        return Elementwise(self._function.__get__(instance, owner))

    def __call__(self, *positional: Any, **keywords: Any) -> Any:
        """Returns the value for `arguments`: arrays of numpy, all of one type, or tensors of
        PyTorch, all of one type, and numbers. Shapes are broadcast. In another elementwise
        function, the function is a part of that."""
        if any(isinstance(each, Symbol) for each in (*positional, *keywords.values())):
            return self._function(*positional, **keywords)
        call = self._bind(positional, keywords)
        torch = sys.modules.get("torch")
        if torch and any(isinstance(each, torch.Tensor) for each in call.arguments):
            return self._call_torch(call)
        kernel, arrays, shape = self._prepare(call)
        return kernel.compute(arrays).reshape(shape)

    def with_derivatives(self, *positional: Any, **keywords: Any) -> tuple[Array, ...]:
        """Returns the value, and the derivative by each argument that is an array: `y, d = f(x)`.
        All have the shape of the value, and memory of their own."""
        kernel, arrays, shape = self._prepare(self._bind(positional, keywords))
        values = kernel.compute_derivatives(arrays)
        # Arrays that are read-only share their elements with an argument or each other.
        values = [each if each.flags.writeable else each.copy() for each in values]
        return tuple(each.reshape(shape) for each in values)

    def _bind(self, positional: tuple[Any, ...], keywords: dict[str, Any]) -> _Call:
        """Returns all arguments, in the order of the parameters."""
        if keywords:
            try:
                bound = inspect.signature(self._function).bind(*positional, **keywords)
            except (TypeError, ValueError) as error:
                # Some functions of C have no signature.
                raise TypeError(f"{self._name}: {error}") from None
            positional, keywords = bound.args, bound.kwargs
        labels = [*map(str, range(len(positional))), *keywords]
        return _Call(self._function, (*positional, *keywords.values()), labels, tuple(keywords))

    def _trace(self, call: _Call) -> Any:
        """Returns the functions are traced at each call: they may read other numbers than
        before."""
        numbers = [each if _is_number(each) else None for each in call.arguments]
        return trace(call.run, self._name, numbers)

    def _prepare(self, call: _Call) -> tuple[_Kernel, list[Array], tuple[int, ...]]:
        arrays = [
            self._read(label, each)
            for label, each in zip(call.labels, call.arguments)
            if not _is_number(each)
        ]
        if not arrays:
            raise TypeError(
                f"{self._name} has no array among its arguments; pass one, such as numpy.float32(1)"
            )
        dtype = self._find_type([each.dtype.name for each in arrays], ".astype")
        try:
            shape = np.broadcast_shapes(*(each.shape for each in arrays))
        except ValueError:
            shapes = " and ".join(str(each.shape) for each in arrays)
            raise ValueError(
                f"the arguments of {self._name} have the shapes {shapes}, which do not broadcast"
            ) from None
        program, result = self._trace(call)
        scalar = make_scalar(program, result, len(arrays), _ELEMENTS[dtype])
        flat = [np.ascontiguousarray(np.broadcast_to(each, shape)).reshape(-1) for each in arrays]
        return _get_kernel(scalar), flat, shape

    def _read(self, label: str, value: Any) -> Array:
        place = f"argument {label} of {self._name}"
        array = read_array(value, place)
        self._check_type(array.dtype.name, place, ".astype")
        return array

    def _check_type(self, dtype: str, place: str, conversion: str) -> None:
        if dtype not in _ELEMENTS:
            raise TypeError(
                f"{place} is of {dtype}; convert it with {conversion} to one of "
                f"{', '.join(_ELEMENTS)}"
            )

    def _find_type(self, dtypes: list[str], conversion: str) -> str:
        """Returns the type that all have."""
        names = sorted(set(dtypes))
        if len(names) > 1:
            raise TypeError(
                f"the arguments of {self._name} are of {' and '.join(names)}; convert them to "
                f"one type with {conversion}"
            )
        return names[0]

    def _call_torch(self, call: _Call) -> Any:
        # A number of numpy is one of Python beside tensors.
        arguments = (
            each.item() if isinstance(each, np.generic) else each for each in call.arguments
        )
        call = dataclasses.replace(call, arguments=tuple(arguments))
        tensors = [
            self._check_tensor(label, each)
            for label, each in zip(call.labels, call.arguments)
            if not _is_number(each)
        ]
        self._find_type([str(each.dtype).removeprefix("torch.") for each in tensors], ".to")
        program, result = self._trace(call)
        source = make_torch_source(program, result, len(tensors))
        return _get_torch_function(source, self._name)(*tensors)

    def _check_tensor(self, label: str, value: Any) -> Any:
        import torch

        place = f"argument {label} of {self._name}"
        if not isinstance(value, torch.Tensor):
            kind = type(value).__name__
            raise TypeError(f"{place} is a {kind} beside a tensor; pass a tensor or a number")
        self._check_type(str(value.dtype).removeprefix("torch."), place, ".to")
        return value


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
