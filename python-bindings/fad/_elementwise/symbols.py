"""Symbols that record the operations of an elementwise function."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .operations import ALIASES, OPERATIONS


class NotElementwise(TypeError):
    """A function has an operation that elements do not have. The message names it."""


class Program:
    """The operations of a function, in order. A value is a `Symbol`, or a number; a condition
    is a `Symbol`, or one that always holds or never, and then no operation reads it."""

    def __init__(self, name: str) -> None:
        self.name = name
        # Each operation, and its operands.
        self.steps: list[tuple[str, tuple[Any, ...]]] = []

    def apply(self, name: str, *operands: Any) -> Any:
        """Returns the result of the operation `name`."""
        operation = OPERATIONS[name]
        taken = tuple(self._convert(operand, operation.takes) for operand in operands)
        if operation.takes == "condition":
            # The constant that decides the result: both hold, or one does.
            decisive = name == "logical_or"
            if any(each is decisive for each in taken):
                return np.bool_(decisive)
            taken = tuple(each for each in taken if isinstance(each, Symbol))
            if len(taken) < 2:
                return taken[0] if taken else np.bool_(not decisive)
        return self._add(name, taken, operation.gives)

    def select(self, condition: Any, one: Any, other: Any) -> Any:
        """`one` where the condition holds, and `other` elsewhere."""
        holds, *values = (
            self._convert(condition, "condition"),
            self._convert(one, "number"),
            self._convert(other, "number"),
        )
        if not isinstance(holds, Symbol):
            return values[0 if holds else 1]
        return self._add("where", (holds, *values), "number")

    def negate(self, condition: Any) -> Any:
        """Tells whether a condition does not hold."""
        holds = self._convert(condition, "condition")
        if not isinstance(holds, Symbol):
            return np.bool_(not holds)
        return self._add("logical_not", (holds,), "condition")

    def _add(self, name: str, operands: tuple[Any, ...], kind: str) -> "Symbol":
        self.steps.append((name, operands))
        return Symbol(self, f"v{len(self.steps) - 1}", kind)

    def _convert(self, value: Any, kind: str) -> Any:
        if isinstance(value, Symbol):
            if value.kind == kind:
                return value
            if kind == "number":
                return self._add("to_number", (value,), "number")
            return self.apply("not_equal", value, 0)
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        if not isinstance(value, (bool, int, float, np.bool_, np.integer, np.floating)):
            raise NotElementwise(
                f"{self.name} reads a {type(value).__name__}; make arrays arguments"
            )
        return bool(value) if kind == "condition" else float(value)


def _refuse(symbol: "Symbol", what: str) -> NotElementwise:
    return NotElementwise(f"{symbol.program.name} {what}")


class Symbol:
    """An element of an argument, or of a value in between."""

    def __init__(self, program: Program, name: str, kind: str = "number") -> None:
        self.program, self.name, self.kind = program, name, kind

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        name = ufunc.__name__
        if method != "__call__" or options:
            raise _refuse(self, f"uses numpy.{name} in a form that elements do not have")
        return _call(self, name, inputs)

    def __array_function__(self, function: Any, types: Any, arguments: tuple, options: dict) -> Any:
        name = function.__name__
        if name == "where" and len(arguments) == 3:
            return self.program.select(*arguments)
        if name == "clip":
            return _clip(self.program, *arguments, **options)
        if name in ("round", "around") and len(arguments) == 1 and not options:
            return self.program.apply("rint", *arguments)
        if name in ("zeros_like", "ones_like") and not options:
            return float(name == "ones_like")
        raise _refuse(self, f"uses numpy.{name}, which elements do not have")

    @classmethod
    def __torch_function__(
        cls, function: Any, types: Any, arguments: Any = (), options: Any = None
    ) -> Any:
        raise NotElementwise(
            f"torch.{function.__name__} does not take an element; use numpy's function, or "
            "decorate with fad.torch.elementwise"
        )

    def __bool__(self) -> bool:
        raise _refuse(self, "branches on an element; use numpy.where")

    def __float__(self) -> float:
        raise _refuse(self, "needs a number, as the functions of math do; use those of numpy")

    def __iter__(self) -> Any:
        raise _refuse(self, "reads an element as a sequence")

    def __getattr__(self, name: str) -> Any:
        raise _refuse(self, f"uses .{name}, which elements do not have")

    __hash__ = object.__hash__


def _clip(
    program: Program,
    x: Any,
    a_min: Any = None,
    a_max: Any = None,
    *,
    min: Any = None,
    max: Any = None,
    **options: Any,
) -> Any:
    if options:
        raise NotElementwise(
            f"{program.name} uses numpy.clip with {', '.join(options)}, which elements do not have"
        )
    least, most = (a_min if min is None else min), (a_max if max is None else max)
    x = x if least is None else program.apply("maximum", x, least)
    return x if most is None else program.apply("minimum", x, most)


def _is_two(value: Any) -> bool:
    return isinstance(value, (int, float)) and value == 2


def _is_condition(value: Any) -> bool:
    if isinstance(value, Symbol):
        return value.kind == "condition"
    return isinstance(value, (bool, np.bool_))


# The operations of numpy's arithmetic of conditions.
_OF_CONDITIONS = {
    "add": "logical_or",
    "maximum": "logical_or",
    "multiply": "logical_and",
    "minimum": "logical_and",
}


def _call(symbol: Symbol, name: str, inputs: tuple[Any, ...]) -> Any:
    """Returns the ufunc `name` of numpy or scipy."""
    name = ALIASES.get(name, name)
    if all(map(_is_condition, inputs)):
        if name in ("subtract", "negative"):
            raise _refuse(symbol, f"uses numpy.{name} of conditions, which numpy does not have")
        name = _OF_CONDITIONS.get(name, name)
    apply = symbol.program.apply
    x = inputs[0]
    if name == "power" and _is_two(inputs[1]):
        return apply("multiply", x, x)
    if name == "logical_not":
        return symbol.program.negate(x)
    if name in OPERATIONS:
        return apply(name, *inputs)
    if name == "positive":
        return x
    if name == "square":
        return apply("multiply", x, x)
    if name == "reciprocal":
        return apply("divide", 1, x)
    if name == "isnan":
        return apply("not_equal", x, x)
    if name == "logical_xor":
        both = apply("logical_and", *inputs)
        return apply("logical_and", apply("logical_or", *inputs), symbol.program.negate(both))
    if name == "sign":
        # The last is 0, or NaN.
        below = symbol.program.select(apply("less", x, 0), -1, apply("multiply", x, 0))
        return symbol.program.select(apply("greater", x, 0), 1, below)
    raise _refuse(symbol, f"uses numpy.{name}, which fad has no operation for")


def _make_operators() -> None:
    binary = {
        "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide",
        "pow": "power", "mod": "remainder", "floordiv": "floor_divide",
        "and": "logical_and", "or": "logical_or", "xor": "logical_xor",
    }  # fmt: skip
    for operator, name in binary.items():
        setattr(Symbol, f"__{operator}__", _make_operator(name, False))
        setattr(Symbol, f"__r{operator}__", _make_operator(name, True))
    comparisons = {
        "gt": "greater", "ge": "greater_equal", "lt": "less", "le": "less_equal",
        "eq": "equal", "ne": "not_equal",
    }  # fmt: skip
    for operator, name in comparisons.items():
        setattr(Symbol, f"__{operator}__", _make_operator(name, False))
    unary = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}
    for operator, name in unary.items():
        setattr(Symbol, f"__{operator}__", _make_operator(name, False))


def _make_operator(name: str, is_reversed: bool) -> Callable[..., Any]:
    def apply(self: Symbol, *others: Any) -> Any:
        operands = (self, *others)
        return _call(self, name, operands[::-1] if is_reversed else operands)

    return apply


_make_operators()


def erf(x: Any) -> Any:
    """Returns the error function, for functions of `fad.elementwise`; numpy has none."""
    return _call(x, "erf", (x,)) if isinstance(x, Symbol) else math.erf(x)


def trace(function: Callable[..., Any], name: str, arguments: list[Any]) -> tuple[Program, Any]:
    """Returns the operations of `function`, and its result. An argument None is an element, and the
    others are numbers."""
    program = Program(name)
    numbers = itertools.count()
    given = [Symbol(program, f"x{next(numbers)}") if each is None else each for each in arguments]
    result = function(*given)
    if isinstance(result, (bool, np.bool_)) or getattr(result, "kind", "") == "condition":
        raise NotElementwise(f"{name} returns a condition; numpy.where makes numbers of it")
    if not isinstance(result, (Symbol, int, float, np.integer, np.floating)):
        kind = type(result).__name__
        raise NotElementwise(f"{name} returns a {kind}; return one element")
    return program, result
