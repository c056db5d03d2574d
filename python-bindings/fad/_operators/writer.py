"""Scalar bodies of elementwise operations in MLIR."""

import math
import struct
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .. import _fad
from .._module import Module

#: The forms of numbers, and of their bits, in the module struct.
_FORMATS = {"f64": ("<d", "<q"), "f32": ("<f", "<i"), "f16": ("<e", "<h"), "bf16": ("<f", "<i")}
FLOATS = (*_FORMATS,)
_WIDTHS = {"f64": 64, "f32": 32, "f16": 16, "bf16": 16, "i64": 64, "i32": 32, "i16": 16, "i8": 8}


class Unsupported(Exception):
    """An operation, or one of its forms, that has no scalar body here."""


class Value(NamedTuple):
    """A value of a body: its number among the arguments and the operations, and its type."""

    number: int
    type: str


class Operation(NamedTuple):
    """An operation of a body, by its names in MLIR, with the numbers of its operands."""

    name: str
    operands: tuple[int, ...]
    type: str
    attributes: tuple[tuple[str, Any], ...]


class Scalar(NamedTuple):
    """A function of numbers: the types of its arguments, its operations, and its result."""

    arguments: tuple[str, ...]
    operations: tuple[Operation, ...]
    result: Value


class Body:
    """The operations of a scalar body. Types are those of MLIR; integers are signed. `is_f16`
    says whether tensors are of f16, of whatever type this computes in."""

    def __init__(self, is_f16: bool = False) -> None:
        self.is_f16 = is_f16
        self.arguments: list[str] = []
        self.operations: list[Operation] = []

    def add_argument(self, type: str) -> Value:
        """Returns an argument, all of which come before operations."""
        self.arguments.append(type)
        return Value(len(self.arguments) - 1, type)

    def add(self, name: str, operands: Sequence[Value], type: str, **attributes: Any) -> Value:
        numbers = tuple(each.number for each in operands)
        self.operations.append(Operation(name, numbers, type, (*attributes.items(),)))
        return Value(len(self.arguments) + len(self.operations) - 1, type)

    def finish(self, result: Value) -> Scalar:
        return Scalar((*self.arguments,), (*self.operations,), result)

    def constant(self, value: Any, type: str) -> Value:
        """Returns a number. Of those that have no place in an integer or a type of 16 bits, there
        are none: PyTorch computes with the number as it is, and rounds the result."""
        if type == "i1":
            return self.add("arith.constant", (), type, value=int(bool(value)))
        width = _WIDTHS[type]
        if type in FLOATS:
            # The bits hold infinities, NaN and every digit.
            bits, is_exact = find_bits(float(value), type)
            is_there = width > 16 or is_exact
        else:
            bits = int(value)
            is_there = bits in range(-1 << width - 1, 1 << width - 1)
        if not is_there:
            raise Unsupported
        return self.add("arith.constant", (), type, value=bits)

    def apply(self, op: str, *operands: Value, **attributes: Any) -> Value:
        """Returns the result of `op`, of the type of its last operand."""
        return self.add(op, operands, operands[-1].type, **attributes)

    def compare(self, op: str, order: str, a: Value, b: Value) -> Value:
        return self.add(op, (a, b), "i1", predicate=order)

    def apply_logic(self, op: str, *conditions: Value) -> Value:
        """Returns the operation `op` of two conditions, or of one and true."""
        if len(conditions) == 1:
            conditions = (*conditions, self.constant(True, "i1"))
        return self.apply(op, *conditions)

    def convert(self, value: Value, target: str) -> Value:
        """`value` as a float of another type."""
        source = value.type
        if source == target:
            return value
        if source not in FLOATS:
            return self.add(f"arith.{'uitofp' if source == 'i1' else 'sitofp'}", (value,), target)
        if _WIDTHS[source] == _WIDTHS[target]:
            return self.convert(self.convert(value, "f32"), target)
        is_wider = _WIDTHS[source] < _WIDTHS[target]
        return self.add(f"arith.{'extf' if is_wider else 'truncf'}", (value,), target)


def find_bits(value: float, type: str) -> tuple[int, bool]:
    """Returns the bits of `value`, rounded to `type`, as a signed integer, and whether they are
    `value`. A number that bf16 does not hold has no bits here."""
    number, integer = _FORMATS[type]
    try:
        packed = struct.pack(number, value)
    except OverflowError:
        packed = struct.pack(number, math.copysign(math.inf, value))
    bits = struct.unpack(integer, packed)[0]
    is_exact = struct.unpack(number, packed)[0] == value or value != value
    if type == "bf16":
        # Half of an f32.
        return bits >> 16, is_exact and bits & 0xFFFF == 0
    return bits, is_exact


class Writer:
    """Writes formulas of floats of one type to a body. Operands are values there, or numbers,
    which become constants."""

    def __init__(self, body: Body, type: str) -> None:
        self.body, self.type = body, type

    def read(self, operand: Any) -> Value:
        if isinstance(operand, Value):
            return operand
        return self.body.constant(operand, self.type)

    def apply(self, op: str, *operands: Any, **attributes: Any) -> Value:
        return self.body.apply(op, *map(self.read, operands), **attributes)

    def compare(self, order: str, a: Any, b: Any) -> Value:
        return self.body.compare("arith.cmpf", order, self.read(a), self.read(b))

    def select(self, condition: Value, a: Any, b: Any) -> Value:
        return self.apply("arith.select", condition, a, b)

    def round(self, operand: Any) -> Any:
        """Returns a number as PyTorch rounds it before an operation on tensors, if it does. Values
        of tensors stay as they are."""
        return operand


def add_tensor(builder: _fad.Builder, element: str) -> _fad.Value:
    """Returns an argument that is a tensor of one dimension."""
    return builder.argument(((None,), element))


def make_module(
    scalar: Scalar,
    numbers: int = 0,
    name: str = "f",
    read: Callable[[_fad.Builder, str], _fad.Value] = add_tensor,
) -> Module:
    """Returns a module with one function, which applies `scalar` to the elements of tensors, and to
    as many `numbers`, its last arguments. `read` adds the argument for a tensor."""
    builder = _fad.Builder(name)
    count = len(scalar.arguments) - numbers
    values = [read(builder, each) for each in scalar.arguments[:count]]
    values += [builder.argument(each) for each in scalar.arguments[count:]]
    result = builder.map(values, scalar, ((None,), scalar.result.type))
    return Module(builder.finish([result]))
