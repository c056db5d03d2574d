"""Lists the programs and libraries of this machine that fad can use: `python -m fad doctor`."""

import ctypes
import importlib
import importlib.metadata
import os
import pathlib
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from . import _fad
from ._dict import AsDict
from ._module import parse
from ._places import cache_folder, find_compiler, name_compilers
from ._run import run

# The extensions of processors that kernels gain from.
_FEATURES = (
    "avx avx2 fma f16c avx512f avx512bf16 avx512fp16 amx-bf16 neon fullfp16 bf16 sve"
).split()
# Packages that parts of fad need: the name that they are imported by, that of pip, and
# what is not there without them.
_PACKAGES = (
    ("ml_dtypes", "ml_dtypes", "arrays of bfloat16 cannot be passed"),
    ("torch_mlir", "torch-mlir", "PyTorch models cannot be exported (fad.torch.export)"),
    ("iree.compiler", "iree-base-compiler", "fad.iree cannot compile"),
    ("iree.runtime", "iree-base-runtime", "fad.iree cannot run"),
    ("matplotlib", "matplotlib", "fad.plot draws nothing"),
)


@dataclass(frozen=True)
class Check(AsDict):
    """One checked part, and its state. `advice` says which features a missing or broken part
    costs, and how to mend it."""

    name: str
    state: Literal["ok", "missing", "broken"]
    value: str = ""
    advice: str = ""


def _check_fad() -> Iterator[Check]:
    folder = pathlib.Path(_fad.__file__).parent
    yield Check("fad", "ok", f"{_fad.version} in {folder}")
    system = _fad.system()
    is_inside = (folder / "libfad.so").exists()
    where = "inside of the package" if is_inside else "shared libraries of the machine"
    yield Check("LLVM", "ok", f"{system['llvm']}, {where}")
    features = [name for name in _FEATURES if name in system["features"]]
    processor = f"{system['processor']} ({', '.join(features) or 'no vector extension'})"
    yield Check("processor", "ok", processor)


def _check_compilation() -> Iterator[Check]:
    module = parse(
        "func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {\n"
        "  %y = math.exp %x : tensor<?xf32>\n  return %y : tensor<?xf32>\n}"
    )
    x = np.linspace(-1, 1, 100, dtype=np.float32)
    (y,) = run(module, "f", x)
    if np.allclose(y, np.exp(x), rtol=1e-6):
        yield Check("compiled code", "ok", "runs")
    else:
        advice = "report this, with the processor above"
        yield Check("compiled code", "broken", "computes wrong numbers", advice)


def _check_python() -> Iterator[Check]:
    yield Check("Python", "ok", f"{platform.python_version()} ({sys.executable})")
    yield Check("numpy", "ok", np.__version__)


def _is_missing(error: ImportError, name: str) -> bool:
    """Tells whether it is the module `name` that was not found, and no other that it imports."""
    return isinstance(error, ModuleNotFoundError) and f"{name}.".startswith(f"{error.name}.")


def _check_packages() -> Iterator[Check]:
    for name, package, cost in _PACKAGES:
        try:
            importlib.import_module(name)
        except ImportError as error:
            if _is_missing(error, name):
                yield Check(package, "missing", "", f"{cost}: pip install {package}")
            else:
                advice = f"{cost}: pip install --force-reinstall {package}"
                yield Check(package, "broken", str(error), advice)
            continue
        try:
            version = importlib.metadata.version(package)
        # Of a folder on the path.
        except importlib.metadata.PackageNotFoundError:
            version = "installed"
        yield Check(package, "ok", version)


def _check_torch() -> Iterator[Check]:
    try:
        import torch
    except ImportError as error:
        cost = "torch.compile(backend='fad') and fad.torch are not there: pip install"
        if _is_missing(error, "torch"):
            yield Check("PyTorch", "missing", "", f"{cost} torch")
        else:
            yield Check("PyTorch", "broken", str(error), f"{cost} --force-reinstall torch")
        return
    from .torch import _releases
    from .torch.eager import _extension

    cuda = f", CUDA {torch.version.cuda}" if torch.version.cuda else ", for CPUs"
    advice = (
        ""
        if _releases.is_tested()
        else f"fad is tested with PyTorch {_releases.name_tested()}; fad.torch.nest refuses others"
    )
    yield Check("PyTorch", "ok", torch.__version__ + cuda, advice)
    for number in range(torch.cuda.device_count() if torch.version.cuda else 0):
        from .torch.compile._rates import find_rates

        try:
            rates = find_rates(torch.device("cuda", number)).describe()
        except ValueError as error:
            yield Check(
                f"GPU {number}", "broken", str(error), "set FAD_RATES to a choice, or unset it"
            )
        else:
            yield Check(f"GPU {number}", "ok", rates)
    library = _extension.library_path()
    if library.exists():
        yield Check("extension of fad.torch.nest", "ok", f"built: {library}")
    else:
        advice = (
            "the first use of fad.torch.nest takes half a minute more; to build it now: "
            "python -m fad.torch.eager"
        )
        yield Check("extension of fad.torch.nest", "missing", "not built yet", advice)


class _Version(ctypes.Structure):
    """The beginning of oneDNN's dnnl_version_t."""

    _fields_ = [(name, ctypes.c_int) for name in ("major", "minor", "patch")]


def _name_onednn(library: ctypes.CDLL) -> str:
    library.dnnl_version.restype = ctypes.POINTER(_Version)
    version = library.dnnl_version().contents
    return f"oneDNN {version.major}.{version.minor}.{version.patch}"


def _name_openblas(library: ctypes.CDLL) -> str:
    library.openblas_get_config.restype = ctypes.c_char_p
    return " ".join(library.openblas_get_config().decode().split()[:2])


# The libraries that multiply matrices, in the order in which lib/Runtime/Library tries
# them: the variable that names another file, the files, and what says name and version.
_MULTIPLIERS = (
    ("FAD_ONEDNN_LIBRARY", ("libdnnl.so.3", "libdnnl.so.2"), _name_onednn),
    ("FAD_OPENBLAS_LIBRARY", ("libopenblas.so.0",), _name_openblas),
)


def _check_multipliers() -> Iterator[Check]:
    found = []
    for variable, files, describe in _MULTIPLIERS:
        given = os.environ.get(variable)
        for file in files if given is None else filter(None, [given]):
            try:
                found.append(describe(ctypes.CDLL(file)))
                break
            # It is not there, or is another library.
            except (OSError, AttributeError):
                continue
    name = "oneDNN or OpenBLAS"
    if found:
        yield Check(name, "ok", ", ".join(found))
        return
    advice = (
        "large products of matrices take longer: apt-get install libdnnl2, or libopenblas0-openmp"
    )
    yield Check(name, "missing", "", advice)


def _check_compiler() -> Iterator[Check]:
    compiler = find_compiler()
    if compiler:
        yield Check("C++ compiler", "ok", compiler)
        return
    names = ", ".join(name_compilers())
    advice = (
        f"none of {names} is there, so the extension of fad.torch.nest cannot be built: "
        "apt-get install g++, or set CXX"
    )
    yield Check("C++ compiler", "missing", "", advice)


def _check_driver() -> Iterator[Check]:
    name = os.environ.get("FAD_CUDA_DRIVER", "libcuda.so.1")
    try:
        driver = ctypes.CDLL(name)
    except OSError:
        advice = "kernels cannot be launched here: install NVIDIA's driver where there is a GPU"
        yield Check("CUDA driver", "missing", "", advice)
    else:
        if not hasattr(driver, "cuInit"):
            advice = "this is no CUDA driver: unset FAD_CUDA_DRIVER, or set it to libcuda.so.1"
            yield Check("CUDA driver", "broken", f"{name} has no function cuInit", advice)
            return
        version, count = ctypes.c_int(), ctypes.c_int()
        status = driver.cuInit(0) or driver.cuDriverGetVersion(ctypes.byref(version))
        status = status or driver.cuDeviceGetCount(ctypes.byref(count))
        if status:
            advice = "kernels cannot be launched here: nvidia-smi says more"
            yield Check("CUDA driver", "broken", f"{name}: error {status}", advice)
        else:
            release = f"{version.value // 1000}.{version.value % 1000 // 10}"
            yield Check("CUDA driver", "ok", f"CUDA {release}, devices: {count.value}")


def _check_toolkit() -> Iterator[Check]:
    toolkit = _fad.system()["cuda_toolkit"]
    if toolkit:
        yield Check("CUDA toolkit", "ok", toolkit)
        return
    advice = (
        "kernels for GPUs cannot be compiled (fad-to-nvvm): pip install nvidia-cuda-nvcc, or "
        "set CUDA_HOME"
    )
    yield Check("CUDA toolkit", "missing", "", advice)


def _check_cache() -> Iterator[Check]:
    folder = cache_folder()
    existing = folder
    while not existing.exists():
        existing = existing.parent
    try:
        # Permissions do not say it: no file system lets anyone write to /proc.
        os.rmdir(tempfile.mkdtemp(dir=existing))
    except OSError:
        advice = "what is built is not kept: set FAD_CACHE_DIR to a folder that can be written"
        yield Check("cache", "broken", f"{folder} cannot be written", advice)
        return
    files = [path for path in folder.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files) / 2**20
    yield Check("cache", "ok", f"{folder}: {len(files)} files, {size:.1f} MiB")


_CHECKS: dict[str, Callable[[], Iterator[Check]]] = {
    "fad": _check_fad,
    "compiled code": _check_compilation,
    "oneDNN or OpenBLAS": _check_multipliers,
    "Python": _check_python,
    "packages": _check_packages,
    "PyTorch": _check_torch,
    "C++ compiler": _check_compiler,
    "CUDA driver": _check_driver,
    "CUDA toolkit": _check_toolkit,
    "cache": _check_cache,
}


def examine() -> list[Check]:
    """Returns all checks. One that fails itself is broken, and the others go on."""
    checks: list[Check] = []
    for name, check in _CHECKS.items():
        try:
            checks.extend(check())
        # Whatever is installed may be broken in any way.
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
            checks.append(Check(name, "broken", problem, "install it again, or report this"))
    return checks


def format_table(checks: list[Check]) -> str:
    """Returns the checks as text, one a line, with advice below."""
    width = max(len(check.name) for check in checks)
    lines = []
    for check in checks:
        lines.append(f"{check.state:8} {check.name:{width}}  {check.value}".rstrip())
        if check.advice:
            lines.append(f"{'':8} {'':{width}}  {check.advice}")
    return "\n".join(lines)
