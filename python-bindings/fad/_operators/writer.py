"""Scalar bodies of elementwise operations in MLIR, as text."""

import math
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

#: The forms of numbers, and of their bits, in the module struct.
_FORMATS = {"f64": ("<d", "<Q"), "f32": ("<f", "<I"), "f16": ("<e", "<H"), "bf16": ("<f", "<I")}
FLOATS = (*_FORMATS,)
_WIDTHS = {"f64": 64, "f32": 32, "f16": 16, "bf16": 16}


class Unsupported(Exception):
    """An operation, or one of its forms, that has no scalar body here."""


class Body:
    """The text of a scalar body. Types are those of MLIR; integers are signed. `is_f16` says
    whether tensors are of f16, of whatever type this computes in."""

    def __init__(self, is_f16: bool = False) -> None:
        self.is_f16 = is_f16
        self.lines: list[str] = []

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def add(self, text: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def constant(self, value: Any, type: str) -> str:
        """A number. Of those that have no place in a type of 16 bits, there are none:
        PyTorch computes with the number as it is, and rounds the result."""
        if type == "i1":
            return self.add(f"arith.constant {str(bool(value)).lower()}")
        if type not in FLOATS:
            return self.add(f"arith.constant {int(value)} : {type}")
        # The bits hold infinities, NaN and every digit.
        bits, is_exact = find_bits(float(value), type)
        if _WIDTHS[type] == 16 and not is_exact:
            raise Unsupported
        return self.add(f"arith.constant 0x{bits:0{_WIDTHS[type] // 4}X} : {type}")

    def apply(self, op: str, type: str, *operands: str) -> str:
        return self.add(f"{op} {', '.join(operands)} : {type}")

    def apply_logic(self, op: str, *conditions: str) -> str:
        """The operation `op` of two conditions, or of one and true."""
        if len(conditions) == 1:
            conditions = (*conditions, self.constant(True, "i1"))
        return self.apply(op, "i1", *conditions)

    def convert(self, value: str, source: str, target: str) -> str:
        """`value` as a float of another type."""
        if source == target:
            return value
        if source not in FLOATS:
            op = "uitofp" if source == "i1" else "sitofp"
            return self.add(f"arith.{op} {value} : {source} to {target}")
        if _WIDTHS[source] == _WIDTHS[target]:
            value, source = self.convert(value, source, "f32"), "f32"
        op = "extf" if _WIDTHS[source] < _WIDTHS[target] else "truncf"
        return self.add(f"arith.{op} {value} : {source} to {target}")


def find_bits(value: float, type: str) -> tuple[int, bool]:
    """The bits of `value`, rounded to `type`, and whether they are `value`. A number that
    bf16 does not hold has no bits here."""
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

    def read(self, operand: Any) -> str:
        if isinstance(operand, str):
            return operand
        return self.body.constant(operand, self.type)

    def apply(self, op: str, *operands: Any, attributes: str = "") -> str:
        values = ", ".join(map(self.read, operands))
        return self.body.add(f"{op} {values} {attributes}: {self.type}")

    def compare(self, order: str, a: Any, b: Any) -> str:
        return self.apply(f"arith.cmpf {order},", a, b)

    def select(self, condition: str, a: Any, b: Any) -> str:
        return self.apply("arith.select", condition, a, b)

    def round(self, operand: Any) -> Any:
        """A number as PyTorch rounds it before an operation on tensors, if it does. Values
        of tensors stay as they are."""
        return operand


class Input(NamedTuple):
    """An operand of an elementwise operation: a value of a function, or a number that all
    elements have in common, and the name and the type of an element in the body."""

    value: str
    type: str
    name: str
    element: str


def make_elementwise(inputs: Sequence[Input], body: str, value: str, element: str) -> str:
    """`%r`, of a dynamic number of elements, each of which is the `value` that the lines of
    `body` compute."""
    values, types = (", ".join(each[i] for each in inputs) for i in (0, 1))
    block = ", ".join(f"{each.name}: {each.element}" for each in inputs)
    lines = (
        f"%r = fad.elementwise ins({values} : {types}) -> tensor<?x{element}> {{",
        f"^bb0({block}):",
        body,
        f"fad.yield {value} : {element}",
        "}",
    )
    return "\n".join(lines)


def make_module(arguments: Sequence[tuple[str, str]], lines: str, element: str, name: str) -> str:
    """A module with one function, of `arguments` with their types, which returns `%r`."""
    taken = ", ".join(f"{argument}: {type}" for argument, type in arguments)
    tensor = f"tensor<?x{element}>"
    return f"func.func @{name}({taken}) -> {tensor} {{\n{lines}\nreturn %r : {tensor}\n}}"
