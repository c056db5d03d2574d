"""Bodies of elementwise operations in MLIR, as text."""

import math
import struct
from typing import Any

from ._requirements import torch

# Element types. Types that have no arithmetic here are only carried.
MLIR_TYPES = {
    torch.float64: "f64",
    torch.float32: "f32",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.bool: "i1",
    torch.uint8: "i8",
    torch.int8: "i8",
    torch.int16: "i16",
    torch.uint16: "i16",
    torch.int32: "i32",
    torch.uint32: "i32",
    torch.int64: "i64",
    torch.uint64: "i64",
    torch.float8_e4m3fn: "f8E4M3FN",
    torch.float8_e4m3fnuz: "f8E4M3FNUZ",
    torch.float8_e5m2: "f8E5M2",
    torch.float8_e5m2fnuz: "f8E5M2FNUZ",
}
FLOAT_TYPES = {text for dtype, text in MLIR_TYPES.items() if dtype.is_floating_point}
FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
SIGNED = (torch.int8, torch.int16, torch.int32, torch.int64)
# The forms of numbers, and of their bits, in the module struct.
_FORMATS = {
    torch.float64: ("<d", "<Q"),
    torch.float32: ("<f", "<I"),
    torch.float16: ("<e", "<H"),
    torch.bfloat16: ("<f", "<I"),
}


class Unsupported(Exception):
    """An operation, or one of its forms, that has no scalar body here."""


class Body:
    """The text of a scalar body in MLIR."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, text: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def constant(self, value: Any, dtype: torch.dtype) -> str:
        kind = MLIR_TYPES[dtype]
        if dtype is torch.bool:
            return self.add(f"arith.constant {str(bool(value)).lower()}")
        if dtype in SIGNED:
            return self.add(f"arith.constant {int(value)} : {kind}")
        if dtype not in FLOATS:
            raise Unsupported
        # The bits hold infinities, NaN and every digit.
        bits, is_exact = _find_bits(float(value), dtype)
        # PyTorch computes with the number as it is, and rounds the result.
        if dtype.itemsize == 2 and not is_exact:
            raise Unsupported
        return self.add(f"arith.constant 0x{bits:0{2 * dtype.itemsize}X} : {kind}")

    def apply(self, op: str, dtype: torch.dtype, *operands: str) -> str:
        return self.add(f"{op} {', '.join(operands)} : {MLIR_TYPES[dtype]}")

    def convert(self, value: str, source: torch.dtype, target: torch.dtype) -> str:
        if source is target:
            return value
        if target not in FLOATS:
            raise Unsupported
        to = MLIR_TYPES[target]
        if source is torch.bool:
            return self.add(f"arith.uitofp {value} : i1 to {to}")
        if source in SIGNED:
            return self.add(f"arith.sitofp {value} : {MLIR_TYPES[source]} to {to}")
        if source not in FLOATS:
            raise Unsupported
        if source.itemsize == target.itemsize:
            value = self.convert(value, source, torch.float32)
            source = torch.float32
        op = "extf" if source.itemsize < target.itemsize else "truncf"
        return self.add(f"arith.{op} {value} : {MLIR_TYPES[source]} to {to}")


def _find_bits(value: float, dtype: torch.dtype) -> tuple[int, bool]:
    """The bits of `value`, rounded to `dtype`, and whether they are `value`. A number
    that bfloat16 does not hold has no bits here."""
    number, integer = _FORMATS[dtype]
    try:
        packed = struct.pack(number, value)
    except OverflowError:
        packed = struct.pack(number, math.copysign(math.inf, value))
    bits = struct.unpack(integer, packed)[0]
    is_exact = struct.unpack(number, packed)[0] == value or value != value
    if dtype is torch.bfloat16:
        # Half of a float32.
        return bits >> 16, is_exact and bits & 0xFFFF == 0
    return bits, is_exact
