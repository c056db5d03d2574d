#!/usr/bin/env python3
"""Packs what the benchmark of torch.compile takes on a machine with a GPU and without
LLVM: the Python package, with LLVM linked into its extension, and the benchmark.

  cmake --build build --target fad-standalone
  utils/pack-compile-kit.py --tar=compile-kit.tar.gz

The machine needs PyTorch, Triton, the same minor version of Python, and for most models
transformers; `compile_gpu.py` of the kit says what is missing. --shared packs the
extension of the build instead, for a machine that has LLVM."""

import argparse
import pathlib
import shutil
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MEBIBYTE = 1 << 20
# It marks a folder as a kit, which another one may replace.
MARK = "compile_gpu.py"
# Of the folder benchmarks.
MODULES = (
    "compile/compile_gpu.py", "compile/torch_compile.py", "compile/compile_budgets.py",
    "compile/compile_measure.py", "compile/compile_tables.py", "compile/equal_memory.py",
    "common/batches.py", "common/compositions.py", "common/figures.py", "common/models.py",
    "common/records.py", "common/steps.py",
)  # fmt: skip


class PackError(Exception):
    """The kit cannot be packed. The message says why."""


def find_extension(folder, target):
    found = list(folder.glob("_fad.*.so"))
    if len(found) != 1:
        raise PackError(f"{folder} has no extension; build the target {target}")
    return found[0]


def copy_files(build, folder, is_shared):
    package = build / "python" / "fad"
    if is_shared:
        binaries = [find_extension(package, "FADPython")]
    else:
        standalone = build / "standalone" / "fad"
        binaries = [find_extension(standalone, "fad-standalone"), *standalone.glob("lib*.so*")]
    for path in sorted(package.rglob("*.py")):
        target = folder / "fad" / path.relative_to(package)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    for path in binaries:
        shutil.copy(path, folder / "fad")
    for name in MODULES:
        shutil.copy(ROOT / "benchmarks" / name, folder)


def write_tar(folder, path, limit):
    part = path.with_name(path.name + ".part")
    with tarfile.open(part, "w:gz", compresslevel=6) as tar:
        tar.add(folder, arcname="compile-kit")
    size = part.stat().st_size / MEBIBYTE
    if size > limit:
        part.unlink()
        raise PackError(f"the archive has {size:.1f} MiB, more than {limit:g}")
    part.rename(path)
    print(f"{path}: {size:.1f} MiB")


def replace(folder, output):
    if output.exists():
        if not (output / MARK).exists():
            raise PackError(f"{output} is there and no kit; give another --output")
        shutil.rmtree(output)
    output.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(folder, output)


def find_build():
    tool = shutil.which("fad-opt")
    return pathlib.Path(tool).resolve().parent.parent if tool else ROOT / "build"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=pathlib.Path, default=find_build(), help=(
        "default: that of the fad-opt on the PATH"))  # fmt: skip
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "build" / "compile-kit")
    parser.add_argument("--tar", type=pathlib.Path, help="a .tar.gz of the folder, too")
    parser.add_argument("--limit", type=float, default=57, help=(
        "MiB that the archive may have; 57 MiB are a little less than 60 MB"))  # fmt: skip
    parser.add_argument("--shared", action="store_true", help="LLVM is not linked in")
    options = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as parent:
            folder = pathlib.Path(parent) / "compile-kit"
            folder.mkdir()
            copy_files(options.build.resolve(), folder, options.shared)
            replace(folder, options.output)
        size = sum(path.stat().st_size for path in options.output.rglob("*") if path.is_file())
        print(f"{options.output}: {size / MEBIBYTE:.1f} MiB")
        if options.tar:
            write_tar(options.output, options.tar, options.limit)
    except (PackError, OSError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
