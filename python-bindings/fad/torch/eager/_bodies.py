"""Deferred sequences as functions of MLIR."""

from typing import Any

from ..._operators.table import OPERATORS
from ..._operators.writer import Body, Input, Writer, make_elementwise, make_module
from .._releases import find_formula
from .._requirements import torch
from .._types import MLIR_TYPES

_DTYPES = {
    "Double": torch.float64,
    "Float": torch.float32,
    "Half": torch.float16,
    "BFloat16": torch.bfloat16,
}
_ROWS = {row.name: row for row in OPERATORS if row.saves}


class SequenceBody(Writer):
    """The scalar body of a sequence. Numbers of 16 bits are computed in f32 and rounded
    once, at the end. Of the numbers that operators have besides tensors, PyTorch rounds some
    to the type of the tensor before, which a formula says; the others are numbers of f32."""

    def __init__(self, key: str) -> None:
        head, *lines = key.split("\n")
        self.policy, dtype, *counts = head.split(" ")
        self.sources, self.constants, self.numbers = map(int, counts[:3])
        # The number of a GPU, or none for the CPU.
        self.device = int(counts[3].removeprefix("cuda:")) if counts[3:] else None
        self.dtype = _DTYPES[dtype]
        self.element = MLIR_TYPES[self.dtype]
        wide = "f32" if self.dtype.itemsize == 2 else self.element
        super().__init__(Body(self.dtype is torch.float16), wide)
        count = self.sources + self.constants
        convert = self.body.convert
        self.slots = [convert(f"%a{i}", self.element, wide) for i in range(count)]
        self.numbers_read = [convert(f"%n{i}", "f64", wide) for i in range(self.numbers)]
        for line in lines:
            name, *arguments = line.split(" ")
            self.slots.append(self.add(name, [self.find(each) for each in arguments]))

    def add(self, name: str, operands: list[Any]) -> str:
        """The value of an operator, such as "add.Tensor"."""
        name = name.partition(".")[0]
        row = _ROWS[name]
        # On a GPU, PyTorch rounds nothing before a sum.
        self.rounds = row.kind != "linear" or self.device is None
        formula = find_formula(row)
        return formula(self, *operands) if formula else self.apply(row.mlir, *operands)

    def find(self, argument: str) -> Any:
        """An argument as `SequenceText` (csrc/sequence/Text.h) has it."""
        if argument[0] == "%":
            return self.slots[int(argument[1:])]
        if argument[0] == "$":
            return self.numbers_read[int(argument[1:])]
        text = argument[1:]
        if text == "none":
            return None
        try:
            return float(text)
        except ValueError:
            return text

    def round(self, operand: Any) -> Any:
        if not self.rounds or operand not in self.numbers_read:
            return operand
        convert = self.body.convert
        return convert(convert(operand, self.type, self.element), self.element, self.type)

    def make_module(self, name: str = "f") -> str:
        """A module whose function `name` maps sources, constants and numbers to the
        value."""
        element = self.element
        tensor, count = f"tensor<?x{element}>", self.sources + self.constants
        inputs = [Input(f"%x{i}", tensor, f"%a{i}", element) for i in range(count)]
        inputs += [Input(f"%s{i}", "f64", f"%n{i}", "f64") for i in range(self.numbers)]
        value = self.body.convert(self.slots[-1], self.type, element)
        lines = make_elementwise(inputs, self.body.text, value, element)
        return make_module([each[:2] for each in inputs], lines, element, name)
