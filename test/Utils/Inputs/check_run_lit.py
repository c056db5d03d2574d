"""Runs small test suites through utils/run-lit.py: some that end, and some that
are interrupted or whose lit fails.

Usage: check_run_lit.py RUN-LIT LIT FOLDER"""

import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

run_lit, lit, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])

CONFIG = f"""
import lit.formats
config.name = "Small"
config.test_format = lit.formats.ShTest()
config.suffixes = [".test"]
config.substitutions.append(("%python", {sys.executable!r}))
"""
PASS = "RUN: true"
# lit has noted what ran before by the time that it has begun.
HANG = "RUN: sleep 2 && touch %t.started && sleep 1000"
# Kills the parent of the worker that runs it.
CRASH = """RUN: echo "import os; s = open('/proc/%d/stat' % os.getppid()).read()" > %t
RUN: echo "os.kill(int(s.rsplit(')')[1].split()[1]), 9)" >> %t
RUN: %python %t"""
# Stands for a lit that does not react to Ctrl-C.
DEAF_LIT = """#!/bin/sh
[ "$1" = --show-tests ] && { echo "  Small :: a.test"; exit; }
trap '' INT
touch started
sleep 1000
"""


class RunLit(unittest.TestCase):
    def setUp(self):
        self.folder = folder / self.id().rsplit(".", 1)[1]
        self.folder.mkdir()

    def start(self, tests, *options, stand_in=None, results="results.json", shard=None):
        """Starts a run of a suite of tests, by name, or of a program that stands
        for lit. A shard is its number and how many there are."""
        suite = self.folder / "suite"
        suite.mkdir(exist_ok=True)
        (suite / "lit.cfg").write_text(CONFIG)
        for name, text in tests.items():
            (suite / f"{name}.test").write_text(text + "\n")
        options = [sys.executable, lit, "-s", "-j1", "--order=lexical", *options, suite]
        environment = {key: value for key, value in os.environ.items() if "_SHARD" not in key}
        if shard:
            environment.update(LIT_RUN_SHARD=str(shard[0]), LIT_NUM_SHARDS=str(shard[1]))
        return subprocess.Popen(
            [sys.executable, run_lit, self.folder / results]
            + ([stand_in] if stand_in else options),
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def write_program(self, text):
        path = self.folder / "stand-in"
        path.write_text(text)
        path.chmod(0o755)
        return path

    def check(self, process, summary, *lines, status=1):
        """The last line is the summary; others are printed before it."""
        output, _ = process.communicate()
        self.assertEqual(output.splitlines()[-1], summary, output)
        for line in lines:
            self.assertIn(f"\n{line}\n", output)
        self.assertEqual(process.returncode, status, output)

    def interrupt(self, process, started, *signals):
        """Sends signals once a test has begun."""
        while not list(self.folder.rglob(started)):
            self.assertIsNone(process.poll(), "no test has begun")
            time.sleep(0.05)
        for number in signals:
            process.send_signal(number)
            time.sleep(0.5)

    def test_all_pass(self):
        run = self.start(
            {
                "a": PASS,
                "b": "XFAIL: *\nRUN: false",
                "c": "REQUIRES: gold, silver\nRUN: true",
                "d": "UNSUPPORTED: true\nRUN: true",
            }
        )
        self.check(
            run,
            "2 passed, 0 failed, 2 skipped",
            "1 skipped as not supported here",
            "1 skipped for want of gold, silver",
            status=0,
        )

    def test_failures(self):
        run = self.start({"a": PASS, "b": "RUN: false", "c": "XFAIL: *\nRUN: true", "d": "none"})
        self.check(run, "1 passed, 3 failed, 0 skipped")

    def test_none_passes(self):
        run = self.start({"a": "REQUIRES: gold\nRUN: true"})
        self.check(run, "0 passed, 0 failed, 1 skipped")

    def test_selection(self):
        for option in ["--max-tests=1", "--filter=a.test", "--filter-out=b.test"]:
            run = self.start({"a": PASS, "b": PASS}, option)
            self.check(
                run,
                "1 passed, 1 failed, 0 skipped",
                "1 failed because they did not run:\n  Small :: b.test",
            )

    def test_shards(self):
        tests = {"a": PASS, "b": PASS, "c": PASS}
        self.check(
            self.start(tests, shard=(1, 2)),
            "2 passed, 0 failed, 0 skipped",
            "1 tests are those of other shards",
            status=0,
        )

    def test_shard_stops_early(self):
        tests = {"a": PASS, "b": PASS, "c": PASS}
        self.check(
            self.start(tests, "--max-tests=1", shard=(1, 2)),
            "1 passed, 1 failed, 0 skipped",
            "1 tests are those of other shards",
            "1 failed because they did not run",
        )

    def test_stops_early(self):
        tests = {"a": PASS, "b": "RUN: false", "c": PASS, "d": PASS}
        run = self.start(tests, "--max-failures=1")
        self.check(run, "1 passed, 3 failed, 0 skipped")
        run = self.start({"b": HANG}, "--max-time=3")
        self.check(run, "1 passed, 3 failed, 0 skipped")

    def test_many_missing(self):
        tests = {f"a{index:02}": PASS for index in range(20)}
        self.check(
            self.start(tests, "--max-tests=4"),
            "4 passed, 16 failed, 0 skipped",
            "16 failed because they did not run:\n  Small :: a04.test",
            "  Small :: a13.test\n  ...",
        )

    def test_signals(self):
        for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]:
            for started in self.folder.rglob("*.started"):
                started.unlink()
            run = self.start({"a": PASS, "b": HANG, "c": PASS})
            self.interrupt(run, "*.started", number)
            self.check(
                run,
                "1 passed, 2 failed, 0 skipped",
                f"{signal.Signals(number).name}: ending the tests",
                "2 failed because they did not run:",
            )

    def test_signal_while_listing(self):
        slow = "#!/bin/sh\ntouch started\nexec sleep 1000\n"
        run = self.start({}, stand_in=self.write_program(slow))
        self.interrupt(run, "started", signal.SIGTERM)
        self.check(run, "0 passed, 1 failed, 0 skipped")

    def test_second_signal(self):
        run = self.start({}, stand_in=self.write_program(DEAF_LIT))
        self.interrupt(run, "started", signal.SIGTERM, signal.SIGTERM)
        self.check(run, "0 passed, 1 failed, 0 skipped", "lit has written no results")

    def test_lit_is_killed(self):
        run = self.start({"a": PASS, "b": CRASH})
        self.check(run, "0 passed, 2 failed, 0 skipped", "lit has written no results")

    def test_results_cannot_be_written(self):
        run = self.start({"a": PASS}, results="missing/results.json")
        self.check(run, "0 passed, 1 failed, 0 skipped", "lit has written no results")

    def test_results_of_an_earlier_run(self):
        self.check(self.start({"a": PASS}), "1 passed, 0 failed, 0 skipped", status=0)
        run = self.start({"a": CRASH})
        self.check(run, "0 passed, 1 failed, 0 skipped")

    def test_lit_fails(self):
        run = self.start({"a": PASS}, "--no-such-option")
        self.check(run, "0 passed, 1 failed, 0 skipped", "lit failed with status 2")

    def test_no_lit(self):
        run = self.start({}, stand_in=self.folder / "none")
        self.check(run, "0 passed, 1 failed, 0 skipped", "lit failed with status 127")


def run(case):
    result = unittest.TestResult()
    case.run(result)
    return [text for _, text in result.failures + result.errors]


if __name__ == "__main__":
    # They wait for programs, each in a folder of its own.
    with ThreadPoolExecutor(6) as pool:
        tests = unittest.defaultTestLoader.loadTestsFromTestCase(RunLit)
        wrong = [text for texts in pool.map(run, tests) for text in texts]
    sys.exit("\n".join(wrong) or 0)
