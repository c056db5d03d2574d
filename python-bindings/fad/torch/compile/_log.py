"""Records of fad's plans in PyTorch's logs and in its structured trace, warnings at the line of the
user, and those of budgets: one for all graphs of a model.

The logger is `fad.torch.compile`, which `TORCH_LOGS="fad.torch.compile"` shows, and with a plus
before the name also each tensor. `TORCH_TRACE` writes the plan of each graph as an artifact
`fad_plan`, which tlparse lists with PyTorch's own.

A model is compiled graph by graph while its first forward pass runs. The warning of a budget
comes at the first backward pass, when all graphs are known, or where the forward pass fails."""

import atexit
import contextlib
import functools
import json
import logging
import os
import sys
import warnings
from collections import Counter
from contextvars import ContextVar
from typing import Any, Iterator

import torch
from torch import fx

from ._graph import find_kind, is_part
from ._pytorch import trace_structured
from ._rates import Rates
from ._step_memory import describe_partition, name_operation

_log = logging.getLogger("fad.torch.compile")

# Whether there was a warning of a graph, in the metadata of both parts.
WARNED = "fad.warned"

# Why a tensor crosses where fad has no reason.
_NO_REASON = "PyTorch's choice"

# The facts of a tensor that a plan has; the others are for explanations.
_TENSOR = ("name", "operation", "module", "line", "dtype", "shape", "bytes", "reason", "is_input")


def record(
    parts: tuple[fx.GraphModule, fx.GraphModule],
    options: dict[str, Any],
    plan: dict[str, Any],
    fallback: str,
) -> None:
    """Records how a graph was split into `parts` by the `plan`, with `options`; or why it was
    left to PyTorch's partitioner. Does nothing unless PyTorch writes a log or a trace.

    A compilation goes on without a record that fails."""
    try:
        _record(parts, options, plan, fallback)
    except Exception as error:
        _log.warning("no record of this graph: %s: %s", type(error).__name__, error)


def log_chunks(node: fx.Node, reason: str) -> None:
    """Logs the `reason` why the region of `node` has no chunks."""
    _log.debug("%s is computed at once: %s", name_operation(node), reason)


def _record(
    parts: tuple[fx.GraphModule, fx.GraphModule],
    options: dict[str, Any],
    plan: dict[str, Any],
    fallback: str,
) -> None:
    describe = functools.cache(lambda: _describe(parts, options, plan, fallback))
    trace_structured(
        "artifact",
        metadata_fn=lambda: {"name": "fad_plan", "encoding": "json"},
        payload_fn=lambda: json.dumps(describe(), indent=2, default=str),
    )
    if _log.isEnabledFor(logging.INFO):
        _write(describe())


def _describe(
    parts: tuple[fx.GraphModule, fx.GraphModule],
    options: dict[str, Any],
    plan: dict[str, Any],
    fallback: str,
) -> dict[str, Any]:
    partition = describe_partition(parts, None)
    kinds: dict[str, Counter[str]] = {}
    for tensor in partition.tensors:
        if tensor.bytes:
            reason = tensor.reason or _NO_REASON
            kinds.setdefault(reason, Counter()).update(tensors=1, bytes=tensor.bytes)
    nodes = [[node for node in part.graph.nodes if node.op == "call_function"] for part in parts]
    described = {
        "options": options,
        "fallback": fallback,
        "operations": {"forward": len(nodes[0]), "backward": len(nodes[1])},
        "saved_bytes": partition.bytes,
        "kinds": kinds,
        "peak": {
            "bytes": partition.peak,
            "operation": partition.peak_operation,
            "module": partition.peak_module,
            "in_backward": partition.peak_in_backward,
        },
        "saved": [{name: getattr(each, name) for name in _TENSOR} for each in partition.tensors],
        "chunks": list(dict.fromkeys(partition.chunks)),
    }
    return described if fallback else described | _describe_choice(nodes[0], plan)


def _describe_choice(forward: list[fx.Node], plan: dict[str, Any]) -> dict[str, Any]:
    """Returns the facts of a choice of fad's: PyTorch's partitioner has neither estimates nor
    kinds."""
    facts = ("candidates", "edges", "peak", "fastest_peak", "scheduled_peak")
    facts += ("time", "calls", "fastest_time", "proposed_time")
    kept = (node for node in forward if not is_part(node) and find_kind(node) == "keep")
    return {
        "estimate": {name: plan[name] for name in facts if name in plan},
        "new_operations": Counter(entry["op"] for entry in plan.get("new", ())),
        "not_repeated": Counter(map(name_operation, kept)),
    }


def _write(plan: dict[str, Any]) -> None:
    """Writes `plan` as lines of the log."""
    operations = plan["operations"]
    _log.info(
        "%d operations in forward, %d in backward; %s",
        operations["forward"],
        operations["backward"],
        ", ".join(f"{name} {value}" for name, value in plan["options"].items()),
    )
    if plan["fallback"]:
        _log.info("left to PyTorch's partitioner: %s", plan["fallback"])
    _log.info("%d bytes cross to backward", plan["saved_bytes"])
    for reason, counts in plan["kinds"].items():
        plural = "" if counts["tensors"] == 1 else "s"
        _log.info(
            "%s: %d tensor%s, %d bytes",
            reason,
            counts["tensors"],
            plural,
            counts["bytes"],
        )
    for operation, module, count in plan["chunks"]:
        place = f" of {module}" if module else ""
        _log.info("%s%s is computed in %d chunks", operation, place, count)
    peak = plan["peak"]
    _log.info(
        "%d bytes at the modeled peak, %s in %s",
        peak["bytes"],
        f"at {peak['operation']}" if peak["operation"] else "before any operation",
        "backward" if peak["in_backward"] else "forward",
    )
    for name, value in plan.get("estimate", {}).items():
        _log.debug("%s: %d", name, value)
    for tensor in plan["saved"]:
        if tensor["bytes"]:
            _log.debug(
                "saves %d bytes, %s[%s] of %s in %s: %s",
                tensor["bytes"],
                tensor["dtype"],
                ",".join(tensor["shape"]),
                tensor["operation"],
                tensor["module"] or "no module",
                tensor["line"] or tensor["reason"] or _NO_REASON,
            )
    for name, count in plan.get("new_operations", {}).items():
        _log.debug("adds %d of %s", count, name)
    for name, count in plan.get("not_repeated", {}).items():
        _log.debug("never repeats %d of %s", count, name)


def log_trial(estimate: int, peak: int, seconds: float | None) -> None:
    """Writes the `peak` of Inductor's schedule for a selection of which the model has the
    `estimate`, and the `seconds` of its step, where they are known."""
    time = "" if seconds is None else f", {seconds:.6f} s"
    _log.info("%d bytes at the scheduled peak, for an estimate of %d%s", peak, estimate, time)


def log_refused(losses: int, layers: int, error: Exception) -> None:
    """Writes that `error` leaves no trial with so many chunks of losses and of layers."""
    reason = f"{type(error).__name__}: {error}"
    _log.info("no schedule with %d chunks of losses, %d of layers: %s", losses, layers, reason)


def log_unscheduled(error: Exception) -> None:
    """Writes that `error` leaves a budget to the estimate."""
    _log.info("no schedule, so the estimate decides: %s: %s", type(error).__name__, error)


def log_judgement(time: float, proposed: float) -> None:
    """Writes the times of the schedules of a selection, and of PyTorch's, or the most that it may
    take, in seconds."""
    _log.info("%.6f s by its schedule, and %.6f of PyTorch's choice", time, proposed)


def log_rates(rates: Rates) -> None:
    """Writes the rates by which the times of a graph are estimated."""
    _log.info("%s", rates.describe())


# Warnings

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
Planned = dict[tuple[str, float], list[tuple[float, _Place | None]]]
_all: Planned = {}
_planned: ContextVar[Planned] = ContextVar("fad_planned_budgets", default=_all)


def note_budget(kind: str, limit: float, need: float, exceeds: bool) -> None:
    """Keeps for the warning that a graph needs `need` where `limit` is its budget."""
    place = _find_place() if exceeds else None
    _planned.get().setdefault((kind, limit), []).append((need, place))


def has_budgets() -> bool:
    """Tells whether graphs with budgets were planned since the last call of `warn_of_budgets`."""
    return bool(_all)


def warn_of_budgets() -> None:
    """Warns of the graphs that exceed their budgets, once for each budget."""
    for message, place in _find_exceeded(_all):
        warn(message, place)


def _find_exceeded(planned: Planned) -> Iterator[tuple[str, _Place | None]]:
    """Yields, of each budget of `planned` that graphs exceed, the text of a warning and its place, and
    leaves none."""
    while planned:
        (kind, limit), needs = planned.popitem()
        over = [(need, place) for need, place in needs if place]
        if over:
            graphs = f"{len(over)} of {len(needs)} graphs" if len(needs) > 1 else "the graph"
            most = max(need for need, _ in over)
            yield _TEXTS[kind].format(graphs=graphs, limit=limit, most=most), over[0][1]


def describe_budgets(planned: Planned) -> list[str]:
    """Returns the texts of the warnings of graphs that were `planned` apart."""
    return [message for message, _ in _find_exceeded(planned)]


@contextlib.contextmanager
def without_budgets() -> Iterator[Planned]:
    """No graph that is planned meanwhile counts for the warning. They are in the result."""
    token = _planned.set({})
    try:
        yield _planned.get()
    finally:
        _planned.reset(token)


# A model whose backward pass never runs.
atexit.register(warn_of_budgets)
