"""All of PyTorch's private Python API that nesting uses: another release changes this file
alone, beside the extension. Each function says which public one would replace it."""

from collections.abc import Callable
from typing import Any

from .._requirements import torch

__all__ = [
    "Replicable",
    "find_address",
    "find_keys",
    "find_parametrizations",
    "outside_function_modes",
    "pass_higher_order_operators",
    "replace_exports",
]

_KEYS = "TESTING_ONLY_GenericWrapper", "TESTING_ONLY_GenericMode"


def find_keys() -> list[torch._C.DispatchKey] | None:
    """Two dispatch keys above autograd: of tensors, and of a mode; None if another library
    uses one of them, for all operators or some. PyTorch has none for extensions that see
    operators before autograd does."""
    keys = [torch._C._parse_dispatch_key(name) for name in _KEYS]
    # The kernels of operators are asked for by the names of keys.
    is_used = any(map(torch._C._dispatch_has_backend_fallback, keys)) or any(
        map(torch._C._dispatch_get_registrations_for_dispatch_key, _KEYS)
    )
    return None if is_used else keys


def pass_higher_order_operators(keys: list[torch._C.DispatchKey]) -> None:
    """Lets `torch.cond` and its like, which have no kernels for the keys, pass them by;
    those that are made later, too. The operators that they call are seen as all others. A
    fallback for all higher-order operators would do the same."""
    for key in keys:
        torch._ops._HIGHER_ORDER_OP_DEFAULT_FALLTHROUGH_DISPATCH_KEYS.append(key)
        for op in list(torch._ops._higher_order_ops.values()):
            op.fallthrough(key)


def replace_exports(replace: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Replaces the functions by which tensors give their memory away as DLPack, which
    `Tensor.__dlpack__` calls by these names; `replace` makes one that calls the function that it
    is given, which may be another library's. The table of C functions goes, and libraries that
    look for one call `__dlpack__`. A hook of PyTorch's before exports would replace this."""
    places: list[tuple[Any, str]] = [
        (torch._C, "_to_dlpack"),
        (torch._C, "_to_dlpack_versioned"),
        (torch, "to_dlpack"),
        (torch.utils.dlpack, "to_dlpack"),
    ]
    # An error before the first is replaced leaves all as they are.
    replaced = [replace(getattr(place, name)) for place, name in places]
    for (place, name), function in zip(places, replaced):
        setattr(place, name, function)
    table = "__dlpack_c_exchange_api__"
    if table in vars(torch.Tensor):
        delattr(torch.Tensor, table)


def find_address(tensor: torch.Tensor) -> int:
    """Returns the address of the C++ tensor, which functions of the extension take through
    ctypes."""
    return tensor._cdata


def outside_function_modes() -> Any:
    """Returns a context outside of torch function modes, as that of a default device.
    `torch.overrides` has one for subclasses alone."""
    return torch._C.DisableTorchFunction()


def find_parametrizations(module: torch.nn.Module) -> Any:
    """Returns the parametrizations of attributes of `module`; none of one that is not made yet.
    `torch.nn.utils.parametrize.is_parametrized` looks for an attribute that `__getattr__` cannot do
    without."""
    return (vars(module).get("_modules") or {}).get("parametrizations", ())


class Replicable:
    """A class in front of a module's, which replicas in `DataParallel` have as well, whatever
    `__new__` of the module makes. PyTorch has no public method for replicas."""

    def _replicate_for_data_parallel(self) -> Any:
        replica: Any = super()._replicate_for_data_parallel()  # type: ignore[misc]
        replica.__class__ = type(self)
        return replica
