"""Second derivatives through compiled functions, which are refused."""

import functools
from typing import Any, Callable, Iterator

import torch
from torch.utils._pytree import tree_leaves

from ._pytorch import is_transformed

_MESSAGE = (
    "a function compiled with the backend fad does not support double backward: its gradients "
    "come from derivatives that forward has computed, whose own derivatives are unknown; call "
    "the function without torch.compile where its gradients are differentiated"
)


class _Anchor(torch.autograd.Function):
    """A tensor without elements that depends on the inputs of a function."""

    @staticmethod
    def forward(_, *inputs: torch.Tensor) -> torch.Tensor:
        return torch.empty(0)

    @staticmethod
    def backward(_, gradient: torch.Tensor) -> Any:
        raise RuntimeError(_MESSAGE)


class _Depend(torch.autograd.Function):
    """Gradients as they are, which depend on `anchor`, too."""

    @staticmethod
    def forward(_, anchor: torch.Tensor, *gradients: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(each.detach() for each in gradients)

    @staticmethod
    def backward(_, *gradients: torch.Tensor) -> Any:
        raise RuntimeError(_MESSAGE)


def _depend_on(anchor: torch.Tensor, gradients: tuple[Any, ...], _: Any) -> Any:
    """The `gradients` of a function, for its node of autograd. Where they are to be
    differentiated, they depend on the inputs of the function, by `anchor`."""
    tensors = [each for each in gradients if isinstance(each, torch.Tensor)]
    if not torch.is_grad_enabled() or not tensors:
        return None
    dependent = iter(_Depend.apply(anchor, *tensors))
    return tuple(next(dependent) if isinstance(each, torch.Tensor) else each for each in gradients)


# The class of AOTAutograd's nodes, which it makes anew for each compiled function.
_COMPILED = "CompiledFunctionBackward"


def _find_nodes(outputs: Any, before: set[Any]) -> Iterator[Any]:
    """The nodes of autograd that `outputs` of a compiled function come from: the function's
    own, below those of views of its results. Results that are views of inputs come from
    the nodes `before` the function, which are not its own."""
    seen = set(before)
    worklist = [each.grad_fn for each in tree_leaves(outputs) if isinstance(each, torch.Tensor)]
    while worklist:
        node = worklist.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if type(node).__name__ == _COMPILED:
            yield node
        else:
            worklist += [each for each, _ in node.next_functions]


def refuse_double_backward(compiled: Callable) -> Callable:
    """`compiled`, a function of AOTAutograd, whose second derivatives raise RuntimeError.

    PyTorch raises it only where backward has read a tensor that depends on what the
    gradients are differentiated by. Derivatives that forward has computed do not, as
    autograd sees it: the gradients were constants, without a word."""

    @functools.wraps(compiled)
    def call(*arguments: Any) -> Any:
        inputs = [
            each for each in arguments if isinstance(each, torch.Tensor) and each.requires_grad
        ]
        # Transforms of torch.func have no nodes of autograd.
        if not inputs or not torch.is_grad_enabled() or is_transformed():
            return compiled(*arguments)
        # Before the call, which may change inputs in place.
        anchor = _Anchor.apply(*inputs)
        before = {each.grad_fn for each in inputs if each.grad_fn is not None}
        outputs = compiled(*arguments)
        for node in _find_nodes(outputs, before):
            node.register_hook(functools.partial(_depend_on, anchor))
        return outputs

    return call
