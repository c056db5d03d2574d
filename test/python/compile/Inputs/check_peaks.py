"""Figures of budgets that are made up: 80, which warns though a peak of 75 is within it; 100; 200, of
which a faster selection would take 150; and 240, with a lower peak than 200. And measurements that are
made up, which are interrupted at the second of two selections, and continued."""

import contextlib
import json
import pathlib
import sys
import types
from unittest import mock

BENCHMARKS = pathlib.Path(__file__).resolve().parents[4] / "benchmarks"
sys.path[:0] = [str(BENCHMARKS / "compile"), str(BENCHMARKS / "common")]

import models
import peaks
import peaks_measure

PAIRS = {
    "80": {"scheduled": 90, "measured": 90, "faster": 75, "warns": True},
    "100": {"scheduled": 100, "measured": 100, "faster": None, "warns": False},
    "200": {"scheduled": 100, "measured": 100, "faster": 150, "warns": False},
    "240": {"scheduled": 95, "measured": 95, "faster": None, "warns": False},
}
# By budget, the scheduled peak, the selection, and no peak of a faster one.
FOUND = {10: (8, 1, None), 20: (17, 2, None), 30: (17, 2, None)}


def measure(file, is_interrupted):
    """Returns the measured selections, and the budgets in `file` with their peaks."""
    measured = []

    def measure_one(_, partitioner):
        if not partitioner.found:
            # The search chooses a selection for each budget, and takes the last one.
            partitioner.found, partitioner.drawn = FOUND, 2
        elif is_interrupted:
            raise KeyboardInterrupt
        measured.append(partitioner.drawn)
        return {1: 8, 2: 17}[partitioner.drawn]

    arguments = dict(models=["vit"], quick=True, budgets=3, json=file, seconds=None)
    with (
        mock.patch.object(peaks_measure, "_measure", measure_one),
        mock.patch.object(peaks_measure, "describe", lambda: {"versions": {}}),
        mock.patch.object(models, "make_model"),
        contextlib.suppress(KeyboardInterrupt),
    ):
        peaks.run(types.SimpleNamespace(**arguments))
    pairs = json.loads(file.read_text())["models"]["vit"]["pairs"]
    return measured, {budget: pair["measured"] for budget, pair in pairs.items()}


print(peaks.summarize(PAIRS))
for is_interrupted in True, False, False:
    print(*measure(pathlib.Path(sys.argv[1]), is_interrupted))
