"""Compares models with nested sequences with eager PyTorch under its other features."""

import copy
import pickle
import threading

import torch
from activations import Model, gelu
from checks import Checks, raises
from comparisons import MODEL, X, agrees, nest
from nested_compilation import check_compile
from nested_transforms import check_traces, check_transformed_backward
from nested_values import check_values
from torch import nn
from torch._higher_order_ops.map import map as map_rows
from torch.utils.checkpoint import checkpoint

import fad.torch
from fad.torch.eager import _state


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
        check_traces,
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
