"""The names that options are given by, for type checkers and editors, and their check."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, Literal

#: What backward gets from forward.
Policy = Literal["bp", "recompute", "fad", "auto"]
#: What backward may compute again under the policy "auto"; each includes those before it.
Recompute = Literal["nothing", "elementwise", "reductions", "all", "contractions"]
#: What multiplies matrices in compiled code.
Contractions = Literal["auto", "library", "loops"]
#: The machine whose times decide between choices of equal bytes.
Target = Literal["cpu", "gpu"]
#: The optimizer whose state counts in a memory report.
Optimizer = Literal["none", "sgd", "momentum", "adam"]


def suggest(name: object, names: Iterable[str]) -> str:
    """Returns the end of the error for a `name` that is none of `names`: the one of them that is
    spelled nearly as `name` is, where there is one."""
    spelled = {each.lower(): each for each in names}
    nearest = get_close_matches(str(name).lower(), spelled, n=1, cutoff=0.7)
    return f"; did you mean {spelled[nearest[0]]!r}?" if nearest else ""


def unknown_attribute(
    owner: object, name: str, functions: Iterable[str], call: str
) -> AttributeError:
    """Returns the error for an attribute `name` that `owner`, a program, does not have. `call`
    calls one of its `functions`, whose name it has in the place of {}."""
    kind = type(owner)
    if name in functions:
        hint = f"; write: {call.format(name)}"
    else:
        hint = suggest(name, [each for each in dir(kind) if not each.startswith("_")])
    return AttributeError(f"a fad.{kind.__name__} has no attribute {name!r}{hint}", name=name)


def check_choice(what: str, name: Any, names: Iterable[str]) -> str:
    """`name`, which has to be one of `names`; the error begins with `what`."""
    names = tuple(names)
    if name in names:
        return str(name)
    listed = ", ".join(map(repr, names))
    raise ValueError(f"{what} {name!r}; choose one of {listed}{suggest(name, names)}")
