"""A model and its inputs as fake tensors, which have sizes and no memory."""

import copy
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._pytorch import FakeTensorMode, get_storage_id, tree_leaves, tree_map
from .._requirements import torch

# The dimension of the inputs that has each size.
DIMENSIONS = {"batch": 0, "length": 1}


@dataclass(frozen=True)
class Example:
    """The arguments of a model, as tensors without memory; other values are as they are."""

    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any]

    @property
    def tensors(self) -> list[torch.Tensor]:
        return list_tensors((self.arguments, dict(self.keywords)))

    def get_size(self, vary: str) -> int | None:
        """Returns the size that `vary` names, "batch" or "length": that of the first tensor with
        such a dimension; None where there is none."""
        dim = DIMENSIONS[vary]
        sizes = (tensor.shape[dim] for tensor in self.tensors if tensor.dim() > dim)
        return next(sizes, None)

    def resize(self, vary: str, size: int) -> "Example":
        """Returns inputs with another size of `vary` in the place of that of the example."""
        before, dim = self.get_size(vary), DIMENSIONS[vary]

        def change(value: Any) -> Any:
            if not isinstance(value, torch.Tensor) or value.dim() <= dim:
                return value
            if value.shape[dim] != before:
                return value
            shape = [*value.shape]
            shape[dim] = size
            # In the order of the dimensions in memory.
            order = sorted(range(value.dim()), key=value.stride, reverse=True)
            made = torch.empty_permuted(shape, order, dtype=value.dtype, device="meta")
            return made.requires_grad_(value.requires_grad)

        return _change(self, change)

    def make_fake(self, mode: FakeTensorMode) -> "Example":
        """Returns the example with fake tensors of `mode`, all on a CPU."""
        return _change(self, lambda value: _make_fake(value, mode))


def _change(example: Example, change: Callable[[Any], Any]) -> Example:
    """Returns `example` with the results of `change` in the place of its leaves."""
    return Example(*tree_map(change, (example.arguments, dict(example.keywords))))


def read_example(example: Any) -> Example:
    """Returns the arguments that `example` has: a tensor, a tuple of arguments, or a mapping of
    arguments by name. Their tensors are on no device."""
    if isinstance(example, torch.Tensor):
        found = Example((example,), {})
    elif isinstance(example, Mapping):
        found = Example((), {**example})
    elif isinstance(example, tuple | list):
        found = Example(tuple(example), {})
    else:
        raise TypeError(
            f"example is of the type {type(example).__name__}; give a tensor, a tuple of arguments, or a "
            "dictionary of arguments by name"
        )
    if not found.tensors:
        raise ValueError("example has no tensor, so that the model has no batch; give its inputs")
    return _change(found, lambda leaf: _drop(leaf) if isinstance(leaf, torch.Tensor) else leaf)


def _drop(tensor: torch.Tensor) -> torch.Tensor:
    """Returns a tensor like `tensor` without memory."""
    return tensor.detach().to("meta").requires_grad_(tensor.requires_grad)


def _make_fake(value: Any, mode: FakeTensorMode, base: torch.Tensor | None = None) -> Any:
    """Returns a tensor of `mode`, on a CPU, that is as `value`, and part of `base`, if there is one;
    another value as it is."""
    if not isinstance(value, torch.Tensor):
        return value
    shape, strides = value.shape, value.stride()
    with mode, torch.no_grad():
        if base is None:
            made = torch.empty_strided(shape, strides, dtype=value.dtype, device="cpu")
        else:
            made = base.as_strided(shape, strides, value.storage_offset()).detach()
    if isinstance(value, torch.nn.Parameter):
        return torch.nn.Parameter(made, requires_grad=value.requires_grad)
    return made.requires_grad_(value.requires_grad and value.is_leaf)


def make_fake_model(model: torch.nn.Module, mode: FakeTensorMode) -> torch.nn.Module:
    """Returns a copy of `model` whose parameters and buffers have no memory; those that share
    memory share that of the copy. The model is not changed, and nothing of it is copied that has
    memory."""
    memo: dict[int, Any] = {}
    tensors = {id(each): each for each in [*model.parameters(), *model.buffers()]}
    counts = Counter(map(_find_storage, tensors.values()))
    bases: dict[Any, torch.Tensor] = {}
    for number, tensor in tensors.items():
        key = _find_storage(tensor)
        if counts[key] > 1 and key not in bases:
            items = tensor.untyped_storage().nbytes() // tensor.itemsize
            with mode:
                bases[key] = torch.empty(items, dtype=tensor.dtype, device="cpu")
        memo[number] = _make_fake(tensor, mode, bases.get(key))
    try:
        return copy.deepcopy(model, memo)
    except Exception as error:
        raise TypeError(
            f"fit needs a copy of the {type(model).__name__}, without its parameters, and "
            f"copy.deepcopy does not make one ({type(error).__name__}: {error}); make the model "
            "anew, under torch.device('meta')"
        ) from error


def _find_storage(tensor: torch.Tensor) -> tuple[int, torch.dtype]:
    return get_storage_id(tensor.untyped_storage()), tensor.dtype


def list_tensors(values: Any) -> list[torch.Tensor]:
    """Returns the tensors among the leaves of `values`."""
    return [leaf for leaf in tree_leaves(values) if isinstance(leaf, torch.Tensor)]


def count_bytes(tensors: Iterable[torch.Tensor]) -> int:
    """Returns the bytes of the storages of `tensors`, of which each counts once."""
    storages = [tensor.untyped_storage() for tensor in tensors]
    return sum({get_storage_id(each): each.nbytes() for each in storages}.values())


class Loss(torch.nn.Module):
    """The loss of a model, by itself: the entry or attribute `loss` of its result, as models of
    transformers have it, or else all of the result."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model
        # Whether a result of the model has tensors beside its loss.
        self.leaves_others = False

    def forward(self, *arguments: Any, **keywords: Any) -> Any:
        result = self.model(*arguments, **keywords)
        loss = result.get("loss") if isinstance(result, Mapping) else getattr(result, "loss", None)
        if loss is None:
            return result
        if not torch.compiler.is_compiling():
            others = list(result.values()) if isinstance(result, Mapping) else []
            self.leaves_others = len(list_tensors(others)) > 1
        return loss


def find_differentiable(result: Any) -> Sequence[torch.Tensor]:
    """Returns the tensors of a result that backward begins with."""
    return [tensor for tensor in list_tensors(result) if tensor.requires_grad]
