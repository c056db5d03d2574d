"""Pictures of an explanation."""

import pathlib

from ..._bars import draw_bars
from ..._figures import show_bytes
from ..._layers import group_rows, label, mask
from ._comparison import Comparison, Partition, SavedTensor

# A graph of Graphviz has at most so many edges between forward and backward of each layer.
_EDGES = 24


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
            text = _quote(f"{_name(tensors)}\n{show_bytes(count)}").replace("\n", "\\n")
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
    """The modules that make and read the tensors of each edge, and the tensors."""
    tensors = [tensor for tensor in part.tensors if tensor.bytes]

    def get_name(tensor: SavedTensor) -> str:
        return tensor.module

    def get_reader(tensor: SavedTensor) -> str:
        return next(filter(None, tensor.read_by_modules), tensor.module)

    groups = group_rows(
        tensors, get_name, lambda each: (mask(get_reader(each)), _name([each]), each.is_common)
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


def _name(tensors: list[SavedTensor]) -> str:
    """The type of `tensors`, if they have one, and their number."""
    types = dict.fromkeys(f"{each.dtype}[{','.join(each.shape)}]" for each in tensors)
    if len(types) > 1:
        return f"{len(tensors)} tensors"
    return next(iter(types)) + (f" (x {len(tensors)})" if len(tensors) > 1 else "")
