"""Runs utils/release.py on copies of the files that it reads.

Usage: check_release.py ROOT FOLDER"""

import pathlib
import re
import shutil
import subprocess
import sys

ROOT, FOLDER = map(pathlib.Path, sys.argv[1:])
CHANGELOG = """# Changelog

## [Unreleased]

### Added

- A thing.

## [0.0.9] - 2020-01-01

- An older thing.
"""


def run(root, *arguments):
    done = subprocess.run(
        [sys.executable, ROOT / "utils/release.py", "--root", root, *arguments],
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


def expect(found, status, *texts):
    assert found[0] == status, found
    for text in texts:
        assert text in found[1], found


def make_root():
    root = FOLDER / "root"
    for name in ("CMakeLists.txt", "pyproject.toml"):
        root.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, root)
    for name in ("cmake", "tools", "python-bindings"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run(["git", "-C", root, "init", "--quiet"], check=False)
    (root / ".git/info").mkdir(parents=True, exist_ok=True)
    (root / ".git/info/exclude").write_text("*\n")
    (root / "CHANGELOG.md").write_text(CHANGELOG)
    return root


def main():
    root = make_root()
    expect(run(root, "--check"), 1, "CHANGELOG.md has no entry for")
    expect(run(root, "--version", "1.2"), 1, "1.2 is no version; it is MAJOR.MINOR.PATCH")
    expect(run(root, "--version", "0.0.1"), 1, "0.0.1 is not later than what there is")

    before = (root / "CMakeLists.txt").read_text()
    expect(run(root, "--version", "7.8.9", "--dry-run"), 0, "CMakeLists.txt: version 7.8.9")
    assert (root / "CMakeLists.txt").read_text() == before
    assert (root / "CHANGELOG.md").read_text() == CHANGELOG

    expect(run(root, "--version", "7.8.9", "--date", "2021-02-03"), 0)
    after = (root / "CMakeLists.txt").read_text()
    assert after == re.sub(r"fad VERSION [\d.]+", "fad VERSION 7.8.9", before, count=1)
    entry = "## [Unreleased]\n\n## [7.8.9] - 2021-02-03\n\n### Added\n\n- A thing.\n\n## [0.0.9]"
    assert entry in (root / "CHANGELOG.md").read_text()
    expect(run(root, "--check"), 0)
    expect(run(root, "--version", "7.8.9"), 1, "CHANGELOG.md has nothing under '## [Unreleased]'")

    (root / "cmake/more.cmake").write_text("set(version 7.8.9)\n")
    expect(run(root, "--check"), 1, "cmake/more.cmake states the version 7.8.9")
    (root / "CHANGELOG.md").write_text("# Changelog\n")
    expect(run(root, "--version", "8.0.0"), 1, "has no heading '## [Unreleased]'")

    # A snapshot is built whatever the changelog says.
    expect(run(root, "--build", "--dry-run"), 1, "CHANGELOG.md has no heading")
    found = run(root, "--build", "--snapshot", "--dry-run")
    expect(found, 0, "$ utils/build-wheel.sh", "$ cpack --config build/CPackConfig.cmake")
    assert "CHANGELOG" not in found[1], found
    expect(run(root, "--check", "--snapshot"), 2, "error: --snapshot goes with --build")

    # A wheel is tried where there is a Python that takes it.
    expect(run(root, "--rehearse"), 1, "there is no wheel in", "--build --snapshot makes them")
    (root / "dist").mkdir()
    (root / "dist/fad_mlir-7.8.9-cp399-cp399-manylinux_2_34_x86_64.whl").touch()
    expect(run(root, "--rehearse", "--dry-run"), 1, "no Python of this machine takes fad_mlir")

    # The version of this checkout stands in one place.
    found = run(ROOT, "--check")[1]
    assert "states the version" not in found, found
    print("all checks passed")


if __name__ == "__main__":
    main()
