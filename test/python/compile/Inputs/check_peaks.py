"""Figures of budgets that are made up: 80, which warns though a peak of 75 is within it; 100; 200, of
which a faster selection would take 150; and 240, with a lower peak than 200."""

from peaks import summarize

PAIRS = {
    "80": {"scheduled": 90, "measured": 90, "faster": 75, "warns": True},
    "100": {"scheduled": 100, "measured": 100, "faster": None, "warns": False},
    "200": {"scheduled": 100, "measured": 100, "faster": 150, "warns": False},
    "240": {"scheduled": 95, "measured": 95, "faster": None, "warns": False},
}

print(summarize(PAIRS))
