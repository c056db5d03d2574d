"""The text of an explanation."""

from collections.abc import Hashable, Mapping
from typing import Sequence

from ..._figures import Unit, choose_unit, show_bytes
from ..._layers import group_rows, label, mask
from .._text import align
from ._comparison import Comparison, Graph, Partition, SavedTensor
from ._step_memory import list_peak

# Lines of the model are cut to so many characters.
_LINE = 48


def make_table(comparison: Comparison) -> str:
    """The sentences, then the bytes of each module, then the tensors of each graph. Equal
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
        parts.append(_name(graphs) + "\n" + _describe(graphs[0], comparison.parameters))
    return "\n\n".join(parts) + "\n"


def _add(
    names: Sequence[str], counts: Sequence[Mapping[str, int]], unit: Unit, failed: Sequence[str]
) -> list[str]:
    """A row with the sums of the columns of `counts`, of which `failed` have none."""
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
    """The bytes of a tensor, and all that a row has of it but its module."""
    type_ = f"{tensor.dtype}[{','.join(tensor.shape)}]"
    reason = tensor.reason + (", as torch.compile does" if tensor.is_common else "")
    return tensor.bytes, type_, tensor.operation, tensor.line, reason


def _name(graphs: Sequence[Graph]) -> str:
    numbers = label([str(graph.number) for graph in graphs])
    first = graphs[0]
    runs = "" if first.runs == 1 else f", run {first.runs} times"
    if len(graphs) == 1:
        return f"graph {numbers}: {first.operations} operations{runs}"
    return f"graphs {numbers}: {first.operations} operations each{runs}; of the first,"


def _describe(graph: Graph, parameters: Mapping[str, int]) -> str:
    lines = [graph.fallback] if graph.fallback else []
    lines += [_describe_peak(*each) for each in graph.partitions.items()]
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
    """Lines of `rows` in columns, the first aligned on the right."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return [
        "  " + "  ".join([row[0].rjust(widths[0]), *map(str.ljust, row[1:], widths[1:])]).rstrip()
        for row in rows
    ]


def _cut(line: str) -> str:
    return line if len(line) <= _LINE else line[: _LINE - 3] + "..."
