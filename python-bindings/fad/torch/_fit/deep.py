"""The schedules of deep models, by those of models with fewer of their equal layers."""

from collections.abc import Callable, Mapping
from typing import Any

from ..compile._step_memory import StepMemory
from .fake import Example
from .layers import Layers, Windows, extend, find_windows, get_structure, shorten

# Layers of the models that are planned. Those at the ends differ, and two between them have equal
# ones on both sides: Inductor computes a layer's gradients in memory of the layer before.
_FEW = 4

# By the name of a plan, the memory of its step.
Found = dict[str, StepMemory]


class Deep:
    """Steps of a model with equal `layers`. `make_step` returns the step of another model."""

    def __init__(self, step: Any, layers: Layers, make_step: Callable[[Any], Any]) -> None:
        self.layers = layers
        model = step.loss.model
        self.steps = [make_step(shorten(model, layers, _FEW + more)) for more in range(2)]
        # The memory of the step of the fewest layers in eager PyTorch.
        self.traced: StepMemory | None = None
        self.windows: dict[str, tuple[Any, Windows]] = {}
        # Plans in which storages for all layers grow by as many bytes at two sizes.
        self.constant: set[str] = set()
        # Of these plans, one more layer is no window.
        self.irregular: set[str] = set()

    def is_regular(self, example: Example, memory: StepMemory) -> bool:
        """Tells whether `memory`, of a step in eager PyTorch of all layers, is that of fewer of them,
        extended."""
        few, more = (step.trace(example, False).memory for step in self.steps)
        self.traced = few
        windows = find_windows(few, more)
        if windows is None:
            return False
        found = extend(few, windows, self.layers.count - _FEW)
        return sorted(map(_describe, found.allocations)) == sorted(
            map(_describe, memory.allocations)
        )

    def schedule(self, example: Example, budgets: Mapping[str, Any], has_stock: bool) -> Found:
        """Returns the memory of a step of each plan, but of those for which layers are not equal."""
        budgets = {name: each for name, each in budgets.items() if name not in self.irregular}
        has_stock = has_stock and "inductor" not in self.irregular
        if not budgets and not has_stock:
            return {}
        few = _find_single(self.steps[0].schedule(example, budgets, has_stock))
        kinds = {name: get_structure(memory) for name, memory in few.items()}
        # One more layer is known to be a window where only bytes differ, and what storages for all
        # layers grow by does not depend on the size.
        known = {name: self.windows.pop(name) for name in kinds if name in self.windows}
        # At another size, Inductor may reuse other memory.
        old = {name: windows for name, (kind, windows) in known.items() if kind == kinds[name]}
        self.constant -= known.keys() - old.keys()
        for name, windows in old.items():
            if not windows.growth or name in self.constant:
                self.windows[name] = kinds[name], windows
        new = [name for name in few if name not in self.windows]
        if new:
            asked = {name: budgets[name] for name in new if name in budgets}
            more = _find_single(self.steps[1].schedule(example, asked, "inductor" in new))
            for name in new:
                windows = find_windows(few[name], more[name]) if name in more else None
                if windows is not None:
                    self.windows[name] = kinds[name], windows
                    if name in old and old[name].growth == windows.growth:
                        self.constant.add(name)
        found = {}
        for name, memory in few.items():
            kind, windows = self.windows.get(name, (None, None))
            if windows is not None and kind == kinds[name]:
                found[name] = extend(memory, windows, self.layers.count - _FEW, self.layers)
        self.irregular |= {*budgets, *["inductor"] * has_stock} - found.keys()
        return found


def _find_single(scheduled: Mapping[str, Any]) -> Found:
    """Returns the memory of each plan that has one graph."""
    return {name: found.join() for name, found in scheduled.items() if len(found.graphs) == 1}


def _describe(each: Any) -> tuple[Any, ...]:
    return each.first, each.last, each.bytes, each.kind, each.operation
