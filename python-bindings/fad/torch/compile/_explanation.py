"""The objects that `explain` returns, their text and their pictures."""

import pathlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Sequence

from ..._dict import AsJson
from .._text import align
from ._step_memory import StepMemory, draw_memory, list_peak


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
class Explanation(AsJson):
    """Tensors that cross from forward to backward of a model.

    `eager_bytes` are those that autograd saves without `torch.compile`, by module in
    `eager_by_module`; the model itself has the empty name. `measurements` are those of
    "fad", "PyTorch" and "eager", where they were asked for. `modules` are the names of
    all modules that run, and `parameters` the bytes of their parameters and buffers.
    `str(explanation)` is `explanation.table()`."""

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

    def table(self) -> str:
        """All of it as text."""
        return _make_table(self)

    def __str__(self) -> str:
        return self.table()

    def to_dict(self) -> dict[str, Any]:
        """All of it as a dictionary."""
        data: dict[str, Any] = asdict(self)
        for graph in data["graphs"]:
            for part in (graph["fad"], graph["pytorch"] or {"tensors": ()}):
                for tensor in part["tensors"]:
                    del tensor["storage"]
        data["fad_bytes"] = self.fad_bytes
        data["pytorch_bytes"] = self.pytorch_bytes
        data["by_module"] = self.by_module
        return data

    def draw(self, path: str | pathlib.Path) -> None:
        """Draws the bytes of each module to the file `path`.

        A file `.dot` is in the language of Graphviz: what fad saves goes from the modules
        of forward to those of backward. Any other is a picture of bars by matplotlib, in
        the format that its name ends with."""
        _draw(self, pathlib.Path(path))

    def draw_memory(self, path: str | pathlib.Path, graph: int = 0) -> None:
        """Draws the bytes that are alive at each operation of `graphs[graph]` to the file
        `path`, by matplotlib: by module for fad, and the sum for PyTorch's partitioner."""
        chosen = self.graphs[graph]
        memories = {"fad": chosen.fad.memory}
        if chosen.pytorch:
            memories["PyTorch"] = chosen.pytorch.memory
        draw_memory(memories, pathlib.Path(path))


# The text of an explanation.

# Lines of the model are cut to so many characters.
_LINE = 48


def _make_table(explanation: Explanation) -> str:
    """The table of all graphs, then what is saved of each."""
    columns = ("fad", "PyTorch", "eager")
    rows = [["bytes", *columns]]
    counts = explanation.fad_bytes, explanation.pytorch_bytes, explanation.eager_bytes
    rows.append(["saved", *map(_show, counts)])
    measured = explanation.measurements
    if measured:
        rows.append(["peak, measured", *(_show(measured[name].peak) for name in columns)])
        times = [f"{measured[name].seconds * 1e3:.2f}" for name in columns]
        rows.append(["milliseconds", *times])
    modules = [
        [module or "(model)", *(_show(counts[name]) for name in columns)]
        for module, counts in explanation.by_module.items()
    ]
    parts = [
        "What crosses from forward to backward, with the engine "
        f"{explanation.engine}; inputs and parameters do not count",
        align(rows, 1),
        align([["of module", *columns], *modules], 1),
    ]
    parts += [_describe(graph, explanation.parameters) for graph in explanation.graphs]
    return "\n\n".join(parts) + "\n"


def _show(count: int | None) -> str:
    return "-" if count is None else str(count)


def _describe(graph: Graph, parameters: Mapping[str, int]) -> str:
    head = f"graph {graph.number}: {graph.operations} operations"
    lines = [head, *filter(None, [graph.fallback])]
    lines.append(_describe_peak("fad", graph.fad))
    if graph.pytorch:
        lines.append(_describe_peak("PyTorch", graph.pytorch))
    else:
        lines.append(f"PyTorch's partitioner fails: {graph.error}")
    lines += _list("fad saves", graph.fad.tensors)
    if graph.pytorch:
        others = [tensor for tensor in graph.pytorch.tensors if not tensor.is_common]
        lines += _list("PyTorch saves instead", others)
    lines.append(f"alive at fad's peak, with {sum(parameters.values())} bytes of parameters:")
    rows = list_peak(graph.fad.memory, parameters)
    lines += _indent([[*row[:-1], _cut(row[-1])] for row in rows])
    return "\n".join(lines)


def _describe_peak(name: str, part: Partition) -> str:
    side = "backward" if part.peak_in_backward else "forward"
    of_module = f" of {part.peak_module}" if part.peak_module else ""
    return (
        f"{name}: {part.bytes} bytes saved, {part.peak} at the modeled peak, "
        f"at {part.peak_operation}{of_module} in {side}"
    )


def _list(title: str, tensors: Sequence[SavedTensor]) -> list[str]:
    counted = [tensor for tensor in tensors if tensor.bytes]
    if not counted:
        return [f"{title} nothing but inputs"]
    rows = [
        [
            str(tensor.bytes),
            f"{tensor.dtype}[{','.join(tensor.shape)}]",
            tensor.operation,
            tensor.module,
            _cut(tensor.line),
            tensor.reason + (", as PyTorch does" if tensor.is_common else ""),
        ]
        for tensor in counted
    ]
    return [f"{title}:", *_indent(rows)]


def _indent(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of `rows` in columns, the first aligned on the right."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return [
        "  " + "  ".join([row[0].rjust(widths[0]), *map(str.ljust, row[1:], widths[1:])]).rstrip()
        for row in rows
    ]


def _cut(line: str) -> str:
    return line if len(line) <= _LINE else line[: _LINE - 3] + "..."


# Pictures of an explanation.

_COLUMNS = ("fad", "PyTorch", "eager")


def _draw(explanation: Explanation, path: pathlib.Path) -> None:
    """Writes the picture to `path`, in the form that its suffix says."""
    if path.suffix == ".dot":
        path.write_text(_make_dot(explanation))
        return
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            f"a picture in {path.name} needs matplotlib; install it with: pip install "
            "matplotlib, or draw a file .dot"
        ) from error
    modules = explanation.by_module
    figure = Figure(figsize=(8, 1.5 + 0.4 * len(modules)), layout="constrained")
    axes = figure.add_subplot()
    for number, name in enumerate(_COLUMNS):
        places = [place + 0.27 * (number - 1) for place in range(len(modules))]
        widths = [counts[name] / 2**20 for counts in modules.values()]
        axes.barh(places, widths, 0.27, label=name)
    axes.set_yticks(range(len(modules)), [name or "(model)" for name in modules])
    axes.invert_yaxis()
    axes.set_xlabel("MiB saved")
    axes.set_title("What crosses from forward to backward")
    axes.legend()
    figure.savefig(path)


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _make_dot(explanation: Explanation) -> str:
    """Forward on the left, backward on the right, and an edge for each saved tensor.

    An edge goes from the module that makes the tensor to the first one that reads it, and
    is as wide as its share of the bytes; it is gray where PyTorch saves the tensor, too."""
    lines = [
        "digraph saved {",
        "  rankdir=LR; node [shape=box]; edge [fontsize=10];",
    ]
    for graph in explanation.graphs:
        prefix = f"graph {graph.number}"
        edges = [
            (tensor.module, next(filter(None, tensor.read_by_modules), tensor.module), tensor)
            for tensor in graph.fad.tensors
            if tensor.bytes
        ]
        for number, side in enumerate(("forward", "backward")):
            modules = dict.fromkeys(edge[number] for edge in edges)
            lines.append(f"  subgraph {_quote(f'cluster {prefix} {side}')} {{")
            lines.append(f"    label={_quote(f'{prefix}, {side}')};")
            for module in modules:
                name = _quote(f"{prefix} {side} {module}")
                lines.append(f"    {name} [label={_quote(module or '(model)')}];")
            lines.append("  }")
        for source, target, tensor in edges:
            type_ = f"{tensor.dtype}[{','.join(tensor.shape)}]"
            label = _quote(f"{type_}\n{tensor.bytes} bytes").replace("\n", "\\n")
            width = 1 + 5 * tensor.bytes / graph.fad.bytes
            color = "gray" if tensor.is_common else "forestgreen"
            before = _quote(f"{prefix} forward {source}")
            after = _quote(f"{prefix} backward {target}")
            lines.append(
                f"  {before} -> {after} [label={label}, penwidth={width:.1f}, color={color}];"
            )
    return "\n".join([*lines, "}"]) + "\n"
