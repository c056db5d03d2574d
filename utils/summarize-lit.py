#!/usr/bin/env python3
"""Prints `N passed, N failed, N skipped` from lit's --output file.

The exit status is 0 when something passed and nothing failed."""

import collections
import json
import sys

PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}

with open(sys.argv[1]) as file:
    tests = json.load(file)["tests"]
count = collections.Counter(
    "passed"
    if test["code"] in PASSED
    else "skipped" if test["code"] in SKIPPED else "failed"
    for test in tests
)
print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
sys.exit(0 if count["passed"] and not count["failed"] else 1)
