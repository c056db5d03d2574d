"""The progress of a long call of `fit`: a line on a terminal, and records of a log."""

import contextlib
import logging
import sys
from collections.abc import Iterator

_log = logging.getLogger("fad.torch.fit")


def show_progress(text: str) -> None:
    """Logs `text`, and writes it over the line of the terminal that standard error is."""
    _log.info(text)
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


@contextlib.contextmanager
def clear_progress() -> Iterator[None]:
    """Leaves no line on the terminal."""
    try:
        yield
    finally:
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)
