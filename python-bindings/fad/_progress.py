"""A line on the terminal for what takes long."""

import warnings
from contextlib import AbstractContextManager

from . import _fad


def step(what: str) -> AbstractContextManager[None]:
    """What is done within a `with` statement is called `what` on the terminal.

    It is shown behind steps that this one is part of, when the first of them has taken
    as long as FAD_PROGRESS of the environment says."""
    shown: AbstractContextManager[None] = _fad.Step(what)
    return shown


def show() -> None:
    """Shows steps from now on, if the standard error stream is a terminal."""
    if (wrong := _fad.show_progress()) is not None:
        warnings.warn(wrong, UserWarning, stacklevel=3)
