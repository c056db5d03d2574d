"""The tensors and modules that a function refers to, and their state."""

import contextlib
from collections.abc import Iterator
from typing import Any

from .._pytorch import tree_leaves
from .._requirements import torch


def _walk(values: Any) -> Iterator[tuple[str, Any]]:
    """Yields all that `values` lead to: modules, tensors and functions, and what functions refer to
    by their closures and their globals, with the name that they have there."""
    seen: set[int] = set()
    worklist = [("", value) for value in reversed(tree_leaves(values))]
    while worklist:
        name, value = worklist.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        yield name, value
        # Tensors and modules refer to others by what they are, and not by their code.
        if isinstance(value, (torch.Tensor, torch.nn.Module)):
            continue
        if hasattr(value, "__self__") or hasattr(value, "__closure__"):
            found = [("", getattr(value, "__self__", None))]
            code, names = getattr(value, "__code__", None), getattr(value, "__globals__", {})
            for cell_name, cell in zip(
                code.co_freevars if code else (), getattr(value, "__closure__", None) or ()
            ):
                with contextlib.suppress(ValueError):
                    leaves = tree_leaves(cell.cell_contents)
                    found += [(cell_name, leaf) for leaf in leaves]
            for global_name in code.co_names if code else ():
                if isinstance(names.get(global_name), (torch.nn.Module, torch.Tensor)):
                    found.append((global_name, names[global_name]))
            worklist += reversed(found)


def find_tensors(values: Any) -> list[torch.Tensor]:
    """Returns the tensors of modules and of other values; those that functions refer to, too."""
    found: dict[int, torch.Tensor] = {}
    for _, value in _walk(values):
        tensors = [value] if isinstance(value, torch.Tensor) else []
        if isinstance(value, torch.nn.Module):
            tensors = [*value.parameters(), *value.buffers()]
        found.update((id(tensor), tensor) for tensor in tensors)
    return list(found.values())


def find_modules(values: Any) -> dict[str, torch.nn.Module]:
    """Returns the outermost modules that `values` lead to, by the names that functions have for
    them. One alone has the empty name."""
    modules = [(name, value) for name, value in _walk(values)]
    modules = [(n, value) for n, value in modules if isinstance(value, torch.nn.Module)]
    inner = {id(part) for _, m in modules for part in m.modules() if part is not m}
    outermost = [(name, m) for name, m in modules if id(m) not in inner]
    if len(outermost) == 1:
        return {"": outermost[0][1]}
    named: dict[str, torch.nn.Module] = {}
    for name, module in outermost:
        name = name or type(module).__name__
        unique = name
        while unique in named:
            unique = f"{name}.{len(named)}"
        named[unique] = module
    return named


@contextlib.contextmanager
def restored(state: list[torch.Tensor]) -> Iterator[None]:
    """Restores what the model changes, and random numbers."""
    changed = [tensor for tensor in state if not tensor.requires_grad]
    copies = [tensor.clone() for tensor in changed]
    with torch.random.fork_rng():
        try:
            yield
        finally:
            with torch.no_grad():
                for tensor, copy in zip(changed, copies):
                    tensor.copy_(copy)
