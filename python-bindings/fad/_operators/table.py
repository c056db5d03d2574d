"""The table of elementwise operators.

All that reads or writes an operator looks it up here: functions of numpy and of PyTorch
(`fad.elementwise`, `fad.torch.elementwise`), joint graphs of torch.compile, sequences of
fad.torch.nest, whose extension is compiled with a table that torch/eager/_header.py makes of
this one, and tests. An activation is a row here, and a `.td` in include/fad/IR/Activations where
fad has an operation for it.

PyTorch itself knows which operators are `torch.Tag.core` or `torch.Tag.pointwise`, and has
a kernel for the key `AutocastCUDA` of those that autocast widens. There are no columns for
these."""

from typing import NamedTuple

from . import formulas
from .formulas import Formula


class Operator(NamedTuple):
    """A row: an elementwise operator as frameworks call it.

    `kind` says how the result depends on the operands: "linear" in all of them together;
    "product", linear in each of two; "quotient", linear in the dividend; "piecewise", with
    a derivative that has few values; "smooth", with any other; "step", with the derivative
    zero; "condition", which is true or not; "logic", a condition of conditions; "select", one
    operand or another; "cast", the operand in another type; "rowwise", a function of rows."""

    #: The name in ATen, without the overload.
    name: str
    kind: str
    #: The operation of MLIR that has the values of floats; of integers, where that is
    #: another. Empty where there is none.
    mlir: str = ""
    integer: str = ""
    #: The value with PyTorch's derivative at kinks. Without one, `mlir` has that.
    formula: Formula | None = None
    #: The overload that is one operation in joint graphs; empty where there is none.
    aten: str = "default"
    operands: int = 1
    #: The names in numpy or scipy.special, and Python's sign.
    numpy: str = ""
    sign: str = ""
    #: Of operators in sequences of fad.torch.nest: the tensor that PyTorch's node saves,
    #: "nothing", "input" or "result", and the overloads.
    saves: str = ""
    nested: str = "default"
    #: How the extension computes them, where operators of the kind have no form in common.
    form: str = ""
    #: The derivative by the result y, where it is a polynomial: "sigmoid", y (1 - y);
    #: "tanh", 1 - y^2; "exp", y.
    slope: str = ""
    #: The numbers besides tensors, where they are "bounds" or an "exponent".
    numbers: str = ""
    #: What the node of the form that writes to its operand saves: "input", a copy from
    #: before, or "result". Empty where no activation is written to its operand.
    in_place: str = ""
    #: The number of that node: PyTorch counts the overloads that have nodes of their own.
    node: int = 0
    #: The value as an expression of mpmath in the operands x, y and z, and in numbers by the
    #: names that formulas have for them. Without one, mpmath's function of the name.
    reference: str = ""
    #: The predicates of `mlir` and of `integer` where these compare.
    orders: tuple[str, str] = ("", "")


def _functions(names: str, **columns: str) -> list[Operator]:
    """Returns the functions of one number that ATen, MLIR and mpmath have by one name."""
    arc = {name: f"arc{name[1:]}" for name in "acos acosh asin asinh atan atanh".split()}
    return [
        Operator(name, "smooth", f"math.{name}", numpy=arc.get(name, name), **columns)
        for name in names.split()
    ]


# fmt: off
OPERATORS = (
    # Arithmetic
    Operator("add", "linear", "arith.addf", "arith.addi", formulas.add, "Tensor", 2, "add", "+",
             saves="nothing", nested="Tensor Scalar", form="add", reference="x + y"),
    Operator("sub", "linear", "arith.subf", "arith.subi", formulas.subtract, "Tensor", 2,
             "subtract", "-", saves="nothing", nested="Tensor Scalar", form="subtract", reference="x - y"),
    Operator("rsub", "linear", formula=formulas.subtract_from, aten="", operands=2,
             saves="nothing", nested="Scalar", form="reverse", reference="y - x"),
    Operator("mul", "product", "arith.mulf", "arith.muli", None, "Tensor", 2, "multiply", "*",
             saves="input", nested="Tensor Scalar", form="multiply", reference="x * y"),
    Operator("div", "quotient", "arith.divf", "", formulas.divide, "Tensor", 2, "divide", "/",
             saves="input", nested="Tensor Scalar", form="divide", reference="x / y"),
    Operator("neg", "linear", "arith.negf", numpy="negative", sign="-", saves="nothing",
             reference="-x"),
    Operator("reciprocal", "smooth", formula=formulas.reciprocal, aten="", saves="result",
             reference="1 / x"),
    Operator("pow", "smooth", "math.powf", "", formulas.power, "Tensor_Tensor", 2, "power", "**",
             saves="input", nested="Tensor_Scalar", numbers="exponent", reference="x ** y"),
    Operator("fmod", "smooth", "arith.remf", "", None, "Tensor", 2, "fmod",
             reference="x - y * (floor(x / y) if x * y > 0 else ceil(x / y))"),
    Operator("fma", "smooth", "math.fma", operands=3, reference="x * y + z"),
    # Functions of one number
    *_functions("cos log log1p sin", saves="input"),
    *_functions("expm1 sqrt tan", saves="result"),
    *_functions("exp", saves="result", slope="exp"),
    *_functions("tanh", saves="result", slope="tanh", in_place="result"),
    *_functions("erf", saves="input"),
    *_functions("acos acosh asin asinh atan atanh cosh erfc log10 sinh"),
    *_functions("exp2", reference="2 ** x"),
    *_functions("log2", reference="log(x, 2)"),
    Operator("rsqrt", "smooth", "math.rsqrt", saves="result", reference="1 / sqrt(x)"),
    # Functions of two
    Operator("atan2", "smooth", "math.atan2", operands=2, numpy="arctan2"),
    Operator("copysign", "piecewise", "math.copysign", "", None, "Tensor", 2, "copysign",
             reference="abs(x) * sign(y)"),
    Operator("maximum", "piecewise", "arith.maximumf", operands=2, numpy="maximum",
             reference="max(x, y)"),
    Operator("minimum", "piecewise", "arith.minimumf", operands=2, numpy="minimum",
             reference="min(x, y)"),
    Operator("fmax", "piecewise", "arith.maxnumf", "", formulas.fmax, operands=2, reference="max(x, y)"),
    Operator("fmin", "piecewise", "arith.minnumf", "", formulas.fmin, operands=2, reference="min(x, y)"),
    # Activations
    Operator("sigmoid", "smooth", "fad.sigmoid", numpy="expit", saves="result", slope="sigmoid",
             in_place="result", reference="1 / (1 + exp(-x))"),
    Operator("silu", "smooth", "fad.silu", aten="", saves="input", in_place="input",
             reference="x / (1 + exp(-x))"),
    Operator("gelu", "smooth", "fad.gelu", formula=formulas.gelu, aten="", saves="input", in_place="input",
             reference="x * (1 + (tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3)) "
             "if approximate == 'tanh' else erf(x / sqrt(2)))) / 2"),
    Operator("mish", "smooth", "fad.mish", aten="", saves="input", in_place="input",
             reference="x * tanh(log1p(exp(x)))"),
    Operator("softplus", "smooth", formula=formulas.softplus, aten="", saves="input",
             reference="x if x * beta > threshold else log1p(exp(x * beta)) / beta"),
    Operator("elu", "smooth", formula=formulas.elu, aten="", saves="input", in_place="result",
             reference="scale * (x if x > 0 else alpha * expm1(x * input_scale))"),
    Operator("celu", "smooth", formula=formulas.celu, aten="", in_place="result",
             reference="x if x > 0 else alpha * expm1(x / alpha)"),
    Operator("hardsigmoid", "smooth", formula=formulas.hardsigmoid, aten="", saves="input",
             in_place="input", reference="min(max(x / 6 + 0.5, 0), 1)"),
    Operator("hardswish", "smooth", formula=formulas.hardswish, aten="", saves="input",
             in_place="input", reference="x * min(max(x / 6 + 0.5, 0), 1)"),
    # Functions with kinks
    Operator("abs", "piecewise", "math.absf", "", formulas.absolute, numpy="absolute",
             saves="input", reference="abs(x)"),
    Operator("relu", "piecewise", "fad.relu", "", formulas.relu, saves="result",
             in_place="result", reference="max(x, 0)"),
    Operator("leaky_relu", "piecewise", formula=formulas.leaky_relu, aten="", saves="input",
             in_place="result", reference="max(x, 0) + slope * min(x, 0)"),
    Operator("hardtanh", "piecewise", formula=formulas.hardtanh, aten="", saves="input",
             numbers="bounds", in_place="input", reference="min(max(x, low), high)"),
    Operator("clamp", "piecewise", formula=formulas.clamp, aten="", saves="input",
             numbers="bounds", in_place="input", node=1, reference="min(max(x, low), high)"),
    Operator("clamp_min", "piecewise", formula=formulas.clamp, aten="", saves="input",
             numbers="bounds", in_place="input", reference="max(x, low)"),
    Operator("clamp_max", "piecewise", formula=formulas.clamp_max, aten="", saves="input",
             numbers="bounds", in_place="input", reference="min(x, high)"),
    # Steps
    *(Operator(name, "step", f"math.{name}", numpy=name) for name in ("ceil", "floor")),
    Operator("trunc", "step", "math.trunc", numpy="trunc", reference="sign(x) * floor(abs(x))"),
    Operator("round", "step", "math.roundeven", numpy="rint", reference="nint(x)"),
    # Conditions
    *(Operator(name, "condition", "arith.cmpf", "arith.cmpi", None, "Tensor", 2, numpy, sign,
               reference=f"x {sign} y", orders=orders)
      for name, orders, numpy, sign in (
          ("eq", ("oeq", "eq"), "equal", "=="), ("ne", ("une", "ne"), "not_equal", "!="),
          ("gt", ("ogt", "sgt"), "greater", ">"), ("ge", ("oge", "sge"), "greater_equal", ">="),
          ("lt", ("olt", "slt"), "less", "<"), ("le", ("ole", "sle"), "less_equal", "<="))),
    Operator("isnan", "condition", "math.isnan", reference="isnan(x)"),
    # Conditions of conditions, by the names of integers' bits. One is negated by `xori` with true.
    Operator("bitwise_and", "logic", "arith.andi", aten="Tensor", operands=2, numpy="logical_and",
             sign="&"),
    Operator("bitwise_or", "logic", "arith.ori", aten="Tensor", operands=2, numpy="logical_or",
             sign="|"),
    Operator("bitwise_xor", "logic", "arith.xori", aten="Tensor", operands=2),
    Operator("bitwise_not", "logic", "arith.xori", aten="", numpy="logical_not", sign="~"),
    Operator("where", "select", "arith.select", "", None, "self", 3, reference="y if x else z"),
)
# fmt: on

#: What sequences of fad.torch.nest take besides: casts, and normalizations of rows, which are
#: no functions of numbers.
CONVERSIONS = (
    Operator("_to_copy", "cast", aten="", saves="nothing"),
    Operator("native_layer_norm", "rowwise", aten="", saves="input"),
    Operator("_fused_rms_norm", "rowwise", aten="", saves="input"),
)
