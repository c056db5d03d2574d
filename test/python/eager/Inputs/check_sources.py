"""Compares programs that write to what a sequence has read, before backward reads it again, with
the same programs on copies: gradients, bytes, and the memory of the copies."""

import itertools
import resource
import sys

import numpy as np
import torch
import torch.nn.functional as F
from checks import Checks, raises

import fad.torch

MODES = [
    {"policy": policy, "engine": engine, "min_numel": 0}
    for policy, engine in itertools.product(("auto", "fad"), ("interactive", "deferred"))
]
torch.manual_seed(0)
X, WEIGHT = torch.randn(6, 4, dtype=torch.double), torch.randn(4, 4, dtype=torch.double)

# Operators of which eager PyTorch saves the result, and so allows a write to the operand.
FIRST = {
    "exp": torch.exp,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "relu": F.relu,
    "linear": lambda x: x * 3 - 1,
    "squared relu": lambda x: F.relu(x).square(),
    "two readers": lambda x: torch.exp(x) * torch.sigmoid(x),
}
THEN = {
    "product": lambda y: y @ WEIGHT,
    "product, continued": lambda y: (y @ WEIGHT) * torch.tanh(y * 2),
    "continued": lambda y: (torch.tanh(y) + 1) @ WEIGHT,
    "dropped": lambda y: F.dropout(y, 0.5) @ WEIGHT,
    "cast": lambda y: y.float().sigmoid() @ WEIGHT.float(),
}


@torch.library.custom_op("fad_test::put", mutates_args={"tensor"})
def put(tensor: torch.Tensor) -> None:
    tensor.mul_(3)


@torch.library.custom_op("fad_test::fail", mutates_args={"tensor"})
def fail(tensor: torch.Tensor) -> None:
    tensor.mul_(3)
    raise RuntimeError("after the write")


def write_item(x):
    x[1] = 2


def write_later(x):
    x.add_(1)
    x.mul_(2)


def write_silently(x):
    """A batch normalization writes to statistics, and tells no version."""
    with torch.no_grad():
        F.batch_norm(torch.randn(8, 4).double(), x[0], x[1].abs() + 1, training=True)


WRITES = {
    "add_": lambda x: x.add_(1),
    "copy_": lambda x: x.copy_(X),
    "an item": write_item,
    "a part": lambda x: x[2:].mul_(2),
    "twice": write_later,
    "out": lambda x: torch.mul(X, 2, out=x),
    "a list": lambda x: torch._foreach_mul_([x], 2.0),
    "custom": lambda x: torch.ops.fad_test.put(x),
    "silently": write_silently,
    "a name": lambda x: F.relu_(x),
    "a nested one": lambda x: F.silu(x, inplace=True),
}
# Those that autograd does not see.
QUIET = {"out", "a list", "custom", "silently"}


def make_program(first, then, write, quiet, again):
    """With `again`, the first sequence goes on after the write. Of a copied source, nothing is
    overwritten that is read."""

    def program(x, copies=False):
        torch.manual_seed(1)
        x = x @ WEIGHT
        y = first(x)
        if copies:
            x = x.clone()
        result = then(y).sum()
        with torch.set_grad_enabled(not quiet):
            write(x)
        if again:
            result = result + torch.sin(y).square().sum()
        return result + x.detach().sum()

    return program


def differentiate(program, x=X, **keywords):
    x = x.clone().requires_grad_()
    try:
        value = program(x, **keywords)
        return [value.detach(), *torch.autograd.grad(value, x)]
    except RuntimeError as error:
        return str(error)


def agrees(program, mode):
    found = differentiate(fad.torch.nest(program, **mode))
    if isinstance(found, str):
        # PyTorch's own nodes may refuse, as they do without nest.
        return found == differentiate(program) or print(found) or False
    close = {"rtol": 1e-5, "atol": 1e-5}
    torch.testing.assert_close(found, differentiate(program, copies=True), **close)


def check_programs(check):
    every = "--every" in sys.argv
    writes = WRITES if every else ["add_", "an item", "out", "silently"]
    for first, then, again, mode in itertools.product(FIRST, THEN, (False, True), MODES):
        for write in writes:
            program = make_program(FIRST[first], THEN[then], WRITES[write], write in QUIET, again)
            check(
                f"{first}, {then}, {write}, {'again, ' * again}{mode}",
                lambda: agrees(program, mode),
            )
    for write, mode in itertools.product(WRITES, MODES):
        program = make_program(torch.exp, THEN["continued"], WRITES[write], write in QUIET, True)
        check(f"{write}, {mode}", lambda: agrees(program, mode))


def parts(x, copies=False):
    """Parts of one memory that are written one after the other."""
    memory = [torch.zeros(4).double() for _ in range(6)] if copies else torch.zeros(6, 4).double()
    total = 0
    for i in range(6):
        memory[i] = torch.exp(x[i]) if copies else memory[i].copy_(torch.exp(x[i]))
        total = total + torch.tanh(memory[i] * 2) @ WEIGHT
    return total.sum()


def shared(x, copies=False):
    """Two sequences that read one source, which has one copy."""
    h = x @ WEIGHT
    y, z = torch.exp(h), torch.tanh(h)
    a, b = (y + 1).tanh() @ WEIGHT, (z * 2).exp() @ WEIGHT
    (h.clone() if copies else h).add_(1)
    return (a * b).sum()


def empty(x, copies=False):
    h = x[:0] @ WEIGHT
    y = torch.exp(h) * 2
    z = y @ WEIGHT
    h.add_(1)
    return z.sum() + y.sum() + x.sum() + torch.exp(x).sum()


def scalar(x, copies=False):
    h = x.sum() * 0.1
    y = torch.tanh(torch.exp(h)) * 2
    (h.clone() if copies else h).add_(1)
    return (y * WEIGHT).sum()


def data(x, copies=False):
    """A write that PyTorch's versions do not count."""
    h = x @ WEIGHT
    y = torch.exp(h)
    z = (y * 2).tanh() @ WEIGHT
    (h.clone() if copies else h).data.add_(1)
    return z.sum() + (y * y).sum()


def value(x, copies=False):
    """The same to a value that an operator has read, which may be computed later."""
    h = torch.sin(x)
    y = torch.exp(h) * 2
    (h.clone() if copies else h).data.add_(1)
    return (y @ WEIGHT).sum() + y.sum()


def taken(x, copies=False):
    """A source gets other memory, and is written to there."""
    h = x @ WEIGHT
    y = torch.exp(h)
    z = (y * 2).tanh() @ WEIGHT
    h = h.clone() if copies else h
    h.data = X.clone()
    with torch.no_grad():
        h.add_(1)
    return z.sum() + (y * y).sum() + h.detach().sum()


def half_way(x, copies=False):
    """Operators that fail, some of which have written."""
    h = x @ WEIGHT
    y = torch.exp(h)
    z = (y * 2).tanh() @ WEIGHT
    written, places = h.clone() if copies else h, torch.tensor([0, 1, 99])
    with torch.no_grad():
        for write in (
            lambda: written.add_(torch.ones(5).double()),
            lambda: written.index_put_((places,), torch.tensor(5.0).double()),
            lambda: written.index_copy_(0, places, torch.ones(3, 4).double()),
            lambda: torch.ops.fad_test.fail(written),
        ):
            try:
                write()
            except (RuntimeError, IndexError):
                continue
            raise AssertionError("a write has not failed")
    return z.sum() + (y * y).sum()


def check_others(check):
    programs = parts, shared, empty, scalar, data, value, taken, half_way
    for program, mode in itertools.product(programs, MODES):
        check(f"{program.__name__}, {mode}", lambda: agrees(program, mode))

    def narrow(dtype, mode):
        """In 16 bits, as eager PyTorch."""
        weight = WEIGHT.to(dtype)

        def program(x):
            h = x @ weight
            y = torch.relu(h) * 2
            z = y @ weight
            h.add_(1)
            return z.sum() + (y + 1).sum()

        found = differentiate(fad.torch.nest(program, **mode), X.to(dtype))
        torch.testing.assert_close(found, differentiate(program, X.to(dtype)))

    def second(mode):
        x = X.clone().requires_grad_()

        def run(x):
            h = x @ WEIGHT
            y = torch.exp(h)
            z = (y * y) @ WEIGHT
            h.add_(1)
            return z.sum()

        def derive(function):
            (first,) = torch.autograd.grad(function(x), x, create_graph=True)
            return [first, *torch.autograd.grad(first.sin().sum(), x)]

        torch.testing.assert_close(derive(fad.torch.nest(run, **mode)), derive(run))

    for mode in MODES:
        for dtype in (torch.float16, torch.bfloat16, torch.float32):
            check(f"{dtype}, {mode}", lambda: narrow(dtype, mode))
        if mode["policy"] == "auto":
            check(f"second, {mode}", lambda: second(mode))

    def keeps(then, mode):
        """No more bytes than eager PyTorch, where that keeps what it saved."""

        class Program(torch.nn.Module):
            def forward(self, x):
                return make_program(torch.exp, then, WRITES["add_"], False, False)(x)

        x = torch.randn(64, 4, dtype=torch.double, requires_grad=True)
        found, expected = (
            fad.torch.saved_memory(model, x, measure=False).bytes
            for model in (fad.torch.nest(Program(), **mode), Program())
        )
        return found <= expected or print(found, expected) or False

    def frees(mode):
        """The copies of 100 programs, 800 MB, are not there together."""
        x = torch.randn(1000, 1000, requires_grad=True)

        def run():
            h = x * 1
            y = torch.exp(h)
            z = torch.tanh(y)
            h.add_(1)
            return (z * z).sum()

        function = fad.torch.nest(run, **mode)
        torch.autograd.grad(function(), x)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for i in range(100):
            result = function()
            if i % 2:
                torch.autograd.grad(result, x)
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return after - before < 200_000 or print(before, after) or False

    for mode in MODES:
        for name in ("product", "continued"):
            check(f"bytes, {name}, {mode}", lambda: keeps(THEN[name], mode))
        check(f"memory, {mode}", lambda: frees(mode))


class Finalized(np.ndarray):
    """Memory whose end runs operators."""

    count = 0

    def __del__(self):
        x = torch.ones(4, requires_grad=True)
        with torch.enable_grad():
            (torch.exp(x) * 2).sin()
        Finalized.count += 1


def check_finalizer(check):
    """A constant of a sequence that no operator has ended, in the deferred engine."""

    def run(policy):
        before, x = Finalized.count, torch.ones(4, requires_grad=True)
        with fad.torch.nest(min_numel=0, engine="deferred", policy=policy):
            constant = torch.from_numpy(np.ones(4, np.float32).view(Finalized))
            y = (torch.relu(x + constant) * 2).tanh()
            constant.set_(torch.zeros(4))
        expected = torch.autograd.grad((torch.relu(x + 1) * 2).tanh().sum(), x)
        torch.testing.assert_close(torch.autograd.grad(y.sum(), x), expected)
        return Finalized.count > before

    for policy in ("auto", "fad"):
        check(f"a finalizer, {policy}", lambda: run(policy))


def check_gathered(check):
    """Parameters that are freed, and gathered anew for backward, at the version that they had."""

    def run(mode, write, is_trained, is_view):
        x = X.clone().requires_grad_()
        parameter = torch.nn.Parameter(torch.ones(4).double(), requires_grad=is_trained)
        with fad.torch.nest(**mode):
            read = parameter.view(4) if is_view else parameter
            first = torch.sigmoid(torch.tanh(x * read + read) + read) @ WEIGHT
            second = torch.sigmoid(torch.tanh(x * 2 + read) * read) @ WEIGHT
            memory = parameter.untyped_storage()
            size = memory.nbytes()
            memory.resize_(0)
            memory.resize_(size)
            with torch.no_grad(), torch.autograd._unsafe_preserve_version_counter(parameter):
                write(parameter)
            (found,) = torch.autograd.grad(first.sum() + second.sum(), x)
        first = torch.sigmoid(torch.tanh(x * 1 + 1) + 1) @ WEIGHT
        second = torch.sigmoid(torch.tanh(x * 2 + 1) * 1) @ WEIGHT
        torch.testing.assert_close(found, *torch.autograd.grad(first.sum() + second.sum(), x))

    writes = {
        "fill_": lambda parameter: parameter.fill_(1),
        "copy_": lambda parameter: parameter.copy_(torch.ones(4)),
        "cat": lambda parameter: torch.cat([torch.ones(3), torch.ones(1)], out=parameter),
    }
    for mode, write, is_trained, is_view in itertools.product(
        MODES, writes, (True, False), (False, True)
    ):
        check(
            f"gathered, {write}, {is_trained}, {is_view}, {mode}",
            lambda: run(mode, writes[write], is_trained, is_view),
        )


def check_refused(check):
    """Writes outside of nest are not seen; leaves, constants, and tensors whose memory has the
    negated elements, have no copy."""
    message = (
        "fad.torch.nest: a tensor from which a sequence is computed, of shape [6, 4], has been "
        "modified by an inplace operation: it is at version 1; expected version 0 instead. "
        "Write to a copy; inside of nest(), a source that an operator has computed is copied. "
        'With policy="fad" and the engine "interactive", backward does not read it.'
    )

    def outside(x):
        with fad.torch.nest(min_numel=0):
            h = x @ WEIGHT
            y = torch.tanh(torch.exp(h)) @ WEIGHT
        h.add_(1)
        return y

    def leaf(x):
        with fad.torch.nest(min_numel=0):
            y = torch.tanh(torch.exp(x)) @ WEIGHT
            with torch.no_grad():
                x.add_(1)
        return y

    def constant(x):
        number = torch.ones(6, 4).double()
        with fad.torch.nest(min_numel=0):
            y = torch.tanh(torch.relu(x + number)) @ WEIGHT
            number.add_(1)
        return y

    def alias(x):
        """Memory of a constant, by the tensor that an operator has computed there."""
        with fad.torch.nest(min_numel=0):
            h = x @ WEIGHT
            y = torch.tanh(torch.relu(x + h.detach())) @ WEIGHT
            h.add_(1)
        return y

    def negative(x):
        with fad.torch.nest(min_numel=0):
            h = torch._neg_view(x @ WEIGHT)
            y = torch.tanh(torch.exp(h)) @ WEIGHT
            with torch.no_grad():
                h.add_(1)
        return y

    for write in outside, leaf, constant, alias, negative:
        x = X.clone().requires_grad_()
        check(write.__name__, lambda: raises(message, lambda: write(x).sum().backward()))

    def freed():
        """Memory of a constant with gaps that is gone before a write."""
        x, wide = X.clone().requires_grad_(), torch.ones(6, 9).double()
        with fad.torch.nest(min_numel=0, engine="deferred"):
            y = torch.exp(torch.relu(x * wide[:, 1:5]))
            wide.untyped_storage().resize_(0)
            wide.resize_(6, 9)
        return y.shape == (6, 4)

    check("memory with gaps that is freed", freed)


if __name__ == "__main__":
    check = Checks()
    check_programs(check)
    check_others(check)
    check_finalizer(check)
    check_gathered(check)
    check_refused(check)
    check.finish()
