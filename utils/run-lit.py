#!/usr/bin/env python3
"""Runs lit and prints `N passed, N failed, N skipped`, and before it which
tests did not run and what the skipped ones lacked.

Usage: run-lit.py RESULTS LIT [ARGUMENT ...]

RESULTS is where lit writes its results. They leave out tests that did not run:
lit was interrupted, ran out of time, stopped after some failures, was told to
select some, or ended without results. So lit first lists what it discovers, and
what has no result in the end has failed. SIGINT, SIGTERM and SIGHUP end the
tests, and the summary follows.

With LIT_NUM_SHARDS and LIT_RUN_SHARD in the environment, lit runs a part of the tests:
the results are those of as many as the part has.

The exit status is 0 when something passed and nothing failed."""

import collections
import json
import os
import re
import signal
import subprocess
import sys

PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
SKIPPED = {"UNSUPPORTED"}
# Seconds that lit has to write its results after a signal.
GRACE = 30
# Names of tests without a result that are printed.
NAMES = 10


class Program:
    """Runs programs one after the other. A signal becomes the program's Ctrl-C,
    a second one, or GRACE seconds, its end; no other program is started then."""

    def __init__(self):
        self.interrupted = False
        self.process = None
        for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]:
            signal.signal(number, self.interrupt)
        signal.signal(signal.SIGALRM, self.kill)

    def run(self, command, **options):
        """Runs a command; returns its exit status and what it printed, where
        options ask for that."""
        if self.interrupted:
            return None, ""
        # A session of its own: Ctrl-C in a terminal arrives once, through here.
        try:
            self.process = subprocess.Popen(command, start_new_session=True, text=True, **options)
        except OSError as error:
            print(error)
            return 127, ""
        if self.interrupted:
            self.process.send_signal(signal.SIGINT)
        output, _ = self.process.communicate()
        signal.alarm(0)
        # Programs of tests that were interrupted.
        self.kill()
        return self.process.returncode, output or ""

    def interrupt(self, number, _):
        if self.interrupted:
            if self.process:
                self.kill()
            return
        self.interrupted = True
        print(f"\n{signal.Signals(number).name}: ending the tests", flush=True)
        signal.alarm(GRACE)
        if self.process:
            self.process.send_signal(signal.SIGINT)

    def kill(self, *_):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def read_results(path):
    """Returns the results that lit has written, or none."""
    try:
        with open(path) as file:
            return json.load(file)["tests"]
    except (OSError, ValueError, KeyError):
        print("lit has written no results")
        return []


def why_skipped(test):
    """Why lit skipped a test."""
    missing = re.search(r"unavailable features: (.*)", test["output"])
    return f"for want of {missing[1]}" if missing else "as not supported here"


def shard_size(count):
    """Returns how many of `count` tests the environment asks lit to run."""
    shards = int(os.environ.get("LIT_NUM_SHARDS") or 1)
    shard = int(os.environ.get("LIT_RUN_SHARD") or 1)
    return len(range(shard - 1, count, shards))


def without_result(names, results):
    """Prints the tests that did not run and returns how many they are."""
    others = len(names) - shard_size(len(names))
    if others:
        # lit does not say which tests the part has.
        missing = len(names) - others - len(results)
        print(f"{others} tests are those of other shards")
        if missing:
            print(f"{missing} failed because they did not run")
        return max(missing, 0)
    missing = collections.Counter(names)
    missing.subtract(test["name"] for test in results)
    missing = sorted(missing.elements())
    if missing:
        print(f"{len(missing)} failed because they did not run:")
    for name in missing[:NAMES]:
        print(f"  {name}")
    if len(missing) > NAMES:
        print("  ...")
    return len(missing)


def summarize(names, results, status):
    """Prints the summary; returns whether something passed and nothing failed."""
    count = collections.Counter(failed=without_result(names, results))
    reasons = collections.Counter()
    for test in results:
        if test["code"] in PASSED:
            count["passed"] += 1
        elif test["code"] in SKIPPED:
            count["skipped"] += 1
            reasons[why_skipped(test)] += 1
        else:
            count["failed"] += 1
    # An error of lit's own, such as one in a configuration, is no test's.
    if status != 0 and not count["failed"]:
        print(f"lit failed with status {status}")
        count["failed"] += 1
    for reason, number in sorted(reasons.items()):
        print(f"{number} skipped {reason}")
    print(
        f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped",
        flush=True,
    )
    return count["passed"] != 0 and count["failed"] == 0


def main():
    path, *lit = sys.argv[1:]
    if os.path.exists(path):
        os.remove(path)
    program = Program()
    status, listing = program.run(lit + ["--show-tests"], stdout=subprocess.PIPE)
    names = re.findall(r"^  (.* :: .*)$", listing, re.MULTILINE)
    if status == 0:
        status, _ = program.run(lit + ["--output", path])
    print()  # Ends the line of a progress bar.
    return 0 if summarize(names, read_results(path), status) else 1


if __name__ == "__main__":
    sys.exit(main())
