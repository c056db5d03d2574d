"""A model with its loss as one function of tensors."""

import inspect
from collections.abc import Mapping
from typing import Any, Callable, List, Optional, Sequence, Union

from .._pytorch import tree_leaves
from .._requirements import torch
from .watch import GradientWatch, NotExported

Inputs = Union["torch.Tensor", Sequence[Any], Mapping[str, Any]]


def _as_tuple(values) -> tuple:
    return (values,) if isinstance(values, torch.Tensor) else tuple(values)


def _parameter_names(function: Callable, count: int, skip: int, default: str):
    """Returns the names for `count` positional arguments of `function` after `skip`."""
    try:
        parameters = list(inspect.signature(function).parameters.values())[skip:]
    except (TypeError, ValueError):
        parameters = []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [each.name for each in parameters if each.kind in kinds][:count]
    return names + [f"{default}{i}" for i in range(len(names), count)]


class CallPattern:
    """How a model and its loss are called: which arguments are tensors, which
    are constants, and what the tensors are called.

    Tensors count from the inputs of the model on to the targets of the loss."""

    def __init__(self, model, inputs: Inputs, loss: Optional[Callable], targets):
        self.loss = loss
        targets = _as_tuple(targets)
        if targets and loss is None:
            raise ValueError("targets are given, but no loss to pass them to")
        if isinstance(inputs, Mapping):
            self._keywords = list(inputs)
            values = list(inputs.values())
            names = list(inputs)
        else:
            self._keywords = []
            values = list(_as_tuple(inputs))
            names = _parameter_names(model.forward, len(values), 0, "input")
        self._count_inputs = len(values)
        values += targets
        names += _parameter_names(loss, len(targets), 1, "target") if loss else []
        names = _make_unique(names)
        self._values = [None if isinstance(value, torch.Tensor) else value for value in values]
        self._places: List[int] = []
        self.tensors: List[torch.Tensor] = []
        self.names: List[str] = []
        for place, (name, value) in enumerate(zip(names, values)):
            if isinstance(value, torch.Tensor):
                self._places.append(place)
                self.tensors.append(value)
                self.names.append(name)
            elif not isinstance(value, (type(None), bool, int, float, str)):
                raise TypeError(
                    f"input {name!r} is a {type(value).__name__}; inputs are "
                    "tensors, or constants: None, numbers and strings"
                )

    def compute_loss(self, model, tensors: Sequence["torch.Tensor"]):
        """Returns the loss of `model` for `tensors`."""
        return self.compute_loss_and_output(model, tensors)[0]

    def compute_loss_and_output(self, model, tensors: Sequence["torch.Tensor"]):
        """Returns the loss of `model` for `tensors`, and what the model returns."""
        values = list(self._values)
        for place, tensor in zip(self._places, tensors):
            values[place] = tensor
        inputs, targets = values[: self._count_inputs], values[self._count_inputs :]
        if self._keywords:
            output = model(**dict(zip(self._keywords, inputs)))
        else:
            output = model(*inputs)
        if self.loss is not None:
            return _check_loss(self.loss(output, *targets), "loss="), output
        return _check_loss(_find_loss(output), "the model"), output


def _make_unique(names: Sequence[str]) -> List[str]:
    """`names`, with those that occur again, or are no identifiers, renamed."""
    unique: List[str] = []
    for name in names:
        candidate = base = name if name.isidentifier() else "input"
        number = 1
        while candidate in unique:
            number += 1
            candidate = f"{base}_{number}"
        unique.append(candidate)
    return unique


def _find_loss(output):
    """Returns the loss among what a model returns, as Hugging Face's models do."""
    if isinstance(output, Mapping):
        return output.get("loss")
    if isinstance(output, (tuple, list)) and output:
        return output[0]
    return getattr(output, "loss", output)


def _check_loss(value, source: str):
    if not isinstance(value, torch.Tensor):
        raise ValueError(
            f"{source} returns no loss, but {type(value).__name__}; pass loss=, or "
            "the inputs that make the model return its loss (labels, often)"
        )
    if value.dim() != 0 or not value.is_floating_point():
        raise ValueError(
            f"{source} returns a tensor of {value.dtype} of shape "
            f"{tuple(value.shape)}; a loss is one floating-point number, of shape ()"
        )
    return value


def _find_tensors(output, loss: "torch.Tensor") -> List["torch.Tensor"]:
    """Returns the tensors in a model's result but for its `loss`."""
    tensors = []
    for leaf in tree_leaves(output):
        if isinstance(leaf, torch.Tensor):
            if leaf is not loss:
                tensors.append(leaf.detach())
        elif not isinstance(leaf, (type(None), bool, int, float, str)):
            raise NotExported(
                f"outputs=True, but the model returns a {type(leaf).__name__}; return "
                "tensors, in tuples or dictionaries, or a type that is registered with "
                "torch.utils._pytree"
            )
    return tensors


class Program(torch.nn.Module):
    """A module whose result is the loss of `model`, for a flat list of tensors, and
    with `outputs` the tensors that the model returns. Its parameters are those of
    `model`, under `PREFIX`."""

    PREFIX = "model."
    watch = GradientWatch

    def __init__(self, model: "torch.nn.Module", pattern: CallPattern, outputs: bool = False):
        super().__init__()
        self.model = model
        self.pattern = pattern
        self.outputs = outputs
        # Whatever the parts of the model are set to stays as it is.
        self.training = model.training

    def forward(self, *tensors):
        with self.watch():
            loss, output = self.pattern.compute_loss_and_output(self.model, tensors)
            return (loss, *_find_tensors(output, loss)) if self.outputs else loss

    @classmethod
    def strip(cls, name: str) -> str:
        """Returns the name of a parameter or buffer in the model."""
        return name[len(cls.PREFIX) :] if name.startswith(cls.PREFIX) else name
