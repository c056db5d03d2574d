"""The scalar operations that ATen and MLIR share: bodies of elementwise
operations for fad, and nodes of a graph for PyTorch."""

from typing import Any, Callable, Sequence

import torch

from .._body import FLOATS, SIGNED, Body, Unsupported

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
        # For an element its name in the body.
        self.value, self.dtype = value, dtype

    def read(self, body: Body, dtype: torch.dtype) -> str:
        if self.dtype is None:
            return body.constant(self.value, dtype)
        return body.convert(self.value, self.dtype, dtype)


Rule = Callable[..., str]


def _apply(op: str) -> Rule:
    def rule(body: Body, dtype: torch.dtype, *operands: Operand) -> str:
        if dtype not in FLOATS:
            raise Unsupported
        return body.apply(op, dtype, *(operand.read(body, dtype) for operand in operands))

    return rule


def _scaled(op: str) -> Rule:
    """`a op alpha * b`."""

    def rule(body, dtype, a, b, *, alpha=1):
        if dtype not in FLOATS:
            raise Unsupported
        second = b.read(body, dtype)
        if alpha != 1:
            factor = body.constant(alpha, dtype)
            second = body.apply("arith.mulf", dtype, second, factor)
        return body.apply(op, dtype, a.read(body, dtype), second)

    return rule


def _compare(ordered: str, integer: str) -> Rule:
    def rule(body, _, a, b):
        dtypes = [operand.dtype for operand in (a, b) if operand.dtype is not None]
        dtype = dtypes[0]
        for other in dtypes[1:]:
            dtype = torch.promote_types(dtype, other)
        numbers = [operand.value for operand in (a, b) if operand.dtype is None]
        if dtype in FLOATS:
            op = f"arith.cmpf {ordered},"
        elif dtype in SIGNED and all(isinstance(number, int) for number in numbers):
            if any(operand not in (None, dtype) for operand in dtypes):
                raise Unsupported
            op = f"arith.cmpi {integer},"
        else:
            raise Unsupported
        return body.apply(op, dtype, a.read(body, dtype), b.read(body, dtype))

    return rule


def _logic(op: str) -> Rule:
    def rule(body, dtype, *operands):
        if dtype is not torch.bool or any(o.dtype is not torch.bool for o in operands):
            raise Unsupported
        return body.apply(op, dtype, *(operand.value for operand in operands))

    return rule


def _not(body, dtype, a):
    if dtype is not torch.bool or a.dtype is not torch.bool:
        raise Unsupported
    return body.apply("arith.xori", dtype, a.value, body.constant(True, dtype))


def _where(body, dtype, condition, a, b):
    if condition.dtype is not torch.bool:
        raise Unsupported
    return body.apply(
        "arith.select", dtype, condition.value, a.read(body, dtype), b.read(body, dtype)
    )


def _identity(body, dtype, a, *_, **__):
    return a.read(body, dtype)


def _reciprocal(body, dtype, a):
    if dtype not in FLOATS:
        raise Unsupported
    return body.apply("arith.divf", dtype, body.constant(1, dtype), a.read(body, dtype))


def _clamp(body, dtype, a, low=None, high=None):
    if dtype not in FLOATS:
        raise Unsupported
    value = a.read(body, dtype)
    for op, bound in (("arith.maximumf", low), ("arith.minimumf", high)):
        if bound is not None:
            value = body.apply(op, dtype, value, bound.read(body, dtype))
    return value


def _power(body, dtype, a, b):
    if dtype not in FLOATS:
        raise Unsupported
    base = a.read(body, dtype)
    if b.dtype is None and b.value in (2, 3):
        square = body.apply("arith.mulf", dtype, base, base)
        return square if b.value == 2 else body.apply("arith.mulf", dtype, square, base)
    return body.apply("math.powf", dtype, base, b.read(body, dtype))


# The body of each elementwise operation of ATen, by its overload packet.
RULES: dict[Any, Rule] = {
    aten.add: _scaled("arith.addf"),
    aten.sub: _scaled("arith.subf"),
    aten.mul: _apply("arith.mulf"),
    aten.neg: _apply("arith.negf"),
    aten.reciprocal: _reciprocal,
    aten.maximum: _apply("arith.maximumf"),
    aten.minimum: _apply("arith.minimumf"),
    aten.clamp: _clamp,
    aten.clamp_min: _clamp,
    aten.clamp_max: lambda body, dtype, a, high: _clamp(body, dtype, a, None, high),
    aten.pow: _power,
    aten.relu: _apply("fad.relu"),
    aten.sigmoid: _apply("fad.sigmoid"),
    aten.abs: _apply("math.absf"),
    aten.atan2: _apply("math.atan2"),
    aten.ceil: _apply("math.ceil"),
    aten.cos: _apply("math.cos"),
    aten.erf: _apply("math.erf"),
    aten.exp: _apply("math.exp"),
    aten.exp2: _apply("math.exp2"),
    aten.expm1: _apply("math.expm1"),
    aten.floor: _apply("math.floor"),
    aten.fmod: _apply("arith.remf"),
    aten.log: _apply("math.log"),
    aten.log1p: _apply("math.log1p"),
    aten.log2: _apply("math.log2"),
    aten.round: _apply("math.roundeven"),
    aten.rsqrt: _apply("math.rsqrt"),
    aten.sin: _apply("math.sin"),
    aten.sqrt: _apply("math.sqrt"),
    aten.tan: _apply("math.tan"),
    aten.tanh: _apply("math.tanh"),
    aten.trunc: _apply("math.trunc"),
    aten.eq: _compare("oeq", "eq"),
    aten.ne: _compare("une", "ne"),
    aten.gt: _compare("ogt", "sgt"),
    aten.ge: _compare("oge", "sge"),
    aten.lt: _compare("olt", "slt"),
    aten.le: _compare("ole", "sle"),
    aten.logical_not: _not,
    aten.bitwise_not: _not,
    aten.logical_and: _logic("arith.andi"),
    aten.bitwise_and: _logic("arith.andi"),
    aten.logical_or: _logic("arith.ori"),
    aten.bitwise_or: _logic("arith.ori"),
    aten.where: _where,
    aten.clone: _identity,
    prims.convert_element_type: _identity,
    prims.fma: _apply("math.fma"),
}


def _divide(body, dtype, a, b, *, rounding_mode=None):
    if rounding_mode is not None:
        raise Unsupported
    return _apply("arith.divf")(body, dtype, a, b)


RULES[aten.div] = _divide

# How each elementwise operation depends on operands that are linear in the
# cotangents: on all of them at once, or on one of these positions.
LINEAR: dict[Any, Sequence[int] | None] = {
    aten.add: None,
    aten.sub: None,
    aten.neg: None,
    aten.clone: None,
    prims.convert_element_type: None,
    aten.mul: (0, 1),
    aten.div: (0,),
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
TARGETS: dict[str, Any] = {
    "arith.addf": aten.add.Tensor,
    "arith.subf": aten.sub.Tensor,
    "arith.mulf": aten.mul.Tensor,
    "arith.divf": aten.div.Tensor,
    "arith.remf": aten.fmod.Tensor,
    "arith.negf": aten.neg.default,
    "arith.maximumf": aten.maximum.default,
    "arith.minimumf": aten.minimum.default,
    "arith.maxnumf": aten.fmax.default,
    "arith.minnumf": aten.fmin.default,
    "arith.addi": aten.add.Tensor,
    "arith.subi": aten.sub.Tensor,
    "arith.muli": aten.mul.Tensor,
    "arith.andi": aten.bitwise_and.Tensor,
    "arith.ori": aten.bitwise_or.Tensor,
    "arith.xori": aten.bitwise_xor.Tensor,
    "arith.cmpf.oeq": aten.eq.Tensor,
    "arith.cmpf.une": aten.ne.Tensor,
    "arith.cmpf.ogt": aten.gt.Tensor,
    "arith.cmpf.oge": aten.ge.Tensor,
    "arith.cmpf.olt": aten.lt.Tensor,
    "arith.cmpf.ole": aten.le.Tensor,
    "arith.cmpi.eq": aten.eq.Tensor,
    "arith.cmpi.ne": aten.ne.Tensor,
    "arith.cmpi.slt": aten.lt.Tensor,
    "arith.cmpi.sle": aten.le.Tensor,
    "arith.cmpi.sgt": aten.gt.Tensor,
    "arith.cmpi.sge": aten.ge.Tensor,
    "arith.cmpi.ult": aten.lt.Tensor,
    "arith.cmpi.ule": aten.le.Tensor,
    "arith.cmpi.ugt": aten.gt.Tensor,
    "arith.cmpi.uge": aten.ge.Tensor,
    "arith.bitcast": aten.view.dtype,
    "arith.select": aten.where.self,
    "fad.relu": aten.relu.default,
    "fad.sigmoid": aten.sigmoid.default,
    "math.absf": aten.abs.default,
    "math.atan2": aten.atan2.default,
    "math.ceil": aten.ceil.default,
    "math.cos": aten.cos.default,
    "math.erf": aten.erf.default,
    "math.exp": aten.exp.default,
    "math.exp2": aten.exp2.default,
    "math.expm1": aten.expm1.default,
    "math.floor": aten.floor.default,
    "math.fma": prims.fma.default,
    "math.isnan": aten.isnan.default,
    "math.log": aten.log.default,
    "math.log1p": aten.log1p.default,
    "math.log2": aten.log2.default,
    "math.powf": aten.pow.Tensor_Tensor,
    "math.roundeven": aten.round.default,
    "math.rsqrt": aten.rsqrt.default,
    "math.sin": aten.sin.default,
    "math.sqrt": aten.sqrt.default,
    "math.tan": aten.tan.default,
    "math.tanh": aten.tanh.default,
    "math.trunc": aten.trunc.default,
    **dict.fromkeys(_CONVERSIONS, prims.convert_element_type.default),
}


def read_number(value: Any) -> Any:
    """A number of a plan, in which infinities and NaN are strings."""
    return float(value) if isinstance(value, str) else value
