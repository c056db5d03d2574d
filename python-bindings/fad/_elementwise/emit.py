"""The operations of an elementwise function, as MLIR and as a function of PyTorch."""

import math
from typing import Any

import numpy as np

from .operations import OPERATIONS
from .symbols import Program, Symbol

#: Types of elements, and the type that they are computed in.
WIDE = {"f16": "f32", "bf16": "f32", "f32": "f32", "f64": "f64"}
_FLOATS: dict[str, tuple[Any, Any, int]] = {
    "f32": (np.float32, np.uint32, 8),
    "f64": (np.float64, np.uint64, 16),
}


class _Body:
    """The text of a scalar body."""

    def __init__(self, type_: str) -> None:
        self.type = type_
        self.lines: list[str] = []
        self.count = 0

    def add(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"%c{self.count} = {text}")
        return f"%c{self.count}"

    def read(self, value: Any) -> str:
        if isinstance(value, Symbol):
            return f"%{value.name}"
        make, bits, digits = _FLOATS[self.type]
        # The bits hold infinities, NaN and every digit.
        with np.errstate(over="ignore"):
            number = int(np.array(make(value)).view(bits))
        return self.add(f"arith.constant 0x{number:0{digits}X} : {self.type}")

    def add_step(self, index: int, name: str, operands: tuple[Any, ...]) -> None:
        if name == "where":
            text = "arith.select {} : " + self.type
        elif name == "not":
            yes = self.add("arith.constant true")
            text = f"arith.xori {{}}, {yes} : i1"
        elif name == "to_number":
            text = f"arith.uitofp {{}} : i1 to {self.type}"
        else:
            operation = OPERATIONS[name]
            type_ = "i1" if operation.takes == "condition" else self.type
            text = f"{operation.mlir} {{}} : {type_}"
        names = [self.read(each) for each in operands]
        self.lines.append(f"%v{index} = {text.format(', '.join(names))}")


def make_module(program: Program, result: Any, count: int, element: str) -> str:
    """A module in which `@f` applies the function to `count` tensors of one dimension."""
    body = _Body(WIDE[element])
    is_narrow = body.type != element
    for number in range(count):
        if is_narrow:
            body.lines.append(f"%x{number} = arith.extf %a{number} : {element} to {body.type}")
    for index, (name, operands) in enumerate(program.steps):
        body.add_step(index, name, operands)
    value = body.read(result)
    if is_narrow:
        value = body.add(f"arith.truncf {value} : {body.type} to {element}")
    tensor = f"tensor<?x{element}>"
    arguments = [f"%t{number}" for number in range(count)]
    elements = "a" if is_narrow else "x"
    block = ", ".join(f"%{elements}{number}: {element}" for number in range(count))
    lines = "\n".join(body.lines)
    return f"""func.func @f({", ".join(f"{each}: {tensor}" for each in arguments)}) -> {tensor} {{
%r = fad.elementwise ins({", ".join(arguments)} : {", ".join([tensor] * count)}) -> {tensor} {{
^bb0({block}):
{lines}
fad.yield {value} : {element}
}}
return %r : {tensor}
}}"""


def _write_number(value: Any) -> str:
    value = float(value)
    if math.isfinite(value):
        return repr(value)
    return "torch.nan" if math.isnan(value) else f"{'-' * (value < 0)}torch.inf"


#: What only the tracer makes.
_TORCH = {
    "where": "torch.where({}, {}, {})",
    "not": "torch.logical_not({})",
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
