"""Checks what has to hold in every row of run.py's table.

usage: check_table.py FILE"""

import json
import sys


def check(row):
    kept = row["bytes"]
    assert 0 < kept["recompute"] <= kept["fad"], row
    assert kept["recompute"] <= kept["bp"], row
    assert row["eager_bytes"] > 0, row
    assert row["operations"] > 300, row
    assert row["fad_seconds"] > 0, row


for row in json.load(open(sys.argv[1])):
    check(row)
print("all rows are in order")
