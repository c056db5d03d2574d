"""Operations that have no derivative at some points, and what PyTorch's is there.

torch-mlir's own forms have the right values, but at a kink they have the
derivative of whatever they are made of: `selu` that of a sum of a maximum and a
minimum, which is the sum of both sides. Here an operation is written with `where`,
which has the derivative of the branch that it takes, so that each point belongs to
the branch that PyTorch counts it to, NaN among them.

Some activations have a formula in fad's table of operators, too, for scalar bodies. They are
written a second time, as functions of tensors, since torch-mlir imports operations of tensors, and
`fad-raise` knows activations by these forms. A test compares both with the table's reference."""

import math

from .idioms import find_operations, of_rows, reduce, widen
from .operations import detach
from .._releases import keeps_slope_at_bounds
from .._requirements import torch

_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


def _for_floats(decomposition):
    """`decomposition` of tensors of floats only."""

    def decompose(x, *arguments, **keywords):
        if not x.is_floating_point():
            return NotImplemented
        return decomposition(x, *arguments, **keywords)

    return decompose


#
# Functions of one number
#


def _leaky_relu(x, slope=0.01):
    return torch.where(x > 0, x, x * slope)


def _elu(x, alpha=1, scale=1, input_scale=1):
    inner = x if input_scale == 1 else x * input_scale
    y = torch.where(x <= 0, alpha * torch.expm1(inner), x)
    return y if scale == 1 else y * scale


def _celu(x, alpha=1.0):
    return torch.where(x <= 0, alpha * torch.expm1(x / alpha), x)


def _hardtanh(x, low=-1, high=1):
    return torch.where(x <= low, low, torch.where(x >= high, high, x))


def _hardsigmoid(x):
    inside = (x > -3) & (x < 3)
    return torch.where(inside, (x + 3) / 6, _constant(x, torch.where(x > 0, _type(x, 1), 0)))


def _hardswish(x):
    return torch.where(x <= -3, x * 0, torch.where(x < 3, x * (x + 3) / 6, x))


def _softshrink(x, bound=0.5):
    shrunk = torch.where(x > 0, x - bound, x + bound)
    return torch.where((x >= -bound) & (x <= bound), 0, shrunk)


def _mish(x):
    """0 at -inf, where a chain of operations has 0 times infinity."""
    return torch.where(x == -math.inf, 0, x * torch.tanh(torch.nn.functional.softplus(x)))


def _type(x, number):
    """`number` as a tensor of the type of `x`. Of two numbers, PyTorch makes tensors of f32."""
    return torch.full((), number, dtype=x.dtype, device=x.device)


def _constant(x, number):
    """`number`, a tensor, or NaN where `x` is NaN, without a gradient for `x`."""
    return torch.where(torch.isnan(x), math.nan, number)


def _clamp_numbers(x, low=None, high=None):
    """Returns a number that equals a bound is within, but where the release leaves it no gradient;
    NaN is not, and stays."""
    if any(each is not None and math.isnan(each) for each in (low, high)):
        return torch.full_like(x, math.nan)
    is_crossed = None not in (low, high) and low > high
    low, high = (None if each is None else _type(x, each) for each in (low, high))
    if low is None:
        outside, inside, bound = x >= high, x <= high, high
    elif high is None:
        outside, inside, bound = x <= low, x >= low, low
    elif is_crossed:
        return _constant(x, high)
    else:
        outside, inside = (x <= low) | (x >= high), (x >= low) & (x <= high)
        bound = torch.where(x >= high, high, low)
    if not keeps_slope_at_bounds():
        inside = inside & ~outside
    return torch.where(inside, x, _constant(x, bound))


def _clamp(x, low=None, high=None):
    """Bounds that are tensors, with the gradients that PyTorch before 2.14 has.

    The upper bound has the gradient where it is less than the number or the lower bound, NaN as
    the value may be; the lower one where it is greater than the number and less than the upper
    one."""
    inside, result = x == x, math.nan
    if low is not None:
        inside, bound = x >= low, low
        if high is not None:
            # NaN where the upper bound is.
            crossed = detach(torch.where(torch.isnan(high), high, low))
            bound = torch.where(low < high, low, crossed)
        result = torch.where(x < low, bound, result)
    if high is not None:
        beyond, bound = x > high, high
        if low is not None:
            beyond = beyond | (high < low)
            unknown = detach(torch.where(torch.isnan(low), low, x))
            bound = high + torch.where(torch.isnan(unknown), unknown, 0)
        inside = inside & (x <= high)
        result = torch.where(beyond, bound, result)
    return torch.where(inside, x, result)


def _clamp_max(x, high):
    return _clamp(x, None, high)


def _clamp_max_number(x, high):
    return _clamp_numbers(x, None, high)


def _entr(x):
    """-x log(x), with an infinite slope at 0, that of a root."""
    value = torch.where(x < 0, -math.inf, -x * torch.log(torch.where(x == 0, 1, x)))
    at_zero = torch.sqrt(torch.where(x == 0, x - detach(x), 1))
    return torch.where(x == 0, at_zero, value)


#
# Functions of two numbers
#


def _fmax(x, y):
    return torch.where((x >= y) | (y != y), x, y)


def _fmin(x, y):
    return torch.where((x <= y) | (y != y), x, y)


def _join(x, y, border, inside, outside):
    """`inside` of the difference up to `border`, and `outside` of its size beyond. NaN
    is not beyond."""
    dtype = torch.result_type(x, y)
    difference = widen(x.to(dtype)) - widen(y.to(dtype))
    size = difference.abs()
    beyond = size > border
    near = torch.where(beyond, 0, difference)
    return torch.where(beyond, outside(size), inside(near)).to(dtype)


def _huber_loss(x, y, reduction=1, delta=1.0):
    loss = _join(x, y, delta, lambda d: 0.5 * d * d, lambda size: delta * (size - 0.5 * delta))
    return reduce(loss, reduction)


def _smooth_l1_loss(x, y, reduction=1, beta=1.0):
    if beta == 0:
        return reduce((x - y).abs(), reduction)
    loss = _join(x, y, beta, lambda d: 0.5 * d * d / beta, lambda size: size - 0.5 * beta)
    return reduce(loss, reduction)


def _times_log(log, least):
    """x * log(y), smooth where `x` is 0, and 0 there where the logarithm is
    infinite or none."""

    def times(x, y):
        if not isinstance(x, torch.Tensor):
            x = torch.full((), x, dtype=y.dtype, device=y.device)
        if not isinstance(y, torch.Tensor):
            y = torch.full((), y, dtype=x.dtype, device=x.device)
        constant = (x == 0) & ((y <= least) | (y == math.inf))
        return torch.where(constant, 0, x * log(torch.where(constant, 1, y)))

    return times


def _compare(comparison):
    """`comparison` with a number in the type of the tensor: torch-mlir compares in
    f64, where the 0.3 of the program is not the 0.3 of a tensor of f32, and it folds
    2.0 <= 0 to true."""

    def compare(x, number):
        if not x.is_floating_point() or not isinstance(number, (int, float)):
            return NotImplemented
        return comparison(x, _type(x, number))

    return compare


#
# Reductions
#


def root(x, order=2):
    """Returns the root of a number that is not negative, with the derivative 0 at 0."""
    positive = torch.where(x == 0, 1, x)
    y = torch.sqrt(positive) if order == 2 else positive ** (1 / order)
    return torch.where(x == 0, 0, y)


def _vector_norm(x, order=2, dim=None, keepdim=False, *, dtype=None):
    """Returns the norm of zeros has the derivative 0."""
    order = 2 if order is None else order
    if order == 0:
        return NotImplemented
    result = dtype or x.dtype
    dims = dim or list(range(x.dim()))
    wide = widen(x.to(result))
    if math.isinf(order):
        extreme = torch.amax if order > 0 else torch.amin
        return extreme(wide.abs(), dims, keepdim).to(result)
    if order == 2:
        terms = wide * wide
    elif order == 1:
        terms = wide.abs()
    else:
        size = torch.where(wide == 0, 1, wide.abs())
        terms = torch.where(wide == 0, 0, size**order)
    total = terms.sum(dims, keepdim)
    return (total if order == 1 else root(total, order)).to(result)


def _dist(x, y, order=2):
    return _vector_norm(x - y, order)


def _along(find_index, sign):
    """Returns the greatest or least of each row, by the sign, and its index: it has the gradient,
    and none of equal ones. A NaN is the greatest and the least."""

    def find(x, dim, keepdim=False):
        # torch-mlir's index is that of a number where there is a NaN.
        isnan = torch.isnan(x)
        marked = torch.where(isnan.any(dim, True), sign * isnan.to(x.dtype), x)
        index = find_index(marked, dim, True)
        values = x.gather(dim, index)
        if not keepdim:
            values, index = values.squeeze(dim), index.squeeze(dim)
        return values, index

    return find


def _multi_margin_loss(x, target, p=1, margin=1, weight=None, reduction=1):
    rows, target = torch.atleast_2d(x), torch.atleast_1d(target).unsqueeze(1)
    excess = torch.relu(margin - rows.gather(1, target) + rows)
    if p == 2:
        excess = excess * excess
    if weight is not None:
        excess = excess * weight[target]
    classes = torch.arange(rows.shape[1], device=x.device)
    loss = torch.where(classes != target, excess, 0).mean(1)
    if reduction == 0:
        return loss.reshape(x.shape[:-1])
    return loss.mean() if reduction == 1 else loss.sum()


def get_kinks() -> dict:
    """Decompositions of operations whose derivative fad finds itself."""
    table = {
        "celu": _celu,
        "clamp": _clamp_numbers,
        "clamp.Tensor": _clamp,
        "clamp_max": _clamp_max_number,
        "clamp_max.Tensor": _clamp_max,
        "clamp_min": _clamp_numbers,
        "clamp_min.Tensor": _clamp,
        "dist": _dist,
        "elu": _elu,
        "fmax": _fmax,
        "fmin": _fmin,
        "hardsigmoid": _hardsigmoid,
        "hardswish": _hardswish,
        "hardtanh": _hardtanh,
        "huber_loss": _huber_loss,
        "leaky_relu": _leaky_relu,
        "linalg_vector_norm": _vector_norm,
        "max.dim": of_rows(_along(torch.argmax, 1)),
        "min.dim": of_rows(_along(torch.argmin, -1)),
        "mish": _mish,
        "multi_margin_loss": _multi_margin_loss,
        "norm.Scalar": _vector_norm,
        "norm.ScalarOpt_dim": _vector_norm,
        "norm.ScalarOpt_dim_dtype": _vector_norm,
        "norm.ScalarOpt_dtype": _vector_norm,
        "smooth_l1_loss": _smooth_l1_loss,
        "softshrink": _softshrink,
        "special_entr": _entr,
    }
    table = {name: _for_floats(each) for name, each in table.items()}
    x_log_y, x_log1p_y = _times_log(torch.log, 0), _times_log(torch.log1p, -1)
    for kind in ("Tensor", "Scalar_Self", "Scalar_Other"):
        table[f"xlogy.{kind}"] = x_log_y
    for kind in ("default", "self_scalar", "other_scalar"):
        table[f"special_xlog1py.{kind}"] = x_log1p_y
    for name in _COMPARISONS:
        comparison = getattr(torch.ops.aten, name).Tensor
        table[f"{name}.Scalar"] = _compare(comparison)
    return find_operations(table)


def share_ties(operation) -> None:
    """Makes torch-mlir's maxima and minima of two tensors, which it writes as a
    comparison and a select, those of arith: equal numbers share the gradient, and
    NaN is kept."""
    from torch_mlir import ir

    names = {2: "arith.maximumf", 4: "arith.minimumf"}  # ogt, olt
    found = []

    def visit(each):
        if each.name == "arith.select":
            condition, *branches = each.operands
            comparison = condition.owner
            if (
                isinstance(comparison, ir.OpView)
                and comparison.operation.name == "arith.cmpf"
                and list(comparison.operation.operands) == branches
            ):
                predicate = ir.IntegerAttr(comparison.operation.attributes["predicate"])
                if predicate.value in names:
                    found.append((each, branches, names[predicate.value]))
        return ir.WalkResult.ADVANCE

    operation.walk(visit)
    for select, branches, name in found:
        shared = ir.Operation.create(
            name,
            results=[branches[0].type],
            operands=branches,
            attributes={"fad.shares_ties": ir.UnitAttr.get(operation.context)},
            loc=select.location,
            ip=ir.InsertionPoint(select),
        )
        select.results[0].replace_all_uses_with(shared.results[0])
        select.erase()
