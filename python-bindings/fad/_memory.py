"""The objects of a memory report."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, get_args

from ._choices import Policy, check_choice, suggest
from ._dict import AsDict
from ._types import ValueType, make_type


@dataclass(frozen=True)
class OtherValue(AsDict):
    """A value that would have to be kept in the place of one that is.

    `type` is its type as MLIR writes it; the rest is as in `KeptValue`."""

    type: str
    bytes: int | None
    size: str
    operation: str
    location: str


@dataclass(frozen=True)
class KeptValue(AsDict):
    """A value that crosses from forward to backward.

    `bytes` is what keeping it takes, 0 where it is alive anyway, and None where
    that depends on sizes that are not given; `size` is the same as text, such
    as "12288*d0". `needed_by` are the primal operations whose adjoints read it,
    and `reason` is the rule that keeps it.

    `kind` is "value", "derivative", "size", or, for what is alive anyway,
    "argument" or "result". `operation` computes it, at `location` in the source
    (empty where nothing says so). `because` says why it is kept rather than
    computed again, where that was weighed: `refused` is whether its operation
    may not be executed again, `allowed_by` the lowest level of `recompute` that
    would allow it, and `instead_of` what would have to be kept otherwise. `bits`
    are those of an element where they are fewer than the type's, else None.
    Where a derivative that backward gets from the value is not exact,
    `largest_error` and `mean_square_error` say how far off it is, else None.
    `activation` is whether the adjoint of an activation function reads it, and
    `layer` the number of contractions up to where it is computed."""

    type: ValueType
    bytes: int | None
    size: str
    needed_by: tuple[str, ...]
    reason: str
    kind: str
    operation: str
    location: str
    because: str
    refused: bool
    allowed_by: str | None
    instead_of: tuple[OtherValue, ...]
    bits: int | None
    largest_error: float | None
    mean_square_error: float | None
    activation: bool
    layer: int


@dataclass(frozen=True)
class RecomputedOperation(AsDict):
    """An operation of backward that computes something without a cotangent.

    `bytes` and `size` are those of its results that depend on no cotangent, of
    which the last one has the type `type`. `time` is an estimate for that part:
    the bytes that memory and processor can exchange in that time."""

    operation: str
    location: str
    type: str
    bytes: int | None
    size: str
    time: int


@dataclass(frozen=True)
class Footprint(AsDict):
    """Bytes that a training step has in memory when it has most.

    `activations` are the kept values that adjoints of activation functions read
    and `others` the other ones, `weights` the arguments that get a gradient and
    do not depend on the batch, `optimizer` what is kept for each of them, and
    `inputs` the other arguments. `workspace` is the rest: gradients, cotangents,
    and what is there for a moment."""

    activations: int
    others: int
    weights: int
    optimizer: int
    inputs: int
    workspace: int
    total: int

    def share(self, part: str) -> float:
        """Returns the share that a part such as "activations" has in the total. Raises ValueError
        for a part that there is not."""
        check_choice("there is no part", part, (each.name for each in fields(self)))
        return getattr(self, part) / self.total if self.total else 0.0


@dataclass(frozen=True)
class PolicyReport(AsDict):
    """The values that one policy keeps; `bytes` and `size` are of all `values`.

    `recomputed` are the operations of backward that compute something without a
    cotangent and `recompute_time` the sum of their times. `peak` is the most bytes that
    forward and backward make and have at once; it and `footprint` are None where
    sizes are not known. With a memory budget, `largest_batch` is the largest that fits
    (0: none does; None: any does), and `batch_bytes` what it takes, or what a
    batch of 1 takes where none fits."""

    policy: str
    bytes: int | None
    size: str
    values: tuple[KeptValue, ...]
    recomputed: tuple[RecomputedOperation, ...]
    recompute_time: int
    peak: int | None
    footprint: Footprint | None
    largest_batch: int | None
    batch_bytes: int | None

    @property
    def residuals(self) -> tuple[KeptValue, ...]:
        """The same as `values`."""
        return self.values


@dataclass(frozen=True)
class MemoryReport(AsDict):
    """The values that several policies keep of the function `entry`.

    `report["fad"]` is the part on one policy, `str(report)`, which is `report.table()`, a
    table of all, and `report.json` the text that `fad-memory-report --format=json` prints.
    A loop over the report goes over the names of its policies. `symbols` says what names
    such as "d0" in sizes stand for. `report.to_dict()` has the attributes of all parts as
    plain values."""

    _left_out = "_table", "json"

    entry: str
    symbols: Mapping[str, str]
    policies: Mapping[str, PolicyReport]
    _table: str
    json: str

    def __getitem__(self, policy: str) -> PolicyReport:
        if policy not in self.policies:
            reported = ", ".join(map(repr, self.policies)) or "no policy"
            hint = suggest(policy, self.policies)
            if policy in get_args(Policy):
                hint = "; list it in policies of fad.memory_report"
            raise KeyError(
                f"the report on {self.entry} has no policy {policy!r}, only {reported}{hint}"
            )
        return self.policies[policy]

    def __iter__(self) -> Iterator[str]:
        return iter(self.policies)

    def table(self) -> str:
        """Returns all of it as text."""
        return self._table

    def __str__(self) -> str:
        return self.table()


@dataclass(frozen=True)
class CurvePoint(AsDict):
    """A choice that the policy "auto" makes for some budget: the bytes that are
    kept, and the estimated time to keep them and to compute the rest again. The
    time is given as the bytes that memory and processor can exchange in it."""

    bytes: int
    time: int


@dataclass(frozen=True)
class TimeMemoryCurve(AsDict):
    """The values that the policy "auto" can keep of the function `entry`.

    `points` go from the choice of least time to that of fewest bytes. Sizes that
    are known only when the program runs count as `assumed_size`, which is None
    where there are none."""

    entry: str
    points: tuple[CurvePoint, ...]
    assumed_size: int | None


def _read_bytes(size: int | str) -> tuple[int | None, str]:
    return (None if isinstance(size, str) else size), str(size)


def _make_other(value: Mapping[str, Any]) -> OtherValue:
    size, text = _read_bytes(value["bytes"])
    return OtherValue(value["type"], size, text, value["from"], value["location"])


def _make_value(value: Mapping[str, Any], type_: tuple[Any, ...]) -> KeptValue:
    size, text = _read_bytes(value["bytes"])
    return KeptValue(
        type=make_type(type_),
        bytes=size,
        size=text,
        needed_by=tuple(filter(None, value["for"].split(", "))),
        reason=value["reason"],
        kind=value["kind"],
        operation=value["from"],
        location=value["location"],
        because=value["because"],
        refused=value["refused"],
        allowed_by=value.get("allowed_by"),
        instead_of=tuple(map(_make_other, value["instead_of"])),
        bits=value.get("bits"),
        largest_error=value.get("largest_error"),
        mean_square_error=value.get("mean_square_error"),
        activation=value["activation"],
        layer=value["layer"],
    )


def _make_recomputed(value: Mapping[str, Any]) -> RecomputedOperation:
    size, text = _read_bytes(value["bytes"])
    return RecomputedOperation(
        value["from"], value["location"], value["type"], size, text, value["time"]
    )


def _make_policy(
    name: str, report: Mapping[str, Any], types: Sequence[tuple[Any, ...]]
) -> PolicyReport:
    size, text = _read_bytes(report["total_bytes"])
    footprint = report.get("footprint")
    batch = report.get("batch", {})
    return PolicyReport(
        policy=name,
        bytes=size,
        size=text,
        values=tuple(map(_make_value, report["residuals"], types)),
        recomputed=tuple(map(_make_recomputed, report["recomputed"])),
        recompute_time=report["recompute_time"],
        peak=report.get("peak_bytes"),
        footprint=footprint and Footprint(**footprint),
        largest_batch=batch.get("largest"),
        batch_bytes=batch.get("bytes"),
    )


def make_report(text: str, table: str, types: Sequence[Sequence[tuple[Any, ...]]]) -> MemoryReport:
    """Returns the report that is written in JSON as `text`; `types` describes the types of kept
    values, policy by policy."""
    report = json.loads(text)
    policies = {
        name: _make_policy(name, policy, of_policy)
        for (name, policy), of_policy in zip(report["policies"].items(), types)
    }
    symbols = {symbol["name"]: symbol["what"] for symbol in report["symbols"]}
    return MemoryReport(report["entry"], symbols, policies, table, text)
