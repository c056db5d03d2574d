"""Checks that pass, fail or are skipped, each with a reason."""

import pathlib
import sys
import time
import traceback


class Skip(Exception):
    """A check that this machine cannot run. Its message is the reason."""


class Failed(Exception):
    """A check that failed. Its message says how."""


def work(group, list_checks, options, report):
    """Reports the names of the checks of `group`, or that alone where they cannot be listed, and
    then the outcome of each."""
    try:
        checks = list(list_checks(options))
    except Skip as skip:
        report([group])
        return report(("skipped", str(skip), 0.0))
    except Exception as error:
        report([group])
        return report(("failed", name_error(error), 0.0))
    report([name for name, _ in checks])
    for _, check in checks:
        begin = time.monotonic()
        try:
            note = check()
            outcome = "passed", note or ""
        except Skip as skip:
            outcome = "skipped", str(skip)
        except Exception as error:
            outcome = "failed", name_error(error)
        report((*outcome, time.monotonic() - begin))


def name_error(error):
    if isinstance(error, (Failed, AssertionError)):
        return str(error)
    where = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({pathlib.Path(where.filename).name}:{where.lineno})"


class Tally:
    """Outcomes, which are printed as they come."""

    def __init__(self):
        self.counts = {"passed": 0, "failed": 0, "skipped": 0}

    def add(self, outcome, name, note, seconds):
        self.counts[outcome] += 1
        note = " / ".join(note.splitlines())
        print(f"{outcome:8}{name}{': ' * bool(note)}{note} ({seconds:.1f} s)", flush=True)

    def take(self, message, names):
        """Adds an outcome of the first of `names`, or begins a list of them; returns the rest."""
        if isinstance(message, list):
            return message
        outcome, note, seconds = message
        self.add(outcome, names[0], note, seconds)
        return names[1:]

    def skip(self, names, why):
        for name in names:
            self.add("skipped", name, why, 0.0)

    def finish(self, status=None):
        """Prints the counts, and ends the program, with `status` where there is one."""
        print(", ".join(f"{self.counts[name]} {name}" for name in self.counts))
        sys.exit(status or self.counts["failed"] > 0 or self.counts["passed"] == 0)


def run_here(group, list_checks, options, tally):
    """Runs a group in this process."""
    names = []

    def report(message):
        names[:] = tally.take(message, names)

    work(group, list_checks, options, report)
