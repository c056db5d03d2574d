"""Checks the contents of the wheels of a release in a folder: each has one module, of the Python
that its name says, the same libfad.so, and an extension of fad.torch.nest for each release.

Usage: check_wheels.py FOLDER RELEASES, where RELEASES is a file with a release a line"""

import pathlib
import re
import sys
import zipfile


def read(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {info.filename: info.CRC for info in archive.infolist()}


def check(wheel, releases):
    files = read(wheel)
    python, abi = re.search(r"-(cp3\d+)-(\w+)-manylinux", wheel.name).groups()
    kind = "abi3" if abi == "abi3" else f"cpython-{python[2:]}-x86_64-linux-gnu"
    modules = [name for name in files if re.fullmatch(r"fad/_fad\..*so", name)]
    assert modules == [f"fad/_fad.{kind}.so"], modules
    prebuilt = [name for name in files if name.startswith("fad/torch/eager/prebuilt/eager-")]
    found = sorted(re.search(r"eager-torch([\d.]+)-", name)[1] for name in prebuilt)
    assert found == sorted(releases), found
    needed = ("fad/_fad.pyi", "fad/libomp.so.5", "fad/libfad_cuda_runtime.so", "fad/py.typed")
    assert set(needed) <= set(files), files
    assert any(name.endswith("scripts/fad-opt") for name in files), files
    return files["fad/libfad.so"]


def main():
    folder, path = map(pathlib.Path, sys.argv[1:])
    releases = [line for line in path.read_text().split("\n") if line and line[0] != "#"]
    libraries = {check(wheel, releases) for wheel in folder.glob("*.whl")}
    assert len(libraries) == 1, libraries
    print("all checks passed")


if __name__ == "__main__":
    main()
