#!/usr/bin/env python3
"""Prints `N passed, N failed, N skipped` from lit's --output file, and before
it what the skipped tests lacked.

The exit status is 0 when something passed and nothing failed."""

import collections
import json
import re
import sys

PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def why_skipped(test):
    """Why lit skipped a test."""
    missing = re.search(r"unavailable features: (.*)", test.get("output", ""))
    return f"for want of {missing[1]}" if missing else "as not supported here"


def main():
    with open(sys.argv[1]) as file:
        tests = json.load(file)["tests"]
    count = collections.Counter()
    reasons = collections.Counter()
    for test in tests:
        if test["code"] in PASSED:
            count["passed"] += 1
        elif test["code"] in SKIPPED:
            count["skipped"] += 1
            reasons[why_skipped(test)] += 1
        else:
            count["failed"] += 1
    for reason, number in sorted(reasons.items()):
        print(f"{number} skipped {reason}")
    print(f"{count['passed']} passed, {count['failed']} failed, "
          f"{count['skipped']} skipped")
    return 0 if count["passed"] and not count["failed"] else 1


if __name__ == "__main__":
    sys.exit(main())
