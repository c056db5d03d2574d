"""The releases of PyTorch that fad is tested with, and all that differs between them in Python.

Each difference names the release with which it goes. Those of C++ stand in
eager/csrc/sequence/Release.h."""

import functools
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from .._operators.formulas import OPEN, Formula
from .._operators.table import Operator
from ._requirements import torch

#: Without patch numbers, in their order; utils/test-release.sh runs tests with each.
TESTED = ("2.11", "2.12", "2.13", "2.14", "2.15")


def is_tested(version: str | None = None) -> bool:
    """Tells whether a version, the installed one by default, is of `TESTED`."""
    return ".".join((version or torch.__version__).split(".")[:2]) in TESTED


def name_tested() -> str:
    """Returns the tested releases as text."""
    return f"{', '.join(TESTED[:-1])} and {TESTED[-1]}"


@functools.cache
def warn_of_release() -> None:
    """Warns, once in a process, where torch.compile runs with a release that is not tested."""
    if not is_tested():
        warnings.warn(
            f"fad is tested with PyTorch {name_tested()}, and this is {torch.__version__}; the "
            "backend fad leaves to PyTorch what it does not know of this release, with a warning "
            f"of each; pip install torch=={TESTED[-1]}.* has all of fad",
            RuntimeWarning,
            stacklevel=3,
        )


# Differences.


def explain_missing(error: ImportError) -> ImportError:
    """`error`, or one that says what to do where it is of a release that is not tested."""
    if is_tested():
        return error
    return ImportError(
        f"fad is tested with PyTorch {name_tested()}, and this is {torch.__version__}, which lacks "
        f"a name that the backend fad needs ({error}); pip install torch=={TESTED[-1]}.*"
    )


def is_before(release: str) -> bool:
    """Tells whether the installed release is earlier."""
    return _read(torch.__version__) < _read(release)


def _read(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")[:2]))


def keeps_tangents() -> bool:
    """Tells whether the gradients of results, with which backward begins, are alive to its end."""
    # Goes with PyTorch 2.12: since 2.13, they end after their last reader.
    return is_before("2.13")


def copies_filters() -> bool:
    """Tells whether the gradients of convolutions may get images in "channels last" from Inductor
    where its layouts are not optimized."""
    # Goes with PyTorch 2.12: since 2.13, they get contiguous ones.
    return is_before("2.13")


def keeps_slope_at_bounds() -> bool:
    """Tells whether a number that equals a bound of `clamp` has the gradient of those within."""
    # Goes with PyTorch 2.13: since 2.14, bounds that are numbers leave it none, and one that is a
    # tensor takes half of it.
    return is_before("2.14")


def find_formula(operator: Operator) -> Formula | None:
    """Returns the formula of `operator`, if it has one, with this release's derivatives at
    kinks."""
    if keeps_slope_at_bounds():
        return OPEN.get(operator.name, operator.formula)
    return operator.formula


def find_hint(size: int | torch.SymInt, fallback: int) -> int:
    """Returns a number for `size`: that with which PyTorch traced the model, or `fallback` where
    there is none."""
    from torch.fx.experimental import symbolic_shapes

    # Goes with PyTorch 2.11: since 2.12, the function has another name.
    if not hasattr(symbolic_shapes, "optimization_hint"):
        return symbolic_shapes.size_hint(size, fallback)
    return symbolic_shapes.optimization_hint(size, fallback=fallback)


def hint_expression(sizes: Any, expression: Any) -> int:
    """Returns a number for `expression`, a size of Inductor's, by its table `sizes` of sizes."""
    # Goes with PyTorch 2.11: since 2.12, the function has another name.
    find = getattr(sizes, "optimization_hint", None) or sizes.size_hint
    return find(expression, fallback=0)


def is_object(node: torch.fx.Node) -> bool:
    """Tells whether the result of `node` is neither a tensor nor a number."""
    from torch._functorch import partitioners

    # Goes with PyTorch 2.11: since 2.12, PyTorch has a function for it.
    if not hasattr(partitioners, "is_opaque_node"):
        from torch._library.fake_class_registry import FakeScriptObject

        return isinstance(node.meta.get("val"), torch.ScriptObject | FakeScriptObject)
    return partitioners.is_opaque_node(node)


def has_region_budgets() -> bool:
    """Tells whether PyTorch's partitioner reads budgets of regions."""
    from torch._functorch import partitioners

    # Goes with PyTorch 2.12: since 2.13, there are such budgets.
    return hasattr(partitioners, "_get_memory_budget_annotation")


def name_decompositions(
    arguments: Mapping[str, Any], find_table: Callable[[], Any]
) -> Mapping[str, Any]:
    """Returns the `arguments` of the compilation of a part, with `find_table`, which has a name in
    a module, in the place of a function of `compile_fx` for the same decompositions."""
    # Goes with PyTorch 2.12, which has it in keys of caches, and cannot pickle one without.
    if is_before("2.13") and "get_decomp_fn" in arguments:
        return {**arguments, "get_decomp_fn": find_table}
    return arguments


def find_scheduler_pass() -> type:
    """Returns the base class of functions that Inductor calls with the kernels of a graph."""
    from torch._inductor import custom_graph_pass

    # Goes with PyTorch 2.12: since 2.13, graphs are found in caches with functions of this class
    # alone. Before, the caches take the name of any class.
    return getattr(custom_graph_pass, "CustomSchedulerPass", object)
