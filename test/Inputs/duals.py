"""Forward-mode differentiation of arrays, in f64, with bounds of errors.

A dual number is a tensor of a program: its elements, what the program may compute
instead of them, and the tangents in many directions at once, with what these may be
off by: anything, where an infinity or NaN has a part in it. Everything is made of
elementwise functions, reads at given places, and reductions. Nothing here is fad's.
"""

import contextvars
import itertools

import numpy as np

# Half a unit in the last place of 1, and the least number, by type.
UNITS = {"f64": 2.0**-53, "f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}
LEAST = {"f64": 1e-300, "f32": 1e-37, "f16": 2.0**-24, "bf16": 1e-37}
# How many units an operation may err.
ULPS = 4
# The most that elements and tangents may be, by type, and errors relative to them.
LARGEST = {"f64": 1e4, "f32": 1e4, "f16": 50, "bf16": 1e3}
UNSURE = 0.1


class Unsuitable(Exception):
    """An operation on these numbers tells nothing: its result is not finite, or is
    rounding errors, or rounding decides between two branches."""


class Dual:
    """`value` and `error` have a tensor's shape; `tangent` and `slack` have the
    directions as one more dimension before it."""

    def __init__(self, element, value, tangent, error, slack):
        self.element = element
        self.value, self.tangent = value, tangent
        self.error, self.slack = error, slack

    @property
    def shape(self):
        return self.value.shape

    def check(self):
        """Raises Unsuitable."""
        largest = LARGEST[self.element]
        for array, off in ((self.value, self.error), (self.tangent, self.slack)):
            if not np.all(np.isfinite(array)):
                raise Unsuitable("not finite")
            scale = np.max(np.abs(array), initial=0)
            known = np.max(off, initial=0, where=np.isfinite(off))
            if scale > largest or known > UNSURE * largest:
                raise Unsuitable("large")
        known = np.max(self.error, initial=0, where=np.isfinite(self.error))
        if known > UNSURE * max(1, np.max(np.abs(self.value), initial=0)):
            raise Unsuitable("inexact")
        return self

    def apply(self, linear):
        """`linear`, which only moves elements of an array after the first dimension."""
        arrays = (self.value[None], self.tangent, self.error[None], self.slack)
        value, tangent, error, slack = map(linear, arrays)
        return Dual(self.element, value[0], tangent, error[0], slack)


# Whether an element of infinite error may be NaN, and not only infinite.
MAY_BE_NAN = contextvars.ContextVar("may_be_nan", default=False)


def or_unknown(off):
    """An error that is not a number is an infinite one."""
    return np.where(np.isnan(off), np.inf, off)


def constant(element, value, directions):
    """Numbers of no tangent, which `element` has exactly or rounds."""
    value = np.asarray(value, np.float64)
    zeros = np.zeros((directions, *value.shape))
    return Dual(element, value, zeros, np.zeros(value.shape), zeros)


def move(sign, error):
    """An end of the error; NaN is that of an infinite one alone."""
    return np.where(np.isinf(error), sign * error, 0) if np.isnan(sign) else sign * error


def elementwise(element, function, partials, *arguments, exact=False):
    """`function` of the elements, whose partial derivatives `partials` are. Where it
    is `exact`, it does not round."""
    with np.errstate(all="ignore"):
        values = [argument.value for argument in arguments]
        value = np.asarray(function(*values), np.float64)
        shape = value.shape
        slopes = [np.broadcast_to(slope, shape) for slope in partials(*values)]
        # Slopes at the values that the program may have instead.
        wobbles = [np.zeros(shape) for _ in slopes]
        if any(np.any(argument.error) for argument in arguments):
            ends = (-1, 1, np.nan) if MAY_BE_NAN.get() else (-1, 1)
            for signs in itertools.product(ends, repeat=len(arguments)):
                near = [a.value + move(sign, a.error) for a, sign in zip(arguments, signs)]
                for wobble, slope, other in zip(wobbles, slopes, partials(*near)):
                    np.maximum(wobble, or_unknown(np.abs(other - slope)), out=wobble)
        unit, least = (0, 0) if exact else (ULPS * UNITS[element], LEAST[element])
        error = unit * np.abs(value) + least
        tangent, slack = 0, 0
        for argument, slope, wobble in zip(arguments, slopes, wobbles):
            error = error + (np.abs(slope) + wobble) * argument.error
            tangent = tangent + slope * argument.tangent
            steps = np.abs(argument.tangent) + argument.slack
            # A slope that is taken from the result is as exact as that.
            off = wobble + unit * np.maximum(np.abs(slope), 1) + least
            # No path leads through here where there are no steps.
            off = np.where(steps == 0, 0, or_unknown(off * steps))
            slack = slack + or_unknown(np.abs(slope) * argument.slack) + off
        error, slack = (np.broadcast_to(a, b) for a, b in ((error, shape), (slack, tangent.shape)))
        return Dual(element, value, tangent, or_unknown(error), slack).check()


def compare(left, right):
    """Where `left` is less, and where they are equal. Raises Unsuitable where this is
    for rounding to decide."""
    off = 4 * (left.error + right.error)
    if np.any((off > 0) & (np.abs(left.value - right.value) <= off)):
        raise Unsuitable("decided by rounding")
    return left.value < right.value, left.value == right.value


def select(mask, left, right, ties=False):
    """`left` where `mask`. At `ties`, either tangent is right, and any between them."""
    dual = Dual(
        left.element,
        *(
            np.where(mask, getattr(left, name), getattr(right, name))
            for name in ("value", "tangent", "error", "slack")
        ),
    )
    off = left.slack + right.slack
    either = np.abs(left.tangent - right.tangent) + off
    # A zero for the branch not taken meets the infinity in it.
    dual.slack = np.where(ties | ~np.isfinite(off), dual.slack + either, dual.slack)
    return dual.check()


def extremum(left, right, least):
    """The greater or the lesser one."""
    less, equal = compare(left, right)
    return select(less == least, left, right, ties=equal)


def take(dual, *places):
    """The elements at `places`, an array of indices for each dimension."""
    return dual.apply(lambda array: array[(slice(None), *places)])


def put(dual, places, init):
    """`init` with the elements of `dual` at `places`, one index array a dimension, none
    of them twice."""

    def write(array, into):
        into = into.copy()
        into[(slice(None), *places)] = array
        return into

    return Dual(
        init.element,
        write(dual.value[None], init.value[None])[0],
        write(dual.tangent, init.tangent),
        write(dual.error[None], init.error[None])[0],
        write(dual.slack, init.slack),
    )


def join(duals, axis):
    """Parts that lie one after the other along `axis`."""
    return Dual(
        duals[0].element,
        np.concatenate([dual.value for dual in duals], axis),
        np.concatenate([dual.tangent for dual in duals], axis + 1),
        np.concatenate([dual.error for dual in duals], axis),
        np.concatenate([dual.slack for dual in duals], axis + 1),
    )


def flatten_last(dual, kept):
    """The dimensions after the first `kept` as one."""
    count = int(np.prod(dual.shape[kept:]))  # Not -1: there may be no elements.
    return dual.apply(lambda array: array.reshape(*array.shape[: kept + 1], count))


def add_up(dual, kept):
    """Sums over the dimensions after the first `kept`."""
    dual = flatten_last(dual, kept)
    unit = ULPS * UNITS[dual.element] * (dual.shape[-1] + 1)
    return Dual(
        dual.element,
        dual.value.sum(-1),
        dual.tangent.sum(-1),
        (dual.error + unit * np.abs(dual.value)).sum(-1),
        (dual.slack + unit * np.abs(dual.tangent)).sum(-1),
    ).check()


def multiply_up(dual, kept):
    """Products over the dimensions after the first `kept`. The slope of a factor is the
    product over the factor, here as in PyTorch: of one that is not finite, NaN."""
    dual = flatten_last(dual, kept)
    unknown = ~np.isfinite(dual.error) & (dual.tangent != 0)
    slack = np.where(unknown, np.inf, dual.slack)
    dual = Dual(dual.element, dual.value, dual.tangent, dual.error, slack)
    total = constant(dual.element, np.ones(dual.shape[:-1]), dual.tangent.shape[0])
    for index in range(dual.shape[-1]):
        factor = dual.apply(lambda array: array[..., index])
        total = elementwise(dual.element, np.multiply, lambda a, b: (b, a), total, factor)
    return total


def find_extremum(dual, kept, least, share):
    """The greatest or least over the dimensions after the first `kept`; there is one.
    Terms that equal it `share` its tangent evenly, or the first has it."""
    dual = flatten_last(dual, kept)
    order = dual.value if least else -dual.value
    first = np.argmin(order, -1)
    best = np.take_along_axis(order, first[..., None], -1)
    off = 4 * (dual.error + np.take_along_axis(dual.error, first[..., None], -1))
    ties = order == best
    unsure = (off > 0) & (order - best <= off)
    # One is itself.
    np.put_along_axis(unsure, first[..., None], False, -1)
    if np.any(unsure):
        raise Unsuitable("decided by rounding")
    if not share:
        ties = np.zeros(ties.shape, bool)
        np.put_along_axis(ties, first[..., None], True, -1)
    if not np.all(np.isfinite(dual.error)):
        raise Unsuitable("not finite")
    weight = ties / np.maximum(ties.sum(-1, keepdims=True), 1)
    return dual.apply(lambda array: (array * weight).sum(-1)).check()
