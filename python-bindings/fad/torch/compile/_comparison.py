"""The figures that `explain` returns."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from ._step_memory import StepMemory


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

    `operations` is how many its forward and backward have by fad. `fallback` is the
    warning where fad leaves the graph to PyTorch's partitioner, and `error` the reason
    why `pytorch` is None: that partitioner fails."""

    number: int
    operations: int
    fad: Partition
    pytorch: Partition | None
    fallback: str
    error: str


@dataclass(frozen=True)
class Measurement:
    """The median of the seconds of a step, and the most bytes that PyTorch's allocator
    gives meanwhile. On a CPU, they are those of all threads."""

    seconds: float
    peak: int


@dataclass(frozen=True)
class Comparison:
    """Tensors that cross from forward to backward of a model.

    `eager_bytes` are those that autograd saves without `torch.compile`, by module in
    `eager_by_module`; the model itself has the empty name. `measurements` are those of
    "fad", "PyTorch" and "eager", where they were asked for. `modules` are the names of
    all modules that run, and `parameters` the bytes of their parameters and buffers."""

    engine: str
    graphs: tuple[Graph, ...]
    eager_bytes: int
    eager_by_module: Mapping[str, int]
    measurements: Mapping[str, Measurement]
    modules: tuple[str, ...]
    parameters: Mapping[str, int]

    @property
    def fad_bytes(self) -> int:
        """Tensors that fad saves of all graphs."""
        return sum(graph.fad.bytes for graph in self.graphs)

    @property
    def pytorch_bytes(self) -> int | None:
        """Tensors that PyTorch's partitioner saves of all graphs; None where it fails."""
        parts = [graph.pytorch for graph in self.graphs]
        return None if None in parts else sum(part.bytes for part in parts if part)

    @property
    def by_module(self) -> dict[str, dict[str, int]]:
        """The bytes of each module by "fad", "PyTorch" and "eager", in the order of the
        model."""
        sums: dict[str, Counter[str]] = {module: Counter() for module in self.modules}
        columns = [("eager", self.eager_by_module)]
        for graph in self.graphs:
            columns.append(("fad", graph.fad.by_module))
            columns.append(("PyTorch", graph.pytorch.by_module if graph.pytorch else {}))
        for name, of_modules in columns:
            for module, count in of_modules.items():
                sums.setdefault(module, Counter())[name] += count
        names = ("fad", "PyTorch", "eager")
        return {
            module: {name: counts[name] for name in names}
            for module, counts in sums.items()
            if counts
        }
