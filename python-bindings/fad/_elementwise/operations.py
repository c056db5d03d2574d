"""The operations that an elementwise function may use, by the names that numpy has."""

from typing import NamedTuple

from .._operators.table import OPERATORS, Operator


class Operation(NamedTuple):
    """An operation on elements: its name in MLIR, and in PyTorch as text with places for
    its operands. `takes` and `gives` are "number" or "condition". Where `has_tensors` is
    set, PyTorch's takes tensors, no numbers. `order` is the predicate of a comparison."""

    mlir: str
    torch: str
    takes: str = "number"
    gives: str = "number"
    has_tensors: bool = False
    order: str = ""


def _make_operation(row: Operator) -> Operation:
    places = [f"{{{i}}}" for i in range(row.operands)]
    takes = "condition" if row.kind == "logic" else "number"
    gives = "condition" if row.kind in ("condition", "logic") else "number"
    if row.sign:
        text = f" {row.sign} ".join(places) if row.operands > 1 else row.sign + places[0]
        return Operation(row.mlir, f"({text})", takes, gives, order=row.orders[0])
    # PyTorch's functions of two take tensors alone.
    text = f"torch.{row.name}({', '.join(places)})"
    return Operation(row.mlir, text, gives=gives, has_tensors=row.operands > 1)


OPERATIONS = {row.numpy: _make_operation(row) for row in OPERATORS if row.numpy}
#: Other names of numpy for the same.
ALIASES = {
    "fabs": "absolute",
    "true_divide": "divide",
    "float_power": "power",
    "bitwise_and": "logical_and",
    "bitwise_or": "logical_or",
    "bitwise_xor": "logical_xor",
    "invert": "logical_not",
}
