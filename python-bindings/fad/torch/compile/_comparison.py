"""The figures that `explain` returns."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from ..._figures import compare, show_milliseconds
from ._step_memory import StepMemory

# Columns of a comparison. Settings of PyTorch's partitioner have others.
FAD, TORCH_COMPILE, EAGER = "fad", "torch.compile", "eager"

_Value = TypeVar("_Value")


class ByColumn(dict[str, _Value]):
    """Values by column. The name "PyTorch" stands for "torch.compile", as it was called before."""

    def __missing__(self, name: str) -> _Value:
        if name == "PyTorch" and TORCH_COMPILE in self:
            return self[TORCH_COMPILE]
        raise KeyError(name)


@dataclass(frozen=True)
class SavedTensor:
    """A tensor that crosses from forward to backward.

    `bytes` are those of its storage, 0 where an input, such as a parameter, or a tensor
    before it in the list has the same storage. `name` and `operation` are those of its
    node in forward; an input has no operation. `module` is the name of the innermost
    module of the model that makes it, and `line` the line of the model; both are empty
    where nothing is known. `reason` is why fad saves it. `readers` are the operations of
    backward that read it, those of the modules `read_by_modules`. `is_common` is whether
    the other partitioner saves the same storage."""

    name: str
    operation: str
    shape: tuple[str, ...]
    dtype: str
    bytes: int
    module: str
    line: str
    reason: str
    is_input: bool
    readers: tuple[str, ...]
    read_by_modules: tuple[str, ...]
    is_common: bool = False
    # A key by which storages are compared; it means nothing outside.
    storage: int = field(default=0, repr=False, compare=False)


@dataclass(frozen=True)
class Partition:
    """A graph, split by one partitioner.

    `bytes` cross from forward to backward, beyond inputs. `peak` is the most bytes that
    a step has at once, beyond inputs, by a model in which each operation makes its
    results and nothing else; it occurs at `peak_operation`, of `peak_module` if that is
    known, in backward if `peak_in_backward`. `memory` has what is alive then, and over the
    step."""

    tensors: tuple[SavedTensor, ...]
    bytes: int
    peak: int
    peak_operation: str
    peak_module: str
    peak_in_backward: bool
    memory: StepMemory

    @property
    def by_module(self) -> dict[str, int]:
        """The bytes of each module that makes what is saved."""
        sums: Counter[str] = Counter()
        for tensor in self.tensors:
            if tensor.bytes:
                sums[tensor.module] += tensor.bytes
        return dict(sums)


@dataclass(frozen=True)
class Graph:
    """One graph of the model: there are several where `torch.compile` breaks it.

    It runs `runs` times, as equal layers may share it; each run saves its tensors. `operations`
    is how many its forward and backward have by fad. `partitions` are those of
    each column but "eager"; where PyTorch's partitioner fails, it has the reason in `errors`
    instead. `fallback` is the warning where fad leaves the graph to PyTorch's partitioner."""

    number: int
    runs: int
    operations: int
    partitions: Mapping[str, Partition]
    fallback: str
    errors: Mapping[str, str]

    @property
    def fad(self) -> Partition:
        """The partition by fad."""
        return self.partitions[FAD]

    @property
    def pytorch(self) -> Partition | None:
        """That by PyTorch's partitioner without a setting; None where it fails."""
        return self.partitions.get(TORCH_COMPILE)


@dataclass(frozen=True)
class Measurement:
    """The median of the seconds of a step, and the most bytes that PyTorch's allocator
    gives meanwhile. On a CPU, they are those of all threads."""

    seconds: float
    peak: int


@dataclass(frozen=True)
class Comparison:
    """Tensors that cross from forward to backward of a model.

    `columns` are "fad", "torch.compile", the settings of PyTorch's partitioner that were asked
    for, and "eager", the model without `torch.compile`. `eager_bytes` are the bytes that autograd
    saves of the latter, by module in `eager_by_module`; the model itself has the empty name.
    `measurements` are those of each column, where they were asked for. `modules` are the names
    of all modules that run, and `parameters` the bytes of their parameters and buffers."""

    engine: str
    columns: tuple[str, ...]
    graphs: tuple[Graph, ...]
    eager_bytes: int
    eager_by_module: Mapping[str, int]
    measurements: Mapping[str, Measurement]
    modules: tuple[str, ...]
    parameters: Mapping[str, int]

    @property
    def bytes(self) -> dict[str, int | None]:
        """The bytes that each column saves of all graphs; None where it fails."""
        counts: dict[str, int | None] = {name: self._count(name) for name in self.columns[:-1]}
        return {**counts, EAGER: self.eager_bytes}

    def _count(self, name: str) -> int | None:
        if any(name not in graph.partitions for graph in self.graphs):
            return None
        return sum(graph.runs * graph.partitions[name].bytes for graph in self.graphs)

    @property
    def fad_bytes(self) -> int:
        """Tensors that fad saves of all graphs."""
        return sum(graph.runs * graph.fad.bytes for graph in self.graphs)

    @property
    def pytorch_bytes(self) -> int | None:
        """Tensors that PyTorch's partitioner saves of all graphs; None where it fails."""
        return self._count(TORCH_COMPILE)

    @property
    def by_module(self) -> dict[str, ByColumn[int]]:
        """The bytes of each module by column, in the order of the model."""
        sums: dict[str, Counter[str]] = {module: Counter() for module in self.modules}
        found = [(EAGER, 1, self.eager_by_module)]
        for graph in self.graphs:
            for name, part in graph.partitions.items():
                found.append((name, graph.runs, part.by_module))
        for name, runs, of_modules in found:
            for module, count in of_modules.items():
                sums.setdefault(module, Counter())[name] += runs * count
        return {
            module: ByColumn((name, counts[name]) for name in self.columns)
            for module, counts in sums.items()
            if counts
        }

    def summary(self) -> str:
        """A sentence with the bytes of each column, and one with the measurements, if there
        are any. A percentage is of fad to that column."""
        sentences = [compare("keeps", self.bytes)]
        if self.measurements:
            peaks = {name: each.peak for name, each in self.measurements.items()}
            own, *others = (show_milliseconds(m.seconds) for m in self.measurements.values())
            named = [f"{name} {time}" for name, time in zip(self.columns[1:], others)]
            times = ", ".join([f"{FAD} takes {own} ms a step", *named])
            sentences += [compare("has a peak of", peaks), times]
        return "\n".join(sentences)
