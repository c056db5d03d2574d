"""The operations of an elementwise function, as MLIR and as a function of PyTorch."""

import math
from typing import Any

from .._operators import writer
from .._operators.writer import Body, Input, Writer
from .operations import OPERATIONS
from .symbols import Program, Symbol

#: Types of elements, and the type that they are computed in.
WIDE = {"f16": "f32", "bf16": "f32", "f32": "f32", "f64": "f64"}


class _Emitter:
    """Writes the operations of a program to a scalar body."""

    def __init__(self, program: Program, count: int, element: str) -> None:
        self.body, wide = Body(element == "f16"), WIDE[element]
        self.write = Writer(self.body, wide)
        self.values = {
            f"x{number}": self.body.convert(f"%a{number}", element, wide) for number in range(count)
        }
        for index, (name, operands) in enumerate(program.steps):
            self.values[f"v{index}"] = self.add(name, [self.read(each) for each in operands])

    def read(self, value: Any) -> str:
        return self.values[value.name] if isinstance(value, Symbol) else self.write.read(value)

    def add(self, name: str, operands: list[str]) -> str:
        if name == "to_number":
            return self.body.convert(*operands, "i1", self.write.type)
        if name == "where":
            return self.write.select(*operands)
        operation = OPERATIONS[name]
        if operation.takes == "condition":
            return self.body.apply_logic(operation.mlir, *operands)
        return self.body.apply(operation.mlir, self.write.type, *operands)


def make_module(program: Program, result: Any, count: int, element: str) -> str:
    """A module in which `@f` applies the function to `count` tensors of one dimension."""
    emitter = _Emitter(program, count, element)
    value = emitter.body.convert(emitter.read(result), WIDE[element], element)
    tensor = f"tensor<?x{element}>"
    inputs = [Input(f"%t{i}", tensor, f"%a{i}", element) for i in range(count)]
    lines = writer.make_elementwise(inputs, emitter.body.text, value, element)
    return writer.make_module([each[:2] for each in inputs], lines, element, "f")


def _write_number(value: Any) -> str:
    value = float(value)
    if math.isfinite(value):
        return repr(value)
    return "torch.nan" if math.isnan(value) else f"{'-' * (value < 0)}torch.inf"


#: What only the tracer makes.
_TORCH = {
    "where": "torch.where({}, {}, {})",
    "to_number": "{}.to(x0.dtype)",
}


def make_torch_source(program: Program, result: Any, count: int) -> str:
    """The function `f` on tensors of PyTorch, all of one type."""

    def read(value: Any, is_tensor: bool = False) -> str:
        if isinstance(value, Symbol):
            return value.name
        number = _write_number(value)
        return f"torch.full_like(x0, {number})" if is_tensor else number

    lines = [f"def f({', '.join(f'x{number}' for number in range(count))}):"]
    for index, (name, operands) in enumerate(program.steps):
        # Numbers alone have no type of their own.
        has_tensors = name == "where" or (name in OPERATIONS and OPERATIONS[name].has_tensors)
        text = _TORCH[name] if name in _TORCH else OPERATIONS[name].torch
        names = [read(each, has_tensors) for each in operands]
        lines.append(f"    v{index} = {text.format(*names)}")
    lines.append(f"    return {read(result, True)}")
    return "\n".join(lines)
