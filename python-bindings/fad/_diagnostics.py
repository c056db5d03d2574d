"""Diagnostics of a program."""

import logging
import re
import warnings
from dataclasses import dataclass
from typing import Any

_logger = logging.getLogger("fad")


def _escape(text: str) -> str:
    """`text` as fad's programs print it: a terminal obeys none of it."""
    return re.sub(
        r"[\x00-\x08\x0b-\x1f\x7f-\x9f]",
        lambda found: "".join(f"\\{byte:02X}" for byte in found[0].encode()),
        text,
    )


@dataclass(frozen=True)
class Location:
    """A place in a program; line and column count from 1, and are 0 for a file
    as a whole."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


@dataclass(frozen=True)
class Diagnostic:
    """One message about a program.

    `severity` is "error", "warning", "remark" or "note"; `location` is None
    where the place is not known; `notes` are diagnostics of severity "note"."""

    severity: str
    message: str
    location: Location | None = None
    notes: tuple["Diagnostic", ...] = ()

    def __str__(self) -> str:
        place = f"{self.location}: " if self.location else ""
        lines = [f"{place}{self.severity}: {self.message}"]
        return "\n".join([_escape(line) for line in lines] + list(map(str, self.notes)))


class Error(Exception):
    """A program that fad cannot parse, transform, compile or run.

    `diagnostics` is all that was said, in order, warnings included; the text
    of the exception is the same for a person."""

    diagnostics: tuple[Diagnostic, ...]

    def __init__(self, diagnostics: tuple[Diagnostic, ...]):
        super().__init__(diagnostics)
        self.diagnostics = diagnostics

    def __str__(self) -> str:
        return "\n".join(map(str, self.diagnostics))


class DiagnosticWarning(UserWarning):
    """A warning about a program; `diagnostic` is the whole of it.

    Remarks do not go this way: the logger "fad" gets them, at level INFO."""

    diagnostic: Diagnostic

    def __init__(self, diagnostic: Diagnostic):
        super().__init__(diagnostic)
        self.diagnostic = diagnostic

    def __str__(self) -> str:
        return str(self.diagnostic)


def _make_diagnostic(
    severity: str,
    message: str,
    file: str,
    line: int,
    column: int,
    notes: list[tuple[Any, ...]],
) -> Diagnostic:
    return Diagnostic(
        severity=severity,
        message=message,
        location=Location(file, line, column) if file else None,
        notes=tuple(_make_diagnostic(*note) for note in notes),
    )


def make_error(diagnostics: list[tuple[Any, ...]]) -> Error:
    """Returns the exception for diagnostics that come from C++."""
    return Error(tuple(_make_diagnostic(*each) for each in diagnostics))


def report(diagnostics: list[tuple[Any, ...]]) -> None:
    """Passes on what was said by a call that succeeded."""
    for each in diagnostics:
        diagnostic = _make_diagnostic(*each)
        if diagnostic.severity == "remark":
            _logger.info("%s", diagnostic)
        else:
            # From here through the function of this package to its caller.
            warnings.warn(DiagnosticWarning(diagnostic), stacklevel=3)
