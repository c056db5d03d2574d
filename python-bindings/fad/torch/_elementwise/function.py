"""Elementwise functions of Python as functions of autograd, on fad's kernels."""

import functools
import sys
import types
from collections.abc import Callable
from typing import Any, Literal

from ..._choices import check_choice
from .kernel import Kernel, Residual, check_kernel, get_kernel
from .trace import Argument, trace
from .reads import ReadsObject, ReadsTensor, make_key
from .._pytorch import (
    has_dispatch_modes,
    has_storage,
    is_in_forward_mode,
    is_transformed,
    outside_transforms,
)
from .._requirements import torch
from .scalar_function import FLOATS, NotElementwise, get_name

KEEPS = ("auto", "source", "derivative")
_CHOOSE_SOURCE = (
    "; for second derivatives keep the source: fad.torch.elementwise(fn, keep='source'), or "
    "keep = 'source' of the module"
)


def elementwise(
    fn: Callable[..., torch.Tensor] | None = None,
    *,
    keep: Literal["auto", "source", "derivative"] = "auto",
    derivative_bits: int | None = None,
) -> Any:
    """`fn`, an elementwise function of tensors, as one kernel forward and one backward.

    The result is called as `fn` is, and has the same values, gradients and types; also a
    decorator. Tensors are positional arguments. All else, and what `fn` reads by name, is
    a constant of the kernel, and each constant makes a kernel of its own. `fn` is traced
    at the first call with each combination of types, compiled, and compared with itself
    at some numbers.

    `keep` says what backward gets. "auto", the default, is the result where the
    derivative is a function of it, and otherwise the arguments. "source" is the
    arguments, from which second derivatives can be computed. "derivative" is one tensor
    for each argument with a gradient. With `derivative_bits`, 1 to 8, a bounded
    derivative is rounded to so many bits; one that has few values is exact.

    The kernels are for the CPU. Raises RuntimeError for tensors elsewhere, and TypeError
    where `fn` is not elementwise or has operations that fad has no kernel of. Where no
    kernel can be, `fn` itself is called: for other types than floats, within transforms
    of `torch.func`, forward mode, traces and `torch.compile`."""
    if fn is None:
        return functools.partial(elementwise, keep=keep, derivative_bits=derivative_bits)
    return Elementwise(fn, keep, derivative_bits)


def check_keep(keep: str, derivative_bits: int | None) -> None:
    check_choice("keep is", keep, KEEPS)
    if derivative_bits is None:
        return
    is_number = isinstance(derivative_bits, int) and not isinstance(derivative_bits, bool)
    if not is_number or not 1 <= derivative_bits <= 8:
        raise ValueError(f"derivative_bits is {derivative_bits!r}; choose 1 to 8")
    if keep == "source":
        raise ValueError("derivative_bits are of a derivative, and keep is 'source'")


class _Plan:
    """A kernel, and how it is used: `keep` as for `elementwise`, and the function of the
    tensors alone."""

    # Whether the function reads what it did.
    is_current: Callable[[], bool]

    def __init__(self, kernel: Kernel, keep: str, call: Callable, wrt: tuple[int, ...]):
        self.kernel, self.keep, self.call, self.wrt = kernel, keep, call, wrt
        arguments = {r.number for r in kernel.residuals if r.kind == "argument"}
        self.arguments = sorted(arguments)

    def keeps_all(self, count: int) -> bool:
        """Tells whether backward has all of `count` arguments."""
        return self.keep == "source" or len(self.arguments) == count


class Elementwise:
    """The result of `elementwise`."""

    def __init__(self, fn: Callable, keep: str, derivative_bits: int | None) -> None:
        check_keep(keep, derivative_bits)
        self._fn, self._keep, self._bits = fn, keep, derivative_bits
        self._plans: dict[Any, _Plan] = {}
        functools.update_wrapper(self, fn, updated=())

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __reduce_ex__(self, protocol: Any) -> Any:
        # A decorated function is found by its name, as functions are.
        found: Any = sys.modules.get(getattr(self, "__module__", None) or "")
        name = getattr(self, "__qualname__", "")
        for part in name.split("."):
            found = getattr(found, part, None)
        return name if found is self else super().__reduce_ex__(protocol)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_plans": {}}

    def __repr__(self) -> str:
        return f"fad.torch.elementwise({self._fn!r})"

    def __call__(self, *args: Any, **keywords: Any) -> torch.Tensor:
        if torch.compiler.is_compiling() or not _has_kernel(args):
            return self._fn(*args, **keywords)
        return self._run(args, keywords, None)

    def call_in_place(self, x: torch.Tensor, *args: Any, **keywords: Any) -> torch.Tensor:
        """Writes the result to `x`, and returns that."""
        if x.is_leaf and x.requires_grad and torch.is_grad_enabled():
            raise RuntimeError(
                "a leaf that requires a gradient is changed in place; call without in-place"
            )
        if torch.compiler.is_compiling() or not _has_kernel((x, *args)):
            return x.copy_(self._fn(x.clone(), *args, **keywords))
        return self._run((x, *args), keywords, x)

    def _run(self, args: Any, keywords: Any, target: torch.Tensor | None) -> torch.Tensor:
        tensors = [each for each in args if isinstance(each, torch.Tensor)]
        with_grad = torch.is_grad_enabled()
        needs = tuple(with_grad and each.requires_grad for each in tensors)
        plan = self._find_plan(args, keywords, needs, target is not None)
        shape = tensors[0].shape
        if any(each.shape != shape for each in tensors):
            tensors = list(torch.broadcast_tensors(*tensors))
        if target is not None and tensors[0] is not target:
            raise RuntimeError("the result is larger than the tensor that is to hold it")
        if any(needs):
            return FadElementwise.apply(plan, target is not None, *tensors)
        result, _, _ = _run_forward(plan, tensors)
        return result if target is None else target.copy_(result)

    def _find_plan(self, args: Any, keywords: Any, needs: Any, in_place: bool) -> _Plan:
        if any(isinstance(each, torch.Tensor) for each in keywords.values()):
            raise TypeError("tensors are positional arguments")
        is_autocast = torch.is_autocast_enabled("cpu")
        # The tensors of the first call are not kept.
        given = tuple(None if isinstance(each, torch.Tensor) else each for each in args)
        tensors = tuple(
            (each.dtype, not each.dim()) if isinstance(each, torch.Tensor) else None
            for each in args
        )
        reads = self._read(given, keywords)
        autocast = is_autocast and torch.get_autocast_dtype("cpu")
        key = reads, tensors, needs, in_place, autocast, torch.get_default_dtype()
        plan = self._plans.get(key)
        if plan is None:
            plan = self._make_plan(args, keywords, needs, in_place)
            plan.is_current = lambda: self._read(given, keywords) == reads
            self._plans[key] = plan
        return plan

    def _read(self, given: tuple, keywords: Any) -> Any:
        try:
            return make_key(self._fn, given, (given, keywords))
        except ReadsTensor:
            problem = "a tensor that is no argument; make the tensor an argument"
        except ReadsObject as error:
            problem = (
                f"an object of {error}, which can change unnoticed; make the numbers that it "
                "gives arguments"
            )
        raise NotElementwise(f"{get_name(self._fn)} reads {problem}")

    def _make_plan(self, args: Any, keywords: Any, needs: Any, in_place: bool) -> _Plan:
        tensors = [each for each in args if isinstance(each, torch.Tensor)]
        all_scalar = not any(each.dim() for each in tensors)
        arguments = [
            Argument(each.dtype, not all_scalar and not each.dim())
            if isinstance(each, torch.Tensor)
            else Argument(None, value=each)
            for each in args
        ]
        places = [i for i, each in enumerate(args) if isinstance(each, torch.Tensor)]

        def call(*values: torch.Tensor) -> torch.Tensor:
            given = list(args)
            for place, value in zip(places, values):
                given[place] = value
            return self._fn(*given, **keywords)

        # The tensors of the first call are not kept.
        args = [None if isinstance(each, torch.Tensor) else each for each in args]
        function = trace(self._fn, arguments, keywords)
        if in_place and function.result is not function.dtypes[0]:
            raise RuntimeError(
                f"the result is of {function.result}, which the tensor does not hold"
            )
        wrt = tuple(i for i, each in enumerate(needs) if each) or (0,)
        keep, bits = self._keep, self._bits if any(needs) else None
        if in_place and any(needs):
            keep = "derivative"
        kernel = get_kernel(function, wrt, keep, bits)
        if in_place and any(r == Residual("argument", 0) for r in kernel.residuals):
            # An overwritten tensor is not there in backward.
            kernel = get_kernel(function, wrt, "hidden", bits)
        exact = kernel if self._bits is None else get_kernel(function, wrt, "auto", None)
        dtypes = function.dtypes
        check_kernel(exact, call, dtypes, wrt, getattr(self._fn, "__qualname__", "the function"))
        return _Plan(kernel, keep, call, wrt)


def _has_kernel(args: Any) -> bool:
    """Tells whether `args` are tensors that kernels take, outside of contexts that need the
    operations of the function one by one. Raises RuntimeError where they are on a device without
    kernels."""
    found = False
    for each in args:
        if not isinstance(each, torch.Tensor):
            continue
        if type(each) not in (torch.Tensor, torch.nn.Parameter):
            return False
        if each.dtype not in FLOATS or each.layout is not torch.strided or each.is_meta:
            return False
        if not each.numel():
            return False
        if not each.is_cpu:
            raise RuntimeError(
                f"a tensor is on {each.device}, and the kernels of fad.torch.elementwise are for "
                "the CPU; there, call the function itself, or compile the model with "
                'torch.compile(model, backend="fad")'
            )
        found = True
    return found and not (
        has_dispatch_modes() or is_transformed() or is_in_forward_mode() or torch.jit.is_tracing()
    )


class _Order:
    """How elements of tensors lie as vectors."""

    def __init__(self, tensors: Any) -> None:
        first = tensors[0]
        self.shape, self.strides = first.shape, first.stride()
        dense = torch.ops.aten.is_non_overlapping_and_dense.default
        self.is_dense = dense(first) and all(t.stride() == self.strides for t in tensors)
        if not self.is_dense:
            self.strides = torch.empty(self.shape, device="meta").stride()

    def flatten(self, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.stride() != self.strides:
            ordered = torch.empty_strided(self.shape, self.strides, dtype=tensor.dtype)
            tensor = ordered.copy_(tensor)
        return tensor.as_strided((tensor.numel(),), (1,))

    def shape_like(self, vector: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        """Returns the memory of `vector` in this order, and of `dtype`. It is no view, as PyTorch
        forbids that views of autograd functions change."""
        tensor = torch.empty(0, dtype=dtype)
        return tensor.set_(vector.untyped_storage(), 0, self.shape, self.strides)


def _run_forward(plan: _Plan, tensors: Any) -> tuple[torch.Tensor, Any, _Order]:
    order = _Order(tensors)
    with torch.no_grad():
        vectors = [order.flatten(tensor.detach()) for tensor in tensors]
        result, own = plan.kernel.forward(vectors)
        return order.shape_like(result, plan.kernel.result), own, order


class FadElementwise(torch.autograd.Function):
    """A call with a gradient; its node is a FadElementwiseBackward."""

    @staticmethod
    def forward(ctx, plan, in_place, *tensors):
        result, own, order = _run_forward(plan, tensors)
        if in_place:
            result = tensors[0].copy_(result)
            ctx.mark_dirty(result)
        ctx.plan, ctx.order, ctx.count = plan, order, len(tensors)
        ctx.autocast = torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")
        if plan.keep == "source":
            ctx.save_for_backward(*tensors)
            return result
        kept = [tensors[number] for number in plan.arguments]
        # One entry for all of the kernel's that are the result.
        ctx.has_result = any(r.kind == "result" for r in plan.kernel.residuals)
        ctx.own = sorted(own)
        ctx.save_for_backward(
            *kept, *([result] if ctx.has_result else []), *(own[n] for n in ctx.own)
        )
        return result

    @staticmethod
    def backward(ctx, cotangent):
        plan, order, saved = ctx.plan, ctx.order, ctx.saved_tensors
        if plan.keep == "source":
            tensors, result, own = list(saved), None, {}
        else:
            tensors = [None] * ctx.count
            for number, tensor in zip(plan.arguments, saved):
                tensors[number] = tensor
            rest = list(saved[len(plan.arguments) :])
            result = rest.pop(0) if ctx.has_result else None
            own = dict(zip(ctx.own, rest))
        if torch.is_grad_enabled():
            if not plan.keeps_all(ctx.count):
                raise RuntimeError(
                    "a gradient with create_graph=True needs the arguments of the function, and "
                    "this one keeps its result or derivative" + _CHOOSE_SOURCE
                )
            return None, None, *_differentiate_again(ctx, plan, tensors, cotangent)
        if _is_plain(cotangent):
            return None, None, *_run_backward(plan, order, tensors, result, own, cotangent)
        # A batch of cotangents, or one with a tangent, is for PyTorch to multiply.
        with outside_transforms():
            ones = torch.ones(order.shape, dtype=plan.kernel.result)
            found = _run_backward(plan, order, tensors, result, own, ones)
        return None, None, *(d if d is None else (cotangent * d).to(d.dtype) for d in found)


def _is_plain(cotangent: torch.Tensor) -> bool:
    """Tells whether `cotangent` is memory, outside of transforms of tensors."""
    return (
        type(cotangent) is torch.Tensor
        and has_storage(cotangent)
        and not is_transformed()
        and not is_in_forward_mode()
    )


def _run_backward(
    plan: _Plan, order: _Order, tensors: Any, result: Any, own: Any, cotangent: torch.Tensor
) -> list[torch.Tensor | None]:
    """Returns the gradients of the arguments, None for those that need none."""
    vectors = [None if t is None else order.flatten(t.detach()) for t in tensors]
    if result is not None:
        result = order.flatten(result.detach())
    elif plan.keep == "source" and any(r.kind == "result" for r in plan.kernel.residuals):
        result, own = plan.kernel.forward(vectors)
    residuals = plan.kernel.gather(vectors, result, own)
    found = plan.kernel.backward(residuals, order.flatten(cotangent))
    gradients: list[torch.Tensor | None] = [None] * len(tensors)
    for index, gradient, dtype in zip(plan.wrt, found, plan.kernel.gradients):
        gradients[index] = order.shape_like(gradient, dtype)
    return gradients


def _differentiate_again(ctx, plan, tensors, cotangent):
    """Returns the gradients by PyTorch's operations, which can be differentiated again."""
    enabled, dtype = ctx.autocast
    if not plan.is_current():
        raise RuntimeError(
            "the function reads a number that has changed since its call, so its second "
            "derivatives are unknown; make the number an argument"
        )
    with torch.enable_grad(), torch.autocast("cpu", dtype, enabled):
        # Gradients are those of these values, however they depend on each other.
        views = [tensor.view_as(tensor) for tensor in tensors]
        result = plan.call(*views)
        found = torch.autograd.grad(
            result,
            [views[index] for index in plan.wrt],
            cotangent,
            create_graph=True,
            allow_unused=True,
        )
    gradients = [None] * ctx.count
    for index, gradient in zip(plan.wrt, found):
        gradients[index] = gradient
    return gradients
