"""Values that a function reads besides its tensors, as a key that tells whether that changed."""

import dis
import enum
import functools
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from .._pytorch import CONTAINERS
from .._requirements import torch

_PLAIN = (
    *(types.NoneType, bool, int, str, bytes, types.EllipsisType, torch.dtype),
    *(torch.device, torch.layout, torch.memory_format, torch.finfo, torch.iinfo),
)
# The definitions of these packages are fixed.
_FIXED = {*sys.stdlib_module_names, "torch", "numpy", "fad"} - {"__main__"}
# Attributes that all modules have, such as hooks, are not read.
_OF_MODULES = frozenset(vars(torch.nn.Module())) - {"training"}


class ReadsTensor(TypeError):
    """A tensor is read that is no argument."""


class ReadsObject(TypeError):
    """Something is read that may change without notice; the argument is its type."""


@functools.cache
def _find_names(code: types.CodeType) -> tuple[frozenset[str], frozenset[str]]:
    """Returns the names of globals that `code` reads, and those that may be of attributes."""
    variables, attributes = set(), {*code.co_names}
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            variables.add(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, str):
            attributes.add(constant)
        elif isinstance(constant, types.CodeType):
            inner = _find_names(constant)
            variables |= inner[0]
            attributes |= inner[1]
    return frozenset(variables), frozenset(attributes)


def make_key(function: Callable, args: tuple, constants: Any) -> Any:
    """Returns a key of `constants`, among which are those of `args` that are no tensors, and of all
    else that `function` reads by name. Keys are equal where types and values are. Raises
    ReadsTensor and ReadsObject."""
    method = getattr(function, "__func__", function)
    owner = getattr(function, "__self__", args[0])
    name = getattr(method, "__name__", "forward")
    is_method = name != "forward" and hasattr(type(owner), name)
    reader, names = _Reader(owner if is_method else None), _get_names(function)
    return reader.read(function, names), reader.read(constants, names)


def _get_names(function: Any) -> frozenset[str]:
    if isinstance(function, functools.partial):
        return _get_names(function.func)
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return _find_names(code)[1] if code else frozenset()


def _is_fixed(value: Any) -> bool:
    name = value.__name__ if isinstance(value, types.ModuleType) else value.__module__
    return (name or "").partition(".")[0] in _FIXED


class _Reader:
    """Keys of values; each object is entered once for the same names.

    `owner` is read by a method of its, so what calls of it read does not matter."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        self.seen: dict[Any, tuple[int, Any]] = {}

    def read(self, value: Any, names: frozenset[str]) -> Any:
        """Of an object, the attributes `names` are read."""
        kind = type(value)
        if kind is float:
            # Zeros have signs, and a NaN is itself.
            return kind, value.hex()
        if kind in _PLAIN:
            return kind, value
        if isinstance(value, enum.Enum):
            # There is one object of each, which may be without a hash.
            return kind, id(value)
        if kind is complex:
            return kind, value.real.hex(), value.imag.hex()
        if isinstance(value, np.generic):
            return kind, value.tobytes()
        if isinstance(value, torch.Tensor):
            raise ReadsTensor
        place = id(value), names
        if place in self.seen:
            return "seen", self.seen[place][0]
        # An object that is kept has its id alone.
        self.seen[place] = len(self.seen), value
        if isinstance(value, (tuple, list)):
            return kind, tuple(self.read(each, names) for each in value)
        if isinstance(value, (set, frozenset)):
            return kind, frozenset(self.read(each, names) for each in value)
        if isinstance(value, dict):
            pairs = value.items()
            return kind, tuple((self.read(k, names), self.read(v, names)) for k, v in pairs)
        if kind is types.FunctionType:
            return self.read_function(value)
        if kind is types.MethodType:
            inner = _get_names(value)
            return kind, self.read(value.__func__, inner), self.read(value.__self__, inner)
        if kind is functools.partial:
            names = _get_names(value)
            parts = value.func, value.args, value.keywords
            return kind, tuple(self.read(each, names) for each in parts)
        if isinstance(value, (type, types.ModuleType)):
            return self.read_namespace(value, names)
        return self.read_object(value, names)

    def read_function(self, function: types.FunctionType) -> Any:
        if _is_fixed(function):
            return function
        variables, names = _find_names(function.__code__)
        values = function.__globals__
        found = [self.read(values[each], names) for each in sorted(variables) if each in values]
        for cell in function.__closure__ or ():
            try:
                found.append(self.read(cell.cell_contents, names))
            except ValueError:  # It is not set yet.
                found.append(None)
        defaults = function.__defaults__, function.__kwdefaults__
        return function.__code__, *found, self.read(defaults, names)

    def read_namespace(self, value: Any, names: frozenset[str]) -> Any:
        if _is_fixed(value):
            return value
        chosen = sorted(names & set(vars(value)))
        return value, *((each, self.read(vars(value)[each], names)) for each in chosen)

    def read_object(self, value: Any, names: frozenset[str]) -> Any:
        kind = type(value)
        own = getattr(value, "__dict__", None)
        is_module = isinstance(value, torch.nn.Module)
        if not is_module and _is_fixed(kind):
            if "__wrapped__" in (own or ()):
                return value, self.read(own["__wrapped__"], names)
            if callable(value) or kind in (staticmethod, classmethod, property):
                return value
        is_known = is_module or kind is types.SimpleNamespace or not _is_fixed(kind)
        if own is None or not is_known:
            raise ReadsObject(kind.__qualname__)
        call = getattr(kind, "forward" if is_module else "__call__", None)
        is_called = isinstance(call, types.FunctionType) and value is not self.owner
        if is_called and not _is_fixed(call):
            names = names | _get_names(call)
        methods = [call] if is_called else []
        done, left = {*own}, names - {*own}
        while left:
            done |= left
            for name in sorted(left):
                found = getattr(kind, name, None)
                found = found.fget if isinstance(found, property) else found
                found = found.func if isinstance(found, functools.cached_property) else found
                if found is not None and found is not call:
                    methods.append(found)
                if isinstance(found, types.FunctionType) and not _is_fixed(found):
                    names = names | _get_names(found)
            left = names - done
        attributes = dict(own)
        if is_module:
            attributes = {k: v for k, v in own.items() if k not in _OF_MODULES}
            for each in CONTAINERS:
                attributes.update(own[each])
            # PyTorch's `forward` reads all.
            reads_all = is_called and _is_fixed(call)
            names = names | (set(attributes) if reads_all else {"training"})
        chosen = [name for name in sorted(names) if name in attributes]
        return (
            kind,
            *(self.read(each, names) for each in methods),
            *((each, self.read(attributes[each], names)) for each in chosen),
        )
