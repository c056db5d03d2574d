"""The text of an explanation."""

from collections.abc import Mapping
from typing import Sequence

from .._text import align
from ._comparison import Comparison, Graph, Partition, SavedTensor
from ._step_memory import list_peak

# Lines of the model are cut to so many characters.
_LINE = 48


def make_table(comparison: Comparison) -> str:
    """The table of all graphs, then what is saved of each."""
    columns = ("fad", "PyTorch", "eager")
    rows = [["bytes", *columns]]
    counts = comparison.fad_bytes, comparison.pytorch_bytes, comparison.eager_bytes
    rows.append(["saved", *map(_show, counts)])
    measured = comparison.measurements
    if measured:
        rows.append(["peak, measured", *(_show(measured[name].peak) for name in columns)])
        times = [f"{measured[name].seconds * 1e3:.2f}" for name in columns]
        rows.append(["milliseconds", *times])
    modules = [
        [module or "(model)", *(_show(counts[name]) for name in columns)]
        for module, counts in comparison.by_module.items()
    ]
    parts = [
        "What crosses from forward to backward, with the engine "
        f"{comparison.engine}; inputs and parameters do not count",
        align(rows, 1),
        align([["of module", *columns], *modules], 1),
    ]
    parts += [_describe(graph, comparison.parameters) for graph in comparison.graphs]
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
