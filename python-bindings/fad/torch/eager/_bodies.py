"""Deferred sequences as functions of MLIR."""

import math
from collections.abc import Callable

from .._requirements import torch
from .._body import MLIR_TYPES, Body

_DTYPES = {
    "Double": torch.float64,
    "Float": torch.float32,
    "Half": torch.float16,
    "BFloat16": torch.bfloat16,
}


class SequenceBody:
    """The scalar body of a sequence. Numbers of 16 bits are computed in f32 and rounded
    once, at the end. Of the numbers that operators have besides tensors, PyTorch rounds some
    to the type of the tensor before, which a rule says; the others are numbers of f32."""

    def __init__(self, key: str) -> None:
        head, *lines = key.split("\n")
        self.policy, dtype, *counts = head.split(" ")
        self.sources, self.constants, self.numbers = map(int, counts[:3])
        # The number of a GPU, or none for the CPU.
        self.device = int(counts[3].removeprefix("cuda:")) if counts[3:] else None
        self.dtype = _DTYPES[dtype]
        self.wide = torch.float32 if self.dtype.itemsize == 2 else self.dtype
        self.body = Body()
        self.type = MLIR_TYPES[self.wide]
        count = self.sources + self.constants
        convert = self.body.convert
        self.slots = [convert(f"%a{i}", self.dtype, self.wide) for i in range(count)]
        self.read = [convert(f"%n{i}", torch.float64, self.wide) for i in range(self.numbers)]
        for line in lines:
            name, *arguments = line.split(" ")
            values = [self.find(argument) for argument in arguments]
            self.slots.append(_RULES[name](self, *values))

    def find(self, argument: str) -> str | None:
        if argument[0] == "%":
            return self.slots[int(argument[1:])]
        if argument[0] == "$":
            return self.read[int(argument[1:])]
        return None if argument == "=none" else argument

    def round(self, value: str) -> str:
        """A number in the type of the tensors. Values of tensors stay as they are."""
        if value not in self.read:
            return value
        return self.body.convert(
            self.body.convert(value, self.wide, self.dtype), self.dtype, self.wide
        )

    def constant(self, value: float) -> str:
        return self.body.constant(value, self.wide)

    def apply(self, op: str, *operands: str) -> str:
        return self.body.apply(op, self.wide, *operands)

    def compare(self, order: str, a: str, b: str) -> str:
        return self.apply(f"arith.cmpf {order},", a, b)

    def select(self, condition: str, a: str, b: str) -> str:
        return self.apply("arith.select", condition, a, b)

    def make_module(self, name: str = "f") -> str:
        """A module whose function `name` maps sources, constants and numbers to the
        value."""
        element = MLIR_TYPES[self.dtype]
        count, tensor = self.sources + self.constants, f"tensor<?x{element}>"
        given = [(f"%x{i}", f"%a{i}", tensor, element) for i in range(count)]
        given += [(f"%s{i}", f"%n{i}", "f64", "f64") for i in range(self.numbers)]
        arguments = ", ".join(f"{name}: {kind}" for name, _, kind, _ in given)
        block = ", ".join(f"{name}: {kind}" for _, name, _, kind in given)
        names, kinds = (", ".join(each[i] for each in given) for i in (0, 2))
        value = self.body.convert(self.slots[-1], self.wide, self.dtype)
        return "\n".join(
            [
                f"func.func @{name}({arguments}) -> {tensor} {{",
                f"%r = fad.elementwise ins({names} : {kinds}) -> {tensor} {{",
                f"^bb0({block}):",
                *self.body.lines,
                f"fad.yield {value} : {element}",
                "}",
                f"return %r : {tensor}",
                "}",
            ]
        )


Rule = Callable[..., str]


def _plain(op: str) -> Rule:
    return lambda body, *operands: body.apply(op, *operands)


def _scaled(op: str) -> Rule:
    """A sum. On a GPU, PyTorch rounds nothing before. Of `alpha`, see `SequenceText`."""

    def rule(body: SequenceBody, a: str, b: str, alpha: str) -> str:
        if body.device is None:
            a, b = body.round(a), body.round(b)
        scaled = b if alpha[0] == "=" else body.apply("arith.mulf", b, alpha)
        return body.apply(op, a, scaled)

    return rule


def _divide(body: SequenceBody, a: str, b: str) -> str:
    return body.apply("arith.divf", body.round(a), b)


def _reverse(body: SequenceBody, a: str, b: str, alpha: str) -> str:
    return _scaled("arith.subf")(body, b, a, alpha)


def _reciprocal(body: SequenceBody, x: str) -> str:
    return body.apply("arith.divf", body.constant(1), x)


def _root(body: SequenceBody, x: str, exponent: float) -> str:
    """The power of a half or its inverse, which PyTorch computes as a root, but for
    `float16`: powers of C are of the size where zeros and infinities are negative. Powers
    that derivatives have are that size for all types."""
    zero, is_power = body.constant(0), body.dtype is torch.float16
    if is_power:
        x = body.apply("arith.addf", x, zero)
    if is_power or exponent < 0:
        low, value = body.constant(-math.inf), body.constant(math.inf if is_power else math.nan)
        x = body.select(body.compare("oeq", x, low), value, x)
    if exponent > 0:
        return body.apply("math.sqrt", x)
    root = body.apply("math.rsqrt", x)
    return body.select(body.compare("oeq", x, zero), _reciprocal(body, x), root)


def _power(body: SequenceBody, x: str, exponent: str) -> str:
    value = float(exponent[1:])
    if value == 1:
        return x
    if value in (0.5, -0.5):
        return _root(body, x, value)
    if value == -1:
        return _reciprocal(body, x)
    square = body.apply("arith.mulf", x, x)
    if value == 2:
        return square
    return body.apply("arith.mulf", square, x if value == 3 else square)


def _gelu(body: SequenceBody, x: str, approximate: str) -> str:
    return body.apply("fad.gelu " + x + (" approximate <tanh>" if approximate == "=tanh" else ""))


def _still_nan(body: SequenceBody, x: str, value: str, other: str | None = None) -> str:
    """`value`, but NaN with the gradient zero where `x` or `other` is NaN, as comparisons of
    PyTorch's formulas are false there."""
    return body.select(body.compare("uno", x, other or x), body.constant(math.nan), value)


def _abs(body: SequenceBody, x: str) -> str:
    zero = body.constant(0)
    negative = body.select(body.compare("olt", x, zero), body.apply("arith.negf", x), x)
    return _still_nan(body, x, body.select(body.compare("oeq", x, zero), zero, negative))


def _relu(body: SequenceBody, x: str) -> str:
    zero = body.constant(0)
    return body.select(body.compare("ole", x, zero), zero, x)


def _leaky_relu(body: SequenceBody, x: str, slope: str) -> str:
    positive = body.compare("ogt", x, body.constant(0))
    return body.select(positive, x, body.apply("arith.mulf", x, slope))


def _bounded(below: str, above: str, is_rounded: bool) -> Rule:
    """Between two bounds, where comparisons say which derivative the bounds have. The one
    with the lower bound is true of NaN, so that a bound that is NaN is the value. A value is a
    bound in the type of the tensor, and comparisons are with that or with the number."""

    def rule(body: SequenceBody, x: str, low: str | None = None, high: str | None = None) -> str:
        value = x
        if low is not None:
            bound = body.round(low)
            is_below = body.compare(below, x, bound if is_rounded else low)
            value = body.select(is_below, bound, value)
        if high is not None:
            bound = body.round(high)
            is_above = body.compare(above, value, bound if is_rounded else high)
            value = body.select(is_above, bound, value)
        return _still_nan(body, x, value, high)

    return rule


_clamp = _bounded("ult", "ogt", is_rounded=True)


def _clamp_max(body: SequenceBody, x: str, high: str) -> str:
    return _clamp(body, x, None, high)


def _elu(body: SequenceBody, x: str, alpha: str, scale: str, input_scale: str) -> str:
    grown = body.apply("math.expm1", body.apply("arith.mulf", x, input_scale))
    negative = body.apply("arith.mulf", grown, body.apply("arith.mulf", alpha, scale))
    positive = body.apply("arith.mulf", x, scale)
    return body.select(body.compare("ule", x, body.constant(0)), negative, positive)


def _softplus(body: SequenceBody, x: str, beta: str, threshold: str) -> str:
    scaled = body.apply("arith.mulf", x, beta)
    smooth = body.apply("arith.divf", body.apply("fad.softplus", scaled), beta)
    return body.select(body.compare("ogt", scaled, threshold), x, smooth)


def _sixth(body: SequenceBody, x: str) -> str:
    sixth = body.apply("arith.mulf", x, body.constant(1 / 6))
    return body.apply("arith.addf", sixth, body.constant(0.5))


def _hardsigmoid(body: SequenceBody, x: str) -> str:
    inner = body.select(body.compare("oge", x, body.constant(3)), body.constant(1), _sixth(body, x))
    value = body.select(body.compare("ole", x, body.constant(-3)), body.constant(0), inner)
    return _still_nan(body, x, value)


def _hardswish(body: SequenceBody, x: str) -> str:
    inner = body.apply("arith.mulf", x, _sixth(body, x))
    inner = body.select(body.compare("oge", x, body.constant(3)), x, inner)
    # Not a number at -inf, and -0.0 from there.
    zero = body.apply("arith.mulf", x, body.constant(0))
    return body.select(body.compare("ole", x, body.constant(-3)), zero, inner)


_RULES: dict[str, Rule] = {
    "abs": _abs,
    "add.Scalar": _scaled("arith.addf"),
    "add.Tensor": _scaled("arith.addf"),
    "clamp": _clamp,
    "clamp_max": _clamp_max,
    "clamp_min": _clamp,
    "div.Scalar": _divide,
    "div.Tensor": _divide,
    "elu": _elu,
    "gelu": _gelu,
    "hardsigmoid": _hardsigmoid,
    "hardswish": _hardswish,
    "hardtanh": _bounded("ule", "oge", is_rounded=False),
    "leaky_relu": _leaky_relu,
    "mish": _plain("fad.mish"),
    "mul.Scalar": _plain("arith.mulf"),
    "mul.Tensor": _plain("arith.mulf"),
    "neg": _plain("arith.negf"),
    "pow.Tensor_Scalar": _power,
    "reciprocal": _reciprocal,
    "relu": _relu,
    "rsub.Scalar": _reverse,
    "sigmoid": _plain("fad.sigmoid"),
    "silu": _plain("fad.silu"),
    "softplus": _softplus,
    "sub.Scalar": _scaled("arith.subf"),
    "sub.Tensor": _scaled("arith.subf"),
    **{
        name: _plain(f"math.{name}")
        for name in "cos erf exp expm1 log log1p rsqrt sin sqrt tan tanh".split()
    },
}
