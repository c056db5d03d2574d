"""Which module runs, while a model is watched."""

import threading
from bisect import bisect_right
from collections.abc import Callable, Mapping
from typing import Any

from .._pytorch import find_next_number, get_sequence_number, get_storage_id, is_compiled
from .._requirements import torch


class ModuleWatch:
    """The name of the innermost module that runs, while this is entered.

    Names are those of the given modules, followed by those of the modules inside of them.
    The hooks are those of the modules themselves, and see calls of the thread that entered
    this. Modules that `torch.compile` has compiled get none, nor do those inside of them, as
    they would be compiled again."""

    def __init__(self, modules: Mapping[str, torch.nn.Module]) -> None:
        self._names: dict[torch.nn.Module, str] = {}
        for prefix, module in modules.items():
            self._add(module, prefix)
        self._stack = [""]
        self._hooks: list[Any] = []

    def _add(self, module: torch.nn.Module, name: str) -> None:
        if module in self._names or is_compiled(module):
            return
        self._names[module] = name
        for child_name, child in module.named_children():
            self._add(child, f"{name}.{child_name}" if name else child_name)

    @property
    def names(self) -> tuple[str, ...]:
        """Those of all modules, in their order."""
        return tuple(dict.fromkeys(self._names.values()))

    def count_parameters(self) -> dict[str, int]:
        """Returns the bytes of the parameters and buffers of each module that has some of its own;
        what several share counts for the first."""
        seen: set[int] = set()
        counts: dict[str, int] = {}
        for module, name in self._names.items():
            own = [*module.parameters(recurse=False), *module.buffers(recurse=False)]
            for tensor in own:
                storage = tensor.untyped_storage()
                key = get_storage_id(storage)
                if key not in seen:
                    seen.add(key)
                    counts[name] = counts.get(name, 0) + storage.nbytes()
        return counts

    @property
    def current(self) -> str:
        """That of the innermost module; empty where none runs."""
        return self._stack[-1]

    def __enter__(self) -> "ModuleWatch":
        thread = threading.get_ident()

        def within(hook: Callable[..., None]) -> Callable[..., None]:
            def call(*arguments: Any) -> None:
                if threading.get_ident() == thread:
                    hook(*arguments)

            return call

        for module in self._names:
            self._hooks += [
                module.register_forward_pre_hook(within(self._begin)),
                module.register_forward_hook(within(self._end), always_call=True),
            ]
        return self

    def __exit__(self, *error: Any) -> None:
        for hook in self._hooks:
            hook.remove()

    def _begin(self, module: torch.nn.Module, _: Any) -> None:
        self._stack.append(self._names[module])

    def _end(self, *_: Any) -> None:
        self._stack.pop()


class ModuleMarks(ModuleWatch):
    """A watch that finds the module of a node of the graph afterwards, by where each
    module begins and ends in the sequence numbers that PyTorch gives to nodes."""

    def __init__(self, modules: Mapping[str, torch.nn.Module]) -> None:
        super().__init__(modules)
        self._numbers: list[int] = []
        self._marks: list[str] = []

    def _mark(self) -> None:
        self._numbers.append(find_next_number())
        self._marks.append(self.current)

    def _begin(self, module: torch.nn.Module, inputs: Any) -> None:
        super()._begin(module, inputs)
        self._mark()

    def _end(self, *results: Any) -> None:
        super()._end(*results)
        self._mark()

    def find(self, node: Any) -> str:
        """Returns the innermost module that ran when `node` was made."""
        place = bisect_right(self._numbers, get_sequence_number(node)) - 1
        return self._marks[place] if place >= 0 else ""
