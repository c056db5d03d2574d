#!/usr/bin/env python3
"""Prints for releases of PyTorch the folder `torch` that has their headers and version.py: that
of the installed one, or of a wheel that pip downloads (0.2 to 0.9 GB, of which 60 MB stay).

Usage: torch-headers.py FOLDER RELEASE..., where FOLDER is for what is downloaded"""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

# Where PyTorch publishes the wheels without CUDA's libraries. Headers are the same.
INDEX = "https://download.pytorch.org/whl/cpu"
PLATFORM = ["--python-version=3.12", "--platform=manylinux_2_28_x86_64", "--only-binary=:all:"]


def find_installed(release):
    spec = importlib.util.find_spec("torch")
    if not spec or not spec.submodule_search_locations:
        return None
    folder = pathlib.Path(spec.submodule_search_locations[0])
    version = re.search(r"^__version__ = '([^'+]*)", (folder / "version.py").read_text(), re.M)
    return folder if version and version[1] == release else None


def download(release, folder):
    # A constraint of the machine on PyTorch is for others.
    environment = {**os.environ, "PIP_CONSTRAINT": os.devnull}
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir"]
    pip += [*PLATFORM, "--dest", folder, f"torch=={release}"]
    at_index = [*pip, "--index-url", INDEX]
    if subprocess.run(at_index, env=environment, stderr=subprocess.DEVNULL).returncode:
        subprocess.run(pip, env=environment, check=True, stdout=sys.stderr)


def unpack(wheel, folder):
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.startswith("torch/include/")]
        archive.extractall(folder, [*names, "torch/version.py"])


def find_headers(release, folder):
    installed = find_installed(release)
    place = folder / release
    if not installed and not place.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as name:
            temporary = pathlib.Path(name)
            download(release, temporary)
            (wheel,) = temporary.glob("torch-*.whl")
            unpack(wheel, temporary / release)
            (temporary / release).rename(place)
    return installed or place / "torch"


def main():
    folder, *releases = sys.argv[1:]
    for release in releases:
        print(find_headers(release, pathlib.Path(folder)))


if __name__ == "__main__":
    main()
