#!/usr/bin/env python3
"""Packs what the benchmark of torch.compile takes on a machine with a GPU and without
LLVM: the Python package, with LLVM linked into its extension, and the benchmark.

  utils/pack-compile-kit.py --tar=compile-kit.tar.gz

The machine needs PyTorch, Triton, the same minor version of Python, and for most models
transformers; `compile_gpu.py` of the kit says what is missing. The extension is linked
anew, by the command of the build with static libraries in the place of LLVM's shared
ones. --shared packs that of the build instead, for a machine that has LLVM."""

import argparse
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MEBIBYTE = 1 << 20
# It marks a folder as a kit, which another one may replace.
MARK = "compile_gpu.py"
BENCHMARKS = (
    MARK, "torch_compile.py", "compile_measure.py", "compile_models.py", "compile_tables.py",
    "equal_memory.py", "equal_models.py",
)  # fmt: skip
# For tests of LLVM; some need libraries that are not installed.
LEFT_OUT = re.compile("Test|Gtest|Testing")


class PackError(Exception):
    """The kit cannot be packed. The message says why."""


def run(command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)
    if done.returncode:
        raise PackError(f"{command[0]}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def find_extension(package):
    found = list(package.glob("_fad.*.so"))
    if len(found) != 1:
        raise PackError(f"{package} has no extension; build the target FADPython")
    return found[0]


def make_link_command(build, extension, output, exports):
    """The command that links the extension with static libraries."""
    commands = run(["ninja", "-C", build, "-t", "commands", extension.relative_to(build)])
    # The link is the first of several commands in the last line.
    link = commands.strip().splitlines()[-1].removeprefix(": && ").split(" && ")[0]
    words = shlex.split(link)
    shared = [word for word in words if re.search(r"/lib(MLIR|LLVM)[^/]*\.so", word)]
    if not shared:
        raise PackError("the extension of the build is not linked with LLVM's libraries")
    folder = pathlib.Path(shared[0]).parent
    static = [
        path
        for name in ("MLIR", "LLVM")
        for path in sorted(folder.glob(f"lib{name}*.a"))
        if not LEFT_OUT.search(path.name)
    ]
    if not static:
        raise PackError(f"{folder} has no static libraries of LLVM")
    own = [
        word
        for word in words
        if word.endswith((".o", ".a")) and pathlib.Path(word).parent != folder
    ]
    return [
        words[0], "-shared", "-fPIC", "-Wl,-s", "-Wl,--gc-sections", "-Wl,-z,nodelete",
        f"-Wl,--version-script={exports}", "-o", output,
        "-Wl,--start-group", *own, *static, "-Wl,--end-group",
        "-Wl,-Bstatic", "-lz", "-lzstd", "-Wl,-Bdynamic", "-ldl", "-lpthread",
    ]  # fmt: skip


def link(build, extension, output):
    with tempfile.TemporaryDirectory() as folder:
        # Other symbols would be those of another LLVM in the same process.
        exports = pathlib.Path(folder) / "exports.map"
        exports.write_text("{ global: PyInit__fad; local: *; };\n")
        run(make_link_command(build, extension, output, exports), cwd=build)


def copy_files(build, folder, is_shared):
    package = build / "python" / "fad"
    extension = find_extension(package)
    for path in sorted(package.rglob("*.py")):
        target = folder / "fad" / path.relative_to(package)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    if is_shared:
        shutil.copy(extension, folder / "fad")
    else:
        link(build, extension, folder / "fad" / extension.name)
    for name in BENCHMARKS:
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
