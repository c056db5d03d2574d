"""Reports of the values that policies keep for backward."""

from collections.abc import Iterable, Mapping
from operator import index
from typing import get_args

from . import _fad
from ._choices import Optimizer, Policy, Recompute, Target, check_choice
from ._memory import CurvePoint, MemoryReport, TimeMemoryCurve, make_report
from ._module import Module, get_handle
from ._nest import check_entry, check_numbers
from ._policy import check_integer, check_options

Sizes = int | Mapping[tuple[int, int], int]


def _check_size(size: int) -> int:
    size = check_integer("a size", size)
    if size < 0:
        raise ValueError(f"a size is {size}, which is negative")
    if size >= 2**63:
        raise ValueError(f"a size is {size}, which is too large")
    return size


def _check_optimizer(optimizer: str) -> str:
    if not isinstance(optimizer, str):
        raise TypeError(f"optimizer is a {type(optimizer).__name__}; give its name")
    return check_choice("there is no optimizer", optimizer, get_args(Optimizer))


def _check_batch(batch: int) -> int:
    batch = check_integer("batch", batch)
    if not 1 <= batch < 2**63:
        raise ValueError(f"batch is {batch}; give a number of samples of at least 1")
    return batch


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


def _check_dimensions(module: Module, entry: str, sizes: Mapping[tuple[int, int], int]) -> None:
    """Raises ValueError for a size of a dimension that is not dynamic."""
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
                f"{key} is no dynamic dimension of an argument of {entry}; these are: {known}"
            )


def memory_report(
    module: Module,
    entry: str | None = None,
    wrt: Iterable[int] | None = None,
    policies: Iterable[Policy] = ("bp", "recompute", "fad", "auto"),
    sizes: Sizes | None = None,
    results: Iterable[int] | None = None,
    recompute: Recompute | None = None,
    assumed_size: int | None = None,
    derivative_bits: int | None = None,
    derivative_from_output: bool = False,
    residual_budget: int | str | None = None,
    memory_budget: int | str | None = None,
    optimizer: Optimizer = "none",
    batch: int = 1,
    target: Target | None = None,
) -> MemoryReport:
    """Returns the values that cross from forward to backward of a function, for each policy.

    `entry`, `wrt` and `results` are as for `fad.nest`. `sizes` stands in for
    the dynamic dimensions of arguments: a number for all of them, or numbers
    by argument and dimension, such as {(0, 0): 128}; without it, bytes are
    None and sizes text. `recompute` and the options after it are for the policy
    "auto", as for `fad.nest`; it assumes the size for all dimensions where
    `assumed_size` is given, and all policies have `target`.

    With `memory_budget`, the memory of a training step in bytes or as text such as
    "11GB" or "8GiB", each part says what the largest batch is. `optimizer` is
    "none", "sgd", "momentum" or "adam"; its state counts for the arguments that
    get a gradient and do not depend on the batch, which are the weights. The
    batch is the first dimension of arguments where that is dynamic, but for those
    that `sizes` mentions. For a function of fixed sizes, `batch` is the number of
    samples that it takes.

    Raises fad.Error as `fad.nest` does, and ValueError for a policy that there is
    not, and for an option of a policy that is not reported."""
    by_dimension, others = {}, None
    if isinstance(sizes, Mapping):
        by_dimension = {_check_dimension(key): _check_size(size) for key, size in sizes.items()}
    elif sizes is not None:
        others = _check_size(sizes)
    if isinstance(policies, str):
        raise TypeError(f"policies is {policies!r}; list it: [{policies!r}]")
    names = list(policies)
    options = check_options(
        names,
        recompute=recompute,
        assumed_size=assumed_size,
        derivative_bits=derivative_bits,
        derivative_from_output=derivative_from_output,
        residual_budget=residual_budget,
        target=target,
    )
    name, types, table, text = _fad.memory_report(
        get_handle(module),
        check_entry(entry),
        check_numbers(wrt, "wrt"),
        check_numbers(results, "results"),
        names,
        by_dimension,
        others,
        options,
        memory_budget=None if memory_budget is None else str(memory_budget),
        optimizer=_check_optimizer(optimizer),
        batch=_check_batch(batch),
    )
    _check_dimensions(module, name, by_dimension)
    return make_report(text, table, types)


def draw_residuals(
    module: Module,
    entry: str | None = None,
    wrt: Iterable[int] | None = None,
    policy: Policy = "auto",
    size: int | None = None,
    results: Iterable[int] | None = None,
    recompute: Recompute | None = None,
    assumed_size: int | None = None,
    derivative_bits: int | None = None,
    derivative_from_output: bool = False,
    residual_budget: int | str | None = None,
    target: Target | None = None,
    group: bool | None = None,
) -> str:
    """Returns a picture of a function with the residuals of a policy, in the language of Graphviz.

    Forward is on one side and backward on the other, and between them is what is
    kept; elementwise regions and what is computed again have colors of their own.
    `group=True` has one node for all equal residuals, `group=False` one for each
    operation; without it, a function of more than 300 operations is grouped.
    `size` stands in for all dynamic dimensions of arguments; the rest is as for
    `fad.nest`."""
    options = check_options(
        [policy],
        recompute=recompute,
        assumed_size=assumed_size,
        derivative_bits=derivative_bits,
        derivative_from_output=derivative_from_output,
        residual_budget=residual_budget,
        target=target,
    )
    return _fad.draw_residuals(
        get_handle(module),
        check_entry(entry),
        check_numbers(wrt, "wrt"),
        check_numbers(results, "results"),
        policy,
        None if size is None else _check_size(size),
        options,
        None if group is None else bool(group),
    )


def time_memory_curve(
    module: Module,
    entry: str | None = None,
    wrt: Iterable[int] | None = None,
    assumed_size: int | None = None,
    results: Iterable[int] | None = None,
    recompute: Recompute | None = None,
    derivative_bits: int | None = None,
    derivative_from_output: bool = False,
    target: Target | None = None,
) -> TimeMemoryCurve:
    """Returns the values that the policy "auto" keeps of a function for every budget, and how long
    it takes; `residual_budget` of `fad.nest` chooses from this curve.

    `assumed_size` stands in for all dynamic dimensions; the other arguments are
    as for `fad.nest`."""
    name, points, size = _fad.time_memory_curve(
        get_handle(module),
        check_entry(entry),
        check_numbers(wrt, "wrt"),
        check_numbers(results, "results"),
        check_options(
            ["auto"],
            recompute=recompute,
            assumed_size=assumed_size,
            derivative_bits=derivative_bits,
            derivative_from_output=derivative_from_output,
            target=target,
        ),
    )
    return TimeMemoryCurve(name, tuple(CurvePoint(*each) for each in points), size)
