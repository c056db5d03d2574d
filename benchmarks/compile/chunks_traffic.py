"""A loss in chunks on a GPU that is not there: the bytes that kernels move, and the peak of
Inductor's schedule."""

import warnings
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch._inductor.compile_fx import compile_fx_inner

import traffic_measure
from traffic_measure import fake_cuda
from fad.torch.compile._backend import make_inner
from fad.torch.compile._peak import find_scheduled_peak, list_scheduled
from fad.torch.compile._schedule import schedule_parts


class Head(nn.Module):
    """A layer and the head of a language model with its loss, under autocast to bfloat16."""

    def __init__(self, width: int, words: int) -> None:
        super().__init__()
        self.first = nn.Linear(width, width, bias=False)
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, hidden: Tensor, target: Tensor) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            logits = self.head(self.first(hidden))
        return F.cross_entropy(logits.float(), target)


def measure(sizes: dict[str, int], method: str) -> dict[str, Any]:
    """Returns the bytes that are moved, and those at the peak, of a loss that is computed by
    `method`."""
    is_stock = method == "inductor"
    base = fake_cuda.MovedStock if is_stock else fake_cuda.Moved

    class Measured(base):
        """Keeps the bytes at the peak."""

        def __call__(self, *inputs: Any, **arguments: Any) -> Any:
            with fake_cuda.pretend():
                parts = super().__call__(*inputs, **arguments)
                schedules = schedule_parts(parts, 1, None if is_stock else ())
            self.peak = find_scheduled_peak(list_scheduled(*parts, schedules))[0]
            return parts

    chunks = method.removeprefix("fad").removeprefix("-") or "auto"
    options = {} if is_stock else {"chunks": int(chunks) if chunks.isdigit() else chunks}
    partitioner = Measured(**options)
    inner = compile_fx_inner if is_stock else make_inner(partitioner, {})
    torch.manual_seed(0)
    head = Head(sizes["width"], sizes["words"])
    hidden = torch.randn(sizes["rows"], sizes["width"])
    target = torch.randint(sizes["words"], (sizes["rows"],))
    with (
        warnings.catch_warnings(),
        # The text of each kernel says how many bytes it moves.
        torch._inductor.config.patch(benchmark_kernel=True),
    ):
        warnings.simplefilter("ignore")
        parts = fake_cuda.write(head, (hidden, target), partitioner, inner)
    counted = traffic_measure.count(parts)[0]
    logits = 2 * sizes["rows"] * sizes["words"]
    moved = counted["forward"] + counted["backward"]
    return {"peak": partitioner.peak, "part": partitioner.peak / logits, "moved": moved,
            "kernels": counted["kernels"], "calls": counted["calls"]}  # fmt: skip
