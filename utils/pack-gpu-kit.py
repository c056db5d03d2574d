#!/usr/bin/env python3
"""Packs what the benchmark of kernels takes on a machine with a GPU and without LLVM:
kernels compiled by fad-opt, streams to compare them with, the library that loads them,
and the benchmark.

  utils/pack-gpu-kit.py
  utils/pack-gpu-kit.py gelu silu --types bf16 --chips sm_90 --output kit --tar kit.tar.gz

Each activation is nested for each type and policy. Kernels are packed as PTX, which any
later chip's driver compiles when it loads them, and, where there is a CUDA toolkit, as
machine code for --chips, which is loaded as it is: what runs is then what was counted
here, and loading takes no time of the benchmark's. Beside the kernels with the tiles
that fad-opt chooses there are those that `kernels_gpu.py --sweep` compares, unless
--no-sweep is given. manifest.json says what each kernel takes.

Takes a build of fad, and Python alone."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks" / "kernels"))

import cubin
from activations import ACTIVATIONS, find_definitions, spell
from gpu import kit, streams
from kernel_programs import PackError, read_program

POLICIES = "fad", "recompute"
TYPES = {"f32": 4, "bf16": 2, "f16": 2}
MEBIBYTE = 1 << 20
LIBRARY = "libfad_cuda_runtime.so"


def run(command):
    """Returns the output of a command, as bytes."""
    try:
        done = subprocess.run([str(part) for part in command], capture_output=True)
    except OSError as error:
        raise PackError(
            f"{command[0]}: {error.strerror}; build it, or name a build with --build"
        ) from error
    if done.returncode:
        raise PackError(f"{' '.join(map(str, command))}:\n{done.stderr.decode(errors='replace')}")
    return done.stdout


class Packer:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.tools = options.build / "bin"
        self.nested = folder / "nested.mlir"
        self.ptxas = find_ptxas(options.toolkit)
        self.modules = []

    def list_programs(self):
        for name in self.options.names:
            for kind in self.options.types:
                for policy in POLICIES:
                    yield name, kind, policy

    def nest(self):
        """Nests all programs in one module."""
        programs = list(self.list_programs())
        source = self.folder / "source.mlir"
        source.write_text("".join(spell(n, k, "_".join((n, k, p))) for n, k, p in programs))
        nests = [f"--fad-nest=entry={'_'.join(each)} policy={each[2]}" for each in programs]
        self.nested.write_bytes(run([self.tools / "fad-opt", source, *nests]))
        source.unlink()

    def compile(self, chip, tile):
        """Returns the module compiled for a chip: as text of MLIR, and the names of the files for
        the PTX and the machine code."""
        name = f"kernels-{chip}" + (f"-{tile['block_size']}x{tile['accesses']}" if tile else "")
        pipeline = f"chip={chip}"
        if self.options.toolkit:
            pipeline += f" toolkit={self.options.toolkit}"
        if tile:
            pipeline += f" block-size={tile['block_size']} accesses={tile['accesses']}"
        formats = {"ptx": ("isa", "ptx")}
        if self.ptxas:
            formats["cubin"] = ("bin", "object")
        files = {}
        for suffix, (form, translation) in formats.items():
            compiled = self.folder / f"{name}.mlir"
            lower = f"--fad-to-nvvm={pipeline} format={form}"
            compiled.write_bytes(run([self.tools / "fad-opt", self.nested, lower]))
            files[suffix] = f"{name}.{suffix}"
            run(
                [self.tools / "fad-translate", f"--gpu-binary-to-{translation}", compiled]
                + ["-o", self.folder / files[suffix]]
            )
            if suffix == "ptx":
                text = compiled.read_text()
            compiled.unlink()
        return text, files

    def describe_kernels(self, chip, tile):
        """Compiles the kernels; returns the module's entry of the manifest."""
        text, files = self.compile(chip, tile)
        entries = cubin.find_entries((self.folder / files["ptx"]).read_text())
        if tile and "cubin" in files:
            # These are for the chips that are asked for, and no others.
            (self.folder / files.pop("ptx")).unlink()
        kernels = []
        for activation, kind, policy in self.list_programs():
            program = "_".join((activation, kind, policy))
            for kernel in read_program(text, program, kind, entries):
                kernel.update(activation=activation, type=kind, policy=policy)
                kernel["unit_bytes"] = TYPES[kind]
                kernels.append(kernel)
        module = {"purpose": "kernels", "chip": chip, "files": files, "kernels": kernels}
        if tile:
            module["tile"] = tile
        return module

    def add_streams(self, chip):
        files = {"ptx": f"streams-{chip}.ptx"}
        ptx = self.folder / files["ptx"]
        ptx.write_text(streams.write_ptx(chip))
        if self.ptxas:
            files["cubin"] = f"streams-{chip}.cubin"
            run([self.ptxas, f"-arch={chip}", ptx, "-o", self.folder / files["cubin"]])
        kernels = [
            describe_stream(stream) for mix in streams.MIXES for stream in streams.find_streams(mix)
        ]
        self.modules.append(
            {"purpose": "streams", "chip": chip, "files": files, "kernels": kernels}
        )

    def copy_files(self):
        """Copies the scripts, and the library without its symbols for debuggers."""
        (self.folder / "gpu").mkdir()
        for path in sorted((ROOT / "benchmarks" / "kernels" / "gpu").glob("*.py")):
            shutil.copy(path, self.folder / "gpu")
        for path in "benchmarks/kernels/kernels_gpu.py", "benchmarks/kernels/kernel_figures.py":
            shutil.copy(ROOT / path, self.folder)
        for path in "utils/activations.py", "utils/cubin.py", "benchmarks/common/records.py":
            shutil.copy(ROOT / path, self.folder)
        definitions = find_definitions()
        shutil.copytree(definitions, self.folder / definitions.name)
        library = self.options.runtime or self.options.build / "lib" / LIBRARY
        target = self.folder / LIBRARY
        try:
            shutil.copy(library, target)
        except OSError as error:
            raise PackError(
                f"{error}; build the target FADCUDARuntime, or give --runtime"
            ) from error
        if shutil.which("strip"):
            run(["strip", "--strip-unneeded", target])

    def write_manifest(self):
        manifest = {
            "format": kit.FORMAT,
            "made_with": self.describe(),
            "runtime": LIBRARY,
            "modules": self.modules,
        }
        (self.folder / kit.MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")

    def describe(self):
        version = run([self.tools / "fad-opt", "--version"]).decode()
        facts = {
            "fad": re.search(r"fad VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1],
            "llvm": re.search(r"LLVM version (\S+)", version)[1],
        }
        # A copy of the sources need not be a checkout.
        if shutil.which("git"):
            command = ["git", "-C", ROOT, "describe", "--always", "--dirty"]
            git = subprocess.run(command, capture_output=True, text=True)
            if git.returncode == 0:
                facts["commit"] = git.stdout.strip()
        if self.ptxas:
            version = run([self.ptxas, "--version"]).decode()
            facts["ptxas"] = re.search(r"release (\S+),", version)[1]
        return facts

    def pack(self):
        self.nest()
        tiles = [None]
        if self.options.sweep:
            tiles += [
                {"block_size": threads, "accesses": accesses}
                for threads in streams.THREADS
                for accesses in streams.ACCESSES
            ]
        for chip in self.options.chips:
            self.add_streams(chip)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            jobs = [
                pool.submit(self.describe_kernels, chip, tile)
                for chip in self.options.chips
                for tile in tiles
            ]
            try:
                self.modules += [job.result() for job in jobs]
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        self.nested.unlink()
        self.copy_files()
        self.write_manifest()
        return kit.Kit(self.folder).check_files()


def describe_stream(stream):
    roles = [f"in{i}" for i in range(stream.reads)] + [f"out{i}" for i in range(stream.writes)]
    parameters = [{"role": role, "type": "pointer"} for role in roles]
    return {
        **stream._asdict(),
        "name": stream.name,
        "parameters": [*parameters, {"role": "count", "type": "i32"}],
        "block_size": stream.threads,
        "tile_size": stream.tile,
        "unit_bytes": streams.VECTOR,
        "variants": {"aligned": stream.name},
    }


def find_ptxas(toolkit):
    """ptxas of a toolkit, where fad-opt finds one, too; None where there is none."""
    if toolkit and not shutil.which("ptxas", path=os.path.join(toolkit, "bin")):
        raise PackError(f"{toolkit}: has no bin/ptxas")
    folders = [toolkit] if toolkit else [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH")]
    folders += [] if toolkit else ["/usr/local/cuda"]
    paths = [os.path.join(folder, "bin") for folder in folders if folder]
    return shutil.which("ptxas", path=os.pathsep.join(paths)) or shutil.which("ptxas")


def find_build():
    tool = shutil.which("fad-opt")
    return pathlib.Path(tool).resolve().parent.parent if tool else ROOT / "build"


def measure_folder(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def replace(folder, output):
    """Moves the new kit to where it is to be. What is there goes if it is a kit."""
    if output.exists():
        if not (output / kit.MANIFEST).exists():
            raise PackError(f"{output} is there and no kit; give another --output")
        shutil.rmtree(output)
    output.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(folder, output)


def write_tar(folder, path):
    part = path.with_name(path.name + ".part")
    with tarfile.open(part, "w:gz") as tar:
        tar.add(folder, arcname="gpu-kit")
    part.rename(path)
    print(f"{path}: {path.stat().st_size / MEBIBYTE:.1f} MiB")


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", default=["gelu", "gelu_tanh", "silu", "mish"])
    parser.add_argument("--types", nargs="+", choices=TYPES, default=list(TYPES))
    parser.add_argument("--chips", nargs="+", default=["sm_90", "sm_80"])
    build = "default: that of the fad-opt on the PATH"
    parser.add_argument("--build", type=pathlib.Path, default=find_build(), help=build)
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "build" / "gpu-kit")
    parser.add_argument("--tar", type=pathlib.Path, help="a .tar.gz of the folder, too")
    parser.add_argument("--runtime", help="libfad_cuda_runtime.so, if not that of the build")
    parser.add_argument("--toolkit", help="CUDA toolkit; default: as fad-opt finds it")
    parser.add_argument("--limit", type=float, default=60, help="MiB that the kit may have")
    parser.add_argument("--no-sweep", dest="sweep", action="store_false")
    options = parser.parse_args()
    for name in options.names:
        if name not in ACTIVATIONS:
            parser.error(f"there is no {name}; choose of {', '.join(ACTIVATIONS)}")
    for chip in options.chips:
        if not re.fullmatch(r"sm_\d{2,3}", chip):
            parser.error(f"{chip} is no chip; give sm_90, for instance")
    return options


def main():
    options = parse_options()
    with tempfile.TemporaryDirectory() as parent:
        folder = pathlib.Path(parent) / "gpu-kit"
        folder.mkdir()
        try:
            packer = Packer(options, folder)
            kernels = packer.pack()
            size = measure_folder(folder) / MEBIBYTE
            if size > options.limit:
                raise PackError(
                    f"the kit has {size:.1f} MiB, more than {options.limit:g}; pack fewer "
                    "activations, types or chips, or use --no-sweep"
                )
            replace(folder, options.output)
        except (PackError, kit.KitError) as error:
            sys.exit(f"error: {error}")
        code = "machine code and PTX" if packer.ptxas else "PTX alone: there is no ptxas"
        print(f"{options.output}: {size:.1f} MiB, {kernels} kernels, {code}")
        if options.tar:
            write_tar(options.output, options.tar)


if __name__ == "__main__":
    main()
