"""The object that `explain` returns."""

import pathlib
from dataclasses import asdict, dataclass
from typing import Any

from ..._dict import AsJson
from ._comparison import FAD, TORCH_COMPILE, Comparison
from ._pictures import draw
from ._step_memory import draw_memory
from ._table import make_table


@dataclass(frozen=True)
class Explanation(Comparison, AsJson):
    """Tensors that cross from forward to backward of a model, with their text and pictures.

    `str(explanation)` is `explanation.table()`."""

    def table(self) -> str:
        """All of it as text."""
        return make_table(self)

    def __str__(self) -> str:
        return self.table()

    def to_dict(self) -> dict[str, Any]:
        """All of it as a dictionary."""
        data: dict[str, Any] = asdict(self)
        for graph in data["graphs"]:
            for part in graph["partitions"].values():
                for tensor in part["tensors"]:
                    del tensor["storage"]
        data["bytes"] = self.bytes
        data["by_module"] = self.by_module
        return data

    def draw(self, path: str | pathlib.Path) -> None:
        """Draws the bytes of each module to the file `path`.

        A file `.dot` is in the language of Graphviz: what fad saves goes from the modules
        of forward to those of backward. Any other is a picture of bars by matplotlib, in
        the format that its name ends with."""
        draw(self, pathlib.Path(path))

    def draw_memory(self, path: str | pathlib.Path, graph: int = 0) -> None:
        """Draws the bytes that are alive at each operation of `graphs[graph]` to the file
        `path`, by matplotlib: by module for fad, and the sum for `torch.compile`."""
        chosen = self.graphs[graph]
        memories = {FAD: chosen.fad.memory}
        if chosen.pytorch:
            memories[TORCH_COMPILE] = chosen.pytorch.memory
        draw_memory(memories, pathlib.Path(path))
