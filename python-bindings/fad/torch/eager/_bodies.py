"""Deferred sequences as functions of MLIR."""

from typing import Any

from ..._module import Module
from ..._operators.table import CONVERSIONS, OPERATORS, Operator
from ..._operators.writer import Body, Value, Writer, make_module
from .._releases import find_formula
from .._requirements import torch
from .._types import MLIR_TYPES

_DTYPES = {
    "Double": torch.float64,
    "Float": torch.float32,
    "Half": torch.float16,
    "BFloat16": torch.bfloat16,
}
_ROWS = {row.name: row for row in (*OPERATORS, *CONVERSIONS) if row.saves}


class SequenceBody(Writer):
    """The scalar body of a sequence. Numbers of 16 bits are computed in f32 and rounded
    once, where another type begins and at the end. Of the numbers that operators have besides
    tensors, PyTorch rounds some to the type of the tensor before, which a formula says; the
    others are numbers of f32."""

    def __init__(self, key: str) -> None:
        head, *lines = key.split("\n")
        self.policy, types, *counts = head.split(" ")
        self.sources, self.constants, self.numbers = map(int, counts[:3])
        # The number of a GPU, or none for the CPU.
        self.device = int(counts[3].removeprefix("cuda:")) if counts[3:] else None
        #: Of sources, constants and results; that of the operator now.
        self.elements = [MLIR_TYPES[_DTYPES[each]] for each in types.split(",")]
        count = self.sources + self.constants
        if len(self.elements) == 1:
            self.elements *= count
        self.element = self.elements[0]
        wide = "f32" if self.element in ("f16", "bf16") else self.element
        super().__init__(Body(self.element == "f16"), wide)
        arguments = [self.body.add_argument(each) for each in self.elements[:count]]
        numbers = [self.body.add_argument("f64") for _ in range(self.numbers)]
        self.slots = [self.body.convert(each, wide) for each in arguments]
        self.numbers_read = [self.body.convert(each, wide) for each in numbers]
        for line in lines:
            name, *arguments = line.split(" ")
            row = _ROWS[name.partition(".")[0]]
            self.begin(row, arguments)
            self.slots.append(self.add(row, [self.find(each) for each in arguments]))

    @property
    def is_mixed(self) -> bool:
        return len(set(self.elements)) > 1

    def begin(self, row: Operator, arguments: list[str]) -> None:
        """Finds the type of an operator's result."""
        used = {self.elements[int(each[1:])] for each in arguments if each[0] == "%"}
        if row.kind == "cast":
            self.element = MLIR_TYPES[_DTYPES[arguments[1][1:]]]
        else:
            # Of both types of 16 bits, PyTorch computes in f32.
            self.element = used.pop() if len(used) == 1 else "f32"
        self.elements.append(self.element)
        self.body.is_f16 = self.element == "f16"

    def add(self, row: Operator, operands: list[Any]) -> Value:
        """Returns the value of an operator."""
        if row.kind == "cast":
            return self.round_to(operands[0], self.element)
        # On a GPU, PyTorch rounds nothing before a sum.
        self.rounds = row.kind != "linear" or self.device is None
        formula = find_formula(row)
        return formula(self, *operands) if formula else self.apply(row.mlir, *operands)

    def find(self, argument: str) -> Any:
        """Returns an argument as `SequenceText` (csrc/sequence/Text.h) has it."""
        if argument[0] == "%":
            return self.read_as(int(argument[1:]))
        if argument[0] == "$":
            return self.numbers_read[int(argument[1:])]
        text = argument[1:]
        if text == "none":
            return None
        try:
            return float(text)
        except ValueError:
            return text

    def round_to(self, value: Value, element: str) -> Value:
        """`value` as it is in the type `element`."""
        return self.body.convert(self.body.convert(value, element), self.type)

    def read_as(self, number: int) -> Value:
        """Returns a value, rounded where an operator of another type reads it."""
        slot, element = self.slots[number], self.elements[number]
        is_input = number < self.sources + self.constants
        if element == self.element or is_input or element == self.type:
            return slot
        return self.round_to(slot, element)

    def round(self, operand: Any) -> Any:
        if not self.rounds or operand not in self.numbers_read:
            return operand
        return self.round_to(operand, self.element)

    def make_module(self, name: str = "f") -> Module:
        """Returns a module whose function `name` maps sources, constants and numbers to the
        value."""
        element = self.elements[-1]
        value = self.body.convert(self.slots[-1], element)
        return make_module(self.body.finish(value), self.numbers, name)
