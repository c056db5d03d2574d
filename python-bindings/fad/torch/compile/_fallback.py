"""Graphs that fad leaves to Inductor where a release of PyTorch has other internals."""

import functools
import warnings

import torch

# How the warning begins.
FALLBACK = "fad leaves the order of operations to Inductor"


def warn_of_inductor(error: Exception) -> None:
    """Warns, once in a process for each cause, that fad's choices for Inductor do not work
    with this release of PyTorch. Residuals are fad's all the same."""
    _warn(f"{type(error).__name__}: {error}")


@functools.cache
def _warn(cause: str) -> None:
    warnings.warn(
        f"{FALLBACK}, whose internals in PyTorch {torch.__version__} are not those that fad "
        f"knows ({cause}); steps may need more memory than planned",
        RuntimeWarning,
        stacklevel=3,
    )
