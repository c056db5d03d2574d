"""Checks Debian's packages of fad in a folder: their names, version and dependencies, that
no file is in two of them, and that none has to do with tests or with the build.

Usage: check_debian.py ROOT FOLDER"""

import pathlib
import re
import subprocess
import sys

DEPENDS = {
    "fad": {"libc6", "libllvm22", "libmlir-22", "libstdc++6", "libomp-22-dev"},
    "libfad-dev": {"fad", "libmlir-22-dev", "llvm-22-dev", "mlir-22-tools"},
    "python3-fad": {"libc6", "libllvm22", "libmlir-22", "python3", "python3-numpy"},
}
FILES = {
    "fad": {"usr/bin/fad-opt", "usr/bin/fad-runner", "usr/lib/fad-plugin.so",
            "usr/lib/libfad_cuda_runtime.so",
            "usr/share/bash-completion/completions/fad-opt",
            "usr/share/zsh/vendor-completions/_fad"},
    "libfad-dev": {"usr/include/fad-c/Dialects.h", "usr/lib/cmake/fad/fadConfig.cmake",
                   "usr/lib/libFADTransforms.a"},
    "python3-fad": {"usr/lib/python3/dist-packages/fad/__init__.py",
                    "usr/lib/python3/dist-packages/fad/_fad.pyi"},
}  # fmt: skip
# Bytes; the sizes are on the page about releases.
LIMITS = {"fad": 15e6, "libfad-dev": 10e6, "python3-fad": 4e6}


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main():
    root, folder = map(pathlib.Path, sys.argv[1:])
    version = re.search(r"project\(fad VERSION ([\d.]+)", (root / "CMakeLists.txt").read_text())[1]
    packages = {run("dpkg-deb", "--field", path, "Package").strip(): path
                for path in folder.glob("*.deb")}  # fmt: skip
    assert set(packages) == set(DEPENDS), packages
    owners = {}
    for name, path in packages.items():
        assert run("dpkg-deb", "--field", path, "Version").strip().startswith(version)
        depends = re.findall(r"(?:^|, )([\w.+-]+)", run("dpkg-deb", "--field", path, "Depends"))
        assert DEPENDS[name] <= set(depends), (name, depends)
        listing = run("dpkg-deb", "--contents", path).splitlines()
        files = {line.split()[5].removeprefix("./") for line in listing if line[0] != "d"}
        assert FILES[name] | {f"usr/share/doc/{name}/copyright"} <= files, (name, sorted(files))
        for file in files:
            assert file not in owners, f"{file} is in {name} and {owners[file]}"
            assert not re.search(r"(?i)fadtest|test[-_]|/build/|\.py[co]$", file), file
            owners[file] = name
        size = path.stat().st_size
        assert size < LIMITS[name], (name, size)
        print(f"{name}: {size / 1e6:.1f} MB, {len(files)} files, needs {', '.join(depends)}")


if __name__ == "__main__":
    main()
