"""The operations of an elementwise function, as MLIR and as a function of PyTorch."""

import math
from typing import Any

from .._operators.writer import Body, Scalar, Value, Writer
from .operations import OPERATIONS
from .symbols import Program, Symbol

#: Types of elements, and the type that they are computed in.
WIDE = {"f16": "f32", "bf16": "f32", "f32": "f32", "f64": "f64"}


class _Emitter:
    """Writes the operations of a program to a scalar body."""

    def __init__(self, program: Program, count: int, element: str) -> None:
        self.body, wide = Body(element == "f16"), WIDE[element]
        self.write = Writer(self.body, wide)
        arguments = [self.body.add_argument(element) for _ in range(count)]
        self.values = {
            f"x{number}": self.body.convert(each, wide) for number, each in enumerate(arguments)
        }
        for index, (name, operands) in enumerate(program.steps):
            self.values[f"v{index}"] = self.add(name, [self.read(each) for each in operands])

    def read(self, value: Any) -> Value:
        return self.values[value.name] if isinstance(value, Symbol) else self.write.read(value)

    def add(self, name: str, operands: list[Value]) -> Value:
        if name == "to_number":
            return self.body.convert(*operands, self.write.type)
        if name == "where":
            return self.write.select(*operands)
        operation = OPERATIONS[name]
        if operation.takes == "condition":
            return self.body.apply_logic(operation.mlir, *operands)
        if operation.order:
            return self.body.compare(operation.mlir, operation.order, *operands)
        return self.body.apply(operation.mlir, *operands)


def make_scalar(program: Program, result: Any, count: int, element: str) -> Scalar:
    """Returns the function of `count` numbers of the type `element`."""
    emitter = _Emitter(program, count, element)
    return emitter.body.finish(emitter.body.convert(emitter.read(result), element))


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
    """Returns the function `f` on tensors of PyTorch, all of one type."""

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
