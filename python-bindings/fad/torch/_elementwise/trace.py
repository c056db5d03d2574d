"""The traces of elementwise functions of Python.

A function is traced once for each combination of types, by operations of PyTorch."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch.fx.experimental.proxy_tensor import make_fx

from .._pytorch import TorchDispatchMode
from .._requirements import torch
from .scalar_function import (
    FLOATS,
    NotElementwise,
    ScalarFunction,
    get_name,
    import_graph,
    make_decompositions,
)

aten = torch.ops.aten
# Shapes of arguments that have a rank. The function must be the same for all.
_EXAMPLES = (5,), (3, 40009)
# PyTorch traces one function at once.
_tracing = threading.RLock()


@dataclass(frozen=True)
class Argument:
    """Facts about an argument when a function is traced: the type of a tensor, and
    whether that has rank 0, or the value of anything else."""

    dtype: torch.dtype | None
    is_scalar: bool = False
    value: Any = None


def trace(
    function: Callable[..., Any],
    arguments: Sequence[Argument],
    keywords: Mapping[str, Any],
) -> ScalarFunction:
    """`function` of `arguments` and `keywords`. Raises NotElementwise where it is no
    function of single elements, or has an operation that fad has no body of."""
    is_tensor = [each.dtype is not None for each in arguments]
    tensors = [each for each in arguments if each.dtype is not None]

    def call(*values: torch.Tensor) -> Any:
        remaining = iter(values)
        given = [
            next(remaining) if tensor else each.value for tensor, each in zip(is_tensor, arguments)
        ]
        return function(*given, **keywords)

    found = [_trace(function, call, tensors, shape) for shape in _EXAMPLES]
    if found[0] != found[1]:
        raise NotElementwise(
            f"{get_name(function)} computes something else for another rank or size; call it "
            "as it is"
        )
    return found[0]


def _trace(
    function: Callable[..., Any],
    call: Callable[..., Any],
    tensors: Sequence[Argument],
    shape: tuple[int, ...],
) -> ScalarFunction:
    """Returns the function of `tensors`, which have the shape `shape`, or rank 0."""
    result = _run(function, call, tensors, shape)
    examples = [torch.ones(() if each.is_scalar else shape, dtype=each.dtype) for each in tensors]
    try:
        # Inference tensors have no versions, which tracing may need.
        with _tracing, torch.inference_mode(False), torch.no_grad():
            graph = make_fx(call, make_decompositions(), tracing_mode="real")(*examples)
    except Exception as error:
        raise NotElementwise(
            f"{get_name(function)} cannot be traced: {type(error).__name__}: {error}"
        ) from error
    graph.graph.eliminate_dead_code()
    return import_graph(graph, function, tuple(each.dtype for each in tensors), result)


class _Refused(RuntimeError):
    """Not a TypeError, which operators of tensors take for another type of operand."""


class _Watch(TorchDispatchMode):
    """Refuses what a graph does not show."""

    def __torch_dispatch__(self, target, types, args=(), kwargs=None):
        if not torch.is_grad_enabled():
            self.refuse_gradient()
        if target is aten._local_scalar_dense.default:
            raise _Refused(
                "cannot be traced: it reads the number of a tensor; make the number an argument"
            )
        return target(*args, **(kwargs or {}))

    def refuse_gradient(self) -> None:
        raise _Refused(
            "has operations with a gradient of their own, as under torch.no_grad() or in an "
            "autograd function, of which fad has no kernel; call the function as it is"
        )

    def check_nodes(self, result: torch.Tensor) -> None:
        """Refuses nodes of autograd functions."""
        nodes, known = [result.grad_fn], set()
        while nodes:
            node = nodes.pop()
            if node is None or node in known:
                continue
            known.add(node)
            if isinstance(node, torch.autograd.function.BackwardCFunction):
                self.refuse_gradient()
            nodes.extend(each for each, _ in node.next_functions)


def _run(
    function: Callable[..., Any],
    call: Callable[..., Any],
    tensors: Sequence[Argument],
    shape: tuple[int, ...],
) -> torch.dtype:
    """Returns the type of the result, which has the shape of the arguments."""
    watch = _Watch()
    with torch.inference_mode(False), torch.enable_grad():
        examples = [
            torch.ones(
                () if each.is_scalar else shape, dtype=each.dtype, requires_grad=True
            ).clone()
            for each in tensors
        ]
        try:
            with watch:
                result = call(*examples)
            if isinstance(result, torch.Tensor):
                watch.check_nodes(result)
        except _Refused as error:
            raise NotElementwise(f"{get_name(function)} {error}") from None
    if all(each.is_scalar for each in tensors):
        shape = ()
    if not isinstance(result, torch.Tensor):
        problem = f"returns a {type(result).__name__}, and not a tensor"
    elif result.dtype not in FLOATS:
        problem = f"returns numbers of {result.dtype}, which have no derivative"
    elif tuple(result.shape) != shape:
        problem = f"makes {tuple(result.shape)} of {shape}, so it is not elementwise"
    else:
        return result.dtype
    raise NotElementwise(f"the function {problem}; call it as it is")
