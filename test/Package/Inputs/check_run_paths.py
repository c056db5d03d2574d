"""Checks where the binaries in folders have their libraries looked for: never
relative to the current directory, or to an empty path, which is the same.

Usage: check_run_paths.py READELF FOLDER... [--outside FOLDER]; with --outside,
no path is in that folder, either."""

import argparse
import pathlib
import re
import subprocess


def find_binaries(folder):
    """Programs and shared libraries."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and path.suffix not in (".a", ".o"):
            with open(path, "rb") as file:
                if file.read(4) == b"\x7fELF":
                    yield path


def find_faults(readelf, binary, outside):
    text = subprocess.run(
        [readelf, "--dynamic", binary], check=True, capture_output=True, text=True
    ).stdout
    for kind, value in re.findall(r"\((NEEDED|RPATH|RUNPATH)\).*?\[(.*)\]", text):
        if kind == "NEEDED":
            # One without a slash is looked for in the run path.
            if "/" in value and not value.startswith("/"):
                yield f"needs {value}"
            continue
        for part in value.split(":"):
            if not re.match(r"/|\$ORIGIN(/|$)", part):
                yield f"{kind} {value} has the relative path '{part}'"
            elif outside and pathlib.Path(part).is_relative_to(outside):
                yield f"{kind} {value} has {part}, which is not installed"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("readelf")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--outside", type=pathlib.Path)
    options = parser.parse_args()
    count = faults = 0
    for folder in options.folders:
        for binary in find_binaries(folder):
            count += 1
            for fault in find_faults(options.readelf, binary, options.outside):
                print(f"{binary.relative_to(folder)}: {fault}")
                faults += 1
    print(f"{count} binaries, {faults} faults")
    return 1 if faults or not count else 0


if __name__ == "__main__":
    raise SystemExit(main())
