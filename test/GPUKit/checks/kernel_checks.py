"""Checks of kernels that fad compiled for a GPU: of a kit, by fad-runner, and of both under
compute-sanitizer."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from outcomes import Failed, Skip

# The device of gpu.device, unless a test has another one.
make_device = None
POLICIES = "bp", "recompute", "fad", "auto"
# The gradient of the bias is a sum over rows.
PROGRAM = """func.func @main(%x: tensor<?x64xf32>, %b: tensor<64xf32>) -> tensor<?x64xf32> {
  %s = linalg.generic {
      indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (c)>,
                       affine_map<(r, c) -> (r, c)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<?x64xf32>, tensor<64xf32>) outs(%x : tensor<?x64xf32>) {
  ^bb0(%element: f32, %bias: f32, %out: f32):
    %sum = arith.addf %element, %bias : f32
    linalg.yield %sum : f32
  } -> tensor<?x64xf32>
  %y = fad.ACTIVATION %s : tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}
"""
# Rows: more than a tile has, and the last tile is not full.
SIZE = 78


def run(*command, **variables):
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        env={**os.environ, **variables},
    )
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines()
        raise Failed(f"status {done.returncode}: {' / '.join(lines[-3:])}")


def require_kernels(options):
    if not (options.kernels / "manifest.json").exists():
        raise Skip(f"there is no kit of kernels in {options.kernels}")
    if options.device == "cpu" and make_device is None:
        raise Skip("takes a GPU")


def list_kernels(options):
    require_kernels(options)
    import torch

    sys.path.insert(0, str(options.kernels))
    from gpu import checks, device
    from gpu.kit import Kit, LoadedKit

    machine = (make_device or device.Device)()
    kit = Kit(options.kernels)
    runtime = kit.load_runtime()
    runtime.initialize()
    loaded = LoadedKit(kit, runtime, machine.capability, machine.get_stream)
    generator = torch.Generator(device=machine.name)
    generator.seed()

    def check_streams():
        for kernel in loaded.load("streams").values():
            checks.check_stream(torch, machine, kernel, generator)

    def check_pair(*key):
        pair = loaded.find_pair(*key)
        sizes = checks.list_sizes(pair["forward"].entry["tile_size"])
        try:
            checks.check_pair(
                torch, machine, pair, generator, sizes[:-1] if options.quick else sizes
            )
        except checks.CheckFailed as error:
            raise Failed(str(error)) from None

    yield "streams of the kit", check_streams
    for name in kit.list("activation")[: 3 if options.quick else None]:
        for kind in kit.list("type"):
            for policy in kit.list("policy"):
                key = name, kind, policy
                yield f"kernels {' '.join(key)}", lambda key=key: check_pair(*key)


def find_tool(name, without):
    tool = shutil.which(name) or shutil.which(str(pathlib.Path(sys.executable).with_name(name)))
    if tool is None:
        raise Skip(f"there is no {name} on the PATH{without}")
    return tool


def list_runner(options):
    tool = find_tool(options.runner, "; wheels have it")

    def check(activation, policy):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "program.mlir")
            source.write_text(PROGRAM.replace("ACTIVATION", activation))
            command = tool, source, f"--size={SIZE}", f"--policy={policy}"
            run(*command, f"--target={options.device}", "--check-gradients")
            if options.device == "cuda":
                outputs = [pathlib.Path(folder, target) for target in ("cuda", "cpu")]
                for output in outputs:
                    run(*command, f"--target={output.name}", f"--out={output}")
                compare_arrays(*outputs)

    for activation in "gelu", "mish":
        for policy in POLICIES:
            key = activation, policy
            yield f"fad-runner {' '.join(key)}", lambda key=key: check(*key)


def compare_arrays(found, expected):
    """Fails unless the files of two folders have the same names and close numbers."""
    import numpy

    names = sorted(path.name for path in expected.glob("*.npy"))
    if not names or names != sorted(path.name for path in found.glob("*.npy")):
        raise Failed(f"other results than {', '.join(names)}")
    for name in names:
        one, other = numpy.load(found / name), numpy.load(expected / name)
        if not numpy.allclose(one, other, 1e-5, 1e-5):
            raise Failed(f"{name} is {numpy.abs(one - other).max():.1e} off")


def list_sanitizer(options):
    require_kernels(options)
    tool = find_tool(options.sanitizer, "; a CUDA toolkit has it, for --sanitizer=PATH")
    script = pathlib.Path(__file__).with_name("gpu_checks.py")
    # PyTorch makes calls that fail, and goes on.
    command = tool, "--tool=memcheck", "--error-exitcode=9", "--report-api-errors=no"
    command = *command, "--target-processes=all"
    checks = sys.executable, script, "--only", "kernels", "--quick", "--together"
    checks = *checks, f"--kernels={options.kernels}"
    # Each tensor has memory of its own, beside which an access is seen.
    variables = {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}
    yield "compute-sanitizer", lambda: run(*command, *checks, **variables)
