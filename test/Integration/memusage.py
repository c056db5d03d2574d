"""Allocations of a program, as the C library's `libmemusage.so` counts it."""

import os
import re
import subprocess
import sys


def count_allocations(command):
    """The bytes that `command` allocates in all, the most that it holds at once, and how
    often it allocates."""
    run = subprocess.run(
        command,
        env={**os.environ, "LD_PRELOAD": "libmemusage.so"},
        capture_output=True,
        text=True,
    )
    if run.returncode:
        sys.exit(f"{command} failed:\n{run.stderr}")
    plain = re.sub(r"\x1b\[[0-9;]*m", "", run.stderr)
    heap = re.search(r"heap total: (\d+), heap peak: (\d+)", plain)
    if not heap:
        sys.exit(f"no count of allocations:\n{run.stderr}")
    calls = re.findall(r"^\s*[mc]alloc\|\s+(\d+)", plain, re.MULTILINE)
    return {"bytes": int(heap[1]), "peak": int(heap[2]), "calls": sum(map(int, calls))}
