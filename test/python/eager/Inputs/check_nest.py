"""Compares gradients and kept bytes of nested sequences with eager PyTorch's."""

import contextlib
import gc
import itertools

import torch
import torch.nn.functional as F
from activations import ACTIVATIONS, gelu, silu
from checks import Checks, raises
from cotangents import is_linear
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

import fad.torch
from fad.torch._saved_memory.allocator import watch_allocator
from fad.torch.eager._state import live_nodes

OPERATORS = {
    "linear": lambda x: 3 - (2 * x + 1) / 4,
    "of itself": lambda x: x - 0.5 * x,
    "square": lambda x: x * x,
    "quotient": lambda x: (x + 1) / (x * x + 2),
    "reciprocal": lambda x: 1 / (1 + torch.exp(-x)),
    "constant": lambda x: torch.sigmoid(x * CONSTANT) * CONSTANT,
    "broadcast": lambda x: torch.tanh(x * CONSTANT[:, :1]) + CONSTANT[:1],
    "piecewise": lambda x: F.hardtanh(F.leaky_relu(x, 0.1) * 2),
    "two pieces": lambda x: F.relu(x) - 0.5 * F.relu(-x),
    "absolute": lambda x: (x.abs() * 2).clamp(max=1.5),
    "logarithm": lambda x: torch.log1p(torch.exp(x)).sqrt(),
    "trigonometric": lambda x: torch.sin(x) * torch.cos(2 * x) + torch.tan(0.1 * x),
    "built in": lambda x: F.silu(F.gelu(x) + F.mish(x)) + F.elu(x) + F.softplus(x),
    "hard": lambda x: F.hardswish(x) + torch.erf(x).expm1(),
    "hard sigmoid": lambda x: F.hardsigmoid(x) * torch.erf(x),
    "power": lambda x: (x**2 + 1) ** 0.5 + (x**2 + 1).rsqrt().log(),
    "one operator": torch.tanh,
    "scaled": lambda x: 3 * torch.tanh(0.5 * x),
    **ACTIVATIONS,
}
# PyTorch's gradient of this function multiplies by 1/6 in the precision of f32, and that of
# fad's kernels in f64.
TOLERANCES = {"hard sigmoid": 1e-6}
torch.manual_seed(0)
CONSTANT = torch.randn(6, 8, dtype=torch.double)
WEIGHT = torch.randn(8, 8, dtype=torch.double, requires_grad=True)
READERS = {
    "matmul": lambda y: y @ WEIGHT,
    "transposed": lambda y: WEIGHT @ y.t(),
    "view": lambda y: F.linear(y.view(2, 3, 8), WEIGHT),
    "sum": lambda y: y.sum(0),
    "norm": lambda y: F.layer_norm(y, (8,)),
    "several": lambda y: (y @ WEIGHT, y.mean(), (y * 2).sigmoid() @ WEIGHT),
    "nothing": lambda y: y,
}


def nest(policy, engine="interactive"):
    if not policy:
        return contextlib.nullcontext()
    return fad.torch.nest(policy=policy, engine=engine, min_numel=0)


def loss_of(results):
    results = results if isinstance(results, tuple) else (results,)
    return sum(result.square().sum() for result in results)


def gradients(function, reader, policy, inputs=()):
    torch.manual_seed(1)
    x = torch.randn(6, 8, dtype=torch.double, requires_grad=True)
    with nest(policy):
        loss = loss_of(reader(function(x)))
    first = torch.autograd.grad(loss, (x, WEIGHT), allow_unused=True, retain_graph=True)
    again = torch.autograd.grad(loss, x)
    x.grad = WEIGHT.grad = None
    with nest(policy):
        loss_of(reader(function(x * 1))).backward()
    return [*first, *again, x.grad, WEIGHT.grad]


def same(found, expected, tolerance):
    """Whether tensors are equal within a relative tolerance; bit for bit if it is 0."""
    for one, other in zip(found, expected, strict=True):
        if (one is None) != (other is None):
            return False
        if one is not None and not torch.allclose(one, other, rtol=tolerance, atol=tolerance / 10):
            return False
    return True


def check_gradients(check):
    for name, function in OPERATORS.items():
        for kind, reader in READERS.items():
            expected = gradients(function, reader, None)
            for policy in ("auto", "fad"):
                check(
                    f"{name}, {kind}, {policy}",
                    lambda: same(
                        gradients(function, reader, policy), expected, TOLERANCES.get(name, 1e-12)
                    ),
                )
    # Backward repeats what forward and autograd do, bit for bit, as long as the deferred
    # engine calls no kernels.
    torch.use_deterministic_algorithms(True)
    for name in ACTIVATIONS:
        expected = gradients(ACTIVATIONS[name], READERS["matmul"], None)
        check(
            f"{name}, bits",
            lambda: same(gradients(ACTIVATIONS[name], READERS["matmul"], "auto"), expected, 0),
        )
    torch.use_deterministic_algorithms(False)


def check_slopes(check):
    """Products of an operator's result with its operand, whose derivative `fad` computes in
    one pass over memory: the types, shapes and orders of elements of that pass, and others."""
    products = {
        "sigmoid": lambda x: x * torch.sigmoid(x),
        "tanh": lambda x: torch.tanh(x) * x,
        "exp": lambda x: (2 - 3 * x) * torch.exp(x),
        "result": lambda x: x * torch.sigmoid(x) + torch.tanh(x),
        "scaled": lambda x: x * (2 * torch.tanh(x)),
        "scaled before": lambda x: x * torch.sigmoid(1.7 * x),
        "nested": lambda x: (x * torch.tanh(x)) * torch.sigmoid(x * torch.tanh(x)),
    }
    special = torch.tensor([0.0, -0.0, 1e-40, -90.0, 90.0, 1e30, float("inf"), float("nan")])
    tensors = {
        "numbers": torch.randn(()),
        "vector": torch.randn(100003),
        "transposed": torch.randn(40, 30).t(),
        "channels last": torch.randn(2, 5, 4, 3).to(memory_format=torch.channels_last),
        "special": torch.cat([special, -special]),
    }
    tensors |= {f"{name}, f64": x.double() for name, x in tensors.items()}
    tensors["bf16"] = torch.randn(64).bfloat16()

    def pull(function, tensor, policy):
        x = tensor.detach().requires_grad_()
        with nest(policy):
            y = function(x).sum(0)
        return torch.autograd.grad(y.sum(), x)[0]

    def agrees(name, tensor):
        expected, found = pull(products[name], tensor, None), pull(products[name], tensor, "fad")
        if name == "sigmoid":
            # A kernel of the deferred engine, which may be there, has the limit at infinities.
            limit = (tensor > 0).to(tensor)
            expected = torch.where(tensor.isinf() & (found == limit), limit, expected)
        tolerance = {torch.double: 1e-12, torch.float: 2e-6, torch.bfloat16: 3e-2}[tensor.dtype]
        return torch.allclose(found, expected, rtol=tolerance, atol=tolerance, equal_nan=True)

    for name in products:
        for kind, tensor in tensors.items():
            check(f"slope, {name}, {kind}", lambda: agrees(name, tensor))


def check_overflow(check):
    """A derivative that overflows before the gradient comes, which makes the product small."""
    x = torch.linspace(0, 1, 64, dtype=torch.float16)

    def pull(policy):
        leaf = x.clone().requires_grad_()
        with nest(policy):
            y = torch.sin(torch.sin(leaf * 1000) * 1000)
        return torch.autograd.grad(y, leaf, torch.full_like(y, 1e-4))[0]

    for policy, is_finite in ((None, True), ("auto", True), ("fad", False)):
        check(f"overflow, {policy}", lambda: pull(policy).isfinite().all() == is_finite)


def check_one_pass(check):
    """Where the derivative of a product takes one pass, PyTorch's backward functions are not
    called for it: of few elements, or in one thread."""

    def count(function, tensor, name):
        x = tensor.requires_grad_()
        interactive = fad.torch.nest(policy="fad", min_numel=0, engine="interactive")
        with interactive, torch.profiler.profile() as profile:
            function(x)
        return sum(event.name == f"aten::{name}" for event in profile.events())

    threads = torch.get_num_threads()
    try:
        for limit, large in ((1, 0), (2, 1)):
            torch.set_num_threads(limit)
            for function, name in (
                (lambda x: x * torch.sigmoid(x), "sigmoid_backward"),
                (lambda x: torch.tanh(x) * x, "tanh_backward"),
                (lambda x: x * torch.exp(x), "add"),
            ):
                for size, dtype, expected in (
                    (100, torch.float, 0),
                    (100, torch.half, 1),
                    (100003, torch.double, large),
                ):
                    tensor = torch.randn(size).to(dtype)
                    check(
                        f"one pass, {name}, {size} {dtype}, {limit}",
                        lambda: count(function, tensor, name) == expected,
                    )
    finally:
        torch.set_num_threads(threads)


def check_second(check):
    x = torch.randn(3, 4, dtype=torch.double, requires_grad=True)
    for name in ("GELU", "scaled", "quotient", "two pieces"):
        function = nest("auto")(OPERATORS[name])
        check(f"{name}, second derivative", lambda: torch.autograd.gradgradcheck(function, (x,)))
    check(
        "second derivative of a derivative",
        lambda: raises(
            'policy "auto" has one', lambda: torch.autograd.gradgradcheck(nest("fad")(gelu), (x,))
        ),
    )

    def hooked(policy, engine):
        with fad.torch.nest(policy=policy, engine=engine, min_numel=0):
            v = F.relu(x * 2)
            y = torch.reciprocal(v)
            y.retain_grad()
            z = torch.tanh(y)
        (first,) = torch.autograd.grad((z + v).sum(), x, create_graph=True)
        torch.autograd.grad(first.sum(), x)

    for mode in itertools.product(("auto", "fad"), ("interactive", "deferred")):
        check(
            f"second derivative of a value with a hook, {mode}",
            lambda: raises("has a hook, or retain_grad", lambda: hooked(*mode)),
        )

    def gated(gate, up):
        with nest("auto"):
            return (F.silu(gate) * up) * 0.5

    y = torch.randn(3, 4, dtype=torch.double, requires_grad=True)
    check(
        "gated",
        lambda: (
            torch.autograd.gradcheck(gated, (x, y)) and torch.autograd.gradgradcheck(gated, (x, y))
        ),
    )


def late_second(function, policy, of=("source", "constant")):
    """Second derivatives, and the first. They may be with respect to a constant that comes
    to require a gradient after forward."""
    torch.manual_seed(0)
    constant = torch.randn(3, 4, dtype=torch.double)
    x = torch.randn(3, 4, dtype=torch.double, requires_grad=True)
    with nest(policy):
        loss = function(x, constant).sum()
    constant.requires_grad_()
    (first,) = torch.autograd.grad(loss, x, create_graph=True)
    inputs = [{"source": x, "constant": constant}[each] for each in of]
    return *torch.autograd.grad((first * first).sum(), inputs, allow_unused=True), first


def check_late(check):
    functions = {
        "product": lambda x, c: x * c * x,
        "between": lambda x, c: torch.tanh(x * c) * x,
        "after": lambda x, c: torch.tanh(x) * c,
        "piecewise": lambda x, c: F.relu(x * c) * x,
        "inner": lambda x, c: F.relu(x * c),
        "divided": lambda x, c: torch.sigmoid(c / x) / c,
        "repeated": lambda x, c: torch.tanh(x * c[:1]) * c.detach(),
        "summand": lambda x, c: F.relu(torch.tanh(x) + c) * 2,
    }
    for name, function in functions.items():
        expected = late_second(function, None)
        check(
            f"late constant, {name}",
            lambda: same(late_second(function, "auto"), expected, 1e-12),
        )

    # The policy keeps a derivative, unless one operator alone is not linear, whose node leads
    # to the constant.
    for name in ("product", "between", "piecewise", "divided"):
        for of in (("constant",), ("source",), ("source", "constant")):
            check(
                f"late constant of a derivative, {name}, {of}",
                lambda: raises(
                    'policy "auto" has one', lambda: late_second(functions[name], "fad", of)
                ),
            )
    functions["after one"] = lambda x, c: -(x * c) * 2
    # None leads to the first two, and the last is computed from the leaf again.
    for name in ("repeated", "summand", "after one", "inner"):
        function = functions[name]
        expected = late_second(function, None, ("constant",))
        check(
            f"late constant alone, {name}",
            lambda: same(late_second(function, "fad", ("constant",)), expected, 1e-12),
        )


def check_cotangents(check):
    names = "piecewise", "GELU", "quotient", "linear", "square"
    for name, function in [("relu", F.relu), *((name, OPERATORS[name]) for name in names)]:
        for policy in ("auto", "fad"):
            x = torch.randn(6, 8, dtype=torch.double, requires_grad=True)
            y = nest(policy)(function)(x)
            check(f"cotangents, {name}, {policy}", lambda: is_linear(y, function(x), x))


class Layer(nn.Module):
    """Two matrix products, and what stands between."""

    def __init__(self, function):
        super().__init__()
        self.up, self.down = nn.Linear(8, 512), nn.Linear(512, 8)
        self.function = function

    def forward(self, x):
        return self.down(self.function(self.up(x))).sum()


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.up = nn.Linear(8, 512), nn.Linear(8, 512)
        self.down = nn.Linear(512, 8)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x)).sum()


def tensors_kept(model, policy):
    """In tensors of the width between."""
    x = torch.randn(64, 8)
    nested = nest(policy)(model) if policy else model
    nested(x)
    _, allocated = watch_allocator(lambda: nested(x), False)
    return round(allocated.resident / (64 * 512 * 4), 1)


def check_kept(check):
    for name, model, eager, auto, derivative in [
        ("GELU", Layer(gelu), 5, 1, 2),
        ("SiLU", Layer(silu), 3, 1, 2),
        ("Mish", Layer(ACTIVATIONS["Mish"]), 3, 1, 2),
        ("built in", Layer(F.silu), 2, 1, 2),
        ("result", Layer(torch.tanh), 1, 1, 1),
        ("bits", Layer(lambda x: F.relu(x).sum(0, keepdim=True)), 1, 0, 1),
        ("gated", Gated(), 4, 2, 4),
    ]:
        for policy, expected in ((None, eager), ("auto", auto), ("fad", derivative)):
            check(
                f"{name} keeps {expected} under {policy}",
                lambda: (
                    tensors_kept(model, policy) == expected
                    or print(tensors_kept(model, policy))
                    or False
                ),
            )


class Count(TorchDispatchMode):
    """How many operators run in a block."""

    count = 0

    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
        self.count += 1
        return function(*arguments, **(keywords or {}))


def check_branches(check):
    """Backward runs no operator of a long sequence again for each of many that branch off."""

    def run(advance, read, order, context):
        x, values = torch.linspace(0.1, 1, 8).requires_grad_(), []
        with context:
            h = x
            for _ in range(60):
                h = advance(h)
                values.append(read(h))
            loss = sum(value.sum() for value in values[::order])
        with Count() as operators:
            loss.backward()
        return x.grad, operators.count

    def is_linear_in_length(advance, read, order, engine):
        gradient, count = run(advance, read, order, nest("auto", engine))
        expected, most = run(advance, read, order, nest(None))
        torch.testing.assert_close(gradient, expected)
        return count <= 2.5 * most or print(count, most) or False

    for name, order, advance, read in [
        ("one operator", 1, torch.sin, torch.cos),
        ("one operator, the last first", -1, torch.sin, torch.cos),
        ("several operators", 1, lambda h: h.sin() * 2, lambda h: (h * 2).cos() * h),
        ("operators between", 1, torch.sin, lambda h: (h * 2 + 1).cos()),
        ("operators between, the last first", -1, torch.sin, lambda h: (h * 2 + 1).cos()),
    ]:
        for engine in ("interactive", "deferred"):
            check(
                f"branches, {name}, {engine}",
                lambda: is_linear_in_length(advance, read, order, engine),
            )


def check_read_in_backward(check):
    """A second derivative reads a value that no operator outside of a sequence has read before, and
    that other sequences have within them."""

    def run(context):
        x = torch.linspace(0.1, 1, 8).requires_grad_()
        with context:
            value = F.silu(x.double())
            branch = value.cos() * 0.5
            branch.detach()
            loss = value.float().sum() + F.silu(branch).flip(0).sum()
        (first,) = torch.autograd.grad(loss, x, create_graph=True)
        return first, *torch.autograd.grad(first.square().sum(), x)

    expected = run(nest(None))
    for engine in ("interactive", "deferred"):
        check(
            f"a value that backward reads, {engine}",
            lambda: same(run(nest("auto", engine)), expected, 1e-6),
        )


def check_unread_branch(check):
    """Two operators on a value, of which nothing reads the result, and then a view, which alone has
    the value: nodes that end with another one no longer go past the value's own."""

    def run(context):
        x = torch.linspace(-1, 1, 16).requires_grad_()
        with context:
            value = x.double().exp() * 0.1
            branch = value.float() * 0.7
            view = value.view(4, 4)
            del branch, value
            result = view.flip(0)
        del view
        return torch.autograd.grad(result.sum(), x)

    expected = run(nest(None))
    for policy in ("auto", "fad"):
        for engine in ("interactive", "deferred"):
            check(
                f"a view beside an unread branch, {policy}, {engine}",
                lambda: same(run(nest(policy, engine)), expected, 1e-6),
            )


def check_lives(check):
    """The rest of many steps: sequences with and without a backward, with a reader or
    none, and values that no operator reads."""
    model = nest("auto")(Layer(gelu))
    functions, x = list(ACTIVATIONS.values()), torch.randn(2, 4, requires_grad=True)
    for i in range(10000):
        with nest(("auto", "fad")[i % 2]):
            y = functions[i % 3](x)
            if i % 4:
                y = y.sum(0)
        if i % 4 == 1:
            y.sum().backward()
        if i % 50 == 0:
            model(torch.randn(4, 8)).backward()
            model(torch.randn(4, 8))
    del x, y
    gc.collect()
    check("no node is left", lambda: live_nodes() == 0)
    left = [each for each in gc.get_objects() if type(each) is torch.Tensor]
    check("no tensor is left", lambda: not [each for each in left if each.shape == (2, 4)])


if __name__ == "__main__":
    check = Checks()
    check_gradients(check)
    check_slopes(check)
    check_overflow(check)
    check_one_pass(check)
    check_second(check)
    check_late(check)
    check_cotangents(check)
    check_kept(check)
    check_branches(check)
    check_read_in_backward(check)
    check_unread_branch(check)
    check_lives(check)
    check.finish()
