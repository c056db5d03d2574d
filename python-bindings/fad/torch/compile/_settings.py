"""Settings of PyTorch's partitioner to compare with, by name."""

from collections.abc import Iterable, Mapping
from typing import Any

from ..._choices import suggest

_CHOICES = "'aggressive', or 'budget=SHARE' with a number from 0 to 1, as in 'budget=0.5'"


def read_settings(names: Iterable[str] | None) -> dict[str, Mapping[str, Any]]:
    """The options of `torch._functorch.config` of each of `names`."""
    if isinstance(names, str):
        raise TypeError(f"compare is {names!r}; list it: [{names!r}]")
    return {name: _read(name) for name in names or ()}


def _read(name: Any) -> Mapping[str, Any]:
    if name == "aggressive":
        return {"aggressive_recomputation": True}
    kind, equals, text = name.partition("=") if isinstance(name, str) else ("", "", "")
    if kind != "budget" or not equals:
        known = ("aggressive", "budget=")
        raise ValueError(f"compare has {name!r}; choose {_CHOICES}{suggest(name, known)}")
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise ValueError(f"compare has {name!r}; choose {_CHOICES}")
    return {"activation_memory_budget": share}
