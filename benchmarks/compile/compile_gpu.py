#!/usr/bin/env python3
"""The benchmark of torch.compile on a machine with a GPU, in one call of at most eight
minutes, from the kit that utils/pack-compile-kit.py makes.

  python3 compile-kit/compile_gpu.py --json=gpu.json

What matters most is measured first; what is not measured when the time is out is left
out, and the same call continues with --json. Where something is missing, the script says
what it is."""

import argparse
import importlib.machinery
import importlib.util
import os
import pathlib
import sys

import torch_compile

HERE = pathlib.Path(__file__).resolve().parent
# By what a run of eight minutes should have in any case.
MODELS = ("bert", "resnet", "deep", "gpt2", "mish", "unet", "llama", "vit", "t5", "convnext")
WITHOUT_TRANSFORMERS = ("unet", "mish", "frozen-relu")
CONFIGURATIONS = (
    "inductor", "auto", "eager", "auto-peak-0.6", "aggressive", "budget-0.2", "budget-0.5",
)  # fmt: skip


def find_missing(device):
    """Lists the parts that the machine lacks, each as a sentence."""
    missing = []
    names = [path.name for path in (HERE / "fad").glob("_fad.*.so")]
    suffixes = tuple(importlib.machinery.EXTENSION_SUFFIXES)
    if not any(name == "_fad" + suffix for name in names for suffix in suffixes):
        found = importlib.util.find_spec("fad")
        if names or found is None:
            version = f"{sys.version_info.major}.{sys.version_info.minor}"
            missing.append(f"fad for Python {version}: here is {names[0] if names else 'none'}")
    if importlib.util.find_spec("torch") is None:
        return [*missing, "PyTorch"]
    import torch

    if importlib.util.find_spec("torch._inductor.custom_graph_pass") is None or not hasattr(
        importlib.import_module("torch._inductor.custom_graph_pass"), "CustomPartitionerFn"
    ):
        missing.append(f"PyTorch 2.13: {torch.__version__} has no partitioners of others")
    if device == "cuda":
        if not torch.cuda.is_available():
            missing.append("a GPU that PyTorch can use; --device=cpu tests the kit without")
        if importlib.util.find_spec("triton") is None:
            missing.append("Triton, by which Inductor compiles for a GPU")
    if not missing:
        try:
            import fad.torch.compile  # noqa: F401
        except ImportError as error:
            missing.append(f"what fad's extension needs: {error}")
    return missing


def list_models(names):
    """Returns those of `names` that can be made here."""
    if importlib.util.find_spec("transformers") is not None:
        return names
    left = [name for name in names if name not in WITHOUT_TRANSFORMERS]
    if left:
        print(f"left out without transformers: {', '.join(left)}")
    return [name for name in names if name in WITHOUT_TRANSFORMERS]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", nargs="+", choices=torch_compile.NAMES, default=MODELS)
    parser.add_argument("--configurations", nargs="+", default=CONFIGURATIONS)
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--json", default="torch_compile_gpu.json")
    parser.add_argument("--repetitions", default="15")
    parser.add_argument("--seconds", type=float, default=440)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, for a test")
    arguments = parser.parse_args()
    if missing := find_missing(arguments.device):
        sys.exit("missing: " + "\nmissing: ".join(missing))
    models = list_models(arguments.models)
    if not models:
        sys.exit("missing: transformers, which all of these models are of")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.argv[1:] = [
        "--models", *models, "--configurations", *arguments.configurations,
        "--device", arguments.device, "--json", arguments.json,
        "--repetitions", arguments.repetitions, "--seconds", str(arguments.seconds),
        *["--quick"] * arguments.quick,
    ]  # fmt: skip
    torch_compile.main()


if __name__ == "__main__":
    main()
