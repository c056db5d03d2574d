"""Each row of fad's table of operators: against PyTorch, which has the operator and what its
node saves, and against mpmath, which has the value and the derivative, on each road that
takes them from the table."""

import fad
import fad.torch
import mpmath
import numpy as np
import torch
from fad._operators.table import OPERATORS
from fad.torch._decompositions.kinks import get_kinks
from fad.torch.compile._scalars import RULES, TARGETS, find_packet
from fad.torch.eager._header import name_node

aten = torch.ops.aten
POINTS = (-2.3, -0.7, 0.35, 0.6, 1.7, 3.4)
# Numbers beside tensors: as the operator has them by default, and others.
NUMBERS = {
    "gelu": [{"approximate": "none"}, {"approximate": "tanh"}],
    "softplus": [{"beta": 1, "threshold": 20}, {"beta": 2.5, "threshold": 3}],
    "elu": [
        {"alpha": 1, "scale": 1, "input_scale": 1},
        {"alpha": 0.7, "scale": 1.3, "input_scale": 0.9},
    ],
    "celu": [{"alpha": 1.4}],
    "leaky_relu": [{"slope": 0.01}, {"slope": -0.3}],
    "hardtanh": [{"low": -1, "high": 1}, {"low": -0.5, "high": 2}],
    "clamp": [{"low": -0.5, "high": 0.8}],
    "clamp_min": [{"low": 0.4}],
    "clamp_max": [{"high": 0.4}],
    "pow": [{"y": y} for y in (1, 2, 3, 4, -1, 0.5, -0.5, 1.5)],
}
mpmath.mp.dps = 40
# The forms for torch-mlir of operators that have kinks, or none of its own.
KINKS = get_kinks()
failures, checked = [], {}


def check(row, road, x, got, expected):
    checked.setdefault(road, set()).add(row.name)
    # PyTorch's node of hardsigmoid has a sixth in f32.
    is_narrow = row.name == "hardsigmoid" and "nest" in road
    error = 1e-7 if is_narrow else 1e-11
    if not abs(got - float(expected)) <= 1e-13 + error * abs(float(expected)):
        failures.append(f"{row.name} of {x}, {road}: {got}, not {float(expected)}")


def evaluate(row, x, numbers):
    """The value, and the derivative by the first operand; None where they are not real."""
    names = {name: getattr(mpmath, name) for name in dir(mpmath) if name[0] != "_"}
    names |= {"abs": abs, "min": min, "max": max, **numbers}
    text = row.reference or f"{row.name}({', '.join('xyz'[: row.operands])})"

    def f(x):
        return mpmath.mpmathify(eval(text, names, {"x": x, **numbers}))

    try:
        values = f(mpmath.mpf(x)), mpmath.diff(f, mpmath.mpf(x))
    except (ValueError, ZeroDivisionError):
        return None
    return None if any(mpmath.im(each) != 0 for each in values) else values


def differentiate(function, points, others):
    leaf = torch.tensor(points, dtype=torch.float64, requires_grad=True)
    value = function(leaf, *others)
    (gradient,) = torch.autograd.grad(value.sum(), leaf)
    return value.tolist(), gradient.tolist()


def make_function(row, numbers):
    """PyTorch's function of the operands that are tensors, with `numbers`."""
    packet = torch.rsub if row.name == "rsub" else find_packet(row)
    options = {k: v for k, v in numbers.items() if k == "approximate"}
    others = [v for k, v in numbers.items() if k != "approximate"]
    return lambda *tensors: packet(*tensors, *others, **options)


def check_values(row, numbers):
    operands = {name: 1.25 + 0.5 * i for i, name in enumerate("yz"[: row.operands - 1])}
    function = make_function(row, numbers)
    tensors = [torch.tensor([operands[name]]).double() for name in operands if name not in numbers]
    others = [{**operands, **numbers}[name] for name in operands]
    exact = {x: evaluate(row, x, {**operands, **numbers}) for x in POINTS}
    exact = {x: expected for x, expected in exact.items() if expected is not None}
    assert exact, f"{row.name} has no point"
    # Each road compiles the function once, for all points.
    points = list(exact)
    roads = {}
    form = KINKS.get(getattr(find_packet(row), "default", None))
    if form:
        options = {k: v for k, v in numbers.items() if k not in operands}
        roads["torch-mlir"] = lambda *tensors: form(*tensors, **options)
    if row.kind != "condition" and row.name not in ("fma",):
        roads["fad.torch.elementwise"] = fad.torch.elementwise(function)
    if row.saves:
        for policy in ("auto", "fad"):
            for engine in ("interactive", "deferred"):
                nested = fad.torch.nest(function, policy=policy, engine=engine, min_numel=0)
                roads[f"nest {policy} {engine}"] = nested
    found = {road: differentiate(each, points, tensors) for road, each in roads.items()}
    if row.numpy:
        # fad.erf is for functions of numpy, which has none.
        source = fad.erf if row.name == "erf" else getattr(np, row.numpy, None)
        if source and row.kind not in ("condition", "step"):
            kernel = fad.elementwise(lambda x: source(x, *others))
            found["fad.elementwise"] = kernel.with_derivatives(np.array(points))
    for i, (x, (value, derivative)) in enumerate(exact.items()):
        for road, (values, derivatives) in found.items():
            check(row, road, x, values[i], value)
            check(row, f"derivative of {road}", x, derivatives[i], derivative)
        if row.slope:
            y = value
            slope = {"sigmoid": y * (1 - y), "tanh": 1 - y * y, "exp": y}[row.slope]
            check(row, "slope", x, float(slope), derivative)
        if row.kind == "step":
            check(row, "step", x, float(derivative), 0)


def check_logic(row):
    """Compares all values of the conditions, by both names that ATen has, and by numpy's."""
    x, y = np.array([-1.0, -1, 1, 1]), np.array([-1.0, 1, -1, 1])
    operands = [x, y][: row.operands]

    def make(where, function):
        def one(x):
            return where(function(x > 0), 2 * x, 3 * x)

        def two(x, y):
            return where(function(x > 0, y > 0), 2 * x, 3 * x)

        return two if row.operands == 2 else one

    for name in (row.name, row.name.replace("bitwise", "logical")):
        function = getattr(np, name.replace("bitwise_not", "invert"))
        expected = make(np.where, function)(*operands).tolist()
        by_torch = make(torch.where, getattr(aten, name))
        tensors = [torch.tensor(each) for each in operands]
        results = {
            "PyTorch": by_torch(*tensors),
            "fad.torch.elementwise": fad.torch.elementwise(by_torch)(*tensors),
            "fad.elementwise": fad.elementwise(make(np.where, function))(*operands),
        }
        for road, got in results.items():
            if got.tolist() != expected:
                failures.append(f"{name}, {road}: {got.tolist()}, not {expected}")


def check_node(row):
    """Compares the tensors that PyTorch's node saves."""
    numbers = NUMBERS.get(row.name, [{}])[0]
    for overload in row.nested.split() if row.saves else ():
        op = getattr(getattr(aten, row.name), overload)
        assert torch.Tag.pointwise in op.tags or row.name in ("rsub", "hardswish"), op
        x = torch.tensor([0.3], dtype=torch.float64, requires_grad=True)
        others = [0.7 if overload == "Scalar" else torch.tensor([0.7])] * (row.operands - 1)
        values = others if row.operands > 1 else [v for k, v in numbers.items()]
        if row.name == "gelu":
            values = []
        if row.name == "pow":
            values = [3]
        node = op(x * 1, *values).grad_fn
        saved = {
            name.removeprefix("_saved_")
            for name in dir(node)
            if name.startswith("_saved_") and isinstance(getattr(node, name), torch.Tensor)
        }
        expected = {"nothing": set(), "input": {"self"}, "result": {"result"}}[row.saves]
        if row.kind in ("product", "quotient"):
            # Of the operands that do not need a gradient.
            expected = {"other"} if overload == "Tensor" else set()
        if saved != expected:
            failures.append(f"{row.name}.{overload} saves {saved}, not {expected}")


def check_in_place(row):
    function = getattr(aten, row.name + "_")
    numbers = [v for k, v in NUMBERS.get(row.name, [{}])[0].items() if k != "approximate"]
    x = torch.tensor([0.3], dtype=torch.float64, requires_grad=True)
    y = x * 1
    node = function(y, *numbers).grad_fn
    if row.in_place == "input" and node.name() != name_node(row):
        failures.append(f"the node of {row.name}_ is a {node.name()}, not a {name_node(row)}")
    has_input = isinstance(getattr(node, "_saved_self", None), torch.Tensor)
    if has_input != (row.in_place == "input"):
        failures.append(f"{row.name}_ saves its operand: {has_input}")


names = [row.name for row in OPERATORS]
assert len(names) == len({*names}), "a name is twice in the table"
for row in OPERATORS:
    if row.aten:
        node = getattr(find_packet(row), row.aten)
        assert TARGETS[".".join(filter(None, (row.mlir, row.orders[0])))] is node, row
        assert find_packet(row) in RULES or row.name == "isnan", row
    if row.kind == "logic":
        check_logic(row)
    elif row.kind not in ("condition", "select"):
        for numbers in NUMBERS.get(row.name, [{}]):
            check_values(row, numbers)
    if row.saves:
        check_node(row)
    if row.in_place:
        check_in_place(row)
for road, rows in sorted(checked.items()):
    print(f"{road}: {len(rows)} operators")
print(*failures, sep="\n")
assert not failures
