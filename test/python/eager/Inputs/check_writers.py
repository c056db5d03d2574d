"""Writes to what deferred sequences read, by operators that do not say so and in other
ways, give what eager PyTorch gives, or an error."""

import contextlib
import ctypes
import threading

import numpy as np
import torch
import torch.nn.functional as F
from checks import Checks, raises
from torch import nn

import fad.torch
from fad.torch.eager import _kernels

torch.manual_seed(0)
X = torch.randn(4, 8, dtype=torch.double)
WEIGHT = torch.randn(8, 8, dtype=torch.double)


def nest(engine="deferred", policy="auto"):
    return fad.torch.nest(engine=engine, min_numel=1, policy=policy)


def run(program, context):
    """The result of a program of a source and a constant, and the gradient."""
    x, c = X.clone().requires_grad_(), torch.ones(4, 8, dtype=torch.double)
    with context:
        result = program(x, c)
    return result.detach(), torch.autograd.grad(result.sum(), x)[0]


def is_right(program, engine="deferred", policy="auto"):
    """Whether the result and the gradient are those of eager PyTorch, or the interactive
    engine's backward would read what has been modified."""
    try:
        value, gradient = run(program, nest(engine, policy))
    except RuntimeError as error:
        return (engine, policy) == ("interactive", "auto") and "been modified by" in str(error)
    expected = run(program, contextlib.nullcontext())
    return torch.allclose(value, expected[0]) and torch.allclose(gradient, expected[1])


def statistics(x, c):
    norm = nn.BatchNorm1d(8).double()
    y = (x - norm.running_mean) * torch.sigmoid(x)
    norm(x + 3)
    return y.sum()


def functional(x, c):
    row, variance = torch.zeros(8).double(), torch.ones(8).double()
    y = torch.sin(x) + row
    F.batch_norm(x.detach() + 3, row, variance, training=True)
    return y.sum()


@torch.library.custom_op("fad_test::add", mutates_args={"tensors"})
def add(tensors: list[torch.Tensor], number: float) -> None:
    for tensor in tensors:
        tensor.add_(number)


def custom(x, c):
    y = torch.sin(x) + c
    torch.ops.fad_test.add([c], 1.0)
    return y.sum() + c.sum()


LATER = []


def later(x, c):
    """A custom operator of which the engine is told after its first use."""
    y = torch.sin(x) + c
    y.detach()
    name = f"later{len(LATER)}"
    LATER.append(torch.library.custom_op(f"fad_test::{name}", mutates_args={"tensor"})(_add_one))
    z = torch.cos(x) + c
    LATER[-1](c)
    return z.sum() + y.sum() + c.sum()


def _add_one(tensor: torch.Tensor) -> None:
    tensor.add_(1)


def exported(x, c):
    """Arrays of other libraries, by each way that there is."""
    y = torch.sin(x) + c
    np.from_dlpack(c).fill(3)
    z = torch.cos(x) + c
    torch.from_dlpack(torch.utils.dlpack.to_dlpack(c)).fill_(5)
    return y.sum() + (z + c).sum()


def clear(tensor):
    """Sets elements to zero as a library does that takes memory by DLPack's table of C
    functions, if the tensor's class has one."""
    table = getattr(type(tensor), "__dlpack_c_exchange_api__", None)
    if table is None:
        return np.from_dlpack(tensor).fill(0)
    find = ctypes.pythonapi.PyCapsule_GetPointer
    find.restype, find.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    # The version and the table before, and functions, of which the fourth fills a DLTensor,
    # which begins with the memory.
    pointers = ctypes.cast(find(table, b"dlpack_exchange_api"), ctypes.POINTER(ctypes.c_void_p))
    describe = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)(pointers[5])
    described = (ctypes.c_void_p * 16)()
    assert describe(tensor, described) == 0
    ctypes.memset(described[0], 0, tensor.nbytes)


def exchanged(x, c):
    y = torch.sin(x) + c
    clear(c)
    return y.sum() + (torch.cos(x) + c).sum()


def without_memory(x, c):
    """Writes to tensors that have no memory of their own."""
    y = torch.sin(x) + c
    sparse, opaque = torch.eye(3).to_sparse(), torch.randn(4, 4).to_mkldnn()
    sparse.mul_(2), opaque.mul_(2)
    z = torch.cos(x) + c
    torch.func.vmap(lambda row: row.clone().mul_(2))(c)
    return y.sum() + (z + c).sum() + sparse.sum()


def assigned(x, c):
    y = torch.sin(x) * x
    y.data = torch.ones(4, 8).double()
    return y.detach().sum() + x.sum()


def assigned_between(x, c):
    """Backward goes through a tensor that has got other memory."""
    y = torch.sin(x) * x
    y.data = torch.ones(4, 8).double()
    return (y * c).sum() + (y @ WEIGHT).sum()


def assigned_inside(x, c):
    """A value gets other memory after operators have read it that are computed later."""
    h = x * 1
    y = torch.exp(h) * h
    h.data = c
    return (y + 0).detach().sum() + h.detach().sum() + x.sum()


def assigned_view(x, c):
    """A value gets its own memory, with other strides."""
    h = x[:, :4] * 1
    y = torch.exp(h) * h
    h.data = h.detach().t()
    return (y + 0).detach().sum(0).square().sum() + x.sum()


def taken(x, c):
    layer = nn.Linear(8, 8).double()
    with torch.no_grad():
        layer.weight.copy_(WEIGHT)
        layer.bias.zero_()
    layer.weight.data = layer.weight * torch.sigmoid(layer.weight)
    return layer(x).sum()


def check_scalar(check):
    """A number that a kernel takes from a tensor without dimensions."""
    weight = WEIGHT.clone().requires_grad_()

    def run(x, a, reads):
        h = torch.sigmoid(x) * a
        if reads:
            h.data_ptr()
        return (h * torch.tanh(h)) @ weight

    for _ in range(4):
        with nest():
            result = run(X.clone().requires_grad_(), torch.tensor(2.0).double(), False)
        result.sum().backward()
        _kernels.wait()
    for reads in (False, True):
        scale = torch.tensor(2.0).double()
        with nest():
            result = run(X.clone().requires_grad_(), scale, reads)
        scale.mul_(10)
        check(
            f"a number that changes{' after a value' * reads}",
            lambda: raises("modified by an inplace operation", result.sum().backward),
        )


def check_others(check):
    x, c = X.clone().requires_grad_(), torch.ones(4, 8, dtype=torch.double)

    def freed():
        with nest():
            y = torch.sin(x) * c
            size = c.untyped_storage().nbytes()
            c.untyped_storage().resize_(0)
            refused = raises("has been freed", lambda: y.sum())  # noqa: F821
            c.untyped_storage().resize_(size)
            del y
        return refused

    def own_error():
        try:
            with nest():
                y = torch.sin(x) + c
                thread = threading.Thread(target=lambda: c.add_(1))
                thread.start()
                thread.join()
                raise KeyError(y.shape)
        except KeyError:
            return True

    check("memory that is freed", freed)
    check("an error of the block's own", own_error)


if __name__ == "__main__":
    check = Checks()
    for engine in ("interactive", "deferred"):
        for policy in ("auto", "fad"):
            for program in (
                statistics,
                functional,
                custom,
                taken,
                later,
                exported,
                exchanged,
                assigned_between,
                assigned_inside,
                assigned_view,
                without_memory,
            ):
                check(
                    f"{program.__name__}, {engine}, {policy}",
                    lambda: is_right(program, engine, policy),
                )
    check("no table", lambda: not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"))
    check("assigned", lambda: is_right(assigned))
    check_scalar(check)
    check_others(check)
    check.finish()
