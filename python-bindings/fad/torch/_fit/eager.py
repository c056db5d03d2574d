"""A step in eager PyTorch by fake tensors: when each storage is made, and when it ends.

Operators run on tensors without memory, one by one, as they do with memory: forward, backward, and
the optimizer's step. Storages end when autograd and Python let go of them. On a CPU, calls of
libraries run alone on zeros, which says how much they take for themselves."""

import functools
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .._pytorch import (
    TorchDispatchMode,
    get_current_node,
    get_sequence_number,
    get_storage_id,
)
from .._requirements import torch
from .._saved_memory.modules import ModuleMarks
from ..compile._pytorch import get_count
from ..compile._step_memory import Allocation, StepMemory, make_step_memory
from ..compile._workspace import count_call
from .fake import Example, Loss, count_bytes, find_differentiable, list_tensors

# Nodes of leaves have no place in the sequence of those of operations.
_NO_NUMBER = 2**63


@dataclass(eq=False)
class _Made:
    """A storage that an operator makes, in the backward function of the `node` of autograd of that
    number, if it is not 0. `last` is unknown while it is alive."""

    bytes: int
    first: int
    operation: str
    module: str
    node: int
    last: int | None = None
    kind: str = "temporary"


class _Tracker(TorchDispatchMode):
    """Follows the storages that operators make, beyond the `static` ones."""

    def __init__(
        self, static: Sequence[torch.Tensor], marks: ModuleMarks, has_workspaces: bool
    ) -> None:
        super().__init__()
        self.marks, self.has_workspaces = marks, has_workspaces
        self.place = -1
        self.made: list[_Made] = []
        self.alive: dict[int, _Made | None] = {
            get_storage_id(each.untyped_storage()): None for each in static
        }
        self._references: dict[int, weakref.ref] = {}
        # The storage over which the last operator would have written its result.
        self._overwritten: _Made | None = None

    def __torch_dispatch__(
        self, op: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        self._overwritten = None
        result = _run(op, args, kwargs)
        self.place += 1
        before = len(self.made)
        for tensor in list_tensors(result):
            self._add(tensor.untyped_storage(), str(op))
        if op is torch.ops.aten.add.Tensor:
            self._overwritten = self._find_sum(args[0], result)
        # Contractions, convolutions and attention, of which PyTorch counts the operations.
        if self.has_workspaces and get_count(op.overloadpacket) is not None:
            made = sum(each.bytes for each in self.made[before:])
            taken = max(count_call(op, args, kwargs) - made, 0)
            if taken:
                place = self.place
                module, number = self._find_origin()
                made = _Made(taken, place, str(op), module, number, place, "workspace")
                self.made.append(made)
        return result

    def _add(self, storage: torch.UntypedStorage, operation: str) -> None:
        key = get_storage_id(storage)
        if key in self.alive:
            return
        made = _Made(storage.nbytes(), self.place, operation, *self._find_origin())
        self.made.append(made)
        self.alive[key] = made
        self._references[key] = weakref.ref(storage, functools.partial(self._end, key))

    def _end(self, key: int, _: Any) -> None:
        made = self.alive.pop(key, None)
        del self._references[key]
        if made is not None:
            made.last = self.place - (made is self._overwritten)

    def _find_sum(self, one: Any, result: torch.Tensor) -> _Made | None:
        """Returns the storage of the first operand of a sum of gradients: autograd writes it over
        that, if nothing else has it, but not with fake tensors. Backward functions have sums of
        their own, of results that they make."""
        if not isinstance(one, torch.Tensor) or one.shape != result.shape:
            return None
        made = self.alive.get(get_storage_id(one.untyped_storage()))
        _, number = self._find_origin()
        if made is None or not number or made.node in (0, number):
            return None
        return made if made.bytes == result.untyped_storage().nbytes() else None

    def _find_origin(self) -> tuple[str, int]:
        """Returns the module that runs, and the number of the node whose backward function does."""
        node = get_current_node()
        if node is None:
            return self.marks.current, 0
        number = get_sequence_number(node)
        return self.marks.find(node) if number < _NO_NUMBER else "", number + 1

    def mark(self, kind: str) -> list[_Made]:
        """Lets all that is alive be of `kind`, unless it is of one already, and returns it."""
        alive = [made for made in self.alive.values() if made is not None]
        for made in alive:
            if made.kind == "temporary":
                made.kind = kind
        return alive


def _run(op: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Returns the result of an operator for fake tensors. Products of groups of rows, by which experts
    are computed, run with any types, where fake tensors know bfloat16 alone."""
    if op is not torch.ops.aten._grouped_mm.default or args[0].dtype == torch.bfloat16:
        return op(*args, **kwargs)
    left, right, offsets, *_ = *args, kwargs.get("offs")
    shape = left.shape[-2], right.shape[-1]
    if left.dim() == right.dim():
        # The groups of two matrices are parts of the dimension that is summed over.
        shape = (left.shape[0] if left.dim() == 3 else offsets.shape[0], *shape)
    return left.new_empty(shape)


@dataclass(frozen=True)
class Traced:
    """The memory of a step in eager PyTorch: of forward and backward in `memory`, beyond
    parameters, buffers and inputs; the bytes that are `kept` between both, those of `gradients` and
    of the optimizer's `state`; and the most that its step makes, gradients included."""

    memory: StepMemory
    kept: int
    gradients: int
    state: int
    update: int


def trace_step(
    loss: Loss,
    example: Example,
    marks: ModuleMarks,
    make_optimizer: Callable[[list[torch.nn.Parameter]], torch.optim.Optimizer] | None,
    has_workspaces: bool,
) -> Traced:
    """Returns the memory of a step of `loss` with the fake `example`. Its parameters have no
    gradients afterwards."""
    static = [*loss.parameters(), *loss.buffers(), *example.tensors]
    tracker = _Tracker(static, marks, has_workspaces)
    with marks, tracker:
        results = find_differentiable(loss(*example.arguments, **example.keywords))
        if not results:
            raise ValueError("no result of the model needs a gradient, so that there is no step")
        of_results = {get_storage_id(each.untyped_storage()) for each in results}
        for key in of_results & tracker.alive.keys():
            made = tracker.alive[key]
            if made is not None:
                made.kind = "result"
        kept = sum(made.bytes for made in tracker.mark("saved tensor") if made.kind != "result")
        start = tracker.place + 1
        torch.autograd.backward(results, [torch.ones_like(result) for result in results])
    tracker.mark("gradient")
    memory = make_memory(tracker.made, tracker.place + 1, start)
    del results
    parameters = [each for each in loss.parameters() if each.grad is not None]
    gradients = count_bytes([each.grad for each in parameters])
    state = update = 0
    if make_optimizer is not None and parameters:
        state, update = _trace_update(make_optimizer, parameters, marks)
    for parameter in parameters:
        parameter.grad = None
    return Traced(memory, kept, gradients, state, gradients + update)


def _trace_update(
    make_optimizer: Callable, parameters: list[torch.nn.Parameter], marks: ModuleMarks
) -> tuple[int, int]:
    """Returns the bytes of the state of an optimizer, and those that its step makes besides."""
    optimizer = make_optimizer(parameters)
    # The first step makes the state.
    optimizer.step()
    state = list_tensors([list(each.values()) for each in optimizer.state.values()])
    tracker = _Tracker([*parameters, *[each.grad for each in parameters], *state], marks, False)
    with tracker:
        optimizer.step()
    memory = make_memory(tracker.made, tracker.place + 1, 0)
    return count_bytes(state), memory.bytes


def make_memory(made: Sequence[_Made], operations: int, start: int) -> StepMemory:
    """Returns the memory of a step of so many `operations`, of which backward begins with number
    `start`."""
    allocations = []
    for each in made:
        last = operations if each.last is None else each.last
        fields = each.bytes, each.kind, each.operation, each.module, "", each.first, last
        allocations.append(Allocation(*fields))
    return make_step_memory(allocations, operations, start)
