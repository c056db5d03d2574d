"""The rows of fad's table of operators that the extension needs, in C++."""

from collections.abc import Iterator

from ..._operators.formulas import EXPONENTS
from ..._operators.table import CONVERSIONS, OPERATORS, Operator

_KINDS = {
    "linear": "Linear",
    "product": "Product",
    "quotient": "Nonlinear",
    "piecewise": "Piecewise",
    "smooth": "Nonlinear",
    "cast": "Linear",
    "rowwise": "Rowwise",
}
# The forms of kinds whose operators have no form of their own.
_FORMS_OF_KINDS = {"cast": "Cast", "rowwise": "Normalize"}
# Each includer defines one of these.
_MACROS = ("FAD_OPERATOR(name, form, kind, saves, slope, numbers)", "FAD_IN_PLACE(name, saves)")
_MACROS += ("FAD_RESULT_NODE(name, type)", "FAD_COPYING_NODE(type)", "FAD_EXPONENT(value)")


def _list_overloads(row: Operator) -> Iterator[str]:
    for overload in row.nested.split():
        name = row.name if overload == "default" else f"{row.name}.{overload}"
        kind, saves = _KINDS[row.kind], row.saves.capitalize()
        if overload == "Scalar":
            # The other factor is a number, and so are all of a sum.
            kind, saves = "Linear", "Nothing"
        columns = (
            f'"{name}"',
            row.form.capitalize() or _FORMS_OF_KINDS.get(row.kind, "Unary"),
            kind,
            saves,
            row.slope.capitalize() or "Unknown",
            row.numbers.capitalize() or "Others",
        )
        yield f"FAD_OPERATOR({', '.join(columns)})"


def name_node(row: Operator) -> str:
    """Returns the type of the node of the form of `row` that writes to its operand, in PyTorch's
    C++."""
    words = (word.capitalize() for word in row.name.split("_"))
    return f"{''.join(words)}Backward{row.node}"


def make_header() -> str:
    """Returns the text of sequence/Operators.inc, which files of the extension include."""
    lines = []
    for macro in _MACROS:
        name = macro.partition("(")[0]
        lines += [f"#ifndef {name}", f"#define {macro}", "#endif"]
    for row in (*OPERATORS, *CONVERSIONS):
        if row.saves:
            lines += _list_overloads(row)
        if row.saves == "result":
            lines.append(f'FAD_RESULT_NODE("{row.name}", {name_node(row)})')
        if row.in_place:
            lines.append(f'FAD_IN_PLACE("{row.name}", {row.in_place.capitalize()})')
        if row.in_place == "input":
            lines.append(f"FAD_COPYING_NODE({name_node(row)})")
    lines += [f"FAD_EXPONENT({value})" for value in EXPONENTS]
    lines += [f"#undef {macro.partition('(')[0]}" for macro in _MACROS]
    return "\n".join(lines) + "\n"
