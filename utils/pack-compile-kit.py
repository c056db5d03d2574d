#!/usr/bin/env python3
"""Packs what benchmarks and checks of fad.torch take on a machine with a GPU and without LLVM, and
the kernels that utils/pack-gpu-kit.py has packed.

  utils/pack-compile-kit.py --without-package --tar=compile-kit.tar.gz

is for a machine with fad's wheel, PyTorch, Triton, and for most models transformers. Without that
option, the kit has the Python package, too, with LLVM linked into its extension, for the same minor
version of Python: the target fad-standalone builds it. --shared packs the extension of the build
instead, for a machine that has LLVM. `compile_gpu.py` of the kit says what is missing."""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MEBIBYTE = 1 << 20
# It marks a folder as a kit, which another one may replace.
MARK = "compile_gpu.py"
MODULES = (
    *(f"benchmarks/compile/{name}.py" for name in (
        "compile_gpu", "torch_compile", "compile_budgets", "compile_measure", "compile_tables",
        "equal_memory", "language_models", "language_measure")),
    *(f"benchmarks/eager/{name}.py" for name in (
        "paper", "mixed", "mixed_measure", "eager_methods", "eager_models", "eager_tables")),
    *(f"benchmarks/common/{name}.py" for name in (
        "batches", "compositions", "figures", "models", "records", "steps")),
    *(f"test/GPUKit/checks/{name}.py" for name in (
        "gpu_checks", "kernel_checks", "outcomes", "torch_checks")),
    *(f"test/python/eager/Inputs/{name}.py" for name in (
        "check_random", "cuda_autocast", "mixed_models", "random_operators", "random_programs")),
    "utils/test-gpu.sh",
)  # fmt: skip
KERNELS = "manifest.json"


class PackError(Exception):
    """The kit cannot be packed. The message says why."""


def find_extension(folder, target):
    found = list(folder.glob("_fad.*.so"))
    if len(found) != 1:
        raise PackError(f"{folder} has no extension; build the target {target}")
    return found[0]


def copy_package(build, folder, is_shared):
    package = build / "python" / "fad"
    if is_shared:
        binaries = [find_extension(package, "FADPython")]
    else:
        standalone = build / "standalone" / "fad"
        binaries = [find_extension(standalone, "fad-standalone"), *standalone.glob("lib*.so*")]
    # The extension of fad.torch.nest is compiled at its first use.
    for suffix in "py", "h", "cpp":
        for path in sorted(package.rglob(f"*.{suffix}")):
            target = folder / "fad" / path.relative_to(package)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    for path in binaries:
        shutil.copy(path, folder / "fad")


def copy_files(folder, kernels):
    for name in MODULES:
        shutil.copy(ROOT / name, folder)
    if (kernels / KERNELS).exists():
        shutil.copytree(kernels, folder / "kernels")
    else:
        print(f"no kernels: none are in {kernels}, where utils/pack-gpu-kit.py packs them")
    # A copy of the sources need not be a checkout.
    if shutil.which("git"):
        command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 0:
            (folder / "commit.txt").write_text(done.stdout)


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
    parser.add_argument("--without-package", action="store_true", help="for a wheel")
    parser.add_argument("--kernels", type=pathlib.Path, default=ROOT / "build" / "gpu-kit", help=(
        "folder that utils/pack-gpu-kit.py packed"))  # fmt: skip
    options = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as parent:
            folder = pathlib.Path(parent) / "compile-kit"
            folder.mkdir()
            build = options.build.resolve()
            if not options.without_package:
                copy_package(build, folder, options.shared)
            copy_files(folder, options.kernels)
            replace(folder, options.output)
        size = sum(path.stat().st_size for path in options.output.rglob("*") if path.is_file())
        print(f"{options.output}: {size / MEBIBYTE:.1f} MiB")
        if options.tar:
            write_tar(options.output, options.tar, options.limit)
    except (PackError, OSError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
