"""Rates of devices, from which estimates of time are made: bytes that a second moves to and from
memory, operations that matrix products do in it, and the time that the launch of a kernel takes.

A GPU is measured at the first use, in about a second, and the rates are kept in fad's cache, for
the device and the versions of PyTorch and fad. They have two digits, so that a measurement on a
device of the same kind is likely to have the same. Where nothing can be measured, as for fake
tensors of a GPU that is not there, with the environment variable `FAD_RATES=table`, and in a group
of several processes, whose plans have to be the same, they are those of data sheets. A CPU is one
core, and is not measured."""

import contextlib
import functools
import hashlib
import json
import os
import pathlib
import re
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Literal

import torch

from ... import __version__
from ..._choices import check_choice
from ..._places import cache_folder
from ._pytorch import unset_fake_temporarily


@dataclass(frozen=True)
class Rates:
    """The rates of the device `name`: `bandwidth` in bytes a second, `products` in floating-point
    operations a second by the name of a type, and `launch` in seconds."""

    name: str
    bandwidth: float
    products: dict[str, float]
    launch: float
    source: Literal["measured", "data sheet", "assumed"]

    def count_units(self, dtype: torch.dtype) -> float:
        """Returns the time of an operation of a product of the type `dtype`, in units of the time
        that an eighth of a byte takes to memory: `TargetTimes` in C++. Types of 8 bits have the
        rate of 16 bits, and others without one that of 32 bits."""
        name = str(dtype).removeprefix("torch.")
        rate = self.products.get("bfloat16" if dtype.itemsize == 1 else name)
        return 8 * self.bandwidth / (rate or self.products["float32"])

    @property
    def launch_units(self) -> int:
        """The time of a launch in these units."""
        return round(8 * self.bandwidth * self.launch)

    def describe(self) -> str:
        """Returns a line with all of them."""
        products = ", ".join(f"{rate / 1e12:g} in {name}" for name, rate in self.products.items())
        return (
            f"rates of {self.name}, {self.source}: {self.bandwidth / 1e9:g} GB/s, "
            f"{self.launch * 1e6:g} us for a launch; TFLOPS of products: {products}"
        )


_TYPES = ("float16", "bfloat16", "float32", "float64")


def _list(half: float, single: float, double: float) -> dict[str, float]:
    """Returns rates in TFLOPS by type."""
    return dict(zip(_TYPES, (half * 1e12, half * 1e12, single * 1e12, double * 1e12)))


# A core with vector units. One of 36 GB/s does about 70 GFLOPS.
_CPU = Rates("CPU", 36e9, _list(0.072, 0.072, 0.072), 0.0, "assumed")

# The time between the beginnings of two small kernels that follow each other.
_LAUNCH = 2e-6

# Data sheets of the vendors: GB a second, and TFLOPS of dense products in 16, 32 and 64 bits,
# without TF32. By a part of the name; the first that fits.
_TABLE = {
    "GB300": (8000, _list(2500, 80, 1.3)),
    "B300": (8000, _list(2250, 75, 1.2)),
    "GB200": (8000, _list(2500, 80, 40)),
    "B200": (8000, _list(2250, 80, 40)),
    "GH200 144G": (4900, _list(989, 67, 67)),
    "GH200": (4000, _list(989, 67, 67)),
    "H200": (4800, _list(989, 67, 67)),
    "H800 PCIe": (2000, _list(756, 51, 0.8)),
    "H800": (3350, _list(989, 67, 1)),
    "H20": (4000, _list(148, 44, 1)),
    "H100 PCIe": (2000, _list(756, 51, 51)),
    "H100 NVL": (3900, _list(835, 60, 60)),
    "H100": (3350, _list(989, 67, 67)),
    "A100-SXM4-80GB": (2039, _list(312, 19.5, 19.5)),
    "A100 80GB": (1935, _list(312, 19.5, 19.5)),
    "A100": (1555, _list(312, 19.5, 19.5)),
    "L40S": (864, _list(362, 91.6, 1.4)),
    "L40": (864, _list(181, 90.5, 1.4)),
    "L4": (300, _list(121, 30.3, 0.5)),
    "A40": (696, _list(150, 37.4, 0.6)),
    "RTX A6000": (768, _list(155, 38.7, 0.6)),
    "A10G": (600, _list(70, 35, 0.5)),
    "A10": (600, _list(125, 31.2, 0.5)),
    "V100": (900, _list(125, 15.7, 7.8)),
    "Tesla T4": (320, _list(65, 8.1, 0.25)),
    "RTX 6000 Ada": (960, _list(364, 91.1, 1.4)),
    "RTX 5090": (1792, _list(209, 105, 1.6)),
    "RTX 4090": (1008, _list(165, 82.6, 1.3)),
    "RTX 3090": (936, _list(71, 35.6, 0.56)),
    "MI300X": (5300, _list(1307, 163, 163)),
}
# Of a GPU without a name, or with another one.
_DEFAULT = "A100"


def find_rates(device: torch.device) -> Rates:
    """Returns the rates of `device`, which need not be there. Measures them where it is a GPU of
    CUDA whose rates are not known."""
    if device.type == "cpu":
        return _CPU
    if device.type != "cuda" or not torch.cuda.is_available():
        return look_up("")
    index = torch.cuda.current_device() if device.index is None else device.index
    name = torch.cuda.get_device_properties(index).name
    mode = "table" if _is_in_group() else read_mode()
    return _find(index, name, mode, _read_precision())


def read_mode() -> str:
    """Returns where rates are from, as the environment says: from measurements if it is empty. Raises
    ValueError for what is neither."""
    mode = os.environ.get("FAD_RATES", "")
    return mode and check_choice("FAD_RATES is", mode, ("table",))


def _read_precision() -> str:
    """Returns the settings of PyTorch for products of 32 bits."""
    settings = torch.backends, torch.backends.cuda.matmul
    found = [getattr(each, "fp32_precision", None) for each in settings]
    # Where these are set, PyTorch refuses to tell the older setting.
    return repr(torch.backends.cuda.matmul.allow_tf32 if found == [None, None] else found)


def _is_in_group() -> bool:
    """Tells whether this process trains with others."""
    group = torch.distributed
    return group.is_available() and group.is_initialized() and group.get_world_size() > 1


def look_up(name: str) -> Rates:
    """Returns the rates in the data sheet of the GPU `name`, or those of an A100."""
    # That of a laptop has the name of another one.
    keys = () if re.search(r"\b(Laptop|Max-Q|Mobile)\b", name) else _TABLE
    found = next((key for key in keys if re.search(rf"\b{key}\b", name)), None)
    bandwidth, products = _TABLE[found or _DEFAULT]
    source = "data sheet" if found else "assumed"
    return Rates(name or _DEFAULT, bandwidth * 1e9, products, _LAUNCH, source)


@functools.cache
def _find(index: int, name: str, mode: str, precision: str) -> Rates:
    if mode == "table":
        return look_up(name)
    path = _find_path(name, precision)
    with contextlib.suppress(OSError, ValueError, TypeError):
        return Rates(**json.loads(path.read_text()))
    try:
        rates = _measure(torch.device("cuda", index), name)
    except Exception:
        # No device, or one without the memory, or in the middle of a capture.
        return look_up(name)
    # Where nothing can be kept, another process measures again.
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
            json.dump(asdict(rates), file, indent=1)
        os.replace(file.name, path)
    return rates


def _find_path(name: str, precision: str) -> pathlib.Path:
    versions = (name, torch.__version__, torch.version.cuda, __version__)
    key = hashlib.sha256(repr((versions, precision)).encode()).hexdigest()[:16]
    return cache_folder() / "rates" / f"{key}.json"


# Measurement

# The bytes of a tensor, many times what caches hold, and the rows of a matrix.
_BYTES, _ROWS = 256 << 20, 4096
_SECONDS = 0.1
_LAUNCHES = 200


def _measure(device: torch.device, name: str) -> Rates:
    """Returns the measured rates of `device`. Raises RuntimeError without the memory for them."""
    with (
        torch.cuda.device(device),
        unset_fake_temporarily(),
        torch.no_grad(),
        torch.autocast("cuda", enabled=False),
    ):
        if torch.cuda.is_current_stream_capturing():
            raise RuntimeError("a graph is captured, in which nothing can be measured")
        if torch.cuda.mem_get_info(device)[0] < 4 * _BYTES:
            raise RuntimeError("too little memory is free for measurements")
        x = torch.zeros(_BYTES, dtype=torch.uint8, device=device)
        y = torch.empty_like(x)
        bandwidth = 2 * _BYTES / _time(lambda: y.copy_(x))
        products = {}
        for kind in _TYPES:
            # On many GPUs, products of 64 bits take long.
            rows = _ROWS if kind.endswith("16") else _ROWS // 2
            matrix = torch.zeros(rows, rows, dtype=getattr(torch, kind), device=device)
            result = torch.empty_like(matrix)
            products[kind] = 2 * rows**3 / _time(lambda: torch.mm(matrix, matrix, out=result))
        small = x[:32]

        def launch() -> None:
            for _ in range(_LAUNCHES):
                small.zero_()

        seconds = _time(launch) / _LAUNCHES
    rounded = {kind: _round(rate) for kind, rate in products.items()}
    return Rates(name, _round(bandwidth), rounded, _round(seconds), "measured")


def _time(call: Callable[[], object]) -> float:
    """Returns the least seconds of several executions of `call` on the device."""
    for _ in range(2):
        call()
    torch.cuda.synchronize()
    least, end = float("inf"), time.monotonic() + _SECONDS
    while least == float("inf") or time.monotonic() < end:
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        call()
        last.record()
        last.synchronize()
        least = min(least, first.elapsed_time(last) / 1e3)
    return least


def _round(number: float) -> float:
    return float(f"{number:.1e}")
