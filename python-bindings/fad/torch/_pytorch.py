"""All that the shared parts of fad.torch use of PyTorch's own internals.

The packages `compile` and `eager` have files of this name for what they alone use, and
`_releases.py` has the differences between releases, so that a new release touches these files.
utils/check-layout.py finds private names elsewhere. Each function says which public one would
replace it.

Modules that `import torch` does not load in each release are imported where they are needed."""

import ctypes
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from torch._ops import OpOverload
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorMode,
)
from torch.autograd import forward_ad
from torch.autograd.function import _SingleLevelFunction as SingleLevelFunction
from torch.nn.modules import module as of_all_modules
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from ._requirements import torch

# These would be unnecessary with
# - public names for `tree_leaves`, `tree_map` and `TorchDispatchMode`, which are in PyTorch's documentation;
# - a public base of the errors that fake tensors raise, and a public `FakeTensorMode`;
# - a torch function mode that sees calls of `autograd.Function.apply`: `SingleLevelFunction`.
__all__ = [
    "DataDependentOutputException",
    "DynamicOutputShapeException",
    "FakeTensorMode",
    "SingleLevelFunction",
    "TorchDispatchMode",
    "tree_leaves",
    "tree_map",
]


# Modules


# The attributes in which a module has its tensors and parts by name. `named_parameters` and the
# like leave out those that are None, or occur twice.
CONTAINERS = ("_parameters", "_buffers", "_modules")


def get_parts(module: torch.nn.Module) -> dict[str, Any]:
    """Returns the modules in `module` by their names there, which may be changed.

    `named_children` has one of several names of a module."""
    return module._modules


def get_buffers(module: torch.nn.Module) -> dict[str, Any]:
    """Returns the buffers of `module` itself, which may be changed: assignments to attributes
    register others, where a model has deleted one."""
    return module._buffers


def has_hooks_on_arguments(module: torch.nn.Module) -> bool:
    """Tells whether hooks of `module` may change its arguments. Modules have no public sign of
    hooks."""
    return bool(module._forward_pre_hooks)


def has_hooks(module: torch.nn.Module) -> bool:
    """Tells whether hooks see calls of `module`, or its gradients."""
    hooks = module._forward_hooks, module._forward_pre_hooks, module._backward_hooks
    return any(hooks)


def has_hooks_on_gradients(part: torch.nn.Module | torch.nn.Parameter) -> bool:
    """Tells whether hooks see gradients of a module or a parameter. Neither has a public sign of
    them."""
    names = "_backward_hooks", "_backward_pre_hooks", "_post_accumulate_grad_hooks"
    return any(getattr(part, name, None) for name in names)


def has_hooks_on_all_gradients() -> bool:
    """Tells whether hooks see the gradients of all modules, of which PyTorch has no public sign."""
    hooks = of_all_modules._global_backward_hooks, of_all_modules._global_backward_pre_hooks
    return any(hooks)


def has_compiled_call(value: Any) -> bool:
    """Tells whether `module.compile()` was called on `value`, of which modules have no public
    sign."""
    return getattr(value, "_compiled_call_impl", None) is not None


def is_compiled(value: Any) -> bool:
    """Tells whether `torch.compile` has made `value`, or what its calls execute. A public function
    for the original of `value` would do."""
    names = "_torchdynamo_orig_callable", "_orig_mod"
    return any(hasattr(value, name) for name in names) or has_compiled_call(value)


# Tensors


def get_storage_id(storage: torch.UntypedStorage) -> int:
    """Returns a number for `storage`, which is its own while it lives.

    Storages of fake tensors have no address, and Python's objects of one storage are several."""
    return storage._cdata


def has_storage(tensor: torch.Tensor) -> bool:
    """Tells whether `tensor` is memory, and no wrapper of a transform: `untyped_storage` of that
    raises."""
    return torch._C._has_storage(tensor)


def get_coordinates(tensor: torch.Tensor) -> list[torch.Tensor]:
    """Returns the indices and values of a sparse tensor, which the public `indices` and `values`
    have of coalesced ones alone."""
    return [tensor._indices(), tensor._values()]


def read_memory_events(profiler: Any) -> list[int]:
    """Returns the bytes that allocators gave, or got back, while a profiler ran, in this order. The
    tables of `torch.profiler` have sums alone, and its exports are files."""
    events = profiler.profiler.kineto_results.events()
    memory = [event for event in events if event.name() == "[memory]"]
    return [event.nbytes() for event in sorted(memory, key=lambda event: event.start_ns())]


# Nodes of autograd

_RAW = "_raw_saved_"


def find_next_number() -> int:
    """Returns the sequence number of the next node that autograd makes on this thread. PyTorch's
    profiler alone has these numbers in public."""
    return torch._C._autograd._get_sequence_nr()


def get_sequence_number(node: Any) -> int:
    """Returns the place of `node` among those of its thread."""
    return node._sequence_nr()


def get_current_node() -> Any:
    """Returns the node of autograd whose backward function runs; None outside of them. PyTorch has
    no public question for it."""
    return torch._C._current_autograd_node()


def find_saved(node: Any) -> Iterator[tuple[str, list[Any]]]:
    """Yields the names under which `node` has saved tensors, each with its `SavedTensor`s. PyTorch's
    documentation has these attributes, and no list of them."""
    for attribute in dir(node):
        if attribute.startswith(_RAW):
            saved = getattr(node, attribute)
            saved = saved if isinstance(saved, (tuple, list)) else [saved]
            yield attribute.removeprefix(_RAW), list(saved)


def unpack_saved(node: Any, name: str) -> Any:
    """Returns the tensor that `node` has saved as `name`; None where there is none."""
    return getattr(node, f"_saved_{name}", None)


def find_node_address(node: Any) -> int | None:
    """Returns the address of a node of C++. Its object is a head and a pointer to the node, which
    PyTorch has no function for."""
    return ctypes.c_void_p.from_address(id(node) + object.__basicsize__).value


# Transforms and modes


def has_dispatch_modes() -> bool:
    """Tells whether a mode sees the operators of this thread; modes have no public list."""
    return bool(torch._C._len_torch_dispatch_stack())


def is_transformed() -> bool:
    """Tells whether a transform of `torch.func` runs now.

    `torch.func` has no public question for it."""
    return torch._C._functorch.peek_interpreter_stack() is not None


def outside_transforms() -> Any:
    """Returns a context outside of all transforms of `torch.func`, which has none in public."""
    from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack

    return temporarily_clear_interpreter_stack()


def is_in_forward_mode() -> bool:
    """Tells whether autograd computes in forward mode. `torch.autograd.forward_ad` has no public
    question for it."""
    return forward_ad._current_level >= 0


# Operators and graphs


def get_schema(node: torch.fx.Node) -> Any:
    """Returns the schema of the operator that `node` calls; None for other nodes.

    A public `OpOverload.schema` would do."""
    return node.target._schema if isinstance(node.target, OpOverload) else None


def name_arguments(node: torch.fx.Node) -> dict[str, Any]:
    """Returns the arguments that `node` gives an operator, by the names in its schema."""
    names = [argument.name for argument in get_schema(node).arguments]
    return {**dict(zip(names, node.args)), **node.kwargs}


def get_decompositions() -> dict[Any, Callable]:
    """PyTorch's decompositions by operator. `torch.export.default_decompositions` has those alone
    that lead to core operators."""
    return torch._decomp.decomposition_table


def is_decomposed_first(op: Any) -> bool:
    """Tells whether PyTorch decomposes `op` before it looks in a table of decompositions, of which
    operators have no public sign."""
    return torch._C.DispatchKey.Autograd in getattr(op, "py_kernels", ())


def trace_joint(
    program: torch.nn.Module, inputs: Sequence[torch.Tensor], decompositions: dict
) -> tuple[torch.fx.GraphModule, Any]:
    """Returns the joint graph of `program`, whose first result is the loss, and its signature.
    Models that look at values leave that out, as when they are exported. `torch.export` has forward
    alone in public."""
    from torch._export.utils import _compiling_state_context
    from torch._functorch.aot_autograd import aot_export_module

    with _compiling_state_context():
        return aot_export_module(
            program,
            tuple(inputs),
            trace_joint=True,
            output_loss_index=0,
            decompositions=decompositions,
        )
