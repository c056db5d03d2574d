"""Types of elements, in PyTorch and in MLIR."""

from .._operators.writer import Unsupported
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


def float_type(dtype: torch.dtype) -> str:
    """Returns the type in MLIR. Raises Unsupported unless it is of floats with arithmetic."""
    if dtype not in FLOATS:
        raise Unsupported
    return MLIR_TYPES[dtype]


def number_type(dtype: torch.dtype) -> str:
    """Returns the type in MLIR. Raises Unsupported unless it is of truth values, or of numbers with
    arithmetic."""
    if dtype not in (*FLOATS, *SIGNED, torch.bool):
        raise Unsupported
    return MLIR_TYPES[dtype]
