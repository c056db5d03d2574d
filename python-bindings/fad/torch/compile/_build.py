"""New nodes of AOTAutograd's joint graph, with the tensors that they stand for."""

from typing import Any

import torch
from torch import fx

from ._import import NotPlanned
from ._pytorch import FakeTensor, detect_fake_mode, unset_fake_temporarily

# Metadata for the place of a node in the model, for errors and for PyTorch's order
# of the backward part.
_PLACE = (
    "stack_trace",
    "seq_nr",
    "nn_module_stack",
    "fwd_nn_module_stack",
    "original_aten",
    "ac_graph_id",
)


class Values:
    """Tensors without data, as PyTorch's operations return them.

    Equal operations on equal operands return equal tensors, so each is computed once.
    PyTorch compares storages, so each result is a tensor of its own."""

    def __init__(self, graph: fx.Graph) -> None:
        values = [node.meta.get("val") for node in graph.nodes]
        self.mode = detect_fake_mode([v for v in values if isinstance(v, torch.Tensor)])
        # Nodes that make a result, by the operation and its operands.
        self.forms: dict[Any, tuple[Any, ...]] = {}

    def compute(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of `target`. Tensors are operands of their own, not in lists."""
        key = (target, tuple(map(_describe, args)), tuple(kwargs.items()))
        try:
            form = self.forms.get(key)
        except TypeError:
            # Symbolic sizes are no keys.
            return self.call(target, args, kwargs)
        if form is not None:
            return self.make(form, args)
        value = self.call(target, args, kwargs)
        self.forms[key] = (_get_form(value), _find_base(value, args))
        return value

    def call(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self.mode is None:
            raise NotPlanned("the graph has no fake tensors")
        with self.mode:
            return target(*args, **kwargs)

    def make(self, form: tuple[Any, ...], args: tuple[Any, ...]) -> torch.Tensor:
        (dtype, device, size, stride, offset), base = form
        with unset_fake_temporarily():
            if base is None:
                value = torch.empty_strided(size, stride, dtype=dtype, device="meta")
            else:
                storage = args[base].untyped_storage()
                value = torch.empty(0, dtype=dtype, device="meta")
                value.set_(storage, offset, size, stride)
            return FakeTensor(self.mode, value, device)


def _get_form(value: torch.Tensor) -> tuple[Any, ...]:
    return value.dtype, value.device, value.shape, value.stride(), value.storage_offset()


def _describe(argument: Any) -> Any:
    """`argument` as a part of a key."""
    if isinstance(argument, torch.Tensor):
        return _get_form(argument)
    if isinstance(argument, (list, tuple)):
        return tuple(argument)
    # Equal numbers of different types have different results.
    return type(argument), argument


def _find_base(value: torch.Tensor, args: tuple[Any, ...]) -> int | None:
    """The number of the operand of which `value` is a view."""
    for number, argument in enumerate(args):
        if isinstance(argument, torch.Tensor):
            if argument.untyped_storage()._cdata == value.untyped_storage()._cdata:
                return number
    return None


class Builder:
    """Adds nodes after `last`, whose place in the model they share, and after the
    inputs of the graph."""

    def __init__(self, graph: fx.Graph, values: Values, last: fx.Node) -> None:
        self.graph = graph
        self.values = values
        self.place = {key: last.meta[key] for key in _PLACE if key in last.meta}
        while last.next.op == "placeholder":
            last = last.next
        self.last = last

    def __call__(self, target: Any, *args: Any, **kwargs: Any) -> fx.Node:
        with self.graph.inserting_after(self.last):
            node = self.graph.call_function(target, args, kwargs)
        node.meta.update(self.place)
        values = fx.map_arg(args, lambda operand: operand.meta["val"])
        node.meta["val"] = self.values.compute(target, values, kwargs)
        self.last = node
        return node
