"""Warnings at the line of the user, and those of budgets: one for all graphs of a model.

A model is compiled graph by graph while its first forward pass runs. The warning of a budget
comes at the first backward pass, when all graphs are known, or where the forward pass fails."""

import atexit
import contextlib
import os
import sys
import warnings
from contextvars import ContextVar
from typing import Iterator

import torch

# Python's own files, those beside PyTorch, which are other packages', and fad's.
_LIBRARIES = tuple(
    os.path.join(os.path.dirname(each), "")
    for each in (
        os.__file__,
        os.path.dirname(torch.__file__),
        os.path.dirname(os.path.dirname(__file__)),
    )
)
# Code that PyTorch makes.
_GENERATED = "<eval_with_key>"

_Place = tuple[str, int]


def _find_place() -> _Place:
    """File and line of the innermost frame that is the user's own."""
    frame = sys._getframe()
    while frame.f_back and frame.f_code.co_filename.startswith((*_LIBRARIES, _GENERATED)):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def warn(message: str, place: _Place | None = None) -> None:
    """Warns at `place`, by default the line of the user that runs."""
    warnings.warn_explicit(message, RuntimeWarning, *(place or _find_place()))


# The text for each kind of budget. `graphs` are those over it, and `most` is the most that one
# of them needs.
_TEXTS = {
    "peak": (
        "no selection that fad tries keeps {graphs} within a peak of {limit:,} bytes; give a "
        "budget of {most:,} or more, or make batches smaller"
    ),
    "fraction": (
        "no selection that fad tries keeps {graphs} within {limit} of the peak of the fastest; "
        "give a budget of {most} or more"
    ),
    "saved": (
        "no selection that fad tries saves no more than {limit:,} bytes of {graphs}; give a "
        "residual_budget of {most:,} or more, or let backward repeat more by recompute"
    ),
    "peak in a checkpoint": (
        "in a checkpoint, the peak of {graphs} is {most:,} bytes where the budget is {limit:,}: "
        "what is saved is what a smaller batch has saved; compile with dynamic=True, and call the "
        "model with the largest batch first"
    ),
    "saved in a checkpoint": (
        "in a checkpoint, {most:,} bytes of {graphs} are saved where the budget is {limit:,}: "
        "what is saved is what a smaller batch has saved; compile with dynamic=True, and call the "
        "model with the largest batch first"
    ),
    "of PyTorch": (
        "activation_memory_budget and region_activation_memory_budget are for PyTorch's "
        "partitioner, and fad does not read them; the option fad.budget bounds the peak"
    ),
}

# For each kind and limit, what each graph needs, and the place of those that exceed it.
_planned: dict[tuple[str, float], list[tuple[float, _Place | None]]] = {}
_is_quiet = ContextVar("fad_budgets_are_quiet", default=False)


def note_budget(kind: str, limit: float, need: float, exceeds: bool) -> None:
    """Keeps for the warning that a graph needs `need` where `limit` is its budget."""
    if not _is_quiet.get():
        place = _find_place() if exceeds else None
        _planned.setdefault((kind, limit), []).append((need, place))


def has_budgets() -> bool:
    """Whether graphs with budgets were planned since the last call of `warn_of_budgets`."""
    return bool(_planned)


def warn_of_budgets() -> None:
    """Warns of the graphs that exceed their budgets, once for each budget."""
    while _planned:
        (kind, limit), needs = _planned.popitem()
        over = [(need, place) for need, place in needs if place]
        if over:
            graphs = f"{len(over)} of {len(needs)} graphs" if len(needs) > 1 else "the graph"
            most = max(need for need, _ in over)
            warn(_TEXTS[kind].format(graphs=graphs, limit=limit, most=most), over[0][1])


@contextlib.contextmanager
def without_budgets() -> Iterator[None]:
    """No graph that is planned meanwhile counts for the warning."""
    token = _is_quiet.set(True)
    try:
        yield
    finally:
        _is_quiet.reset(token)


# A model whose backward pass never runs.
atexit.register(warn_of_budgets)
