"""Tables as text."""

from collections.abc import Sequence


def align(rows: Sequence[Sequence[str]], left: int) -> str:
    """`rows` in columns, of which the first `left` are aligned on the left and the others
    on the right."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if number < left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
