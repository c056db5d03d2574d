"""Steps of deep models from those of shallow ones.

Where a model has equal layers, one after the other, its step has equal parts: one more layer adds
a window of operations to forward and one to backward. Steps with few layers, and with one more, tell where
these are, and with them the step of any number of layers follows, storage by storage."""

import copy
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .._requirements import torch
from ..compile._step_memory import Allocation, StepMemory, make_step_memory

# With fewer layers, a plan of all of them takes no longer.
_LEAST = 10

# So many windows are tried at most. Layers with as many operations as those of GPT-2 have 700,000, of
# which the first for forward and the 700th for backward are right, and if none is, all take minutes.
_MOST = 8192

# The bytes that are alive may differ by such a part of the peak where storages have other ends.
_SLACK = 0.01


@dataclass(frozen=True)
class Layers:
    """Equal modules: `count` of those that the module `path` lists, from number `first`."""

    path: str
    first: int
    count: int


def find_layers(model: torch.nn.Module) -> Layers | None:
    """Returns the most equal modules that a list of `model` has one after the other; None where
    these are too few to gain from it."""
    found = []
    for path, module in model.named_modules():
        if isinstance(module, torch.nn.ModuleList | torch.nn.Sequential):
            kinds = [_describe(child) for child in module]
            first = 0
            for number in range(1, len(kinds) + 1):
                if number == len(kinds) or kinds[number] != kinds[first]:
                    found.append(Layers(path, first, number - first))
                    first = number
    most = max(found, key=lambda each: each.count, default=None)
    return most if most is not None and most.count >= _LEAST else None


def _describe(module: torch.nn.Module) -> Any:
    """Returns the types of the modules in `module` with their modes, and the kinds of its
    parameters and buffers."""
    modules = [(name, type(each), each.training) for name, each in module.named_modules()]
    tensors = [*module.named_parameters(), *module.named_buffers()]
    kinds = [(name, each.shape, each.dtype, each.requires_grad) for name, each in tensors]
    return modules, kinds


def shorten(model: torch.nn.Module, layers: Layers, count: int) -> torch.nn.Module:
    """Returns a copy of `model` with `count` of its `layers`, which has the same parameters and
    buffers."""
    tensors = [*model.parameters(), *model.buffers()]
    short = copy.deepcopy(model, {id(each): each for each in tensors})
    listed: Any = short.get_submodule(layers.path)
    del listed[layers.first + count : layers.first + layers.count]
    return short


@dataclass
class Windows:
    """The operations of one layer in a step: in forward, `count` from number `forward`; in backward,
    `back_count` from number `backward`.

    Of the storages that are made outside of both, by their numbers, operations for all layers make
    one for each layer: those in `bundled` end in a window, and `repeated` has how many more there are
    with a layer. `growth` has the bytes that others grow by."""

    forward: int
    count: int
    backward: int
    back_count: int
    bundled: set[int] = field(default_factory=set)
    repeated: Counter[int] = field(default_factory=Counter)
    growth: dict[int, int] = field(default_factory=dict)


def find_windows(one: StepMemory, other: StepMemory) -> Windows | None:
    """Returns the windows with which the step `one` of a model becomes the `other`, that with one
    more layer; None where there are none."""
    count = other.backward - one.backward
    back_count = other.operations - one.operations - count
    if count < 1 or back_count < 1:
        return None
    made = _list_made(one), _list_made(other)
    wanted = Counter(map(_describe_storage, other.allocations))
    ends = one.backward, one.operations, other.backward, other.operations
    starts = _find_starts(made, 0, one.backward, 0, other.backward), _find_starts(made, *ends)
    near, least = None, _SLACK * one.bytes
    for forward, backward in itertools.islice(itertools.product(*starts), _MOST):
        windows = Windows(forward, count, backward, back_count)
        differing = _explain(one, wanted, windows)
        if differing == 0:
            return windows
        if differing is not None and differing <= least:
            near, least = windows, differing
    return near


def _describe_storage(each: Allocation) -> tuple[Any, ...]:
    return each.first, each.last, each.kind, each.operation, each.bytes


def _explain(one: StepMemory, wanted: Counter[Any], windows: Windows) -> int | None:
    """Completes the `windows`, with which one more layer of `one` makes the storages that are `wanted`.
    Where some of these have other ends, returns the most bytes by which the living ones differ, or 0;
    None where more than ends differ."""
    place = _Place(one, windows, 1)
    for number, each in enumerate(one.allocations):
        if place.is_between(each):
            windows.bundled.add(number)
            if not all(wanted[found] for found in place.describe(number, each)):
                windows.bundled.remove(number)
    placed: dict[Any, list[int]] = {}
    for number, each in enumerate(one.allocations):
        for found in place.describe(number, each):
            placed.setdefault(found, []).append(number)
    counts = Counter({found: len(numbers) for found, numbers in placed.items()})
    missing, extra = wanted - counts, counts - wanted
    for found in list(missing):
        numbers = placed.get(found, ())
        if numbers and place.is_outside(one.allocations[numbers[0]]):
            windows.repeated[numbers[0]] += missing.pop(found)
    differing = _remove_ends(missing, extra, max(windows.count, windows.back_count))
    for found in list(extra):
        *kind, bytes_ = found
        grown = next((each for each in missing if [*each[:-1]] == kind), None)
        number = placed[found][0]
        if grown is None or counts[found] > 1 or not place.is_outside(one.allocations[number]):
            return None
        windows.growth[number] = grown[-1] - bytes_
        missing -= Counter([grown])
    return None if missing else differing


def _remove_ends(missing: Counter[Any], extra: Counter[Any], most: int) -> int:
    """Removes storages that are in both, but for their ends, which are at `most` so many operations
    apart, and returns the most bytes by which what is alive differs. Which of some equal storages
    Inductor computes another value in may alternate from layer to layer."""
    changes: Counter[int] = Counter()
    for found in list(extra):
        first, last, *rest = found
        others = [each for each in missing if [each[0], *each[2:]] == [first, *rest]]
        other = min(others, key=lambda each: abs(each[1] - last), default=None)
        if other is not None and abs(other[1] - last) <= most:
            count = min(extra[found], missing[other])
            changes.update({last: count * rest[-1], other[1]: -count * rest[-1]})
            extra -= Counter({found: count})
            missing -= Counter({other: count})
    alive = itertools.accumulate(changes[each] for each in sorted(changes))
    return max(map(abs, alive), default=0)


def get_structure(memory: StepMemory) -> Any:
    """Returns all of a step but its bytes."""
    kinds = [(each.kind, each.operation, each.first, each.last) for each in memory.allocations]
    return memory.operations, memory.backward, kinds


def extend(
    memory: StepMemory, windows: Windows, more: int, layers: Layers | None = None
) -> StepMemory:
    """Returns the step with so many `more` layers. Modules in `layers` have the names of theirs."""
    place = _Place(memory, windows, more)
    allocations = [
        replace(
            each,
            bytes=each.bytes + more * windows.growth.get(number, 0),
            first=first,
            last=last,
            module=_rename(each.module, layers, later),
        )
        for number, each in enumerate(memory.allocations)
        for first, last, later in place.place(number, each)
    ]
    allocations.sort(key=lambda each: each.first)
    added = more * (windows.count + windows.back_count)
    start = memory.backward + more * windows.count
    return make_step_memory(allocations, memory.operations + added, start)


class _Place:
    """Where storages of a step are in one with `more` layers. In forward, the copies of the window
    follow each other from the first layer to the last, and in backward the other way."""

    def __init__(self, memory: StepMemory, windows: Windows, more: int) -> None:
        self.windows, self.more = windows, more
        self.start, self.end = memory.backward, memory.operations
        self.inner = windows.forward + windows.count, windows.backward + windows.back_count
        self.added = more * windows.count, more * windows.back_count

    def _is_inside(self, number: int) -> bool:
        windows = self.windows
        is_forward = windows.forward <= number < self.inner[0]
        return is_forward or windows.backward <= number < self.inner[1]

    def is_outside(self, each: Allocation) -> bool:
        """Tells whether the storage neither begins nor ends in a window."""
        return not self._is_inside(each.first) and not self._is_inside(each.last)

    def is_between(self, each: Allocation) -> bool:
        """Tells whether the storage begins outside of the windows, and ends in one."""
        return not self._is_inside(each.first) and self._is_inside(each.last)

    def describe(self, number: int, each: Allocation) -> Iterator[tuple[Any, ...]]:
        """Yields all but the module of each copy of a storage."""
        for first, last, _ in self.place(number, each):
            yield first, last, each.kind, each.operation, each.bytes

    def place(self, number: int, each: Allocation) -> Iterator[tuple[int, int, int]]:
        """Yields the first and the last operation of each copy of the storage of that number, and by
        how many layers its own is later."""
        windows, added = self.windows, self.added
        is_bundled = number in windows.bundled
        outside = self._shift(each.first, True)
        if windows.forward <= (each.last if is_bundled else each.first) < self.inner[0]:
            for layer in range(self.more + 1):
                # To the end of forward, what a model returns beside its loss may keep it.
                is_kept = each.last == self.start - 1
                shift = layer * windows.count
                later = added[0] + (self.more - layer) * windows.back_count
                last = each.last + (shift if each.last < self.start else later)
                last = each.last + added[0] if is_kept else last
                yield outside if is_bundled else each.first + shift, self._limit(each, last), layer
        elif windows.backward <= (each.last if is_bundled else each.first) < self.inner[1]:
            for layer in range(self.more + 1):
                shift = added[0] + layer * windows.back_count
                last = self._limit(each, each.last + shift)
                yield outside if is_bundled else each.first + shift, last, self.more - layer
        else:
            layer = self.more if self.inner[0] <= each.first < windows.backward else 0
            # Backward of the first copy, which is the last one there, reads what comes before it.
            last = self._shift(each.last, each.first < windows.forward)
            for _ in range(1 + self.more * windows.repeated[number]):
                yield outside, last, layer

    def _limit(self, each: Allocation, last: int) -> int:
        """Returns the end of the step for a storage that is there to the end."""
        return each.last + sum(self.added) if each.last >= self.end - 1 else last

    def _shift(self, number: int, is_later: bool) -> int:
        """Returns the place of an operation; of one in the window of backward, that in its last copy
        if it `is_later`."""
        shift = self.added[0] if number >= self.inner[0] else 0
        begin = self.windows.backward if is_later else self.inner[1]
        return number + shift + (self.added[1] if number >= begin else 0)


def _rename(module: str, layers: Layers | None, number: int) -> str:
    """Returns the name of a module of the layers that is so many layers later."""
    prefix = f"{layers.path}." if layers is not None and layers.path else ""
    if layers is None or not number or not module.startswith(prefix):
        return module
    layer, dot, rest = module[len(prefix) :].partition(".")
    is_layer = layer.isdecimal() and int(layer) >= layers.first
    return f"{prefix}{int(layer) + number}{dot}{rest}" if is_layer else module


def _list_made(memory: StepMemory) -> list[set[tuple[str, str]]]:
    """Lists the kinds of the storages that each operation of a step makes."""
    made: list[set[tuple[str, str]]] = [set() for _ in range(memory.operations)]
    for each in memory.allocations:
        made[each.first].add((each.kind, each.operation))
    return made


def _find_starts(
    made: tuple[Sequence[Any], Sequence[Any]], begin: int, end: int, new_begin: int, new_end: int
) -> range:
    """Returns where a window may begin that makes the operations `begin` to `end` of one step those
    from `new_begin` to `new_end` of another."""
    one, other = made[0][begin:end], made[1][new_begin:new_end]
    count = len(other) - len(one)
    same = next((n for n, pair in enumerate(zip(one, other)) if pair[0] != pair[1]), len(one))
    backwards = zip(reversed(one), reversed(other))
    after = next((n for n, pair in enumerate(backwards) if pair[0] != pair[1]), len(one))
    return range(begin + len(one) - after, begin + min(same, len(one)) - count + 1)
