"""What policies keep for backward."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import index
from typing import Any

from . import _fad
from ._module import Module, get_handle
from ._nest import check_entry, check_numbers
from ._policy import (
    check_assumed_size,
    check_automatic,
    check_policy,
    check_recompute,
)
from ._types import ValueType, make_type


@dataclass(frozen=True)
class KeptValue:
    """A value that crosses from forward to backward.

    `bytes` is what keeping it takes, 0 where it is alive anyway, and None where
    that depends on sizes that are not given; `size` is the same as text, such
    as "12288*d0". `needed_by` are the primal operations whose adjoints read it,
    and `reason` is why it is kept."""

    type: ValueType
    bytes: int | None
    size: str
    needed_by: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class PolicyReport:
    """What one policy keeps; `bytes` and `size` are of all `values`."""

    policy: str
    bytes: int | None
    size: str
    values: tuple[KeptValue, ...]


@dataclass(frozen=True)
class MemoryReport:
    """What several policies keep of the function `entry`.

    `report["fad"]` is the part on one policy, `str(report)` a table of all."""

    entry: str
    policies: Mapping[str, PolicyReport]
    table: str

    def __getitem__(self, policy: str) -> PolicyReport:
        return self.policies[policy]

    def __str__(self) -> str:
        return self.table


Sizes = int | Mapping[tuple[int, int], int]


def _make_value(
    type_: tuple[Any, ...],
    kept: tuple[Any, ...],
    needed_by: tuple[Any, ...],
    reason: str,
) -> KeptValue:
    size, text = kept
    return KeptValue(make_type(type_), size, text, needed_by, reason)


def _make_policy(
    name: str, total: tuple[Any, ...], values: list[tuple[Any, ...]]
) -> PolicyReport:
    size, text = total
    return PolicyReport(name, size, text, tuple(_make_value(*each) for each in values))


def _check_size(size: int) -> int:
    try:
        size = index(size)
    except TypeError:
        raise TypeError(f"a size is {size!r}, which is no integer") from None
    if size < 0:
        raise ValueError(f"a size is {size}, which is negative")
    if size >= 2**63:
        raise ValueError(f"a size is {size}, which is too large")
    return size


def _check_dimension(key: tuple[int, int]) -> tuple[int, int]:
    try:
        argument, dimension = map(index, key)
    except (TypeError, ValueError):
        raise TypeError(
            f"sizes are given by argument and dimension, such as (0, 0), not by {key!r}"
        ) from None
    if not (0 <= argument < 2**31 and 0 <= dimension < 2**31):
        raise ValueError(f"{key} is no dynamic dimension of an argument")
    return argument, dimension


def _check_dimensions(
    module: Module, entry: str, sizes: Mapping[tuple[int, int], int]
) -> None:
    """Raises ValueError for a size of what is no dynamic dimension."""
    arguments = module.signature(entry).arguments
    dynamic = {
        (argument, dimension)
        for argument, type_ in enumerate(arguments)
        for dimension, size in enumerate(type_.shape or ())
        if size is None
    }
    for key in sizes:
        if key not in dynamic:
            known = ", ".join(map(str, sorted(dynamic))) or "none"
            raise ValueError(
                f"{key} is no dynamic dimension of an argument of {entry}; these "
                f"are: {known}"
            )


def memory_report(
    module: Module,
    entry: str | None = None,
    wrt: Iterable[int] | None = None,
    policies: Iterable[str] = ("bp", "recompute", "fad"),
    sizes: Sizes | None = None,
    results: Iterable[int] | None = None,
    recompute: str | None = None,
    assumed_size: int | None = None,
) -> MemoryReport:
    """What crosses from forward to backward of a function, for each policy.

    `entry`, `wrt` and `results` are as for `fad.nest`. `sizes` stands in for
    the dynamic dimensions of arguments: a number for all of them, or numbers
    by argument and dimension, such as {(0, 0): 128}; without it, bytes are
    None and sizes text. `recompute` and `assumed_size` are for the policy "auto",
    as for `fad.nest`; it assumes the size for all dimensions where that is given.
    Raises fad.Error as `fad.nest` does, and ValueError for a policy that there is
    not, and for an option of a policy that is not reported."""
    by_dimension, others = {}, None
    if isinstance(sizes, Mapping):
        by_dimension = {
            _check_dimension(key): _check_size(size) for key, size in sizes.items()
        }
    elif sizes is not None:
        others = _check_size(sizes)
    if isinstance(policies, str):
        raise TypeError(f"policies is {policies!r}; list it: [{policies!r}]")
    policies = [check_policy(policy) for policy in policies]
    check_automatic(policies, recompute, assumed_size)
    name, reported, table = _fad.memory_report(
        get_handle(module),
        check_entry(entry),
        check_numbers(wrt, "wrt"),
        check_numbers(results, "results"),
        policies,
        by_dimension,
        others,
        check_recompute(recompute),
        check_assumed_size(assumed_size),
    )
    _check_dimensions(module, name, by_dimension)
    made = [_make_policy(*each) for each in reported]
    return MemoryReport(name, {each.policy: each for each in made}, table)
