"""Compares deferred kernels on slices of tensors, which PyTorch's threads compute, with eager
PyTorch, and with the kernels in one thread."""

import contextlib
import itertools
from pathlib import Path

import torch
import torch.nn.functional as F
from checks import Checks
from running_threads import count_running

import fad.torch
from fad.torch.eager import _kernels

# PyTorch gives each thread 32,768 elements or more, and fad a multiple of 64.
SIZES = (0, 1, 63, 65, 32768, 32769, 100_003)
THREADS = (1, 2, 3)
TOLERANCES = {torch.float64: 1e-12, torch.float32: 1e-5, torch.bfloat16: 2e-2}
torch.manual_seed(0)


def mish(x):
    return x * torch.tanh(F.softplus(x))


def rounded(x):
    return torch.sin(x.bfloat16() * 2).float() * 3


def has_openmp():
    """Whether the process has loaded fad's own threads."""
    return "libomp" in Path("/proc/self/maps").read_text()


def differentiate(program, values, policy=None):
    x = values.detach().requires_grad_()
    with contextlib.ExitStack() as stack:
        if policy:
            stack.enter_context(fad.torch.nest(policy=policy, engine="deferred", min_numel=0))
        y = program(x * 1)
    (gradient,) = torch.autograd.grad(y.square().sum(), x)
    return y.detach(), gradient


def compare(program, values, policy):
    expected = differentiate(program, values)
    for _ in range(2):
        differentiate(program, values, policy)
        _kernels.wait()
    found = []
    for count in THREADS:
        torch.set_num_threads(count)
        found.append(differentiate(program, values, policy))
    tolerance = TOLERANCES[torch.bfloat16 if program is rounded else values.dtype]
    torch.testing.assert_close(found[0], expected, rtol=tolerance, atol=tolerance)
    for other in found[1:]:
        torch.testing.assert_close(other, found[0], rtol=0, atol=0)


def compute(count):
    """How many threads take part in a kernel with `count` threads."""
    torch.set_num_threads(count)
    x = torch.randn(1 << 22, dtype=torch.float64, requires_grad=True)
    with fad.torch.nest(engine="deferred", min_numel=0):
        # It computes the value, and nothing else.
        return count_running(mish(x * 1).data_ptr)


def check_running():
    for _ in range(2):
        compute(1)
        _kernels.wait()
    found = [compute(count) for count in THREADS]
    assert found == [*THREADS], found


def main():
    check = Checks()
    loaded = has_openmp()
    programs = ((mish, torch.float64), (mish, torch.bfloat16), (rounded, torch.float32))
    for (program, dtype), policy, size in itertools.product(programs, ("auto", "fad"), SIZES):
        values = torch.randn(size, dtype=torch.float64).to(dtype)
        name = f"{program.__name__} of {size} {dtype} under {policy}"
        check(name, lambda: compare(program, values, policy))
    # Both of a program under each policy, but for a derivative of several types.
    check("kernels", lambda: _kernels.wait() >= 5)
    check("transposed", lambda: compare(mish, torch.randn(300, 201).t(), "auto"))
    check("threads that run", check_running)
    check("PyTorch's threads alone", lambda: has_openmp() == loaded)
    check.finish()


if __name__ == "__main__":
    main()
