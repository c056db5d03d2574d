#!/usr/bin/env python3
"""Runs a command whose standard error stream is a terminal, and prints what the
terminal shows: for each state of its last line, the text, without the seconds at its end.
`(removed)` is an empty line. Ends with the status of the command.

With --until=TEXT, the standard input of the command has the content of --input, and stays
open until TEXT was shown; without, it is empty."""

import argparse
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios

ERASE = "\x1b[K"


def read(terminal):
    """What the terminal has next; empty at its end, and where a minute brings nothing."""
    if not select.select([terminal], [], [], 60)[0]:
        return ""
    try:
        return os.read(terminal, 65536).decode()
    except OSError:  # Linux says so when the other side is closed.
        return ""


def get_states(shown):
    """The states of the line, and other lines, each once."""
    states = []
    for part in re.split("[\r\n]+", shown):
        line, erased, rest = part.partition(ERASE)
        if erased:
            states.append(re.sub(r", \d+ s$", "", line) or "(removed)")
        if erased and rest or not erased and line:
            states.append(rest or line)
    return [state for i, state in enumerate(states) if i == 0 or state != states[i - 1]]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--until", metavar="TEXT")
    parser.add_argument("--input", metavar="FILE", default=os.devnull)
    parser.add_argument("--columns", type=int, default=200)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    terminal, stream = pty.openpty()
    fcntl.ioctl(stream, termios.TIOCSWINSZ, struct.pack("4H", 24, options.columns, 0, 0))
    process = subprocess.Popen(
        options.command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=stream,
        env={"TERM": "xterm", **os.environ},
    )
    os.close(stream)
    shown = ""
    if options.until:
        while options.until not in shown:
            more = read(terminal)
            if not more:
                sys.exit(f"the terminal never showed {options.until!r}: {shown!r}")
            shown += more
    with open(options.input, "rb") as file:
        process.stdin.write(file.read())
    process.stdin.close()
    while more := read(terminal):
        shown += more
    for state in get_states(shown):
        print(state)
    sys.exit(process.wait())


if __name__ == "__main__":
    main()
