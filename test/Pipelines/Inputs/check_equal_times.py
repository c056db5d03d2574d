"""Checks that policies which make one program take one time in memory reports.

usage: check_equal_times.py FAD_OPT FAD_MEMORY_REPORT COUNT [SEED]

Programs are those of random_program.py. Prints the number of pairs of policies that
make equal programs, and exits with 1 where the times of two differ."""

import itertools
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
from random_program import Program

POLICIES = ("bp", "recompute", "fad", "auto")


def run(program, *command):
    return subprocess.run(command, input=program, capture_output=True, text=True, check=True).stdout


def main():
    fad_opt, fad_memory_report, count = sys.argv[1:4]
    first = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    pairs = 0
    for seed in range(first, first + int(count)):
        program = Program(seed).text()
        made = {policy: run(program, fad_opt, f"--fad-nest=policy={policy}") for policy in POLICIES}
        report = json.loads(run(program, fad_memory_report, "-", "--format=json"))
        times = {policy: report["policies"][policy]["recompute_time"] for policy in POLICIES}
        for a, b in itertools.combinations(POLICIES, 2):
            if made[a] != made[b]:
                continue
            pairs += times[a] != 0
            if times[a] != times[b]:
                sys.exit(f"program {seed}: {a} takes {times[a]}, and {b} {times[b]}\n{program}")
    print(f"{pairs} pairs of equal programs that take time")


if __name__ == "__main__":
    main()
