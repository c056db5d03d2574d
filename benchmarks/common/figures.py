"""Shared parts of the benchmarks of whole models: the options of the command line, and the
files of figures, which a later run continues."""

import argparse
import importlib
import importlib.util
import json
import os
import pathlib
import platform
import subprocess
import sys
import time
from typing import Any, Callable, Iterable, Iterator, Mapping, Sequence

from records import format_records

MIB = 1 << 20
# How long a call measures on a GPU: what is running then ends within eight minutes.
GPU_SECONDS = 440


def add_options(parser: argparse.ArgumentParser, repetitions: int) -> None:
    """Adds the options that are the same of each benchmark. `repetitions` is how many there
    are without an option."""
    parser.add_argument("--repetitions", type=int, default=repetitions)
    add_file_options(parser)


def add_file_options(parser: argparse.ArgumentParser) -> None:
    """Adds those of `add_options` that are there where nothing is measured twice, too."""
    parser.add_argument("--seconds", type=float, help=(
        f"begin nothing that may end later; {GPU_SECONDS} on a GPU"))  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="tiny sizes, for a test")
    parser.add_argument("--json", type=pathlib.Path, help="reads and writes this file")
    parser.add_argument("--table", type=pathlib.Path, metavar="FILE", help="prints FILE")


def parse(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Returns the arguments of the command line, with those of `add_options` checked."""
    arguments = parser.parse_args()
    if getattr(arguments, "repetitions", 2) < 2:
        parser.error("--repetitions is at least 2")
    if arguments.table and not arguments.table.exists():
        parser.error(f"there is no file {arguments.table}")
    return arguments


def get_data(
    arguments: argparse.Namespace, run: Callable[[argparse.Namespace], dict[str, Any]]
) -> dict[str, Any]:
    """Returns the figures of the file that `--table` names, or else those of `run`."""
    if arguments.table:
        return json.loads(arguments.table.read_text())
    # Before PyTorch reads it.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if missing := find_missing():
        sys.exit("missing: " + "\nmissing: ".join(missing))
    return run(arguments)


def find_missing() -> list[str]:
    """Lists the packages of all measurements that cannot be imported here, each with the reason
    and what to do."""
    missing = []
    for name, ways in (
        ("torch", "install PyTorch"),
        ("fad.torch", "install fad's wheel, or use a kit that has the package"),
    ):
        try:
            importlib.import_module(name)
        except (ImportError, OSError) as error:
            missing.append(f"{name} ({error}); {ways}")
    return missing


def choose_device(asked: str | None) -> str:
    import torch

    return asked or ("cuda" if torch.cuda.is_available() else "cpu")


def name_processor() -> str:
    """Returns the processor's name, or its architecture where there is none."""
    info = pathlib.Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":")[1].strip() for line in lines if "model name" in line]
    return names[0] if names else platform.processor() or platform.machine()


def read_versions(on_gpu: bool) -> dict[str, str]:
    """Returns those of the modules that are imported, which metadata of another installation are
    not."""
    import torch

    names = ["torch", "transformers", *["triton"] * on_gpu]
    found = {
        name: str(importlib.import_module(name).__version__)
        for name in names
        if importlib.util.find_spec(name)
    }
    if on_gpu:
        import fad

        # Beside the programs of a kit.
        commit = pathlib.Path(__file__).with_name("commit.txt")
        found["CUDA"], found["driver"] = torch.version.cuda, read_driver()
        found["fad"] = commit.read_text().strip() if commit.exists() else fad.__version__
    return found


def read_driver() -> str:
    """Returns the version of NVIDIA's driver."""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader", "--id=0"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    # Where it fails, it prints why.
    return (done.returncode == 0 and done.stdout.strip()) or "unknown"


def describe(device: str) -> dict[str, Any]:
    """Returns the setting, of which all figures of a file are."""
    import torch

    on_gpu = device.startswith("cuda")
    return {
        "device": torch.cuda.get_device_name() if on_gpu else device,
        "machine": f"{platform.system()} {platform.machine()}",
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "threads": torch.get_num_threads(),
        "clock": "CUDA events" if on_gpu else "CPU time of the process",
        "versions": read_versions(on_gpu),
        **({"processor": name_processor()} if on_gpu else {}),
    }


class Run:
    """A run that adds figures to those of a file."""

    def __init__(self, arguments: argparse.Namespace, setting: dict[str, Any]) -> None:
        self.path, self.seconds = arguments.json, arguments.seconds
        if self.seconds is None and "CUDA" in setting["versions"]:
            self.seconds = GPU_SECONDS
        self.begin = self.last = time.monotonic()
        # The seconds of the measurement that took the most.
        self.longest = 0.0
        self.data: dict[str, Any] = {"setting": setting, "models": {}}
        if self.path is not None and self.path.exists():
            self.data = json.loads(self.path.read_text())
            if self.data["setting"] != setting:
                sys.exit(
                    f"{self.path} has figures of another machine or version: {self.data['setting']}"
                )

    def find_model(self, name: str, sizes: Mapping[str, Any], key: str) -> dict[str, Any]:
        """Figures of the model `name` in the file, under `key`."""
        entry = self.data["models"].setdefault(name, {"sizes": sizes, key: {}})
        if entry["sizes"] != sizes:
            sys.exit(f"{self.path} has {name} in other sizes: {entry['sizes']}")
        return entry[key]

    def is_over(self, what: str = "the rest") -> bool:
        """Tells whether the measurement of `what` may end after `--seconds`, which is said. It may
        take as long as the longest before."""
        now = time.monotonic()
        self.longest, self.last = max(self.longest, now - self.last), now
        is_over = self.seconds is not None and now - self.begin + self.longest > self.seconds
        if is_over:
            print(f"left out, as time is out: {what}; the same command continues", file=sys.stderr)
        return is_over

    def save(self, *what: object) -> None:
        """Writes all figures, and prints `what`, which is new."""
        if self.path is not None:
            new = self.path.with_suffix(".new")
            new.write_text(format_records(self.data) + "\n")
            new.replace(self.path)
        print(*what, file=sys.stderr, flush=True)


def print_setting(setting: dict[str, Any]) -> None:
    parts = [setting[key] for key in ("device", "machine", "instructions") if key in setting]
    if "threads" in setting:
        parts.append(f"{setting['threads']} threads")
    versions = (f"{name} {version}" for name, version in setting["versions"].items())
    ends = [", ".join(parts), ", ".join(versions), setting["clock"]]
    print("; ".join([*ends, *[setting[key] for key in ("processor",) if key in setting]]))


def print_repetitions(counts: Iterable[int], how: str = ", in turns") -> None:
    if counts := set(counts):
        span = " to ".join(map(str, sorted({min(counts), max(counts)})))
        print(f"medians of {span} repetitions{how}")


def print_header(data: dict[str, Any], models: Sequence[str], counts: Iterable[int]) -> None:
    """Prints the setting, the sizes of `models`, and how many repetitions there were."""
    print_setting(data["setting"])
    for name in models:
        sizes = data["models"][name]["sizes"].items()
        print(f"{name}: " + ", ".join(f"{key} {value}" for key, value in sizes))
    print_repetitions(counts)


def find_models(data: Mapping[str, Any], names: Iterable[str]) -> Iterator[Mapping[str, Any]]:
    """Yields the figures of each model by configuration, behind a line with its name and sizes. A
    model without figures ends the program."""
    for name in names:
        if name not in data["models"]:
            sys.exit(f"there are no figures of {name}; of {', '.join(data['models'])} there are")
        model = data["models"][name]
        sizes = ", ".join(f"{key} {value}" for key, value in model["sizes"].items())
        print(f"\n{name}: {sizes}\n")
        yield model["configurations"]
