"""Compares models with nested sequences with eager PyTorch under its other features."""

import contextlib
import copy
import itertools
import pickle
import threading

import torch
import torch.func as functional
from activations import Model, gelu
from checks import Checks, raises
from nested_values import check_values
from torch import nn
from torch._higher_order_ops.map import map as map_rows
from torch.autograd import forward_ad
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils.checkpoint import checkpoint

import fad.torch
from fad.torch.eager import _state


def nest(target=None, policy="auto"):
    return fad.torch.nest(target, policy=policy, min_numel=0)


torch.manual_seed(0)
MODEL = Model().double()
X = torch.randn(4, 8, dtype=torch.double)


def gradients(run, model=MODEL):
    model.zero_grad()
    run(model, X.clone().requires_grad_()).square().sum().backward()
    return [parameter.grad.clone() for parameter in model.parameters()]


def agrees(run, reference=lambda model, x: model(x), tolerance=1e-12, model=MODEL):
    """Whether a run in nest() and one of a nested model have eager's gradients."""
    expected = gradients(reference, model)
    for policy in ("auto", "fad"):

        def inside(model, x):
            with nest(policy=policy):
                return run(model, x)

        def outside(model, x):
            return run(nest(model, policy), x)

        for call in (inside, outside):
            for one, other in zip(gradients(call, model), expected, strict=True):
                torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance)


def check_backward(check):
    for reentrant in (True, False):
        check(
            f"checkpoint, {reentrant}",
            lambda: agrees(lambda model, x: checkpoint(model, x, use_reentrant=reentrant)),
        )

    def anomaly(model, x):
        with torch.autograd.detect_anomaly(check_nan=True):
            return model(x)

    def offloaded(model, x):
        with torch.autograd.graph.save_on_cpu():
            return model(x)

    def cast(model, x):
        with torch.autocast("cpu", torch.bfloat16):
            return model(x.float()).float()

    def ignore(_):
        return None

    def hooked(model, x):
        handles = [
            model.up.register_forward_hook(lambda *a: None),
            model.up.register_full_backward_hook(lambda *a: None),
        ]
        result = model(x)
        result.register_hook(ignore)
        for handle in handles:
            handle.remove()
        return result

    check("anomaly mode", lambda: agrees(anomaly))
    check("offloading", lambda: agrees(offloaded))
    check("autocast", lambda: agrees(cast, cast, 2e-2, copy.deepcopy(MODEL).float()))
    check("hooks", lambda: agrees(hooked))
    check("inference", lambda: agrees(lambda model, x: (no_graph(model, x), model(x))[1]))


def no_graph(model, x):
    with torch.inference_mode():
        model(x.clone())
    with torch.no_grad():
        model(x)


def check_transforms(check):
    x = X[0].clone()

    def batched(function):
        return functional.vmap(functional.grad(lambda x: function(x).sum()))(X)

    transforms = {
        "grad": lambda f: functional.grad(lambda x: f(x).sum())(x),
        "jvp": lambda f: functional.jvp(f, (x,), (x,))[1],
        "hessian": lambda f: functional.hessian(lambda x: f(x).sum())(x),
        "vmap": batched,
    }

    def dual(function):
        with forward_ad.dual_level():
            made = forward_ad.make_dual(x.clone().requires_grad_(), x)
            return forward_ad.unpack_dual(function(made)).tangent

    def traced(function, mode="real"):
        made = make_fx(lambda x: torch.autograd.grad(function(x).sum(), x)[0], None, mode)
        leaf = x.clone().requires_grad_()
        return made(leaf)(leaf)

    def symbolic(function):
        return traced(function, "symbolic")

    traces = {"make_fx": traced, "make_fx of sizes": symbolic}
    for name, transform in {**transforms, "dual numbers": dual, **traces}.items():

        def both(policy):
            with nest(policy=policy):
                found = transform(gelu)
            torch.testing.assert_close(found, transform(gelu))

        for policy in ("auto", "fad"):
            check(f"{name}, {policy}", lambda: both(policy))


def check_transformed_backward(check):
    """Backward of what was nested before, as a function of the cotangent, in transforms."""
    tangent, other = torch.randn(2, 4, 8, dtype=torch.double)

    def jvp(pull):
        return functional.jvp(pull, (other,), (tangent,))

    def second(pull):
        return functional.jvp(lambda c: functional.jvp(pull, (c,), (tangent,)), (other,), (c,))

    c = torch.ones_like(tangent)
    transforms = {
        "jvp": jvp,
        "jvp of jvp": second,
        "vmap of jvp": lambda pull: functional.vmap(
            lambda c: functional.jvp(pull, (c,), (tangent,))
        )(torch.stack([tangent, other])),
        "jacfwd": lambda pull: functional.jacfwd(pull)(other),
        "grad": lambda pull: functional.grad(lambda c: sum(g.sum() for g in pull(c)))(other),
        "vjp": lambda pull: functional.vjp(pull, other)[1](pull(tangent)),
    }

    def run(transform, options, create_graph):
        x = X.clone().requires_grad_()
        # One sequence ends in a linear layer, and one with a product of two.
        hidden = MODEL(x) if options is None else fad.torch.nest(MODEL, **options)(x)
        with contextlib.nullcontext() if options is None else fad.torch.nest(**options):
            value = torch.tanh(hidden) * torch.sigmoid(hidden) * torch.sin(x).relu()
            value = value @ torch.eye(8, dtype=torch.double)
        inputs = [x, *MODEL.parameters()]

        def pull(c):
            return torch.autograd.grad(
                value, inputs, c, retain_graph=True, create_graph=create_graph
            )

        return transform(pull)

    for (name, transform), policy, bits, create_graph in itertools.product(
        transforms.items(), ("auto", "fad"), (None, 8), (False, True)
    ):
        if name in ("grad", "vjp") and not create_graph:
            continue
        options = {"policy": policy, "derivative_bits": bits, "min_numel": 0}
        close = {"rtol": 1e-12, "atol": 1e-12} if bits is None else {"rtol": 0.1, "atol": 0.1}

        def both():
            torch.testing.assert_close(
                run(transform, options, create_graph), run(transform, None, create_graph), **close
            )

        check(f"{name} of backward, {policy}, {bits} bits, graph {create_graph}", both)


def check_higher_order(check):
    """Operators that take functions, and sequences before, within and after them."""

    def choose(model, x):
        x = gelu(x)
        return gelu(torch.cond(torch.tensor(True), gelu, torch.cos, (x,))) * model(x)

    def each(model, x):
        return gelu(map_rows(lambda row, other: gelu(row) * other, gelu(x), x[0].tanh()))

    for engine in ("interactive", "deferred"):
        for run in choose, each:
            for policy in ("auto", "fad"):

                def agree():
                    x, other = (X.clone().requires_grad_() for _ in range(2))
                    with fad.torch.nest(policy=policy, min_numel=0, engine=engine):
                        found = run(MODEL, x)
                    expected = run(MODEL, other)
                    torch.testing.assert_close(found, expected)
                    for value in found, expected:
                        value.square().sum().backward()
                    torch.testing.assert_close(x.grad, other.grad)

                check(f"{run.__name__}, {engine}, {policy}", agree)


def check_jagged(check):
    """Nested tensors are left to PyTorch."""

    def run():
        parts = [torch.ones(3, 4), torch.full((5, 4), -2.0)]
        x = torch.nested.nested_tensor(parts, layout=torch.jagged, requires_grad=True)
        gelu(x).values().sum().backward()
        return x.grad.values()

    def agree():
        with nest():
            found = run()
        torch.testing.assert_close(found, run())

    check("jagged tensors", agree)


def check_compile(check):
    def compiled(model, x):
        torch._dynamo.reset()
        return torch.compile(model, backend="aot_eager")(x)

    def within(model, x):
        torch._dynamo.reset()

        def function(x):
            with nest():
                return model(x)

        return torch.compile(function, backend="eager")(x)

    def sized(model, x):
        """Of the second size on, sizes are symbols."""
        torch._dynamo.reset()
        call = torch.compile(model, backend="aot_eager")
        return sum(call(part).sum() for part in x.split([1, 2, 1]))

    check("torch.compile", lambda: agrees(compiled))
    check("torch.compile, several sizes", lambda: agrees(sized, lambda m, x: m(x).sum()))
    check("nest in torch.compile", lambda: agrees(within))

    check_compiled_autograd(check)


def compiled_backward(graph=lambda graph: graph):
    return torch._dynamo.compiled_autograd._enable(graph)


def captures():
    return torch._dynamo.utils.counters["compiled_autograd"]["captures"]


def check_compiled_autograd(check):
    """Backward as a program that is kept, in which a sequence is a call."""

    def recurs(policy):
        """One program for all steps, with other numbers and sizes in each."""
        nested, before = nest(MODEL, policy), captures()
        for step in range(4):
            x = torch.randn(4 + step, 8, dtype=torch.double)
            expected = gradients(lambda model, _: model(x))
            with compiled_backward():
                found = gradients(lambda model, _: nested(x))
            for one, other in zip(found, expected, strict=True):
                torch.testing.assert_close(one, other)
        return captures() - before <= 2

    def configured(model):
        """Compiled autograd as torch.compile turns it on, for a backward in its function."""

        def step(x):
            model(x).sum().backward()

        torch._dynamo.reset()
        model.zero_grad()
        with torch._dynamo.config.patch(compiled_autograd=True):
            torch.compile(step, backend="aot_eager")(X)
        found = [parameter.grad.clone() for parameter in model.parameters()]
        model.zero_grad()
        model(X).sum().backward()
        for one, parameter in zip(found, model.parameters(), strict=True):
            torch.testing.assert_close(one, parameter.grad)

    def twice(policy):
        x = X.clone().requires_grad_()
        with nest(policy=policy):
            loss = gelu(x).sum()
        (expected,) = torch.autograd.grad(gelu(x).sum(), x)
        with compiled_backward():
            for retains in (True, False):
                (found,) = torch.autograd.grad(loss, x, retain_graph=retains)
                torch.testing.assert_close(found, expected)
            return raises("a second time", lambda: torch.autograd.grad(loss, x))

    def hooked(policy):
        x, seen = X.clone().requires_grad_(), []
        with nest(policy=policy):
            y = torch.sigmoid(x) * x
            y.register_hook(lambda gradient: seen.append(gradient) or gradient * 2)
            z = (y * torch.tanh(y)).sum()
        with compiled_backward():
            (found,) = torch.autograd.grad(z, x)
        y = torch.sigmoid(x) * x
        (expected,) = torch.autograd.grad((y * torch.tanh(y)).sum(), x)
        torch.testing.assert_close(found, 2 * expected)
        return len(seen) == 1

    def skipped(policy, ask):
        x = X.clone().requires_grad_()
        with nest(policy=policy):
            y = torch.sigmoid(x) * x
            loss = (y * torch.tanh(y)).sum() + y.sum()
        with compiled_backward():
            message = "the gradient of a value inside of a nested sequence"
            return raises(message, lambda: ask(loss, x, y))

    def retains(loss, x, y):
        y.retain_grad()
        loss.backward()

    def read_outside():
        """What a value's reader outside of the sequence reaches, too, is PyTorch's node. In
        the deferred engine, the reader has ended the sequence of one operator."""
        is_deferred = getattr(fad.torch.nest, "keywords", {}).get("engine") == "deferred"
        x, weight = X.clone().requires_grad_(), torch.randn(8, 8, dtype=torch.double)
        with nest(policy="fad"):
            y = torch.tanh(x)
            other = y @ weight
            loss = torch.sin(y).sum()
        (expected,) = torch.autograd.grad(torch.sin(torch.tanh(x)).sum(), x, retain_graph=True)
        with compiled_backward():
            if not is_deferred:
                text = "has read a value before; call backward without compiled autograd"
                return raises(text, lambda: torch.autograd.grad(loss, x))
            (found,) = torch.autograd.grad(loss, x)
        torch.testing.assert_close(found, expected)
        return other.shape == found.shape

    def releases():
        nested = nest(MODEL)
        with compiled_backward():
            nested(X).sum().backward()
        return _state.live_nodes() == 0

    def penalized(policy):
        """The gradient of a gradient is refused, and has not lost what a sequence adds."""
        x = X.clone().requires_grad_()
        with nest(policy=policy):
            loss = gelu(x).sum()
        with compiled_backward():
            return raises(
                "cannot differentiate the backward of a nested sequence again",
                lambda: torch.autograd.grad(loss, x, create_graph=True),
            )

    asks = {
        "of a result": lambda loss, x, y: torch.autograd.grad(loss, [x, y]),
        "of an input": lambda loss, x, y: loss.backward(inputs=[y]),
        "that is retained": retains,
    }
    for policy in ("auto", "fad"):
        check(f"compiled autograd, {policy}", lambda: recurs(policy))
        check(
            f"compiled autograd of torch.compile, {policy}", lambda: configured(nest(MODEL, policy))
        )
        check(f"compiled autograd twice, {policy}", lambda: twice(policy))
        check(f"compiled autograd with a graph, {policy}", lambda: penalized(policy))
        check(f"compiled autograd and a hook, {policy}", lambda: hooked(policy))
        for name, ask in asks.items():
            check(f"compiled autograd of a gradient {name}", lambda: skipped(policy, ask))
    check("compiled autograd of a value that others read", read_outside)
    check("compiled autograd leaves nothing", releases)
    own = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 8)).double()
    check("compiled autograd of PyTorch's nodes", lambda: configured(nest(own)))


def check_scope(check):
    def is_on():
        return _state.is_on(_state.get())

    def fails():
        with nest():
            raise KeyError("in the middle")

    def other_thread():
        found = []
        with nest():
            thread = threading.Thread(target=lambda: found.append(is_on()))
            thread.start()
            thread.join()
        return found == [False]

    def generator():
        @nest
        def numbers():
            yield is_on()
            got = yield is_on()
            return got

        return is_between_yields(numbers())

    def is_between_yields(made):
        return next(made) and not is_on() and next(made) and not is_on()

    def generating_object():
        class Numbers:
            def __call__(self):
                yield is_on()
                yield is_on()

        return is_between_yields(nest(Numbers())())

    def generating_module():
        class Numbers(nn.Module):
            def forward(self, x):
                yield is_on()
                yield is_on() and self.training

        return is_between_yields(nest(Numbers())(X))

    def nested():
        with nest(policy="fad"):
            outer = _state.get()
            with nest():
                inner = _state.get()
            return _state.get() == outer != inner

    check("exception", lambda: raises("in the middle", fails) and not is_on())
    check("thread", other_thread)
    check("generator", generator)
    check("an object that generates", generating_object)
    check("a module that generates", generating_module)
    check("one in another", nested)
    check("policy", lambda: raises('policy is "auto" or "fad"', lambda: nest(policy="none")))
    check(
        "near", lambda: raises("did you mean 'deferred'", lambda: fad.torch.nest(engine="defered"))
    )
    check(
        "elements", lambda: raises("is a number of elements", lambda: fad.torch.nest(min_numel=-1))
    )
    check("neither", lambda: raises("takes a module or a function", lambda: nest(3)))


def check_module(check):
    model = copy.deepcopy(MODEL)
    nested = nest(model)

    def shares():
        nested.eval()
        return (
            list(nested.state_dict()) == list(model.state_dict())
            and not model.training
            and nested.up.weight is model.up.weight
            and isinstance(nested, Model)
        )

    def moves():
        nested.float()
        return model.up.weight.dtype == torch.float and nested(X.float()).dtype == torch.float

    def copies():
        for made in (copy.deepcopy(nested), pickle.loads(pickle.dumps(nested))):
            assert type(made) is type(nested) and made.up.weight is not model.up.weight
            made.double()
            torch.testing.assert_close(made(X), nested.double()(X))
            assert "FadBackward" in str(walk(made(X)))

    def hooks():
        called = []
        handle = nested.register_forward_hook(lambda *a: called.append(1))
        nested(X), model(X)
        handle.remove()
        return len(called) == 2

    def registers():
        class Listed(nn.Module):
            classes = []

            def __init_subclass__(cls, name, **keywords):
                Listed.classes.append(name)

            def forward(self, x):
                return x * torch.sigmoid(x)

        class One(Listed, name="one"):
            pass

        made = nest(One())
        made(X), copy.deepcopy(made)(X)
        return Listed.classes == ["one"] and isinstance(made, One)

    check("a class that lists its subclasses", registers)
    check("state", shares)
    check("moves", moves)
    check("copies", copies)
    check("module hooks", hooks)
    check(
        "script",
        lambda: raises(
            "inside of `with fad.torch.nest():`", lambda: nest(torch.jit.trace(MODEL, X))
        ),
    )


def walk(tensor):
    """The names of a graph's nodes."""
    found, open_nodes = set(), [tensor.grad_fn]
    while open_nodes:
        node = open_nodes.pop()
        if node is not None and node not in found:
            found.add(node)
            open_nodes += [each for each, _ in node.next_functions]
    return {node.name() for node in found}


if __name__ == "__main__":
    check = Checks()
    for part in (
        check_backward,
        check_transforms,
        check_transformed_backward,
        check_higher_order,
        check_jagged,
        check_compile,
        check_scope,
        check_module,
        check_values,
    ):
        part(check)
    check.finish()
