"""Checks which tests are quick: those that `.lit_test_times.txt` does not name. They run
a pass of each folder of `lib` that has passes, and are in every folder of tests that is
called as one of `lib`.

Usage: check_quick.py ROOT LISTING, where LISTING is what `lit --show-tests` prints."""

import pathlib
import re
import sys

# Their tests need PyTorch, or build packages: seconds each.
SLOW_FOLDERS = {"Package"}


def read_passes(root):
    """Passes by the folder of `lib` that defines them."""
    names = {}
    for file in (root / "include/fad").glob("*/Passes.td"):
        for definition, name in re.findall(
            r'^def (\w+) : FadPass<"([\w-]+)"', file.read_text(), re.M
        ):
            names[definition.upper()] = name
    folders = {}
    for file in (root / "lib").rglob("*.cpp"):
        for definition in re.findall(r"^#define GEN_PASS_DEF_(\w+)$", file.read_text(), re.M):
            folder = file.parent.relative_to(root / "lib").as_posix()
            folders.setdefault(folder, set()).add(names[definition])
    return folders


def main():
    root, listing = map(pathlib.Path, sys.argv[1:])
    tests = root / "test"
    lines = (tests / ".lit_test_times.txt").read_text().splitlines()
    slow = {line.split()[1] for line in lines}
    quick = set(re.findall(r"^  FAD :: (\S+)$", listing.read_text(), re.M))
    faults = [f"{name} is slow and quick" for name in slow & quick]

    commands = "".join(
        line
        for name in quick
        for line in (tests / name).read_text().splitlines(keepends=True)
        if "RUN:" in line or "DEFINE:" in line
    )
    passes = read_passes(root)
    for folder, names in passes.items():
        if not any(re.search(rf"{name}(?![\w-])", commands) for name in names):
            faults.append(f"no quick test runs a pass of lib/{folder}: {sorted(names)}")
    for folder in {path.name for path in tests.iterdir()} - SLOW_FOLDERS:
        if (root / "lib" / folder).is_dir() and not any(
            name.startswith(f"{folder}/") for name in quick
        ):
            faults.append(f"no quick test is in test/{folder}")
    print(*faults, f"{len(quick)} of {len(slow | quick)} are quick", sep="\n")
    return bool(faults) or len(quick) < 100 or len(passes) < 10


if __name__ == "__main__":
    sys.exit(main())
