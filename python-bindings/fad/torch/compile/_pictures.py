"""Pictures of an explanation."""

import pathlib

from ._comparison import Comparison

_COLUMNS = ("fad", "PyTorch", "eager")


def draw(comparison: Comparison, path: pathlib.Path) -> None:
    """Writes the picture to `path`, in the form that its suffix says."""
    if path.suffix == ".dot":
        path.write_text(_make_dot(comparison))
        return
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            f"a picture in {path.name} needs matplotlib; install it with: pip install "
            "matplotlib, or draw a file .dot"
        ) from error
    modules = comparison.by_module
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


def _make_dot(comparison: Comparison) -> str:
    """Forward on the left, backward on the right, and an edge for each saved tensor.

    An edge goes from the module that makes the tensor to the first one that reads it, and
    is as wide as its share of the bytes; it is gray where PyTorch saves the tensor, too."""
    lines = [
        "digraph saved {",
        "  rankdir=LR; node [shape=box]; edge [fontsize=10];",
    ]
    for graph in comparison.graphs:
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
