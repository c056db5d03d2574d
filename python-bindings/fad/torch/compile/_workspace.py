"""Memory that kernels of libraries take for themselves on a CPU, and give back when they end.

No graph shows it. oneDNN, for example, copies filters of convolutions, and operands of 16 bits, to
layouts that depend on the processor and on the number of threads. So each different call runs once,
on zeros, and the allocator says how much it gives."""

import contextlib
import functools
import math
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import torch

from .._releases import hint_expression
from .._saved_memory.allocator import watch_allocator
from ._pytorch import (
    ExternKernelAlloc,
    ExternKernelOut,
    IRNode,
    V,
    is_profiled,
    tree_leaves,
    tree_map,
    unset_fake_temporarily,
    writes_out_alone,
)


@dataclass(frozen=True)
class _Zeros:
    """A tensor of zeros on a CPU."""

    size: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: torch.dtype

    def make(self) -> torch.Tensor:
        places = (stride * (size - 1) for size, stride in zip(self.size, self.strides))
        count = 0 if 0 in self.size else 1 + sum(places)
        return torch.zeros(count, dtype=self.dtype).as_strided(self.size, self.strides)


# Matrix products whose libraries take no memory of PyTorch's allocator in these types.
_PRODUCTS = {torch.ops.aten.addmm, torch.ops.aten.baddbmm, torch.ops.aten.bmm, torch.ops.aten.mm}
_WIDE = (torch.float32, torch.float64)


@dataclass
class Limit:
    """Calls of at most so many `elements` run, and no product of `_PRODUCTS`; `left_out` are the
    operators of larger ones."""

    elements: int
    left_out: set[str]


_limit: ContextVar[Limit | None] = ContextVar("fad_limit_of_workspaces", default=None)


@contextlib.contextmanager
def limit_calls(limit: Limit) -> Iterator[None]:
    """Lets calls within `limit` run alone; others take nothing."""
    token = _limit.set(limit)
    try:
        yield
    finally:
        _limit.reset(token)


# By operator, operands and threads, the bytes that a call takes.
_TAKEN: dict[str, int] = {}


def count_taken(kernel: Any) -> int:
    """Returns the most bytes that `kernel`, of Inductor's graph in compilation, has allocated at
    once, with its results; 0 where it is no call of a library on a CPU."""
    if not _is_pure_call(kernel):
        return 0
    arguments, keywords = [*kernel.inputs], kernel.kwargs
    if hasattr(kernel, "unflatten_args"):
        arguments, keywords = kernel.unflatten_args(arguments, kernel.constant_args)
    else:
        arguments += kernel.constant_args
    if isinstance(kernel, ExternKernelOut):
        keywords = {**keywords, "out": kernel}
    return _measure(kernel.op_overload, *tree_map(_describe, (list(arguments), dict(keywords))))


def count_call(op: Any, arguments: Any, keywords: Any) -> int:
    """Returns the most bytes that a call of `op` on tensors of a CPU, which may be fake, has
    allocated at once, with its results; 0 where it may have effects."""
    if not _is_pure(op):
        return 0

    def describe(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        return _Zeros(tuple(value.shape), tuple(value.stride()), value.dtype)

    return _measure(op, *tree_map(describe, (list(arguments), dict(keywords))))


def _measure(op: Any, arguments: list[Any], keywords: dict[str, Any]) -> int:
    if not _is_within_limit(op, arguments, keywords):
        return 0
    key = repr((op, arguments, keywords, torch.get_num_threads()))
    if key not in _TAKEN:
        _TAKEN[key] = _run(op, arguments, keywords)
    return _TAKEN[key]


def _is_within_limit(op: Any, arguments: list[Any], keywords: dict[str, Any]) -> bool:
    limit = _limit.get()
    if limit is None:
        return True
    zeros = [each for each in tree_leaves((arguments, keywords)) if isinstance(each, _Zeros)]
    if op.overloadpacket in _PRODUCTS and all(each.dtype in _WIDE for each in zeros):
        return False
    if sum(math.prod(each.size) for each in zeros) <= limit.elements:
        return True
    limit.left_out.add(str(op))
    return False


def _is_pure_call(kernel: Any) -> bool:
    """Tells whether `kernel` calls an operator of PyTorch on a CPU that writes to no operand."""
    if not isinstance(kernel, ExternKernelAlloc | ExternKernelOut):
        return False
    device = kernel.get_device()
    is_on_cpu = device is not None and device.type == "cpu"
    return is_on_cpu and _is_pure(getattr(kernel, "op_overload", None))


def _is_pure(op: Any) -> bool:
    # Operators of others may have effects.
    return getattr(op, "namespace", "") == "aten" and writes_out_alone(op)


def _describe(value: Any) -> Any:
    """Returns a leaf of the arguments of a kernel without the graph."""
    find = functools.partial(hint_expression, V.graph.sizevars)
    if isinstance(value, IRNode):
        sizes, strides = value.get_size(), value.get_stride()
        return _Zeros(tuple(map(find, sizes)), tuple(map(find, strides)), value.get_dtype())
    return find(value) if hasattr(value, "free_symbols") else value


def _run(op: Any, arguments: list[Any], keywords: dict[str, Any]) -> int:
    if is_profiled():
        # The end of a profile ends that of the user.
        raise RuntimeError("a profiler runs, so that workspaces of kernels are unknown")

    def make(value: Any) -> Any:
        return value.make() if isinstance(value, _Zeros) else value

    with (
        unset_fake_temporarily(),
        torch.no_grad(),
        torch.autocast("cpu", enabled=False),
        torch.random.fork_rng(devices=[]),
    ):
        arguments, keywords = tree_map(make, (arguments, keywords))
        written = keywords.get("out")
        _, allocated = watch_allocator(lambda: op(*arguments, **keywords), on_gpu=False)
    return allocated.peak + (0 if written is None else written.untyped_storage().nbytes())
