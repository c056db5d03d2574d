"""The scalar operations that ATen and MLIR share: bodies of elementwise
operations for fad, nodes of a graph for PyTorch, and decompositions for Inductor."""

import functools
import json
import math
import operator
from typing import Any, Callable, Sequence

import torch

from ... import _fad, nest
from ..._module import get_handle
from ..._operators import formulas
from ..._operators.formulas import Formula
from ..._operators.table import OPERATORS, Operator
from ..._operators.writer import Body, Unsupported, Value, Writer, make_module
from .._types import FLOATS, MLIR_TYPES, SIGNED, float_type, number_type
from ._pytorch import get_decompositions, pw_cast_for_opmath, select_decomp_table

aten, prims = torch.ops.aten, torch.ops.prims

# The element types of new nodes. Bytes are unsigned where nothing says more.
TORCH_TYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "i1": torch.bool,
    "i8": torch.uint8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
}


class Operand:
    """An operand of an elementwise node: a tensor's element or a number."""

    def __init__(self, value: Any, dtype: torch.dtype | None) -> None:
        # For an element its value in the body.
        self.value, self.dtype = value, dtype

    def read(self, body: Body, dtype: torch.dtype) -> Value:
        if self.dtype is None:
            return body.constant(self.value, number_type(dtype))
        if self.dtype is dtype:
            return self.value
        number_type(self.dtype)
        return body.convert(self.value, float_type(dtype))

    def read_float(self, body: Body, dtype: torch.dtype) -> Any:
        """Returns an operand of a formula: a value of floats, or a number."""
        return self.value if self.dtype is None else self.read(body, dtype)


Rule = Callable[..., Value]


def apply_to_floats(formula: Formula) -> Rule:
    """Returns the rule of a formula of floats. Numbers are as they are."""

    def rule(body: Body, dtype: torch.dtype, *operands: Operand | None, **options: Any) -> Value:
        write = Writer(body, float_type(dtype))
        values = [each and each.read_float(body, dtype) for each in operands]
        return formula(write, *values, **options)

    return rule


def _apply(op: str) -> Rule:
    return apply_to_floats(lambda write, *values: write.apply(op, *values))


def _compare(row: Operator) -> Rule:
    def rule(body: Body, _: torch.dtype, a: Operand, b: Operand) -> Value:
        dtypes = [operand.dtype for operand in (a, b) if operand.dtype is not None]
        dtype = dtypes[0]
        for other in dtypes[1:]:
            dtype = torch.promote_types(dtype, other)
        numbers = [operand.value for operand in (a, b) if operand.dtype is None]
        op, order = row.mlir, row.orders[0]
        if dtype in SIGNED and all(isinstance(number, int) for number in numbers):
            if any(operand not in (None, dtype) for operand in dtypes):
                raise Unsupported
            op, order = row.integer, row.orders[1]
        elif dtype not in FLOATS:
            raise Unsupported
        return body.compare(op, order, a.read(body, dtype), b.read(body, dtype))

    return rule


def _logic(op: str) -> Rule:
    def rule(body: Body, dtype: torch.dtype, *operands: Operand) -> Value:
        if dtype is not torch.bool or any(o.dtype is not torch.bool for o in operands):
            raise Unsupported
        return body.apply_logic(op, *(operand.value for operand in operands))

    return rule


def _where(body: Body, dtype: torch.dtype, condition: Operand, a: Operand, b: Operand) -> Value:
    if condition.dtype is not torch.bool:
        raise Unsupported
    values = a.read(body, dtype), b.read(body, dtype)
    return body.apply("arith.select", condition.value, *values)


def _identity(body: Body, dtype: torch.dtype, a: Operand, *_: Any, **__: Any) -> Value:
    return a.read(body, dtype)


def _clamp(write: Writer, x: Value, low: Any = None, high: Any = None) -> Value:
    value = x if low is None else write.apply("arith.maximumf", x, low)
    return value if high is None else write.apply("arith.minimumf", value, high)


def _power(write: Writer, x: Value, exponent: Any) -> Value:
    if exponent in (2, 3):
        return formulas.power(write, x, exponent)
    return write.apply("math.powf", x, exponent)


def divide(
    body: Body, dtype: torch.dtype, a: Operand, b: Operand, *, rounding_mode: str | None = None
) -> Value:
    if rounding_mode is not None:
        raise Unsupported
    return apply_to_floats(formulas.divide)(body, dtype, a, b)


def find_packet(operator: Operator) -> Any:
    """Returns the operator of PyTorch: with all its overloads."""
    return getattr(prims if operator.name == "fma" else aten, operator.name)


# The operators whose formula has no kinks, and takes what joint graphs give it.
_BY_FORMULA = ("add", "sub", "reciprocal")


def _make_rules() -> dict[Any, Rule]:
    rules: dict[Any, Rule] = {}
    for row in OPERATORS:
        if row.name in _BY_FORMULA:
            rules[find_packet(row)] = apply_to_floats(row.formula)
        elif row.kind == "condition" and row.integer:
            rules[find_packet(row)] = _compare(row)
        elif row.kind == "logic":
            logical = getattr(aten, row.name.replace("bitwise", "logical"))
            rules[find_packet(row)] = rules[logical] = _logic(row.mlir)
        elif row.aten and row.kind != "condition":
            rules[find_packet(row)] = _apply(row.mlir)
    return rules


# The body of each elementwise operation of joint graphs, by its overload packet: its values,
# as PyTorch has found the derivatives there.
RULES: dict[Any, Rule] = {
    **_make_rules(),
    aten.div: divide,
    aten.clamp: apply_to_floats(_clamp),
    aten.clamp_min: apply_to_floats(_clamp),
    aten.clamp_max: apply_to_floats(lambda write, x, high: _clamp(write, x, None, high)),
    aten.pow: apply_to_floats(_power),
    aten.where: _where,
    aten.clone: _identity,
    prims.convert_element_type: _identity,
}

# How each elementwise operation depends on operands that are linear in the
# cotangents: on all of them at once, or on one of these positions.
_LINEAR = {"linear": None, "product": (0, 1), "quotient": (0,)}
LINEAR: dict[Any, Sequence[int] | None] = {
    aten.clone: None,
    prims.convert_element_type: None,
    **{
        find_packet(row): _LINEAR[row.kind] for row in OPERATORS if row.aten and row.kind in _LINEAR
    },
}

# The node of each scalar operation of MLIR. Conversions go by the result.
_CONVERSIONS = (
    "arith.extf arith.truncf arith.uitofp arith.sitofp arith.extui arith.extsi "
    "arith.trunci arith.fptoui arith.fptosi"
).split()
# The types of bytes that operations read, where that matters: types of plans have no sign.
SIGNS = {
    **dict.fromkeys("arith.extsi arith.sitofp".split(), torch.int8),
    **dict.fromkeys("arith.extui arith.uitofp".split(), torch.uint8),
    **{f"arith.cmpi.s{order}": torch.int8 for order in ("lt", "le", "gt", "ge")},
    **{f"arith.cmpi.u{order}": torch.uint8 for order in ("lt", "le", "gt", "ge")},
}


def _list_rows() -> dict[str, Operator]:
    """Returns the rows of operations by their names in plans."""
    rows = {}
    for row in OPERATORS:
        for op, order in zip((row.mlir, row.integer), row.orders):
            if row.aten and op:
                rows[f"{op}.{order}" if order else op] = row
    return rows


_ROWS = _list_rows()
_BY_NAME = {row.name: row for row in OPERATORS}
TARGETS: dict[str, Any] = {
    **{op: getattr(find_packet(row), row.aten) for op, row in _ROWS.items()},
    "arith.cmpi.ult": aten.lt.Tensor,
    "arith.cmpi.ule": aten.le.Tensor,
    "arith.cmpi.ugt": aten.gt.Tensor,
    "arith.cmpi.uge": aten.ge.Tensor,
    "arith.bitcast": aten.view.dtype,
    **dict.fromkeys(_CONVERSIONS, prims.convert_element_type.default),
}


def read_number(value: Any) -> Any:
    """Returns a number of a plan, in which infinities and NaN are strings."""
    return float(value) if isinstance(value, str) else value


# Decompositions of activations for Inductor's graphs: of Mish by fad's own formula, and of the GELU
# of tanh by one that has fewer operations.
#
# Those of PyTorch compute Mish by `exp`, `log1p` and `tanh`, and the GELU of tanh by
# `tanh`, and again in backward. Value and derivative of fad share one exponential, so that
# one kernel that computes both costs little more than either.

# Both activations are zero there in every type; at minus infinity, they are products with zero.
_LOW = -800.0
# From there on, the sigmoid in the GELU of tanh is one in every type, and its derivative zero.
_HIGH = 27.0
# Operators of Python take a number in the place of either operand.
_SIGNS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
_SIGNS |= {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
_BOUNDS = {"minimum": torch.clamp_max, "maximum": torch.clamp_min}


@functools.cache
def _expand(row: Operator, element: str) -> dict[str, Any]:
    """Returns the operations of an activation's value and derivative."""
    body = Body()
    x, write = body.add_argument(element), Writer(body, element)
    formula = row.formula or (lambda write, x: write.apply(row.mlir, x))
    nested = nest(make_module(body.finish(formula(write, x))), policy="fad")
    nested.module.run("fad-expand-primitives,canonicalize,cse")
    return json.loads(_fad.describe(get_handle(nested.module)))


def _evaluate(number: int, row: Operator, x: torch.Tensor) -> Any:
    """Returns the value of an activation at `x` for the `number` 0, and the derivative for 1."""
    plan = _expand(row, MLIR_TYPES[x.dtype])
    entries = {entry["name"]: entry for entry in plan["new"]}
    # The only operand without a name is the argument.
    values: dict[str | None, Any] = {None: x}

    def read(argument: Any) -> Any:
        if isinstance(argument, dict):
            return read_number(argument["value"])
        if argument not in values:
            entry = entries[argument]
            values[argument] = call(_ROWS[entry["op"]], *map(read, entry["args"]))
        return values[argument]

    def call(row: Operator, *operands: Any) -> Any:
        if row.sign in _SIGNS and len(operands) == 2:
            return _SIGNS[row.sign](*operands)
        if row.name in _BOUNDS and not isinstance(operands[1], torch.Tensor):
            return _BOUNDS[row.name](*operands)
        return find_packet(row)(*operands)

    return read(plan["results"][number])


def _decompose(name: str) -> tuple[Callable, Callable]:
    """Returns the activation `name` and its gradient, as functions of tensors."""
    row = _BY_NAME[name]

    @pw_cast_for_opmath
    def compute(x: torch.Tensor) -> torch.Tensor:
        return _evaluate(0, row, x.clamp_min(_LOW))

    @pw_cast_for_opmath
    def differentiate(gradient: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return gradient * _evaluate(1, row, x.clamp_min(_LOW))

    return compute, differentiate


def _find_gelu_parts(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Returns what value and derivative of the GELU of tanh share: `x` within bounds, the negative
    terms of u(x) / x, exp(-u) and its sigmoid."""
    scale = 2 * math.sqrt(2 / math.pi)
    x = x.clamp_max(_HIGH)
    cubic = x * x * (-0.044715 * scale)
    sum_ = cubic - scale
    exponential = torch.exp(x * sum_)
    return x, cubic, sum_, exponential, torch.reciprocal(exponential + 1)


@pw_cast_for_opmath
def _gelu(x: torch.Tensor) -> torch.Tensor:
    x = x.clamp_min(_LOW)
    return x * _find_gelu_parts(x)[-1]


# On a GPU, Inductor writes a value of more than 30 operations to memory where it reads two tensors,
# and a gradient is a product in 32 bits before it is rounded. By fad's formula for all types and
# targets, it has more, and by this one 28.
@pw_cast_for_opmath
def _gelu_backward(gradient: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    x, cubic, sum_, exponential, sigmoid = _find_gelu_parts(x.clamp_min(_LOW))
    # The complement of the sigmoid, which is a product of infinity and zero without the bound.
    complement = exponential.clamp_max(torch.finfo(x.dtype).max) * sigmoid
    return gradient * (sigmoid * (1 - x * complement * (sum_ + cubic + cubic)))


class _Table(dict):
    """A table of decompositions that PyTorch's caches can identify: what they compile
    is known by its pickled form, and functions in a function have none. `Partitioner.uuid`
    stands for the content."""

    def __reduce__(self) -> Any:
        return _make_table, ()


def _make_table() -> dict[Any, Callable]:
    return make_decompositions(select_decomp_table())


def find_decompositions() -> dict[Any, Callable]:
    """Inductor's decompositions under its options of now, with those below."""
    return make_decompositions(select_decomp_table())


def make_decompositions(table: dict[Any, Callable]) -> dict[Any, Callable]:
    """`table`, Inductor's, with fad's decompositions."""
    gelu, gelu_backward = table[aten.gelu.default], table[aten.gelu_backward.default]
    mish, mish_backward = _decompose("mish")

    def any_gelu(x, *, approximate="none"):
        return _gelu(x) if approximate == "tanh" else gelu(x, approximate=approximate)

    def any_gelu_backward(gradient, x, *, approximate="none"):
        if approximate == "tanh":
            return _gelu_backward(gradient, x)
        return gelu_backward(gradient, x, approximate=approximate)

    added = {
        aten.mish.default: mish,
        aten.mish_backward.default: mish_backward,
        aten.gelu.default: any_gelu,
        aten.gelu_backward.default: any_gelu_backward,
    }
    return _Table(table | added)


@pw_cast_for_opmath
def _softplus_backward(
    gradient: torch.Tensor, x: torch.Tensor, beta: float, threshold: float
) -> torch.Tensor:
    # PyTorch's decomposition has the cotangent in both cases.
    x = x * beta
    return gradient * torch.where(x > threshold, 1.0, x.sigmoid())


def decompose_gradients() -> dict[Any, Callable]:
    """Decompositions of the gradients of activations, of which fad finds the factors of a
    cotangent. Values are computed by PyTorch's own operators."""
    # Those without kinks, which are one operation in fad, are products in PyTorch.
    rows = [row for row in OPERATORS if row.kind == "smooth" and row.mlir]
    found = [getattr(aten, f"{row.name}_backward", None) for row in rows]
    return {
        **get_decompositions([*filter(None, found)]),
        aten.softplus_backward.default: _softplus_backward,
    }
