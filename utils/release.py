#!/usr/bin/env python3
"""Makes a release of fad.

  utils/release.py --version 0.2.0    sets the version, and dates the changelog's entry
  utils/release.py --check            says what is missing for a release
  utils/release.py --build            checks, and builds wheel, source distribution and
                                      Debian's packages into dist, with checksums
  utils/release.py --build --snapshot builds them of any state of the checkout, for which
                                      the changelog need not have an entry
  utils/release.py --rehearse         tries what is in dist: metadata, and each wheel in the
                                      Pythons of this machine that take it (try-wheel.py);
                                      with --torch, PyTorch of that requirement, too

The version stands in CMakeLists.txt alone. With --dry-run nothing is written or run; what
would be is printed. docs/Releasing.md has the steps."""

import argparse
import datetime
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys

VERSION = re.compile(r"^(project\(fad VERSION )([\d.]+)", re.MULTILINE)
UNRELEASED = "## [Unreleased]"
ENTRY = re.compile(
    r"^## \[([\d.]+)\] - (\d{4}-\d\d-\d\d)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL
)


class ReleaseError(Exception):
    """No release can be made. The message says why."""


def read_version(root):
    return VERSION.search((root / "CMakeLists.txt").read_text())[2]


def as_numbers(version):
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise ReleaseError(f"{version} is no version; it is MAJOR.MINOR.PATCH")
    return tuple(map(int, version.split(".")))


def split_changelog(root):
    """Returns the changelog up to the heading of unreleased changes, that, and the rest."""
    text = (root / "CHANGELOG.md").read_text()
    before, found, after = text.partition(UNRELEASED)
    if not found:
        raise ReleaseError(f"CHANGELOG.md has no heading '{UNRELEASED}'")
    heading = re.search(r"^## ", after, re.MULTILINE)
    end = heading.start() if heading else len(after)
    return before, after[:end], after[end:]


def find_other_versions(root, version):
    """Files of the build that state the version, besides CMakeLists.txt."""
    files = [root / "pyproject.toml", *root.glob("cmake/**/*"), *root.glob("tools/**/*"),
             *root.glob("python-bindings/**/*")]  # fmt: skip
    for path in files:
        if path.suffix in (".txt", ".cmake", ".in", ".toml", ".py", ".cpp", ".h"):
            if re.search(rf"(?<![\d.]){re.escape(version)}(?![\d.])", path.read_text()):
                yield path.relative_to(root)


def check(root):
    """Yields what is missing for a release of the version that is set."""
    version = read_version(root)
    for path in find_other_versions(root, version):
        yield f"{path} states the version {version}; CMakeLists.txt alone does"
    _, unreleased, rest = split_changelog(root)
    entries = {found[0]: found[2] for found in ENTRY.findall(rest)}
    if version not in entries:
        yield f"CHANGELOG.md has no entry for {version}; --version {version} makes it"
    elif not re.search(r"^- ", entries[version], re.MULTILINE):
        yield f"CHANGELOG.md has nothing about {version}"
    elif unreleased.strip():
        yield f"CHANGELOG.md has entries that are not those of {version}"
    done = subprocess.run(
        ["git", "-C", root, "status", "--porcelain"], capture_output=True, text=True
    )
    if done.returncode == 0 and done.stdout:
        yield f"there are changes that are not committed: {done.stdout.split()[1]}"


def set_version(root, version, date, is_dry):
    current = read_version(root)
    before, unreleased, rest = split_changelog(root)
    if not re.search(r"^- ", unreleased, re.MULTILINE):
        raise ReleaseError(f"CHANGELOG.md has nothing under '{UNRELEASED}'")
    released = {found[0] for found in ENTRY.findall(rest)}
    if version in released or as_numbers(version) < as_numbers(current):
        raise ReleaseError(f"{version} is not later than what there is ({current})")
    entry = f"{UNRELEASED}\n\n## [{version}] - {date}{unreleased}"
    cmake = root / "CMakeLists.txt"
    files = {
        cmake: VERSION.sub(rf"\g<1>{version}", cmake.read_text()),
        root / "CHANGELOG.md": before + entry + rest,
    }
    for path, text in files.items():
        print(f"{path.relative_to(root)}: version {version}")
        if not is_dry:
            path.write_text(text)


def build(root, is_dry):
    dist = root / "dist"
    # Of an earlier version.
    if not is_dry:
        shutil.rmtree(dist, ignore_errors=True)
    commands = [
        ["utils/build-wheel.sh", "--all"],
        ["cmake", "--build", "build"],
        ["build/venv/bin/python", "-c",
         "import scikit_build_core.build as b; b.build_sdist('dist')"],
        ["cpack", "--config", "build/CPackConfig.cmake", "-B", "build/packages"],
    ]  # fmt: skip
    for command in commands:
        print("$", *command, flush=True)
        if not is_dry:
            dist.mkdir(exist_ok=True)
            subprocess.run(command, cwd=root, check=True)
    version = read_version(root)
    if is_dry:
        return
    for path in [*root.glob("build/wheel/*.whl"), *root.glob("build/packages/*.deb")]:
        if version in path.name:
            shutil.copy(path, dist)
    write_checksums(dist)


def find_takers(wheel):
    """Pythons of this machine that take a wheel, the oldest first."""
    python, abi = re.search(r"-cp3(\d+)-(cp3\d+|abi3)-", wheel.name).groups()
    for minor in range(int(python), 15 if abi == "abi3" else int(python) + 1):
        home = pathlib.Path.home() / ".pyenv/versions"
        found = [*sorted(home.glob(f"3.{minor}.*/bin/python")), shutil.which(f"python3.{minor}")]
        usable = [path for path in found if path and has_environments(path)]
        if usable:
            yield usable[0]


def has_environments(python):
    done = subprocess.run([python, "-c", "import ensurepip, venv"], capture_output=True)
    return not done.returncode


def rehearse(root, dist, torch, is_dry):
    wheels = sorted(dist.glob("*.whl"))
    if not wheels and not is_dry:
        raise ReleaseError(f"there is no wheel in {dist}; --build --snapshot makes them")
    packages = [*wheels, *dist.glob("*.tar.gz")]
    commands = [[root / "build/wheel-tools/bin/twine", "check", "--strict", *packages]]
    for wheel in wheels:
        takers = list(find_takers(wheel))
        if not takers:
            raise ReleaseError(f"no Python of this machine takes {wheel.name}")
        options = ["--torch", torch] if torch else []
        commands.append([root / "utils/try-wheel.py", *options, wheel, *takers])
    for command in commands:
        print("$", *command, flush=True)
        if not is_dry:
            subprocess.run(command, check=True)


def write_checksums(dist):
    files = sorted(path for path in dist.iterdir() if path.suffix in (".whl", ".gz", ".deb"))
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (dist / "SHA256SUMS").write_text("".join(lines))
    for path in files:
        print(f"{path.stat().st_size / 1e6:8.1f} MB  {path.name}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--version", help="the version to set")
    action.add_argument("--check", action="store_true", help="say what is missing")
    action.add_argument("--build", action="store_true", help="build the packages")
    action.add_argument("--rehearse", action="store_true", help="try the packages in dist")
    parser.add_argument("--dist", type=pathlib.Path, help="the packages to try")
    parser.add_argument("--torch", metavar="REQUIREMENT", help="PyTorch to try the wheels with")
    parser.add_argument("--snapshot", action="store_true", help="build what is no release")
    parser.add_argument("--date", default=datetime.date.today().isoformat())
    parser.add_argument("--root", type=pathlib.Path, help="the checkout",
                        default=pathlib.Path(__file__).resolve().parent.parent)  # fmt: skip
    parser.add_argument("--dry-run", action="store_true", help="write and run nothing")
    options = parser.parse_args()
    if options.snapshot and not options.build:
        parser.error("--snapshot goes with --build")
    try:
        if options.snapshot:
            build(options.root, options.dry_run)
            return 0
        if options.rehearse:
            dist = options.dist or options.root / "dist"
            rehearse(options.root, dist, options.torch, options.dry_run)
            return 0
        if options.version:
            set_version(options.root, options.version, options.date, options.dry_run)
            return 0
        faults = list(check(options.root))
        print(*faults, sep="\n", end="\n" if faults else "")
        if faults and not options.dry_run:
            return 1
        if options.build:
            build(options.root, options.dry_run)
        return bool(faults)
    except (ReleaseError, subprocess.CalledProcessError) as error:
        print(f"release.py: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
