"""Checks the groups of test/groups.py: each pattern of tests has one, each pattern of paths that
a group does not read has one, and the group's scripts name no module or folder of these.

usage: check_changed.py ROOT"""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(root / "test"))
from groups import GROUPS

# Modules of fad, and folders and pages, which scripts name in words.
NAMES = re.compile(
    r"fad\.torch\.(compile|eager|nest|explain)\b|from fad\.torch import (compile|eager|nest)"
    r"|backend=.fad|(python|benchmarks)/(compile|eager)/|docs/(Eager|TorchCompile)"
)
# A script in a folder of inputs, or of the checkout.
SCRIPT = re.compile(r"(?:%S|%fad_src_root)/([\w./-]+\.py)")


def find_scripts(test):
    """The scripts that a test runs, and modules beside them that they import."""
    for name in SCRIPT.findall(test.read_text()):
        for folder in (test.parent, root):
            script = folder / name
            if script.is_file():
                yield script
                for module in re.findall(r"^(?:from|import) (\w+)", script.read_text(), re.M):
                    if (script.parent / f"{module}.py").is_file():
                        yield script.parent / f"{module}.py"


def main():
    for group, (patterns, apart) in GROUPS.items():
        faults, count = [], 0
        for pattern in patterns:
            tests = [each for each in (root / "test").glob(pattern) if each.suffix == ".test"]
            count += len(tests)
            if not tests:
                faults.append(f"{pattern} is no test")
            for test in tests:
                for path in {test, *find_scripts(test)}:
                    if found := NAMES.search(path.read_text()):
                        faults.append(f"{test.name}: {path.name} names {found[0]}")
        for pattern in apart:
            if not any(root.glob(pattern)):
                faults.append(f"{pattern} is no path")
        print(f"{group}: {count} tests, {len(faults)} faults", *faults, sep="\n")


if __name__ == "__main__":
    main()
