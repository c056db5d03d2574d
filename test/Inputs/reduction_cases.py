"""Reductions over a constant number of elements, each a function of MLIR, and what
numpy makes of the same numbers.

What is reduced is `value(a)` of an element: it takes so many operations that
compilers do not unroll the loop over the elements but make vectors of it; infinities,
NaN and zeros stay what they are."""

import dataclasses
from typing import Callable

import numpy as np

TURNS = 6


def round_to_bf16(x):
    """The numbers of bf16 next to those of `x`, in f32; ties to even."""
    bits = np.asarray(x, "f4").view("u4")
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    return np.where(np.isnan(x), np.float32(np.nan), rounded.astype("u4").view("f4"))


# numpy's type, and what rounds its numbers to those of the type.
FLOATS = {
    "bf16": ("f4", round_to_bf16),
    "f16": ("f2", lambda x: x),
    "f32": ("f4", lambda x: x),
    "f64": ("f8", lambda x: x),
}
INTEGERS = {"i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8"}


def float_value(kind):
    """An odd polynomial of %a as %v, and the same in numpy."""
    lines = [
        f"%one = arith.constant 1.0 : {kind}",
        f"%fourth = arith.constant 0.25 : {kind}",
        f"%p = arith.mulf %a, %a : {kind}",
        f"%q0 = arith.addf %p, %one : {kind}",
    ]
    for i in range(TURNS):
        lines += [
            f"%e{i} = arith.mulf %q{i}, %p : {kind}",
            f"%t{i} = arith.mulf %e{i}, %fourth : {kind}",
            f"%q{i + 1} = arith.addf %t{i}, %one : {kind}",
        ]
    lines += [f"%v = arith.mulf %q{TURNS}, %a : {kind}"]
    _, to = FLOATS[kind]

    def evaluate(x):
        one, fourth = x.dtype.type(1), x.dtype.type(0.25)
        p = to(x * x)
        q = to(p + one)
        for _ in range(TURNS):
            q = to(to(to(q * p) * fourth) + one)
        return to(q * x)

    return lines, evaluate


def integer_value(kind):
    """Mixed bits of %a as %v, and the same in numpy."""
    lines = [f"%one = arith.constant 1 : {kind}", f"%q0 = arith.addi %a, %one : {kind}"]
    for i in range(TURNS):
        lines += [
            f"%e{i} = arith.muli %q{i}, %a : {kind}",
            f"%t{i} = arith.shrsi %q{i}, %one : {kind}",
            f"%q{i + 1} = arith.xori %e{i}, %t{i} : {kind}",
        ]
    lines += [f"%v = arith.addi %q{TURNS}, %one : {kind}"]

    def evaluate(x):
        one = x.dtype.type(1)
        q = x + one
        for _ in range(TURNS):
            q = (q * x) ^ (q >> one)
        return q + one

    return lines, evaluate


@dataclasses.dataclass
class Case:
    """A function `name` of an array of `size` rows, and of the start of each
    result. `reference(x, *starts)` is what it returns, but for `tolerance`."""

    name: str
    source: str
    size: int
    dtype: str
    starts: list[np.ndarray]
    reference: Callable
    tolerance: float = 0
    # Whether flags promise that there are neither NaN nor infinities.
    is_finite: bool = False

    def inputs(self, random):
        """Arrays to call the function with; of floats, some have NaN, infinities or
        zeros of both signs."""
        shape = self.size, *self.starts[0].shape
        if np.dtype(self.dtype).kind == "i":
            return [random.integers(-100, 100, shape).astype(self.dtype)]
        ordinary = random.uniform(-1.4, 1.4, shape).astype(self.dtype)
        if "bf16" in self.source:
            ordinary = round_to_bf16(ordinary)
        if self.is_finite:
            return [ordinary]
        arrays = [ordinary, np.full_like(ordinary, np.nan)]
        for special in np.nan, np.inf, -np.inf:
            arrays.append(ordinary.copy())
            arrays[-1][random.integers(self.size)] = special
        for sign in 1, -1:
            arrays.append(sign * np.abs(ordinary))
            arrays[-1][random.integers(self.size)] = 0.0
            arrays[-1][random.integers(self.size)] = -0.0
        return arrays

    def find_fault(self, x, got):
        """The error of the results `got` for `x`, or None."""
        with np.errstate(all="ignore"):
            expected = self.reference(x, *self.starts)
        for have, want in zip(got, expected, strict=True):
            have, want = np.asarray(have, "f8"), np.asarray(want, "f8")
            is_same = np.allclose(
                have, want, rtol=self.tolerance, atol=self.tolerance, equal_nan=True
            )
            if "imumf" in self.name:
                zero = want == 0
                is_same &= np.array_equal(np.signbit(have[zero]), np.signbit(want[zero]))
            if not is_same:
                return f"{self.name}({x.tolist()}) is {have}, not {want}"
        return None


def write(name, size, wide, element, results, lines, yields):
    """A function that reduces the rows of a matrix of three columns, or an array, of
    `element`: %a is one, %s0 and so on are the results until then."""
    tail = "3x" if wide else ""
    source = f"tensor<{size}x{tail}{element}>"
    types = [f"tensor<{tail}{result}>" for result in results]
    dims, columns = ("i, j", "j") if wide else ("i", "")
    kinds = '"reduction", "parallel"' if wide else '"reduction"'
    maps = [f"affine_map<({dims}) -> ({dims})>"]
    maps += [f"affine_map<({dims}) -> ({columns})>"] * len(results)
    count = range(len(results))
    body = "\n    ".join(lines)
    return f"""
func.func @{name}(%x: {source}, {", ".join(f"%i{k}: {types[k]}" for k in count)}) -> ({", ".join(types)}) {{
  %y:{len(types)} = linalg.generic {{indexing_maps = [{", ".join(maps)}], iterator_types = [{kinds}]}}
    ins(%x : {source}) outs({", ".join(f"%i{k}" for k in count)} : {", ".join(types)}) {{
  ^bb0(%a: {element}, {", ".join(f"%s{k}: {results[k]}" for k in count)}):
    {body}
    linalg.yield {yields} : {", ".join(results)}
  }} -> ({", ".join(types)})
  return {", ".join(f"%y#{k}" for k in count)} : {", ".join(types)}
}}
"""


def least(x, axis):
    """numpy's, but that -0 is less than 0."""
    result = np.minimum.reduce(x, axis=axis)
    has_negative_zero = np.any((x == 0) & np.signbit(x), axis=axis)
    return np.where(result == 0, np.where(has_negative_zero, -0.0, 0.0), result)


# numpy's reduction, what columns start from, and whether the result is exact.
FLOAT_KINDS = {
    "addf": (np.add.reduce, (0.5, -1, 0), False),
    "mulf": (np.multiply.reduce, (0.5, -1, 2), False),
    "minnumf": (np.fmin.reduce, (np.inf, np.nan, -0.25), True),
    "maxnumf": (np.fmax.reduce, (-np.inf, np.nan, 0.25), True),
    "minimumf": (least, (np.inf, np.nan, -0.25), True),
    "maximumf": (lambda x, axis: -least(-x, axis), (-np.inf, np.nan, 0.25), True),
}
# Not every operation on bf16 is rounded by itself.
ERRORS = {"bf16": 1.6e-2, "f16": 1e-2, "f32": 1e-5, "f64": 1e-13}


def float_case(op, kind, size, wide):
    reduce, starts, is_exact = FLOAT_KINDS[op]
    dtype, _ = FLOATS[kind]
    value, evaluate = float_value(kind)
    lines = [*value, f"%0 = arith.{op} %s0, %v : {kind}"]
    if kind == "bf16":
        # numpy has f32 for it.
        lines = [line.replace("%a", "%b").replace("%s0", "%t") for line in lines]
        lines.insert(0, "%b = arith.truncf %a : f32 to bf16")
        lines.insert(0, "%t = arith.truncf %s0 : f32 to bf16")
        lines.append("%r = arith.extf %0 : bf16 to f32")
    outer, result = ("f32", "%r") if kind == "bf16" else (kind, "%0")
    name = f"{op}_{kind}_{size}" + "_wide" * wide

    def reference(x, start):
        every = np.concatenate([start[None], evaluate(x)])
        return [reduce(every if is_exact else every.astype("f8"), axis=0)]

    return Case(
        name,
        write(name, size, wide, outer, [outer], lines, result),
        size,
        dtype,
        [np.array(starts if wide else starts[0], dtype)],
        reference,
        ERRORS[kind] * (1 if is_exact else size) * (kind == "bf16" or not is_exact),
    )


def of_unsigned(function):
    def reduce(x, axis, dtype):
        unsigned = x.view(dtype.str.replace("i", "u"))
        return function.reduce(unsigned, axis=axis).view(dtype)

    return reduce


INTEGER_KINDS = {
    "addi": np.add.reduce,
    "muli": np.multiply.reduce,
    "andi": np.bitwise_and.reduce,
    "ori": np.bitwise_or.reduce,
    "xori": np.bitwise_xor.reduce,
    "maxsi": np.maximum.reduce,
    "minsi": np.minimum.reduce,
    "maxui": of_unsigned(np.maximum),
    "minui": of_unsigned(np.minimum),
}


def integer_case(op, kind, size, wide):
    value, evaluate = integer_value(kind)
    lines = [*value, f"%0 = arith.{op} %s0, %v : {kind}"]
    name = f"{op}_{kind}_{size}" + "_wide" * wide

    def reference(x, start):
        every = np.concatenate([start[None], evaluate(x)])
        return [INTEGER_KINDS[op](every, axis=0, dtype=x.dtype)]

    start = np.array((5, -3, 77) if wide else 5, INTEGERS[kind])
    source = write(name, size, wide, kind, [kind], lines, "%0")
    return Case(name, source, size, INTEGERS[kind], [start], reference)


def find(values, found, is_better, start):
    """The number of `values` that was last better than the best until then, `start`
    at first, and what `found` has for it, or -1."""
    best, result = np.full_like(values[0], start), np.full_like(found[0], -1)
    for new, place in zip(values, found, strict=True):
        better = is_better(new, best)
        best, result = np.where(better, new, best), np.where(better, place, result)
    return [best, result]


def places(v):
    """The index of each number of `v`, along what is reduced."""
    return np.broadcast_to(np.arange(len(v)).reshape(-1, *[1] * (v.ndim - 1)), v.shape)


PLACE = ["%j = linalg.index 0 : index", "%i = arith.index_cast %j : index to i64"]
LARGE = ["%half = arith.constant 0.5 : f32", "%c = arith.cmpf ogt, %v, %half : f32"]


def search(predicate, greater, start, is_better):
    """The extremum and its place."""
    lines = [
        *PLACE,
        f"%c = arith.cmpf {predicate}, %v, %s0 : f32",
        f"%r0 = {greater} %v, %s0 : f32",
        "%r1 = arith.select %c, %i, %s1 : i64",
    ]
    return lines, [start, -1], lambda x, v: find(v, places(v), is_better, start)


# Lines that follow %v, an f32, and give %r0 and so on; what results start from; and
# what they are of the elements and the values.
OTHERS = {
    "argmax": search("ogt", "arith.select %c,", -np.inf, np.greater),
    "argmax_last": search("oge", "arith.select %c,", -9.0, np.greater_equal),
    "argmin": search("olt", "arith.minnumf", np.inf, np.less),
    "any": (
        [*LARGE, "%r0 = arith.ori %c, %s0 : i1"],
        [False],
        lambda x, v: [(v > 0.5).any(axis=0)],
    ),
    "any_selected": (
        [*LARGE, "%k = arith.constant 7 : i64", "%r0 = arith.select %c, %k, %s0 : i64"],
        [3],
        lambda x, v: [np.where((v > 0.5).any(axis=0), 7, 3)],
    ),
    "last": (
        [*LARGE, "%r0 = arith.select %c, %v, %s0 : f32"],
        [-1.0],
        lambda x, v: find(v, v, lambda new, _: new > 0.5, 0)[1:],
    ),
    "last_place": (
        [
            *LARGE,
            *PLACE,
            "%m = arith.shli %i, %i : i64",
            "%r0 = arith.select %c, %i, %s0 : i64",
            "%r1 = arith.select %c, %m, %s1 : i64",
        ],
        [-1, -1],
        lambda x, v: [
            find(v, found, lambda new, _: new > 0.5, 0)[1]
            for found in (places(v), places(v) << places(v))
        ],
    ),
    "count": (
        [*LARGE, "%d = arith.extui %c : i1 to i64", "%r0 = arith.addi %s0, %d : i64"],
        [2],
        lambda x, v: [(v > 0.5).sum(axis=0) + 2],
    ),
    "selected": (
        ["%c = arith.cmpf ugt, %v, %s0 : f32", "%r0 = arith.select %c, %v, %s0 : f32"],
        [-9.0],
        lambda x, v: find(v, v, lambda new, old: ~(new <= old), -9)[:1],
    ),
    "least_and_greatest": (
        ["%r0 = arith.minnumf %v, %s0 : f32", "%r1 = arith.maxnumf %v, %s1 : f32"],
        [9.0, -9.0],
        lambda x, v: [
            np.fmin(np.fmin.reduce(v, axis=0), 9),
            np.fmax(np.fmax.reduce(v, axis=0), -9),
        ],
    ),
    "greatest_and_sum": (
        ["%r0 = arith.maxnumf %v, %s0 : f32", "%r1 = arith.addf %v, %s1 : f32"],
        [1.0, 0.0],
        lambda x, v: [np.fmax(np.fmax.reduce(v, axis=0), 1), v.astype("f8").sum(axis=0)],
    ),
    "greatest_of_both": (
        ["%m = arith.maxnumf %a, %s0 : f32", "%r0 = arith.maxnumf %v, %m : f32"],
        [-9.0],
        lambda x, v: [np.fmax.reduce([np.full_like(x[0], -9), *x, *v], axis=0)],
    ),
    "greatest_fast": (
        ["%r0 = arith.maxnumf %v, %s0 fastmath<fast> : f32"],
        [-3.0],
        lambda x, v: [np.maximum(v.max(axis=0), -3)],
    ),
}


def other_case(name, size, wide):
    lines, starts, reference = OTHERS[name]
    value, evaluate = float_value("f32")
    kinds = {bool: "i1", int: "i64", float: "f32"}
    results = [kinds[type(start)] for start in starts]
    dtypes = {bool: "?", int: "i8", float: "f4"}
    shape = (3,) if wide else ()
    yields = ", ".join(f"%r{i}" for i in range(len(results)))
    full = f"{name}_{size}" + "_wide" * wide
    return Case(
        full,
        write(full, size, wide, "f32", results, value + lines, yields),
        size,
        "f4",
        [np.full(shape, start, dtypes[type(start)]) for start in starts],
        lambda x, *starts: reference(x, evaluate(x)),
        1e-5 * size if "sum" in name else 0,
        "fast" in name,
    )


def loop_case(op, size):
    """The reduction as a loop of the program."""
    value, evaluate = float_value("f32")
    body = "\n    ".join(value)
    name = f"{op}_loop_{size}"
    source = f"""
func.func @{name}(%x: tensor<{size}xf32>, %i: tensor<f32>) -> tensor<f32> {{
  %zero = arith.constant 0 : index
  %unit = arith.constant 1 : index
  %n = arith.constant {size} : index
  %start = tensor.extract %i[] : tensor<f32>
  %y = scf.for %k = %zero to %n step %unit iter_args(%s = %start) -> f32 {{
    %a = tensor.extract %x[%k] : tensor<{size}xf32>
    {body}
    %r = arith.{op} %v, %s : f32
    scf.yield %r : f32
  }}
  %z = tensor.from_elements %y : tensor<f32>
  return %z : tensor<f32>
}}
"""
    like = float_case(op, "f32", size, wide=False)
    return dataclasses.replace(like, name=name, source=source)


def make_cases(size, wide):
    """Reductions of all kinds and types over `size` elements."""
    cases = [float_case(op, kind, size, wide) for op in FLOAT_KINDS for kind in FLOATS]
    cases += [integer_case(op, kind, size, wide) for op in INTEGER_KINDS for kind in INTEGERS]
    cases += [other_case(name, size, wide) for name in OTHERS]
    return cases + ([] if wide else [loop_case(op, size) for op in FLOAT_KINDS])


def find_faults(cases, call):
    """The error of the results of `call`, of a case and its arguments."""
    random = np.random.default_rng(0)
    faults = []
    with np.errstate(all="ignore"):
        for case in cases:
            for x in case.inputs(random):
                fault = case.find_fault(x, call(case, x, *case.starts))
                faults += [fault] if fault else []
    return faults
