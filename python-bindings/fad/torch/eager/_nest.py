"""`nest`: a context, a decorator, and a wrapper of modules."""

from typing import Any, Literal

from .._requirements import torch
from ._context import Context
from ._module import nest_module


class Nest(Context):
    """The context as a decorator."""

    def __call__(self, target: Any) -> Any:
        """Returns a module that nests its forward, or a function that nests its body."""
        if isinstance(target, torch.nn.Module):
            return nest_module(target, *self.options)
        if isinstance(target, type) and issubclass(target, torch.nn.Module):
            raise TypeError(
                f"nest takes a module, and not its class: fad.torch.nest({target.__name__}(...))"
            )
        if not callable(target):
            raise TypeError(f"nest takes a module or a function, not {type(target).__name__}")
        return self.wrap(target)


def nest(
    target: Any = None,
    *,
    policy: Literal["auto", "fad"] = "auto",
    min_numel: int | None = None,
    derivative_bits: int | None = None,
    engine: Literal["interactive", "deferred"] = "interactive",
) -> Any:
    """Nests forward differentiation into eager PyTorch: a sequence of elementwise
    operators keeps for backward what takes the fewest bytes, and not what each operator
    saves.

    `with nest():` does so in a block, `nest(model)` returns a module that behaves as the
    model and shares its state, `nest(function)` and `@nest()` wrap a function, of which a
    generator's caller is left alone.

    The policy "auto" keeps a sequence's sources, and backward computes the sequence
    again; "fad" keeps the derivative, which forward computes on the way. In 16 bits,
    gradients of "fad" have up to 1.11 times the rounding error of eager PyTorch's, and a
    derivative that overflows float16 gives infinities or NaN where those may be finite:
    take "auto" there. Tensors with fewer than `min_numel` elements, 4096 on a CPU and 2^20 on
    another device unless given, are left to PyTorch. With
    `derivative_bits`, 1 to 8, a bounded derivative may be kept in that many bits an element,
    approximately.

    The engine "interactive" computes each operator at once. "deferred" records them, and
    computes a sequence as a whole where its value is read."""
    context = Nest(policy, min_numel, derivative_bits, engine)
    return context if target is None else context(target)
