"""Checks the source distribution of fad in a folder: it has every file that a build takes,
with its contents, the license and the version, and nothing of the tests.

Usage: check_sdist.py ROOT FOLDER"""

import pathlib
import re
import sys
import tarfile

NEEDED = ("CMakeLists.txt", "LICENSE", "README.md", "pyproject.toml", "cmake", "docs/CMakeLists.txt",
          "include", "lib", "python-bindings", "tools")  # fmt: skip
# Other files may stand at the top.
ABOUT = (".md", ".json", "PKG-INFO", ".gitignore")
LIMIT = 4 << 20


def find_files(root):
    for name in NEEDED:
        path = root / name
        for file in path.rglob("*") if path.is_dir() else [path]:
            if file.is_file() and "__pycache__" not in file.parts:
                yield file.relative_to(root).as_posix()


def main():
    root, folder = map(pathlib.Path, sys.argv[1:])
    (path,) = folder.glob("fad_mlir-*.tar.gz")
    version = re.search(r"project\(fad VERSION ([\d.]+)", (root / "CMakeLists.txt").read_text())[1]
    name = f"fad_mlir-{version}"
    assert path.name == f"{name}.tar.gz", path.name
    with tarfile.open(path) as tar:
        files = {
            member.name.removeprefix(f"{name}/"): tar.extractfile(member).read()
            for member in tar
            if member.isfile()
        }
    needed = set(find_files(root))
    assert len(needed) > 300, len(needed)
    for file in needed:
        assert file in files, f"{file} is missing"
        assert files[file] == (root / file).read_bytes(), f"{file} is another one"
    more = {file for file in set(files) - needed if "/" in file or not file.endswith(ABOUT)}
    assert not more, f"is in the distribution: {sorted(more)[:5]}"
    assert f"Version: {version}\n" in files["PKG-INFO"].decode()
    assert path.stat().st_size < LIMIT, path.stat().st_size
    print(f"{len(files)} files, {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
