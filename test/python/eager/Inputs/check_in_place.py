"""Compares activations that write to their operand with eager PyTorch: what is kept, gradients,
and what others see that have the tensor, its memory, or its gradient."""

import itertools
import json
import sys

import torch
import torch.nn.functional as F
from checks import Checks
from operator_rows import check_rows
from torch import nn

import fad.torch
from fad.torch.eager import report

aten = torch.ops.aten
MODES = [
    {"policy": policy, "engine": engine, "derivative_bits": bits, "min_numel": 0}
    for policy, engine, bits in itertools.product(
        ("auto", "fad"),
        ("interactive", "deferred"),
        (None, 8) if "--every" in sys.argv else (None,),
    )
]
torch.manual_seed(0)
X, WEIGHT = torch.randn(4, 6, dtype=torch.double), torch.randn(6, 6, dtype=torch.double)
ACTIVATIONS = {
    "silu": nn.SiLU,
    "mish": nn.Mish,
    "hardswish": nn.Hardswish,
    "hardsigmoid": nn.Hardsigmoid,
    "hardtanh": lambda inplace: nn.Hardtanh(inplace=inplace),
    "relu6": nn.ReLU6,
    "relu": nn.ReLU,
    "leaky_relu": lambda inplace: nn.LeakyReLU(0.1, inplace),
    "elu": lambda inplace: nn.ELU(1.0, inplace),
}
# Other checks have these, as functions.
check_rows(
    ACTIVATIONS,
    {"celu", "clamp", "clamp_max", "clamp_min", "gelu", "sigmoid", "tanh"},
    "in_place",
)


def make_model(activation, inplace):
    torch.manual_seed(1)
    layers = [
        layer
        for _ in range(3)
        for layer in (nn.Conv2d(4, 4, 3, padding=1), nn.BatchNorm2d(4), activation(inplace))
    ]
    return nn.Sequential(*layers, nn.Conv2d(4, 2, 1), nn.Flatten(0))


def check_models(check):
    x = torch.randn(2, 4, 6, 6)

    def run(model, x):
        model.zero_grad()
        loss = model(x).square().sum()
        loss.backward()
        return [loss.detach(), *(each.grad.clone() for each in model.parameters())]

    def keeps(activation, engine):
        """As many bytes as without `inplace`, and no more than eager PyTorch."""
        kept = [
            fad.torch.saved_memory(model, x, measure=False).bytes
            for inplace in (False, True)
            for model in [make_model(activation, inplace)]
            for model in (model, fad.torch.nest(model, min_numel=0, engine=engine))
        ]
        return kept[1] == kept[3] <= kept[2] or print(kept) or False

    def agrees(activation, mode, like=x):
        expected = run(make_model(activation, True), like)
        found = run(fad.torch.nest(make_model(activation, True), **mode), like)
        close = {"rtol": 0.2, "atol": 0.2} if mode["derivative_bits"] else {}
        torch.testing.assert_close(found, expected, **close)
        if mode["engine"] == "interactive" and mode["policy"] == "auto" and not close:
            return all(map(torch.equal, found, expected))

    names = ACTIVATIONS if "--every" in sys.argv else ["silu", "hardswish", "hardtanh", "relu"]
    for name in names:
        activation = ACTIVATIONS[name]
        for engine in ("interactive", "deferred"):
            check(f"bytes, {name}, {engine}", lambda: keeps(activation, engine))
        for mode in MODES:
            check(f"gradients, {name}, {mode}", lambda: agrees(activation, mode))
    last = x.contiguous(memory_format=torch.channels_last)
    check("channels last", lambda: agrees(nn.SiLU, MODES[0], last))


def put_view(x):
    h = x @ WEIGHT
    view = h.view(-1)
    F.silu(h, inplace=True)
    return h @ WEIGHT + view.view(4, 6).sin()


def put_into_view(x):
    h = x @ WEIGHT
    F.silu(h[:2], inplace=True)
    return h @ WEIGHT


def put_detached(x):
    h = x @ WEIGHT
    alias = h.detach()
    F.silu(h, inplace=True)
    return h @ WEIGHT + alias


def put_data(x):
    """A write that no version counts, before the reader saves the value."""
    h = x @ WEIGHT
    alias = h.data
    F.silu(h, inplace=True)
    alias.mul_(2)
    return h @ WEIGHT.detach().requires_grad_()


def put_array(x):
    h = x @ WEIGHT
    array = h.detach().numpy()
    F.silu(h, inplace=True)
    array *= 2
    return h @ WEIGHT


def put_twice(x):
    h = x @ WEIGHT
    F.hardswish(F.silu(h, inplace=True), inplace=True)
    return h @ WEIGHT


def put_between(x):
    h = x @ WEIGHT
    y = F.silu(h, inplace=True) @ WEIGHT
    h.mul_(2)
    return y + h @ WEIGHT


def put_and_go_on(x):
    h = F.silu(x @ WEIGHT, inplace=True)
    return torch.tanh(h * 2) * h @ WEIGHT + h.sum(0)


def put_gate(x):
    return (F.silu(x @ WEIGHT, inplace=True) * (x @ WEIGHT)) @ WEIGHT


def put_into_sequence(x):
    h = torch.tanh(x @ WEIGHT) * x
    F.mish(h, inplace=True)
    return h.sin() @ WEIGHT


def put_into_source(x):
    h = x @ WEIGHT
    y = h * 2
    F.silu(h, inplace=True)
    return y.sum(0) + h @ WEIGHT


def put_hook(x):
    h = x @ WEIGHT
    h.register_hook(lambda gradient: gradient * 2)
    F.silu(h, inplace=True)
    h.register_hook(lambda gradient: gradient * 3)
    return h @ WEIGHT


def put_retained(x):
    h = x @ WEIGHT
    h.retain_grad()
    F.silu(h, inplace=True)
    (h @ WEIGHT).sum().backward(retain_graph=True)
    return h * h.grad.detach()


def put_without_graph(x):
    h = x @ WEIGHT
    with torch.no_grad():
        F.silu(h, inplace=True)
    return h @ WEIGHT


def put_bounds(x):
    h = x @ WEIGHT
    h.clamp_(-1, 0.5)
    g = (x @ WEIGHT).clamp_min_(-0.5)
    return (aten.gelu_(h) @ WEIGHT) * g.clamp_max_(0.25)


def put_tensor_bound(x):
    h = x @ WEIGHT
    h.clamp_(min=torch.zeros((), dtype=torch.double))
    return h @ WEIGHT


def put_into_parts(x):
    first, second = (x @ WEIGHT).chunk(2, 0)
    F.silu(first, inplace=True)
    return first @ WEIGHT + second.sum()


def put_in_checkpoint(x):
    return torch.utils.checkpoint.checkpoint(put_and_go_on, x, use_reentrant=False)


def read_open(x):
    """A sequence reads what is written to, and may not be computed yet."""
    h = x @ WEIGHT
    y = torch.sin(h) * torch.tanh(h)
    F.silu(h.clone(), inplace=True)
    return y @ WEIGHT + F.silu(h + 0, inplace=True)


PROGRAMS = [
    put_view,
    put_into_view,
    put_detached,
    put_data,
    put_array,
    put_twice,
    put_between,
    put_and_go_on,
    put_gate,
    put_into_sequence,
    put_into_source,
    put_hook,
    put_retained,
    put_without_graph,
    put_bounds,
    put_tensor_bound,
    put_into_parts,
    put_in_checkpoint,
    read_open,
]


def differentiate(function, order):
    """The value, and the derivatives up to an order; or PyTorch's error."""
    x = X.clone().requires_grad_()
    try:
        value = function(x)
        (found,) = torch.autograd.grad(value.square().sum(), x, create_graph=order == 2)
        results = [value.detach(), found.detach()]
        if order == 2:
            results += torch.autograd.grad(found.sin().sum(), x)
    except RuntimeError as error:
        return str(error)
    return results


# The programs whose second derivative is an error of nest's, where eager PyTorch has one, by
# what is nested how: the derivative is kept, and not what it was computed from.
NO_SECOND_DERIVATIVE = {
    ("auto", "interactive", 8): {put_between, put_and_go_on, put_into_source},
    ("auto", "deferred", 8): {put_and_go_on},
    ("fad", "interactive", None): {put_and_go_on, put_into_sequence, read_open},
    ("fad", "interactive", 8): {
        put_between,
        put_and_go_on,
        put_gate,
        put_into_sequence,
        put_into_source,
        read_open,
    },
    ("fad", "deferred", None): {put_and_go_on, read_open},
    ("fad", "deferred", 8): {put_and_go_on, put_into_sequence, put_retained, read_open},
}


def check_programs(check):
    def agrees(program, mode, order):
        expected = differentiate(program, order)
        found = differentiate(fad.torch.nest(program, **mode), order)
        key = mode["policy"], mode["engine"], mode["derivative_bits"]
        if order == 2 and program in NO_SECOND_DERIVATIVE.get(key, ()):
            return (
                (
                    not isinstance(expected, str)
                    and isinstance(found, str)
                    and found.startswith("fad.torch.nest")
                    and "there is no second derivative" in found
                )
                or print(expected, found)
                or False
            )
        if isinstance(found, str) or isinstance(expected, str):
            # An error is PyTorch's own.
            return found == expected or print(expected, found) or False
        close = {"rtol": 0.3, "atol": 0.3} if mode["derivative_bits"] else {}
        torch.testing.assert_close(found, expected, **close)

    for program, mode, order in itertools.product(PROGRAMS, MODES, (1, 2)):
        check(f"{program.__name__}, {mode}, {order}", lambda: agrees(program, mode, order))

    def refuses(make):
        """A leaf is PyTorch's error."""
        x = make()
        return "a leaf Variable" in differentiate(
            fad.torch.nest(lambda _: F.silu(x, inplace=True), min_numel=0), 1
        )

    check("a leaf", lambda: refuses(lambda: X.clone().requires_grad_()))


def check_report(check):
    def says(engine):
        function = fad.torch.nest(put_and_go_on, min_numel=0, engine=engine)
        found = report(lambda x: function(x), X.clone().requires_grad_()).sequences
        return any("silu" in each.operators for each in found) or print(found) or False

    def keeps():
        """One tensor of the two that eager PyTorch keeps."""
        model = make_model(nn.SiLU, True)
        found = fad.torch.nest(model, min_numel=0).fad_report(torch.randn(2, 4, 6, 6)).sequences
        return [(each.decision, each.bytes * 2) for each in found] == [
            ("own node, value recomputed", each.eager_bytes) for each in found
        ] and len(found) == 3

    for engine in ("interactive", "deferred"):
        check(f"a report, {engine}", lambda: says(engine))
    check("the report of a model", keeps)
    check_left(check)


OF_RESULT = "it saves its result alone, which its reader may keep as well"
OF_SEQUENCE = "its operand is the value of a sequence"
OF_VIEW = "something else has the memory of its operand, such as a view"
OF_FAD = "the policy fad keeps as much of a lone activation as PyTorch"
# Operators that write to the result of a product, and those that are left to PyTorch.
LEFT = [
    (lambda h: F.relu(h, inplace=True), [("relu_", OF_RESULT)]),
    (lambda h: F.leaky_relu(h, 0.1, inplace=True), [("leaky_relu_", OF_RESULT)]),
    (lambda h: F.elu(h, inplace=True), [("elu_", OF_RESULT)]),
    (lambda h: F.celu(h, 0.5, inplace=True), [("celu_", OF_RESULT)]),
    (lambda h: F.selu(h, inplace=True), [("elu_", OF_RESULT)]),
    (lambda h: h.sigmoid_(), [("sigmoid_", OF_RESULT)]),
    (lambda h: h.tanh_(), [("tanh_", OF_RESULT)]),
    (lambda h: (h * 2).tanh().relu_(), [("relu_", OF_RESULT)]),
    (lambda h: F.silu((h * 2).tanh(), inplace=True), [("silu_", OF_SEQUENCE)]),
    (lambda h: F.silu(h.view(-1), inplace=True), [("silu_", OF_VIEW)]),
    (lambda h: (h[:2].clamp_(-1, 1), h.relu_()), [("clamp_", OF_VIEW), ("relu_", OF_RESULT)]),
    (lambda h: F.relu(h), []),
    (lambda h: h.detach().relu_(), []),
    (lambda h: h.mul_(2), []),
]


def check_left(check):
    """A report has a line for each activation in place that is left to PyTorch."""

    def make_report(write, mode, **options):
        function = fad.torch.nest(lambda x: write(x @ WEIGHT), **(mode | options))
        return report(function, X.clone().requires_grad_())

    def leaves(write, mode, expected):
        found = make_report(write, mode)
        pairs = [(each.operator, each.reason) for each in found.left]
        lines = [each.line for each in found.left]
        texts = [f"{name} is left to PyTorch\n" for name, _ in expected]
        return (
            (
                pairs == expected
                and all(line.startswith("check_in_place.py:") for line in lines)
                and all(text in str(found) for text in texts + [reason for _, reason in expected])
                and json.loads(found.to_json())["left"] == list(map(vars, found.left))
            )
            or print(found)
            or False
        )

    for (number, (write, expected)), mode in itertools.product(enumerate(LEFT), MODES):
        check(f"left, {number}, {mode}", lambda: leaves(write, mode, expected))
    for mode in MODES:
        is_left = (mode["policy"], mode["engine"]) == ("fad", "deferred")
        expected = [("silu_", OF_FAD)] if is_left else []
        check(f"left, {mode}", lambda: leaves(lambda h: F.silu(h, inplace=True), mode, expected))
        check(f"small, {mode}", lambda: not make_report(torch.relu_, mode, min_numel=99).left)

    def names_modules():
        found = fad.torch.nest(make_model(nn.ReLU, True), min_numel=0).fad_report(
            torch.randn(2, 4, 6, 6)
        )
        return (
            [(each.operator, each.module, each.reason) for each in found.left]
            == [("relu_", name, OF_RESULT) for name in ("2", "5", "8")]
            or print(found)
            or False
        )

    check("left in a model", names_modules)


if __name__ == "__main__":
    check = Checks()
    check_models(check)
    check_programs(check)
    check_report(check)
    check.finish()
