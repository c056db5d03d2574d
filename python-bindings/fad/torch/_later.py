"""Names of packages that are imported when they are needed."""

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from .._choices import suggest


def import_later(
    module: dict[str, Any], places: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package with the globals `module`, for the names that
    `places` has in modules of the package, or that are such modules."""
    package, names = module["__name__"], module["__all__"]

    def find(name: str) -> Any:
        if name not in places:
            raise AttributeError(
                f"module {package!r} has no attribute {name!r}{suggest(name, names)}", name=name
            )
        found = importlib.import_module(places[name], package)
        return found if places[name] == f".{name}" else getattr(found, name)

    return find, lambda: sorted({*module, *names})
