"""Compares deferred sequences with eager PyTorch: when they are computed, what they see
of writes, and what is left of them."""

import contextlib
import gc
import threading

import torch
import torch.nn.functional as F
from activations import ACTIVATIONS, gelu, mish, silu
from checks import Checks, raises

import fad.torch
from fad.torch.eager import _kernels
from fad.torch.eager._state import live_nodes, live_values

torch.manual_seed(0)
X, WEIGHT = torch.randn(6, 8, dtype=torch.double), torch.randn(8, 8, dtype=torch.double)
POLICIES = ("auto", "fad")


def nest(policy="auto"):
    return fad.torch.nest(policy=policy, min_numel=0, engine="deferred")


def source(x=X):
    return (x.clone().requires_grad_() * 1).requires_grad_()


def is_open(tensor):
    """Whether a tensor waits for a reader."""
    return live_values(tensor) == 1


def run(program, context):
    """The result of a program of a source, and its gradient."""
    x = X.clone().requires_grad_()
    with context:
        result = program(x * 1)
    return result.detach(), *torch.autograd.grad(result.square().sum(), x)


def agrees(program):
    """Whether a program has eager PyTorch's results, or both raise the same."""
    expected = run(program, contextlib.nullcontext())
    for policy in POLICIES:
        torch.testing.assert_close(run(program, nest(policy)), expected, rtol=1e-12, atol=1e-13)


def check_time(check):
    """When sequences are computed."""

    def waits(read):
        x = source()
        with nest():
            y = gelu(x)
            assert type(y) is torch.Tensor and y.shape == X.shape and y.grad_fn is not None
            before = is_open(y)
            read(y)
            return before and not is_open(y)

    def leaves():
        with nest():
            y = gelu(source())
        return not is_open(y) and torch.equal(y, gelu(X))

    def fails():
        with contextlib.suppress(KeyError):
            with nest():
                y = silu(source())
                raise KeyError
        return not is_open(y) and torch.allclose(y, silu(X))

    def inner():
        with nest():
            y = silu(source())
            with nest("fad"):
                z = gelu(y.sum(0) * X)
            waiting = is_open(z)
            with fad.torch.nest(min_numel=0):
                return waiting and not is_open(z) and not is_open(y)

    check("a value waits for an operator", lambda: waits(lambda y: y @ WEIGHT))
    check("a value waits for a view", lambda: waits(lambda y: y.view(-1)))
    check("a value waits for its memory", lambda: waits(lambda y: y.data_ptr()))
    check("a value waits for its storage", lambda: waits(lambda y: y.untyped_storage()))
    check("a value waits for an array", lambda: waits(lambda y: y.detach().numpy()))
    check("a value waits for .data", lambda: waits(lambda y: y.data))
    check("a value waits for dlpack", lambda: waits(lambda y: torch.from_dlpack(y.detach())))
    check("a value waits for print", lambda: waits(repr))
    check("a value waits for no_grad", lambda: waits(torch.no_grad()(torch.tanh)))
    check("a value waits for a write", lambda: waits(lambda y: y.mul_(2)))
    check("a value waits for item", lambda: waits(lambda y: y.sum().item()))
    check("the end of the mode", leaves)
    check("an exception", fails)
    check("a mode within", inner)


def check_writes(check):
    """Writes to what an open sequence reads."""

    def write(change):
        def program(x):
            y = gelu(x)
            change(x)
            return y

        return program

    def between(x):
        y = silu(x)
        x.add_(1)
        return y * 2 + silu(x)

    def constant(x):
        scale = torch.full((6, 8), 2.0, dtype=torch.double)
        y = torch.tanh(x * scale) * scale
        scale.zero_()
        return y

    def array(x):
        values = x.detach()
        y = gelu(x)
        x.detach().numpy()[:] = 3
        return y + values.sum()

    for name, change in {
        "in place": lambda x: x.add_(1),
        "of a view": lambda x: x.view(-1).mul_(2),
        "of a row": lambda x: x[0].zero_(),
        "without a graph": lambda x: x.detach().fill_(7),
        "out": lambda x: torch.add(X, 1, out=x.detach()),
        "of a list": lambda x: torch._foreach_add_([x.detach()], 1.0),
        "by .data": lambda x: x.data.zero_(),
    }.items():
        # Backward sees no more of the write than forward.
        check(f"a write {name} is after", lambda: is_unchanged(write(change), gelu))
    # Of the write of an array, it does.
    filled = write(lambda x: x.detach().numpy().fill(5))
    check("a write by an array is after", lambda: torch.allclose(run_value(filled), gelu(X)))
    check("writes between", lambda: torch.allclose(run_value(between), silu(X) * 2 + silu(X + 1)))
    check("a constant", lambda: torch.allclose(run_value(constant), torch.tanh(X * 2) * 2))
    check("an array", lambda: torch.allclose(run_value(array), gelu(X) + 3 * X.numel()))

    def derivative():
        x = X.clone().requires_grad_()
        source = x * 1
        with nest("fad"):
            y = gelu(source)
            source.detach().zero_()
        (expected,) = torch.autograd.grad(gelu(x).sum(), x)
        torch.testing.assert_close(torch.autograd.grad(y.sum(), x)[0], expected)

    def second():
        x = X.clone().requires_grad_()
        h = x * 1
        with nest():
            y = gelu(h)
            h.mul_(2)
        (expected,) = torch.autograd.grad(gelu(x).sum(), x, create_graph=True)
        (found,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        torch.testing.assert_close(
            torch.autograd.grad(found.square().sum(), x),
            torch.autograd.grad(expected.square().sum(), x),
        )

    def outside():
        """A write that is not seen, to what backward needs, and to what it does not."""
        x, leaf = source(), X.clone().requires_grad_()
        with nest():
            y, z = F.relu(x) * 2 - F.leaky_relu(x), torch.tanh(leaf * 1)
        x.add_(1)
        product = y @ WEIGHT
        (found,) = torch.autograd.grad((z @ WEIGHT).sum(), leaf)
        (expected,) = torch.autograd.grad((torch.tanh(leaf) @ WEIGHT).sum(), leaf)
        torch.testing.assert_close(found, expected)
        torch.testing.assert_close(
            product.detach(), (F.relu(x - 1) * 2 - F.leaky_relu(x - 1)) @ WEIGHT
        )
        return raises("modified by an inplace operation", product.sum().backward)

    def elsewhere():
        x = source()
        with nest():
            y = gelu(x)
            thread = threading.Thread(target=lambda: x.detach().add_(1))
            thread.start()
            thread.join()
            refused = raises("modified by an inplace operation", lambda: y.sum())  # noqa: F821
            del y
        return refused

    check("a derivative of before a write", derivative)
    check("a second derivative of before a write", second)
    check("writes outside of the mode", outside)
    for name, function in {
        "one operator": torch.relu,
        "a mask": lambda x: x * (X > 0),
        "two values": lambda x: F.relu(x) * 2 - F.leaky_relu(x),
        "two sequences": lambda x: gelu(x).sum(0) + silu(x),
    }.items():
        for reads in (False, True):
            for goes_on in (False, True):
                check(
                    f"a write and {name}",
                    lambda: is_unchanged(*make_writer(function, reads, goes_on)),
                )
    check("a write of another thread", elsewhere)


def make_writer(function, reads, goes_on):
    """A program that writes to its source after `function` has read it, and the same
    without the write. A value may be computed before, and its sequence may go on."""

    def run(x, writes):
        y = function(x)
        if reads:
            y.data_ptr()
        if writes:
            x.add_(1)
        return (torch.sin(y) * y if goes_on else y) @ WEIGHT

    return lambda x: run(x, True), lambda x: run(x, False)


def is_unchanged(program, expected):
    """Whether a program has another one's value and gradient."""
    x = X.clone().requires_grad_()
    value = expected(x)
    (gradient,) = torch.autograd.grad(value.square().sum(), x)
    for policy in POLICIES:
        found = run(program, nest(policy))
        torch.testing.assert_close(found, (value.detach(), gradient), rtol=1e-12, atol=1e-13)


def run_value(program):
    with nest():
        return program(source()).detach()


def check_programs(check):
    def several(x):
        y = silu(x)
        z = gelu(y)
        return y @ WEIGHT + z @ WEIGHT + torch.tanh(z) + y

    def unused(x):
        gelu(x)
        torch.tanh(gelu(x)) * 2
        return silu(x)

    def detached(x):
        y = silu(x)
        return gelu(y) * y.detach() + y.detach().sum()

    def without(x):
        y = silu(x)
        with torch.no_grad():
            z = y * 2
        return gelu(y) + z

    def hooked(x):
        y = silu(x)
        y.register_hook(lambda gradient: gradient * 2)
        return gelu(y)

    def gated(x):
        return F.silu(x @ WEIGHT) * (x @ WEIGHT.t())

    def view(x):
        y = gelu(x).t()
        return y.reshape(2, 24).sigmoid() * 2

    def broadcast(x):
        return torch.tanh(x * X[:, :1] + X[0]) - X[0, 0]

    def modified(x):
        y = gelu(x)
        y.mul_(2)
        return silu(y)

    def long(x):
        for _ in range(150):
            x = torch.sin(x) * 1.1
        return x

    def piecewise(x):
        return (F.relu(x) * 2 - F.leaky_relu(x)).sum(0)

    def mapped(x):
        return torch.vmap(silu)(x) + torch.func.grad(lambda z: gelu(z).sum())(x.detach())

    def transposed(x):
        return gelu(x.t()).contiguous()

    def checkpointed(x):
        return torch.utils.checkpoint.checkpoint(gelu, x, use_reentrant=False)

    for program in (
        several,
        unused,
        detached,
        without,
        hooked,
        gated,
        view,
        broadcast,
        modified,
        long,
        piecewise,
        mapped,
        transposed,
        checkpointed,
    ):
        check(program.__name__, lambda: agrees(program))


def check_tensors(check):
    """Types, shapes and layouts."""
    for dtype, tolerance in (
        (torch.float64, 1e-12),
        (torch.float32, 1e-5),
        (torch.bfloat16, 3e-2),
        (torch.float16, 4e-3),
    ):
        for name, x in {
            "matrix": torch.randn(5, 7, dtype=dtype),
            "rank 0": torch.randn((), dtype=dtype),
            "no elements": torch.randn(0, 3, dtype=dtype),
            "gaps": torch.randn(6, 8, dtype=dtype)[:, ::2],
            "columns": torch.randn(6, 8, dtype=dtype).t(),
            "channels": torch.randn(2, 3, 4, 5, dtype=dtype).contiguous(
                memory_format=torch.channels_last
            ),
        }.items():
            for policy in POLICIES:
                check(f"{dtype} {name} {policy}", lambda: same(x, policy, tolerance))
    for policy in POLICIES:
        check(f"a gradient that is written to, {policy}", lambda: write_gradient(policy))


def write_gradient(policy):
    """A step of a function whose learning rate requires a gradient."""
    x, rate = X.clone().requires_grad_(), torch.full_like(X, 0.5).requires_grad_()
    with nest(policy):
        loss = x.tanh().sum()
    (gradient,) = torch.autograd.grad(loss, x)
    expected = gradient * rate
    gradient.mul_(rate)
    torch.testing.assert_close(gradient, expected)
    torch.testing.assert_close(expected, (1 - X.tanh().square()) * rate)


def same(x, policy, tolerance):
    results = []
    for context in (contextlib.nullcontext(), nest(policy)):
        leaf = x.detach().requires_grad_()
        with context:
            y = mish(leaf * 1)
        assert y.dtype == x.dtype
        (gradient,) = torch.autograd.grad(y, leaf, torch.ones_like(y))
        results.append((y.detach(), gradient, y.stride()))
    expected, found = results
    torch.testing.assert_close(found[:2], expected[:2], rtol=tolerance, atol=tolerance)
    return found[2] == expected[2]


def check_threads(check):
    wrong = []

    def work(seed):
        x = torch.randn(6, 8, generator=torch.Generator().manual_seed(seed))
        for _ in range(50):
            leaf = x.clone().requires_grad_()
            with nest():
                y = gelu(leaf) @ torch.eye(8)
            (gradient,) = torch.autograd.grad(y.sum(), leaf)
            (expected,) = torch.autograd.grad(gelu(leaf).sum(), leaf)
            if not torch.allclose(gradient, expected, atol=1e-5):
                wrong.append(seed)

    def other():
        with nest():
            y = gelu(source())
            found = []
            thread = threading.Thread(target=lambda: found.append(y.sum()))
            thread.start()
            thread.join()
            return torch.allclose(found[0], gelu(X).sum())

    def threads():
        all_threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in all_threads:
            thread.start()
        for thread in all_threads:
            thread.join()
        return not wrong

    def writes():
        """Others lose sequences while a thread looks for those that read what it writes."""

        def lose():
            kept = []
            for _ in range(2000):
                with nest():
                    kept = kept[-50:] + [torch.sin(source())]

        losing = [threading.Thread(target=lose) for _ in range(2)]
        for thread in losing:
            thread.start()
        while any(thread.is_alive() for thread in losing):
            number = torch.ones(4)
            with nest():
                number.mul_(2)

    check("threads", threads)
    check("a write in one thread, and sequences in others", writes)
    check("a reader in another thread", other)


def check_lives(check):
    x, functions, before = source(), list(ACTIVATIONS.values()), _kernels.wait()
    for i in range(10000):
        with nest(POLICIES[i % 2]):
            y = functions[i % 3](x)
            if i % 4 == 0:
                y = y.sum(0)
        if i % 100 == 0:
            y.sum().backward(retain_graph=False) if y.requires_grad and i % 200 else None
            x = source()
    del x, y
    gc.collect()
    check("no node is left", lambda: live_nodes() == 0)
    check("no value is left", lambda: live_values() == 0)
    check("few kernels", lambda: _kernels.wait() <= before + 6)
    check("a wrong engine", lambda: raises("interactive", lambda: fad.torch.nest(engine="later")))


if __name__ == "__main__":
    check = Checks()
    check_time(check)
    check_writes(check)
    check_programs(check)
    check_tensors(check)
    check_threads(check)
    check_lives(check)
    check.finish()
