"""Policies and their options, checked."""

from collections.abc import Iterable
from operator import index
from typing import Any, get_args

from . import _fad
from ._choices import Policy, Recompute, Target, check_choice


def check_integer(name: str, value: int) -> int:
    """`value`; `name` is what the error calls it."""
    if isinstance(value, bool):
        raise TypeError(f"{name} is {value}, which is no integer but a truth value")
    try:
        return index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}, which is no integer") from None


def check_policy(policy: str) -> str:
    if not isinstance(policy, str):
        raise TypeError(f"a policy is a {type(policy).__name__}; give its name")
    return check_choice("there is no policy", policy, get_args(Policy))


def check_recompute(recompute: str | None) -> str | None:
    if recompute is None:
        return None
    if not isinstance(recompute, str):
        raise TypeError(
            f"recompute is a {type(recompute).__name__}; name what backward may "
            "compute again, such as 'elementwise'"
        )
    return check_choice("recompute is", recompute, get_args(Recompute))


def check_target(target: str | None) -> str | None:
    if target is None:
        return None
    if not isinstance(target, str):
        raise TypeError(f"a target is a {type(target).__name__}; give its name")
    return check_choice("target is", target, get_args(Target))


def check_assumed_size(size: int | None) -> int | None:
    if size is None:
        return None
    size = check_integer("assumed_size", size)
    if size < 1:
        raise ValueError(f"assumed_size is {size}; give a size of at least 1")
    if size >= 2**63:
        raise ValueError(f"assumed_size is {size}, which is too large")
    return size


def check_derivative_bits(bits: int | None) -> int | None:
    if bits is None:
        return None
    bits = check_integer("derivative_bits", bits)
    if not 1 <= bits <= 8:
        raise ValueError(f"derivative_bits is {bits}; give 1 to 8 bits, or None")
    return bits


def check_budget(name: str, budget: int | str | None) -> int | None:
    """Returns the bytes of `budget`, a number or text such as "2GB"; `name` is what errors call
    it."""
    if budget is None:
        return None
    if isinstance(budget, bool):
        raise TypeError(f"{name} is {budget}; give a number of bytes")
    if isinstance(budget, str):
        budget = _fad.parse_bytes(name, budget)
    budget = check_integer(name, budget)
    if budget < 0:
        raise ValueError(f"{name} is {budget}; give a number of bytes")
    if budget >= 2**63:
        raise ValueError(f"{name} is {budget}, which is too large")
    return budget


def check_automatic(policies: Iterable[str], **options) -> None:
    """Raises ValueError for an option of the policy "auto" without that policy, and for a
    policy that there is not."""
    if "auto" in [check_policy(policy) for policy in policies]:
        return
    for name, value in options.items():
        # 0 is a budget, and equal to False.
        if value is not None and value is not False:
            raise ValueError(f"{name} is an option of the policy 'auto', which is not chosen")


def check_options(
    policies: Iterable[str],
    *,
    recompute: str | None = None,
    assumed_size: int | None = None,
    derivative_bits: int | None = None,
    derivative_from_output: bool = False,
    residual_budget: int | str | None = None,
    peak_budget: int | str | None = None,
    target: str | None = None,
) -> dict[str, Any]:
    """Returns the options of a selection for C++, by name, without those that have their default;
    an option of the policy "auto" without that policy is an error."""
    check_automatic(
        policies,
        recompute=recompute,
        assumed_size=assumed_size,
        derivative_bits=derivative_bits,
        derivative_from_output=derivative_from_output,
        residual_budget=residual_budget,
        peak_budget=peak_budget,
    )
    if residual_budget is not None and peak_budget is not None:
        raise ValueError("residual_budget and peak_budget are alternatives; give one of them")
    options = {
        "recompute": check_recompute(recompute),
        "assumed_size": check_assumed_size(assumed_size),
        "derivative_bits": check_derivative_bits(derivative_bits),
        "derivative_from_output": bool(derivative_from_output) or None,
        "residual_budget": check_budget("residual_budget", residual_budget),
        "peak_budget": check_budget("peak_budget", peak_budget),
        "target": check_target(target),
    }
    return {name: value for name, value in options.items() if value is not None}
