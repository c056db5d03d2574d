"""The figures that `explain` returns, with their text and pictures."""

import pathlib
from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Sequence, TypeVar

from ..._bars import draw_bars
from ..._figures import Unit, choose_unit, compare, show_bytes, show_milliseconds
from ..._layers import group_rows, label, mask
from .._text import align
from ._step_memory import Partition, SavedTensor, list_peak

# Columns of a comparison. Settings of PyTorch's partitioner have others.
FAD, TORCH_COMPILE, EAGER = "fad", "torch.compile", "eager"
# Lines of the model are cut to so many characters.
_LINE = 48
# A graph of Graphviz has at most so many edges between forward and backward of each layer.
_EDGES = 24
# So many products say why they have no chunks.
_AT_ONCE = 3

_Value = TypeVar("_Value")


class ByColumn(dict[str, _Value]):
    """Values by column. The name "PyTorch" stands for "torch.compile", as it was called before."""

    def __missing__(self, name: str) -> _Value:
        if name == "PyTorch" and TORCH_COMPILE in self:
            return self[TORCH_COMPILE]
        raise KeyError(name)


@dataclass(frozen=True)
class Graph:
    """One graph of the model: there are several where `torch.compile` breaks it.

    It runs `runs` times, as equal layers may share it; each run saves its tensors. `operations`
    is how many its forward and backward have by fad. `partitions` are those of
    each column but "eager"; where PyTorch's partitioner fails, it has the reason in `errors`
    instead. `fallback` is the warning where fad leaves the graph to PyTorch's partitioner, and
    `rates` says by which rates of a GPU its time is estimated; empty on a CPU."""

    number: int
    runs: int
    operations: int
    partitions: Mapping[str, Partition]
    fallback: str
    errors: Mapping[str, str]
    rates: str = ""

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
        """Returns a sentence with the bytes of each column, and one with the measurements, if there
        are any. A percentage is of fad to that column."""
        sentences = [compare("keeps", self.bytes)]
        if self.measurements:
            peaks = {name: each.peak for name, each in self.measurements.items()}
            own, *others = (show_milliseconds(m.seconds) for m in self.measurements.values())
            named = [f"{name} {time}" for name, time in zip(self.columns[1:], others)]
            times = ", ".join([f"{FAD} takes {own} ms a step", *named])
            sentences += [compare("has a peak of", peaks), times]
        return "\n".join(sentences)


# The text.


def make_table(comparison: Comparison) -> str:
    """Returns the sentences, then the bytes of each module, then the tensors of each graph. Equal
    layers are one row, with the sum of their bytes."""
    sums = comparison.by_module
    unit = choose_unit(comparison.bytes.values())
    groups = group_rows(sums, str, lambda module: tuple(sums[module].values()))
    failed = [name for name, count in comparison.bytes.items() if count is None]
    modules = [_add(names, [sums[name] for name in names], unit, failed) for names in groups]
    parts = [
        comparison.summary(),
        f"Saved for backward, with the engine {comparison.engine}; inputs and parameters do not "
        "count",
        align([[f"{unit.name} by module", *comparison.columns], *modules], 1),
    ]
    for graphs in group_rows(comparison.graphs, lambda graph: str(graph.number), _get_figures):
        parts.append(_name_graphs(graphs) + "\n" + _describe(graphs[0], comparison.parameters))
    return "\n\n".join(parts) + "\n"


def _add(
    names: Sequence[str], counts: Sequence[Mapping[str, int]], unit: Unit, failed: Sequence[str]
) -> list[str]:
    """Returns a row with the sums of the columns of `counts`, of which `failed` have none."""
    sums = {column: sum(each[column] for each in counts) for column in counts[0]}
    shown = [unit.show(None if name in failed else count) for name, count in sums.items()]
    return [label(names), *shown]


def _get_figures(graph: Graph) -> Hashable:
    """Equal for graphs of equal layers."""
    partitions = [
        (part.bytes, part.peak, *((mask(t.module), _get_row(t)) for t in part.tensors))
        for part in graph.partitions.values()
    ]
    errors = tuple(graph.errors.items())
    return graph.runs, graph.operations, graph.fallback, errors, tuple(partitions)


def _get_row(tensor: SavedTensor) -> tuple[str | int, ...]:
    """Returns the bytes of a tensor, and all that a row has of it but its module."""
    type_ = f"{tensor.dtype}[{','.join(tensor.shape)}]"
    reason = tensor.reason + (", as torch.compile does" if tensor.is_common else "")
    return tensor.bytes, type_, tensor.operation, tensor.line, reason


def _name_graphs(graphs: Sequence[Graph]) -> str:
    numbers = label([str(graph.number) for graph in graphs])
    first = graphs[0]
    runs = "" if first.runs == 1 else f", run {first.runs} times"
    if len(graphs) == 1:
        return f"graph {numbers}: {first.operations} operations{runs}"
    return f"graphs {numbers}: {first.operations} operations each{runs}; of the first,"


def _describe(graph: Graph, parameters: Mapping[str, int]) -> str:
    lines = [text for text in (graph.fallback, graph.rates) if text]
    lines += [_describe_peak(*each) for each in graph.partitions.items()]
    lines += [
        f"fad: {operation}{f' of {module}' if module else ''} runs in {count} chunks"
        for operation, module, count in dict.fromkeys(graph.fad.chunks)
    ]
    lines += [
        f"fad: {operation}{f' of {module}' if module else ''} runs at once, not in chunks: {reason}"
        for operation, module, reason in list(dict.fromkeys(graph.fad.at_once))[:_AT_ONCE]
    ]
    lines += [f"{name}: PyTorch's partitioner fails: {why}" for name, why in graph.errors.items()]
    lines += _list("fad saves", graph.fad.tensors)
    if graph.pytorch:
        others = [tensor for tensor in graph.pytorch.tensors if not tensor.is_common]
        lines += _list("torch.compile saves instead", others)
    rows = list_peak(graph.fad.memory, parameters)
    unit = choose_unit(count for count, *_ in rows)
    lines.append(
        f"alive at fad's peak, with {show_bytes(sum(parameters.values()))} of parameters, "
        f"in {unit.name}:"
    )
    lines += _indent(
        [[unit.show(count), kind, module, _cut(line)] for count, kind, module, line in rows]
    )
    return "\n".join(lines)


def _describe_peak(name: str, part: Partition) -> str:
    side = "backward" if part.peak_in_backward else "forward"
    of_module = f" of {part.peak_module}" if part.peak_module else ""
    return (
        f"{name}: {show_bytes(part.bytes)} saved, {show_bytes(part.peak)} at the modeled peak, "
        f"at {part.peak_operation}{of_module} in {side}"
    )


def _list(title: str, tensors: Sequence[SavedTensor]) -> list[str]:
    counted = [tensor for tensor in tensors if tensor.bytes]
    if not counted:
        return [f"{title}: nothing but inputs"]
    groups = group_rows(counted, lambda tensor: tensor.module, _get_row)
    sizes = [sum(tensor.bytes for tensor in group) for group in groups]
    unit = choose_unit(sizes)
    rows = []
    for group, size in zip(groups, sizes):
        _, type_, operation, line, reason = map(str, _get_row(group[0]))
        modules = label([tensor.module for tensor in group])
        rows.append([unit.show(size), type_, operation, modules, _cut(line), reason])
    return [f"{title}, in {unit.name}:", *_indent(rows)]


def _indent(rows: Sequence[Sequence[str]]) -> list[str]:
    """Returns the lines of `rows` in columns, the first aligned on the right."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return [
        "  " + "  ".join([row[0].rjust(widths[0]), *map(str.ljust, row[1:], widths[1:])]).rstrip()
        for row in rows
    ]


def _cut(line: str) -> str:
    return line if len(line) <= _LINE else line[: _LINE - 3] + "..."


# Pictures.


def draw(comparison: Comparison, path: pathlib.Path) -> None:
    """Writes the picture to `path`, in the form that its suffix says."""
    if path.suffix == ".dot":
        path.write_text(_make_dot(comparison))
        return
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"a picture in {path.name} needs matplotlib; install it with: pip install "
            "matplotlib, or draw a file .dot"
        ) from error
    sums = comparison.by_module
    axes = draw_bars(
        {
            column: {module: counts[column] for module, counts in sums.items()}
            for column in comparison.columns
        }
    )
    axes.set_title("Saved tensors by module")
    axes.figure.savefig(path)


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _make_dot(comparison: Comparison) -> str:
    """Forward on the left, backward on the right, and an edge for each saved tensor.

    An edge goes from the module that makes the tensor to the first one that reads it, and
    is as wide as its share of the bytes; it is gray where `torch.compile` saves the tensor, too.
    Tensors of equal layers are one edge."""
    lines = [
        "digraph saved {",
        "  rankdir=LR; node [shape=box]; edge [fontsize=10];",
    ]
    for graph in comparison.graphs:
        prefix = f"graph {graph.number}"
        edges = _list_edges(graph.fad)
        for number, side in enumerate(("forward", "backward")):
            modules = dict.fromkeys(edge[number] for edge in edges)
            lines.append(f"  subgraph {_quote(f'cluster {prefix} {side}')} {{")
            lines.append(f"    label={_quote(f'{prefix}, {side}')};")
            for module in modules:
                name = _quote(f"{prefix} {side} {module}")
                lines.append(f"    {name} [label={_quote(module)}];")
            lines.append("  }")
        for source, target, tensors in edges:
            count = sum(tensor.bytes for tensor in tensors)
            text = _quote(f"{_name_tensors(tensors)}\n{show_bytes(count)}").replace("\n", "\\n")
            width = 1 + 5 * count / graph.fad.bytes
            color = "gray" if all(tensor.is_common for tensor in tensors) else "forestgreen"
            before = _quote(f"{prefix} forward {source}")
            after = _quote(f"{prefix} backward {target}")
            lines.append(
                f"  {before} -> {after} [label={text}, penwidth={width:.1f}, color={color}];"
            )
    return "\n".join([*lines, "}"]) + "\n"


_Edge = tuple[str, str, list[SavedTensor]]


def _list_edges(part: Partition) -> list[_Edge]:
    """Returns the modules that make and read the tensors of each edge, and the tensors."""
    tensors = [tensor for tensor in part.tensors if tensor.bytes]

    def get_name(tensor: SavedTensor) -> str:
        return tensor.module

    def get_reader(tensor: SavedTensor) -> str:
        return next(filter(None, tensor.read_by_modules), tensor.module)

    groups = group_rows(
        tensors,
        get_name,
        lambda each: (mask(get_reader(each)), _name_tensors([each]), each.is_common),
    )
    if len(groups) > _EDGES:
        groups = group_rows(tensors, get_name, lambda each: mask(get_reader(each)))
    return [
        (
            label(list(dict.fromkeys(map(get_name, group)))),
            label(list(dict.fromkeys(map(get_reader, group)))),
            group,
        )
        for group in groups
    ]


def _name_tensors(tensors: list[SavedTensor]) -> str:
    """Returns the type of `tensors`, if they have one, and their number."""
    types = dict.fromkeys(f"{each.dtype}[{','.join(each.shape)}]" for each in tensors)
    if len(types) > 1:
        return f"{len(tensors)} tensors"
    return next(iter(types)) + (f" (x {len(tensors)})" if len(tensors) > 1 else "")
