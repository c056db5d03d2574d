"""Memory that kernels of libraries take for themselves on a CPU, and give back when they end.

No graph shows it. oneDNN, for example, copies filters of convolutions, and operands of 16 bits, to
layouts that depend on the processor and on the number of threads. So each different call runs once,
on zeros, and the allocator says how much it gives."""

import functools
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
    call = tree_map(_describe, (list(arguments), dict(keywords)))
    key = repr((kernel.op_overload, call, torch.get_num_threads()))
    if key not in _TAKEN:
        _TAKEN[key] = _run(kernel.op_overload, *call)
    return _TAKEN[key]


def _is_pure_call(kernel: Any) -> bool:
    """Tells whether `kernel` calls an operator of PyTorch on a CPU that writes to no operand."""
    if not isinstance(kernel, ExternKernelAlloc | ExternKernelOut):
        return False
    op, device = getattr(kernel, "op_overload", None), kernel.get_device()
    # Operators of others may have effects.
    if getattr(op, "namespace", "") != "aten" or device is None or device.type != "cpu":
        return False
    return writes_out_alone(op)


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
