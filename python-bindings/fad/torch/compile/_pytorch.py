"""All that fad's backend of `torch.compile` uses of PyTorch's own internals.

Names without a promise of PyTorch stand here alone, so that another release touches one file:
those of this module are for PyTorch 2.13. The names of Inductor's scheduler are imported when
graphs are compiled for Inductor (`_inductor.py`)."""

import functools
import types
import warnings
from typing import Any, Callable, Sequence

import torch
from torch import fx
from torch._functorch import config as functorch_config
from torch._functorch import partitioners
from torch._functorch.compile_utils import fx_graph_cse as merge_equal_nodes
from torch._guards import detect_fake_mode
from torch._inductor.custom_graph_pass import CustomPartitionerFn, get_hash_for_files
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily

__all__ = [
    "CustomPartitionerFn",
    "FakeTensor",
    "OpOverload",
    "detect_fake_mode",
    "find_required_in_backward",
    "functorch_config",
    "get_hash_for_files",
    "is_bound_to_backward",
    "is_bound_to_forward",
    "is_number_or_object",
    "is_of_autograd",
    "is_transformed",
    "merge_equal_nodes",
    "must_repeat",
    "packs_saved_tensors",
    "partition",
    "partition_by_pytorch",
    "unset_fake_temporarily",
    "warn_of_inductor",
]

Parts = tuple[fx.GraphModule, fx.GraphModule]

# PyTorch's own partitioner.
partition_by_pytorch = partitioners.min_cut_rematerialization_partition


def partition(
    joint: fx.GraphModule,
    inputs: Sequence[object],
    choose: Callable[[fx.Graph], list[fx.Node]],
    merge: Callable[[fx.Graph], fx.Graph],
    **options: Any,
) -> Parts:
    """PyTorch's partition of a joint graph, with `choose` in the place of its choice of saved
    values, and `merge` in that of its search for equal operations.

    PyTorch has no argument for them. The function runs with other globals, so that nothing
    of PyTorch changes, for other threads neither. An argument of
    `min_cut_rematerialization_partition` for `choose_saved_values_set` would do the same.

    Budgets of regions, which are for PyTorch's choice, are not read."""
    function = partition_by_pytorch
    replaced = {
        "choose_saved_values_set": lambda graph, *_, **__: choose(graph),
        "fx_graph_cse": merge,
        "_get_memory_budget_annotation": lambda _: None,
    }
    for name in replaced:
        if name not in function.__code__.co_names or name not in function.__globals__:
            raise RuntimeError(
                f"the partitioner of PyTorch {torch.__version__} is not the one that fad knows: "
                f"it does not call {name}"
            )
    copy = types.FunctionType(
        function.__code__,
        {**function.__globals__, **replaced},
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy(joint, inputs, **options)


def find_required_in_backward(
    joint: fx.GraphModule, static_inputs: list[int], num_fwd_outputs: int
) -> Any:
    """The operations of `joint` that depend on a cotangent, or must run in backward."""
    return partitioners.classify_nodes(joint, static_inputs, num_fwd_outputs).required_bw_nodes


# Nodes of joint graphs


def must_repeat(node: fx.Node) -> bool:
    """Whether a checkpoint demands that backward repeats `node`."""
    return partitioners.must_recompute(node)


def is_bound_to_backward(node: fx.Node) -> bool:
    """Whether `node` changes memory, and has to do so in backward."""
    return partitioners._must_be_in_backward(node)


def is_bound_to_forward(node: fx.Node) -> bool:
    """Whether AOTAutograd has traced `node` in forward."""
    return partitioners._has_tag_is_forward(node)


def is_of_autograd(node: fx.Node) -> bool:
    """Whether `node` is of the gradient of an operation of PyTorch, and not of the backward of a
    `torch.autograd.Function`: the former reads what autograd has saved."""
    return bool(node.meta.get("autograd_backward"))


def is_number_or_object(node: fx.Node) -> bool:
    """Whether `node` is a size, or another value that is no tensor, which PyTorch saves."""
    return partitioners.is_sym_node(node) or partitioners.is_opaque_node(node)


# The state of autograd


def packs_saved_tensors() -> bool:
    """Whether hooks pack saved tensors now, as those of a checkpoint do."""
    return torch._C._autograd._top_saved_tensors_default_hooks(True) is not None


def is_transformed() -> bool:
    """Whether a transform of `torch.func` runs now."""
    return torch._C._functorch.peek_interpreter_stack() is not None


# Graphs that fad leaves to Inductor where a release of PyTorch has other internals.

# How the warning begins.
FALLBACK = "fad leaves the order of operations to Inductor"


def warn_of_inductor(error: Exception) -> None:
    """Warns, once in a process for each cause, that fad's choices for Inductor do not work
    with this release of PyTorch. Residuals are fad's all the same."""
    _warn(f"{type(error).__name__}: {error}")


@functools.cache
def _warn(cause: str) -> None:
    warnings.warn(
        f"{FALLBACK}, whose internals in PyTorch {torch.__version__} are not those that fad "
        f"knows ({cause}); steps may need more memory than planned",
        RuntimeWarning,
        stacklevel=3,
    )
