"""Checks the symbols that the binaries in folders need: they are those of glibc 2.34 and of the
libraries of GCC 11, as on RHEL 9, or of earlier ones. auditwheel reads the same of a wheel.

Usage: check_symbols.py READELF FOLDER..."""

import pathlib
import re
import subprocess
import sys

from check_run_paths import find_binaries

LATEST = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13), "GCC": (12, 0, 0)}


def find_faults(readelf, binary):
    text = subprocess.run(
        [readelf, "--dyn-symbols", "--wide", binary], check=True, capture_output=True, text=True
    ).stdout
    needed = re.findall(r" UND (\S+)@@?([A-Z]+)_([\d.]+)", text)
    for symbol, library, version in needed:
        if library in LATEST and tuple(map(int, version.split("."))) > LATEST[library]:
            yield f"{symbol} is of {library}_{version}"


def main():
    readelf, *folders = sys.argv[1:]
    count = faults = 0
    for folder in map(pathlib.Path, folders):
        for binary in find_binaries(folder):
            count += 1
            for fault in find_faults(readelf, binary):
                print(f"{binary.relative_to(folder)}: {fault}")
                faults += 1
    print(f"{count} binaries, {faults} faults")
    return 1 if faults or not count else 0


if __name__ == "__main__":
    sys.exit(main())
