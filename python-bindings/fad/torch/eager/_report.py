"""Tensors that nesting keeps of each sequence of a function, and why."""

import ctypes
import json
import linecache
import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from ..._dict import AsJson
from ..._figures import choose_unit, compare
from ..._layers import group_rows, label
from .._pytorch import is_compiled, tree_leaves
from .._saved_memory.arguments import take_keywords
from .._saved_memory.modules import ModuleWatch
from .._saved_memory.referred import find_modules, find_tensors, restored
from .._requirements import torch
from .._text import align
from ._extension import load

# Frames of these files are no lines of a model.
_NOT_OF_MODELS = tuple(
    os.path.dirname(file) + os.sep for file in (torch.__file__, os.path.dirname(__file__))
)
_DECISIONS = {"operator": "own node", "operators": "own nodes", "bits": "mask"}


@dataclass(frozen=True)
class Sequence:
    """A sequence of elementwise operators, and what backward finds of it.

    `operators` are in the order of forward, `readers` those that end it, of which
    "(result)" is whoever reads what the function returns. `module` is the innermost
    module that runs the last operator, and `line` that operator's line. `decision` is
    "number", "own node", "own nodes", "mask", "derivative", "source" or "two sources",
    followed by "value recomputed" where a reader does not keep the value that it saves, and
    `reason` says why. `computed` says how the value was computed: "at once" by the interactive
    engine, and by the deferred one "by a kernel" or "operator by operator", which "before
    its kernel is compiled" or "as no kernel is called" follows, but where PyTorch's own
    node is what is kept.

    `bytes` are those of the storages that are kept, and `eager_bytes` those that eager
    PyTorch keeps of the same operators: sources, values between, and the value where a
    reader saves it. A storage counts where it occurs first."""

    module: str
    line: str
    operators: tuple[str, ...]
    readers: tuple[str, ...]
    decision: str
    reason: str
    bytes: int
    eager_bytes: int
    computed: str


@dataclass(frozen=True)
class LeftOperator:
    """An activation in place that is left to PyTorch, as in "relu_": where, in the terms
    of `Sequence`, and why."""

    operator: str
    module: str
    line: str
    reason: str


@dataclass(frozen=True)
class NestReport(AsJson):
    """Tensors that nesting keeps of each sequence, and the activations in place that are in
    none, in `left`. `str(report)` is `report.table()`."""

    sequences: tuple[Sequence, ...]
    left: tuple[LeftOperator, ...] = ()

    @property
    def bytes(self) -> int:
        return sum(sequence.bytes for sequence in self.sequences)

    @property
    def eager_bytes(self) -> int:
        """Tensors that eager PyTorch keeps of the same operators."""
        return sum(sequence.eager_bytes for sequence in self.sequences)

    @property
    def by_decision(self) -> dict[str, int]:
        """How many sequences have each decision."""
        return dict(Counter(sequence.decision for sequence in self.sequences))

    def summary(self) -> str:
        """Returns a sentence with the bytes that fad and eager PyTorch keep of the sequences."""
        sentence = compare("keeps", {"fad": self.bytes, "eager": self.eager_bytes})
        count = len(self.sequences)
        return f"{sentence}, of {count} nested sequence{'s' if count != 1 else ''}"

    def table(self) -> str:
        """Returns all of it as text. Equal layers are one row, with the sum of their bytes."""
        unit = choose_unit([self.bytes, self.eager_bytes])
        rows = [[f"{unit.name} by decision", "sequences", "fad", "eager"]]
        for decision, count in self.by_decision.items():
            own = [each for each in self.sequences if each.decision == decision]
            sizes = [sum(each.bytes for each in own), sum(each.eager_bytes for each in own)]
            rows.append([decision, str(count), *map(unit.show, sizes)])
        parts = [self.summary(), *([align(rows, 1)] if self.sequences else [])]
        if not self.sequences:
            parts.append(
                "There are none. Tensors with fewer elements than min_numel, and "
                "those that need no gradient, are left to PyTorch."
            )
        numbered = list(enumerate(self.sequences))
        for group in group_rows(numbered, lambda row: row[1].module, lambda row: _get_row(row[1])):
            parts.append(_describe(group[0][0], [each for _, each in group]))
        for left in group_rows(self.left, lambda row: row.module, _get_row):
            head = f"{left[0].operator} is left to PyTorch"
            parts.append(f"{head}\n   {_place(left)}\n   {left[0].reason}")
        return "\n\n".join(parts) + "\n"

    def __str__(self) -> str:
        return self.table()

    def to_dict(self) -> dict[str, Any]:
        """Returns all of it as a dictionary."""
        data = asdict(self)
        for name in ("bytes", "eager_bytes", "by_decision"):
            data[name] = getattr(self, name)
        return data


_Row = TypeVar("_Row", Sequence, LeftOperator)


def _get_row(row: Sequence | LeftOperator) -> tuple[Any, ...]:
    """Returns all of a row but its module."""
    return tuple(value for name, value in vars(row).items() if name != "module")


def _place(rows: list[_Row]) -> str:
    line = rows[0].line
    return f"{label([row.module for row in rows])}{', ' if line else ''}{line}"


def _describe(number: int, group: list[Sequence]) -> str:
    sequence = group[0]
    kept, eager = (len(group) * count for count in (sequence.bytes, sequence.eager_bytes))
    return "\n".join(
        [
            f"{number}: {' '.join(sequence.operators)} -> {', '.join(sequence.readers)}",
            f"   {_place(group)}",
            f"   keeps {sequence.decision}: {sequence.reason}",
            *([f"   computed {sequence.computed}"] if sequence.computed != "at once" else []),
            f"   {compare('keeps', {'fad': kept, 'eager': eager})}",
        ]
    )


_Storages = dict[int, int]


@dataclass(eq=False)
class _Operator:
    """An operator of a sequence, with what leads to its operands. Storages are addresses
    with numbers of bytes."""

    name: str
    module: str
    line: str
    inner: "list[_Operator]"
    sources: _Storages
    constants: _Storages
    saved: _Storages


@dataclass(eq=False)
class _End:
    value: _Storages
    operators: list[_Operator]
    kept: str
    reason: str
    held: int
    computed: str
    readers: list[str] = field(default_factory=list)
    is_saved: bool = False
    is_recomputed: bool = False


class _Recorder:
    """Collects the events of the extension (csrc/interception/Observer.h)."""

    def __init__(self, watch: ModuleWatch) -> None:
        self._watch = watch
        self._operators: dict[int, _Operator] = {}
        self._ends: dict[int, _End] = {}
        # Keys by which views of values that are computed late are named.
        self._values: dict[int, int] = {}
        self._is_result = False
        self._left: list[LeftOperator] = []
        self._callback = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(self._receive)

    def __enter__(self) -> "_Recorder":
        load().fad_eager_observe(self._callback)
        return self

    def __exit__(self, *_: object) -> None:
        load().fad_eager_observe(None)

    def _receive(self, text: bytes) -> None:
        event = json.loads(text)
        getattr(self, "_on_" + event.pop("event"))(**event)

    def _on_operator(
        self, name: str, result: list, sources: list, inner: list, constants: list, saved: list
    ) -> None:
        # A value of before the function is a source here.
        before = {place: size for place, size in inner if place not in self._operators}
        operator = _Operator(
            name,
            self._watch.current,
            _find_line(),
            [self._operators[place] for place, _ in inner if place not in before],
            dict(sources) | before,
            dict(constants),
            dict(saved),
        )
        self._operators[result[0][0]] = operator

    def _on_end(
        self, kept: str, reason: str, held: int, computed: str, value: list, storage: list
    ) -> None:
        place = value[0][0]
        if place not in self._operators:
            return
        self._values[storage[0]] = place
        found: dict[_Operator, None] = {}
        worklist = [self._operators[place]]
        while worklist:
            operator = worklist.pop()
            if operator not in found:
                found[operator] = None
                worklist += operator.inner
        in_order = [each for each in self._operators.values() if each in found]
        self._ends[place] = _End(dict(value), in_order, kept, reason, held, computed)

    def _on_reader(self, name: str, saves: bool, recomputed: bool, value: list) -> None:
        if (end := self._ends.get(value[0][0])) is not None:
            end.readers.append("(result)" if self._is_result else name)
            end.is_saved |= saves and not recomputed
            end.is_recomputed |= recomputed

    def _on_left(self, name: str, reason: str) -> None:
        self._left.append(LeftOperator(name, self._watch.current, _find_line(), reason))

    def read_result(self, result: torch.Tensor) -> None:
        """Ends the sequence that has computed a result of the function."""
        self._is_result = True
        result.sum()
        self._is_result = False

    def finish(self) -> NestReport:
        kept: _Storages = {}
        eager: _Storages = {}
        sequences = []
        for end in self._ends.values():
            last = end.operators[-1]
            sequences.append(
                Sequence(
                    last.module,
                    last.line,
                    tuple(each.name for each in end.operators),
                    tuple(dict.fromkeys(end.readers)),
                    _name_decision(end),
                    end.reason,
                    self._count(kept, _find_kept(end)) + end.held,
                    self._count(eager, _find_eager(end)),
                    end.computed,
                )
            )
        return NestReport(tuple(sequences), tuple(self._left))

    def _count(self, known: _Storages, found: list[_Storages]) -> int:
        """Returns the bytes that `found` adds to what is known."""
        before = sum(known.values())
        for each in found:
            known.update({self._values.get(place, place): size for place, size in each.items()})
        return sum(known.values()) - before


def _name_decision(end: _End) -> str:
    name = _DECISIONS.get(end.kept, end.kept)
    if end.kept == "source" and len(_find_sources(end)) > 1:
        name = "two sources"
    return name + (", value recomputed" if end.is_recomputed else "")


def _find_sources(end: _End) -> _Storages:
    return {place: size for each in end.operators for place, size in each.sources.items()}


def _find_kept(end: _End) -> list[_Storages]:
    found = [end.value] if end.is_saved else []
    if end.kept in ("operator", "operators"):
        found += [each.saved for each in end.operators]
    if end.kept == "source" or end.is_recomputed:
        found += [_find_sources(end), *(each.constants for each in end.operators)]
    return found


def _find_eager(end: _End) -> list[_Storages]:
    found = [each.saved for each in end.operators]
    return found + ([end.value] if end.is_saved or end.is_recomputed else [])


def _find_line() -> str:
    """Returns the line of the model that runs, as in "model.py:12: y = f(x)"."""
    frame = sys._getframe()
    while frame and frame.f_code.co_filename.startswith(_NOT_OF_MODELS):
        frame = frame.f_back
    if frame is None:
        return ""
    file, line = frame.f_code.co_filename, frame.f_lineno
    return f"{os.path.basename(file)}:{line}: {linecache.getline(file, line).strip()}"


def report(
    function: Callable[..., Any],
    /,
    *inputs: Any,
    kwargs: Mapping[str, Any] | None = None,
    **keywords: Any,
) -> NestReport:
    """Calls `function(*inputs, **kwargs, **keywords)`, which nests operators, and returns what is
    kept of each sequence, and why. What the function returns is read once more, as by a
    loss. Buffers and random numbers are as before afterwards."""
    kwargs = take_keywords(
        "fad.torch.eager.report", function, inputs, kwargs, keywords, ("kwargs",)
    )
    modules = {} if is_compiled(function) else find_modules((function, inputs, kwargs))
    with restored(find_tensors((function, inputs, kwargs))), ModuleWatch(modules) as watch:
        recorder = _Recorder(watch)
        with recorder:
            results = function(*inputs, **kwargs)
            for result in tree_leaves(results):
                if isinstance(result, torch.Tensor) and result.requires_grad:
                    recorder.read_result(result)
    return recorder.finish()
