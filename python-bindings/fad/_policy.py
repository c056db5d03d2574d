"""Policies and their options, checked."""

from collections.abc import Iterable
from operator import index


def check_policy(policy: str) -> str:
    """A name for C++, which says which there are."""
    if not isinstance(policy, str):
        raise TypeError(f"a policy is a {type(policy).__name__}; give its name")
    return policy


def check_recompute(recompute: str | None) -> str | None:
    """A name for C++, which says which there are."""
    if not isinstance(recompute, str | None):
        raise TypeError(
            f"recompute is a {type(recompute).__name__}; name what backward may "
            "compute again, such as 'elementwise'"
        )
    return recompute


def check_assumed_size(size: int | None) -> int | None:
    if size is None:
        return None
    try:
        size = index(size)
    except TypeError:
        raise TypeError(f"assumed_size is {size!r}, which is no integer") from None
    if size < 1:
        raise ValueError(f"assumed_size is {size}; give a size of at least 1")
    if size >= 2**63:
        raise ValueError(f"assumed_size is {size}, which is too large")
    return size


def check_derivative_bits(bits: int | None) -> int:
    """The number for C++, in which 0 stands for none."""
    if bits is None:
        return 0
    try:
        bits = index(bits)
    except TypeError:
        raise TypeError(f"derivative_bits is {bits!r}, which is no integer") from None
    if not 1 <= bits <= 8:
        raise ValueError(f"derivative_bits is {bits}; give 1 to 8 bits, or None")
    return bits


def check_residual_budget(budget: int | None) -> int | None:
    if budget is None:
        return None
    try:
        budget = index(budget)
    except TypeError:
        raise TypeError(f"residual_budget is {budget!r}, which is no integer") from None
    if budget < 0:
        raise ValueError(f"residual_budget is {budget}; give a number of bytes")
    if budget >= 2**63:
        raise ValueError(f"residual_budget is {budget}, which is too large")
    return budget


def check_automatic(policies: Iterable[str], **options) -> None:
    """Raises ValueError for an option of the policy "auto" without that policy."""
    if "auto" in policies:
        return
    for name, value in options.items():
        if value not in (None, False):
            raise ValueError(
                f"{name} is an option of the policy 'auto', which is not chosen"
            )
