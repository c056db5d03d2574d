"""The operations that an elementwise function may use, by the names that numpy has."""

from typing import NamedTuple


class Operation(NamedTuple):
    """An operation on elements: its name in MLIR, and in PyTorch as text with places for
    its operands. `takes` and `gives` are "number" or "condition". Where `has_tensors` is
    set, PyTorch's takes tensors, no numbers."""

    mlir: str
    torch: str
    takes: str = "number"
    gives: str = "number"
    has_tensors: bool = False


def _list_operations() -> dict[str, Operation]:
    conditions = "condition", "condition"
    operations = {
        "add": Operation("arith.addf", "({0} + {1})"),
        "subtract": Operation("arith.subf", "({0} - {1})"),
        "multiply": Operation("arith.mulf", "({0} * {1})"),
        "divide": Operation("arith.divf", "({0} / {1})"),
        "negative": Operation("arith.negf", "(-{0})"),
        "absolute": Operation("math.absf", "torch.abs({0})"),
        "power": Operation("math.powf", "torch.pow({0}, {1})"),
        "rint": Operation("math.roundeven", "torch.round({0})"),
        "fmod": Operation("arith.remf", "torch.fmod({0}, {1})", has_tensors=True),
        "maximum": Operation("arith.maximumf", "torch.maximum({0}, {1})", has_tensors=True),
        "minimum": Operation("arith.minimumf", "torch.minimum({0}, {1})", has_tensors=True),
        "arctan2": Operation("math.atan2", "torch.atan2({0}, {1})", has_tensors=True),
        "copysign": Operation("math.copysign", "torch.copysign({0}, {1})", has_tensors=True),
        "logical_and": Operation("arith.andi", "({0} & {1})", *conditions),
        "logical_or": Operation("arith.ori", "({0} | {1})", *conditions),
    }
    names = "sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh floor ceil trunc"
    for name in f"{names} erf erfc".split():
        operations[name] = Operation(f"math.{name}", f"torch.{name}({{0}})")
    for name in "sin cos tan sinh cosh tanh".split():
        operations[f"arc{name}"] = Operation(f"math.a{name}", f"torch.a{name}({{0}})")
    comparisons = {
        "greater": ("ogt", ">"),
        "greater_equal": ("oge", ">="),
        "less": ("olt", "<"),
        "less_equal": ("ole", "<="),
        "equal": ("oeq", "=="),
        "not_equal": ("une", "!="),
    }
    for name, (predicate, sign) in comparisons.items():
        operations[name] = Operation(
            f"arith.cmpf {predicate},", f"({{0}} {sign} {{1}})", gives="condition"
        )
    return operations


OPERATIONS = _list_operations()
#: Other names of numpy for the same.
ALIASES = {
    "fabs": "absolute",
    "true_divide": "divide",
    "float_power": "power",
    "bitwise_and": "logical_and",
    "bitwise_or": "logical_or",
    "bitwise_xor": "logical_xor",
}
