"""Compares functions that fad.torch.elementwise makes with the functions themselves."""

import copy
import enum
import math
import pickle
import threading
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from elementwise_batches import check_batches
from elementwise_checks import compare, differentiate, expect
from elementwise_errors import check_errors
from elementwise_reads import Scaled, check_reads
from running_threads import count_running
from torch.utils.checkpoint import checkpoint

from fad.torch import elementwise, saved_memory
from fad.torch._elementwise.kernel import count_kernels


def new_gelu(x):
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))
    return 0.5 * x * (1.0 + torch.tanh(inner))


def gate(a, b):
    return F.silu(a) * b


GELU, GATE = elementwise(new_gelu), elementwise(gate)


def check_gradients():
    for dtype in (torch.float32, torch.float64):
        x, y = torch.randn(40, dtype=dtype), torch.randn(40, dtype=dtype)
        compare(GELU, new_gelu, x)
        compare(GATE, gate, x, y)
    x, y = (torch.randn(6, dtype=torch.float64, requires_grad=True) for _ in range(2))
    assert torch.autograd.gradcheck(GATE, (x, y))
    # One argument alone has a gradient.
    assert torch.autograd.gradcheck(lambda x: GATE(x, y.detach()), (x,))
    for dtype in (torch.float16, torch.bfloat16):
        x = torch.randn(50, dtype=dtype)
        found, exact = differentiate(GELU, x), differentiate(new_gelu, x.double())
        for one, other in zip(found, exact):
            assert one.dtype is dtype
            eps = 4 * torch.finfo(dtype).eps
            torch.testing.assert_close(one.double(), other, rtol=eps, atol=eps)


def check_roots():
    """Powers of a half are roots, but in float16, where PyTorch has powers."""
    points = torch.tensor([0.0, -0.0, 2.0, 9.0, math.inf, -math.inf, math.nan])
    for dtype in (torch.float64, torch.float32, torch.float16):
        for exponent in (0.5, -0.5):

            def power(x):
                return x**exponent

            own = differentiate(elementwise(power), points.to(dtype))
            stock = differentiate(power, points.to(dtype))
            torch.testing.assert_close(own[0], stock[0], equal_nan=True)
            # Of a value that is no number, the gradient is none.
            known = ~stock[0].isnan()
            torch.testing.assert_close(own[1][known], stock[1][known], equal_nan=True)


def check_layouts():
    """Tensors that are not contiguous, of every rank, empty, and of different shapes."""
    base = torch.randn(4, 6, 5, 3)
    views = [
        base.permute(0, 3, 1, 2),
        base[:, ::2],
        base[1, :, 2, 0],
        base[:0],
        base[0, 0, 0, 0],
        base.to(memory_format=torch.channels_last),
        torch.randn(5, 1).expand(5, 4),
    ]
    for view in views:
        compare(GELU, new_gelu, view)
    x = views[0]
    assert GELU(x).stride() == x.stride()
    compare(GATE, gate, x, torch.randn(x.shape))
    compare(GATE, gate, torch.randn(5, 1, 3), torch.randn(4, 1))
    compare(GATE, gate, torch.randn(5, 3), torch.randn(()))
    # A scalar does not promote; another type does.
    y = GATE(torch.randn(5), torch.randn((), dtype=torch.float64))
    assert y.dtype is torch.float32
    assert GATE(torch.randn(5), torch.randn(5, dtype=torch.float64)).dtype is torch.float64
    # Cotangents that are not contiguous.
    x = torch.randn(3, 4, requires_grad=True)
    for weights in (torch.ones(()).expand(3, 4), torch.randn(4, 3).t()):
        (one,) = torch.autograd.grad(GELU(x), x, weights)
        (other,) = torch.autograd.grad(new_gelu(x), x, weights)
        torch.testing.assert_close(one, other)


def check_kept():
    """Tensors held for backward, by the choice."""
    x = torch.randn(64, 32, requires_grad=True)
    size = 64 * 32 * 4

    def after(function):
        return saved_memory(lambda: function(x * 1.5) + 1.0, measure=False).bytes

    numbers = 8
    assert after(new_gelu) >= 4 * size
    assert after(GELU) == size + numbers
    assert after(elementwise(new_gelu, keep="source")) == size + numbers
    assert after(elementwise(new_gelu, keep="derivative")) == size + numbers
    for bits in (1, 3):
        rounded = elementwise(new_gelu, derivative_bits=bits)
        assert after(rounded) == size // 32 * bits + numbers
        value, gradient = differentiate(rounded, x)
        exact = differentiate(new_gelu, x)
        torch.testing.assert_close(value, exact[0])
        assert (gradient - exact[1]).abs().max() < {1: 2.0, 3: 0.3}[bits]
    # Few values are exact: a mask.
    mask = elementwise(F.relu6, derivative_bits=1)
    compare(mask, F.relu6, 4 * torch.randn(100))
    assert after(mask) == size // 32 + numbers
    # The derivative is a function of the result.
    saved = saved_memory(elementwise(torch.tanh), x, measure=False)
    assert saved.by_kind == {"result": size}
    # Values that do not depend on the argument keep nothing.
    compare(elementwise(lambda x: x * 2), lambda x: x * 2, x)
    assert after(elementwise(lambda x: x * 2)) == numbers
    identity = elementwise(lambda x: x)
    assert identity(x).data_ptr() != x.data_ptr()


def check_second_derivatives():
    x, y = (torch.randn(5, dtype=torch.float64, requires_grad=True) for _ in range(2))
    assert torch.autograd.gradgradcheck(GATE, (x, y))
    third = torch.autograd.functional.hessian(
        lambda x: torch.autograd.grad(GELU(x).sum(), x, create_graph=True)[0].sum(), x
    )
    expected = torch.autograd.functional.hessian(
        lambda x: torch.autograd.grad(new_gelu(x).sum(), x, create_graph=True)[0].sum(), x
    )
    torch.testing.assert_close(third, expected)
    assert torch.autograd.gradgradcheck(elementwise(torch.tanh, keep="source"), (x,))
    for own in (elementwise(torch.tanh), elementwise(new_gelu, keep="derivative")):
        result = own(x).sum()
        call = lambda: torch.autograd.grad(result, x, create_graph=True)  # noqa: E731
        expect(RuntimeError, "keep='source'", call)


def check_versions():
    """A change of a saved tensor is an error, as in PyTorch."""
    for own in (GELU, elementwise(torch.tanh)):
        leaf = torch.randn(5, requires_grad=True)
        x = leaf * 2
        y = own(x)
        (x if own is GELU else y).add_(1)
        expect(RuntimeError, "modified by an inplace operation", y.sum().backward)
    y = GELU(leaf).sum()
    y.backward()
    expect(RuntimeError, "a second time", y.backward)
    # The derivative alone is independent of the argument.
    own = elementwise(new_gelu, keep="derivative")
    x = leaf.detach().clone().requires_grad_()
    z = x * 1
    y = own(z)
    (expected,) = torch.autograd.grad(new_gelu(x).sum(), x)
    z.data.add_(1)
    (found,) = torch.autograd.grad(y.sum(), x)
    torch.testing.assert_close(found, expected)


def check_modes():
    x = torch.randn(7, 3)
    with torch.no_grad():
        y = GELU(x.requires_grad_())
    assert not y.requires_grad
    with torch.inference_mode():
        torch.testing.assert_close(GELU(torch.ones(3)), new_gelu(torch.ones(3)))
        assert torch.equal(elementwise(lambda x: x * x)(torch.ones(3)), torch.ones(3))
    # Under autocast, the function casts as PyTorch does.
    w = torch.randn(3, 3, requires_grad=True)
    with torch.autocast("cpu", torch.bfloat16):
        one, other = GELU(x @ w), new_gelu(x @ w)
        assert one.dtype is other.dtype is torch.bfloat16
        casts = lambda x: F.softplus(x.float()).to(x.dtype)  # noqa: E731
        assert elementwise(casts)(x @ w).dtype is torch.bfloat16
    torch.testing.assert_close(one, other, rtol=2e-2, atol=2e-2)
    one.sum().backward()
    # Transforms call the function itself.
    functions = torch.func
    x = torch.randn(4, 3)
    gradient = lambda f: functions.vmap(functions.grad(lambda x: f(x).sum()))  # noqa: E731
    for transform in (functions.vmap, gradient):
        torch.testing.assert_close(transform(GELU)(x), transform(new_gelu)(x))
    one, other = (functions.jvp(f, (x,), (x,)) for f in (GELU, new_gelu))
    torch.testing.assert_close(one, other)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, x)
        tangent = torch.autograd.forward_ad.unpack_dual(GELU(dual)).tangent
    torch.testing.assert_close(tangent, other[1])
    traced = torch.fx.experimental.proxy_tensor.make_fx(GELU)(x)
    assert "tanh" in traced.code
    compiled = torch.compile(GELU, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), new_gelu(x))
    assert GELU(torch.ones(3, device="meta")).is_meta
    assert elementwise(torch.exp)(torch.arange(3)).dtype is torch.float32


def check_nesting():
    """Checkpoints, hooks of saved tensors, several backward passes, and hooks of nodes."""
    x = torch.randn(9, requires_grad=True)
    (expected,) = torch.autograd.grad(new_gelu(new_gelu(x)).sum(), x)
    for reentrant in (False, True):
        y = checkpoint(lambda x: GELU(GELU(x)), x, use_reentrant=reentrant)
        (found,) = torch.autograd.grad(y.sum(), x) if not reentrant else (None,)
        if reentrant:
            y.sum().backward()
            found = x.grad
        torch.testing.assert_close(found, expected)
    packed = []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: packed.append(t.numel()) or t.double(), lambda t: t.float()
    ):
        y = GELU(GELU(x))
    (found,) = torch.autograd.grad(y.sum(), x, retain_graph=True)
    (again,) = torch.autograd.grad(y.sum(), x)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(again, expected)
    assert packed == [9, 9]


def check_threads():
    """Threads compile and run at once."""
    own, failed = elementwise(lambda x: torch.sin(x) * x), []
    x = torch.randn(1000)
    expected = differentiate(lambda x: torch.sin(x) * x, x)

    def work():
        try:
            for _ in range(20):
                for one, other in zip(differentiate(own, x), expected):
                    torch.testing.assert_close(one, other)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed


def check_processors():
    """Kernels run in as many threads as PyTorch's operators. Before other checks, as threads
    stay."""

    def list_threads():
        return sorted(task.name for task in Path("/proc/self/task").iterdir())

    own, count = elementwise(lambda x: torch.cos(x) * x), torch.get_num_threads()
    x = torch.randn(1 << 20)
    expected = differentiate(lambda x: torch.cos(x) * x, x)
    torch.set_num_threads(1)
    before = list_threads()
    alone = differentiate(own, x)
    assert list_threads() == before
    torch.set_num_threads(3)
    together = differentiate(own, x)
    assert count_running(lambda: own(x), 30) == 3
    torch.set_num_threads(count)
    for one, other, known in zip(alone, together, expected):
        assert torch.equal(one, other)
        torch.testing.assert_close(one, known)


def check_sharing():
    """A kernel for each sequence of operations and type, for all sizes."""
    count = count_kernels()
    for size in (1, 2, 1001):
        GELU(torch.randn(size))
        elementwise(lambda x: new_gelu(x))(torch.randn(size, 2, requires_grad=True))
    assert count_kernels() == count
    scale = elementwise(lambda x, factor: x * x * factor)
    for factor in (2.0, 3.0):
        torch.testing.assert_close(scale(torch.ones(3), factor), torch.full((3,), factor))
    # Equal numbers of different types are different constants.
    power = elementwise(lambda x, *, order: x**order)
    compare(lambda x: power(x, order=2), lambda x: x**2, torch.randn(5))
    clone = copy.deepcopy(scale)
    torch.testing.assert_close(clone(torch.ones(3), 2.0), scale(torch.ones(3), 2.0))


class Side(enum.Enum):
    """Without a hash, as it compares."""

    LEFT, RIGHT = 1, 2

    def __eq__(self, other):
        return self is other


def check_constants():
    """Constants are the same where their types and values are."""
    x = torch.tensor([-2.0, 0.5, 3.0])
    divide = elementwise(lambda x, z: x / z)
    for zero in (0.0, -0.0):
        assert torch.equal(divide(x, zero), x / zero)
    by_type = elementwise(lambda x, *, n=1: x * 10 if n is True else x * n)
    for n in (1, True, 1.0):
        assert torch.equal(by_type(x, n=n), x * 10 if n is True else x)
    by_numpy = elementwise(lambda x, n: x * float(n))
    for n in (np.float32(2), np.float32(3)):
        assert torch.equal(by_numpy(x, n), x * float(n))
    by_types = elementwise(lambda x, c: x * 9 if isinstance(c[0][0], float) else x)
    for each in (1, 1.0, True):
        assert torch.equal(by_types(x, ((each,),)), x * 9 if type(each) is float else x)
    by_member = elementwise(lambda x, side: x * 2 if side is Side.LEFT else x)
    for side in Side:
        assert torch.equal(by_member(x, side), x * 2 if side is Side.LEFT else x)
    for _ in range(2):
        divide(x, math.nan)
    assert len(divide._plans) == 3


def check_types():
    """A function sees the types of its tensors."""
    for dtype in (torch.float16, torch.bfloat16, torch.float32):
        x = torch.tensor([1.0, 60.0, math.inf, -math.inf], dtype=dtype)
        for function in (
            lambda x: torch.nan_to_num(x) * 1,
            lambda x: x.masked_fill(x > 50, torch.finfo(x.dtype).min),
            lambda x: x.clamp(min=torch.finfo(x.dtype).tiny),
        ):
            compare(elementwise(function), function, x)


def check_shapes():
    x = torch.ones(3)
    for function in (
        lambda x: x * x.dim(),
        lambda x: x * 2 if x.shape[-1] > 1000 else x,
        lambda x: x / x.numel(),
    ):
        expect(TypeError, "another rank or size", lambda: elementwise(function)(x))
    by_shape = lambda x: x * torch.full(x.shape, 2.0)  # noqa: E731
    compare(elementwise(by_shape), by_shape, torch.randn(2, 3))


@elementwise
def decorated(x):
    return torch.sin(x) * x


def check_decorator():
    assert pickle.loads(pickle.dumps(decorated)) is decorated
    own = pickle.loads(pickle.dumps(elementwise(new_gelu)))
    assert torch.equal(own(torch.ones(3)), GELU(torch.ones(3)))
    module = Scaled()
    x = torch.tensor([-2.0, 3.0])
    assert torch.equal(module.scale(x), torch.tensor([-1.5, 4.5]))
    assert torch.equal(Scaled.scale(module, x), module.scale(x))


def check_numbers():
    """Constants that functions make themselves, and operations beyond activations."""
    x = torch.rand(20) + 0.5
    for function in (
        lambda x: x * torch.tensor(0.5) + torch.full_like(x, 2.0),
        lambda x: torch.where(x > 1, x, 2 - x).clamp(0.75, 1.2),
        lambda x: torch.lerp(x, x.sqrt(), 0.3) + x.log1p() - x.sinh() / 3,
        lambda x: torch.erfc(x) + torch.lgamma(x) + 2.0**x,
        lambda x: x.float().exp().to(x.dtype).reciprocal().rsqrt(),
    ):
        compare(elementwise(function), function, x, rtol=2e-5, atol=2e-6)
    maximum = elementwise(torch.maximum)
    y = torch.tensor([0.0, 1.0, 2.0])
    compare(maximum, torch.maximum, y, torch.tensor([1.0, 1.0, 1.0]))


CHECKS = (
    check_processors,
    check_gradients,
    check_roots,
    check_layouts,
    check_kept,
    check_second_derivatives,
    check_batches,
    check_versions,
    check_modes,
    check_nesting,
    check_threads,
    check_sharing,
    check_constants,
    check_reads,
    check_types,
    check_shapes,
    check_decorator,
    check_errors,
    check_numbers,
)
torch.manual_seed(0)
for check in CHECKS:
    check()
print(f"{len(CHECKS)} checks passed")
