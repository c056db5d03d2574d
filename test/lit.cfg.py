"""How lit finds and runs the tests of fad."""

import contextlib
import functools
import os
import shutil
import subprocess
import sys

import lit.formats
from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

# Worker processes of lit find the classes by the names of their modules.
sys.path.insert(0, os.path.dirname(__file__))
from changed import Changed
from quick import Quick
from sample import Sample
import tool_server

config.name = "FAD-sample" if config.sample else "FAD"
if config.sample:
    test_format = Sample
elif lit_config.params.get("quick"):
    # The tests of check-fad-quick.
    test_format = Quick
elif lit_config.params.get("changed"):
    test_format = functools.partial(Changed, lit_config.params["changed"])
else:
    test_format = lit.formats.ShTest
config.test_format = test_format(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "CMakeLists.txt", "lit.cfg.py", "lit.site.cfg.py"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.fad_obj_root, "test")

# The Python of the tests, the package and the caches are the build's, or those of an environment
# with another release of PyTorch, which utils/test-release.sh makes.
place = lit_config.params.get("environment", config.fad_obj_root)
if place != config.fad_obj_root:
    config.python_executable = os.path.join(place, "bin", "python")

llvm_config.with_system_environment(["HOME", "TMP", "TEMP", "CUDA_HOME", "CUDA_PATH"])
llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)
# Small test programs do not gain from more threads, and lit runs many at once.
config.environment["OMP_NUM_THREADS"] = "2"
# These wait without a processor, which another test uses.
config.environment["OMP_WAIT_POLICY"] = "passive"
# The Python package of the build, and what the scripts of several tests share.
config.environment["PYTHONPATH"] = os.pathsep.join(
    [os.path.join(place, "python")]
    + [os.path.join(config.test_source_root, part) for part in ["Inputs", "Rules"]]
)
# Bytecode is not beside its sources; all tests share it.
config.environment["PYTHONPYCACHEPREFIX"] = os.path.join(config.fad_obj_root, "cache", "bytecode")
# Inductor compiles its headers and equal kernels once for all tests; graphs, each time.
config.environment["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(place, "cache", "inductor")
config.environment["TORCHINDUCTOR_FX_GRAPH_CACHE_DEFAULT"] = "0"
config.environment["TORCHINDUCTOR_AUTOGRAD_CACHE"] = "0"
config.environment["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
# The compiler has the vector instructions that the processor has: each process would load
# PyTorch's libraries three times to see that.
config.environment["TORCHINDUCTOR_VEC_ISA_OK"] = "1"
# Each kernel of Inductor's is linked with PyTorch's libraries, in half the time by this linker,
# which compilers call where they find it here as `ld`.
gold = shutil.which("ld.gold")
if gold:
    linkers = os.path.join(config.fad_obj_root, "cache", "linkers")
    os.makedirs(linkers, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.symlink(gold, os.path.join(linkers, "ld"))
    config.environment["COMPILER_PATH"] = linkers
# Models are built from a configuration; no test downloads anything.
config.environment["HF_HUB_OFFLINE"] = "1"


def find_packages(names):
    """Those of the packages that the tests' Python has. One that is there and broken
    is for the tests to report."""
    code = """
import importlib.util, sys
for name in sys.argv[1:]:
    try:
        if importlib.util.find_spec(name):
            print(name)
    except ModuleNotFoundError:  # A package around it is not there.
        pass
"""
    return subprocess.run(
        [config.python_executable, "-c", code, *names],
        env={**os.environ, **config.environment},
        stdout=subprocess.PIPE,
        text=True,
    ).stdout.split()


packages = {
    "torch": "torch",
    "torch-mlir": "torch_mlir",
    "transformers": "transformers",
    "iree": "iree.compiler",
    "sklearn": "sklearn",
    "triton": "triton",
    "jax": "jaxlib",
    "matplotlib": "matplotlib",
    "nanobind": "nanobind",
    "ml_dtypes": "ml_dtypes",
    "scikit-build-core": "scikit_build_core",
    "yaml": "yaml",
    "ruff": "ruff",
    "accelerate": "accelerate",
    "peft": "peft",
    "lightning": "lightning",
    "trl": "trl",
    "torchtitan": "torchtitan",
}
found_packages = find_packages(["numpy", "mpmath", *packages.values()])
# The numeric tests compare with numpy and mpmath.
if not {"numpy", "mpmath"} <= set(found_packages):
    lit_config.fatal(
        f"{config.python_executable} lacks numpy or mpmath; install them "
        "(apt-get install python3-numpy python3-mpmath) or set FAD_TEST_PYTHON "
        "to a Python that has them"
    )

# Tests that take minutes, where lit has `--param nightly`, as check-fad-nightly gives it;
# `%if nightly` has the same in a line of a test.
if lit_config.params.get("nightly"):
    config.available_features.add("nightly")
    # The wheels of a release are built by several Pythons.
    find_pythons = [os.path.join(config.fad_src_root, "utils", "build-wheel.sh"), "--pythons"]
    if not subprocess.call(find_pythons, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        config.available_features.add("release-pythons")
else:
    # LLVM's optimizations take more time than programs of tests run. Tests of lowerings, of accuracy
    # and of the engine of fad.compile have them nevertheless, and by night all tests.
    config.environment["FAD_OPT_LEVEL"] = "0"
if config.enable_python:
    config.available_features.add("fad-python")
for feature, package in packages.items():
    if package in found_packages:
        config.available_features.add(feature)
# The extension that fad.torch.nest builds at its first use stays in the build folder.
config.environment["FAD_CACHE_DIR"] = os.path.join(place, "cache")
if "torch" in config.available_features and any(map(shutil.which, ["c++", "g++", "clang++"])):
    config.available_features.add("torch-eager")

# A program may hide files from the processes that it starts.
as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
if shutil.which("unshare") and not subprocess.call(
    ["unshare", *as_root, "--mount", "true"], stderr=subprocess.DEVNULL
):
    config.available_features.add("namespaces")


if shutil.which("zsh", path="/usr/bin:/bin"):
    config.available_features.add("zsh")


def find_toolkit(part):
    """The directory of a CUDA toolkit with a part of it, or None."""
    candidates = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH")]
    ptxas = shutil.which("ptxas")
    if ptxas:
        candidates.append(os.path.dirname(os.path.dirname(os.path.realpath(ptxas))))
    candidates.append("/usr/local/cuda")
    for candidate in candidates:
        if candidate and os.path.exists(os.path.join(candidate, part)):
            return candidate
    return None


toolkit = find_toolkit("bin/ptxas")
if toolkit:
    config.available_features.add("cuda-toolkit")
    config.substitutions.append(("%ptxas", os.path.join(toolkit, "bin", "ptxas")))
    config.substitutions.append(("%cuda_toolkit", toolkit))
with_headers = find_toolkit("include/cuda.h")
if with_headers:
    config.available_features.add("cuda-headers")
    config.substitutions.append(("%cuda_include", os.path.join(with_headers, "include")))

# Passes write debug output.
if config.is_debug:
    config.available_features.add("debug")
if config.enable_sanitizers:
    config.available_features.add("sanitizers")
    # LeakSanitizer fails where OpenMP's threads are still there at exit. An
    # allocation that is too large is an error that fad reports. LLVM's libraries
    # are not instrumented: a container that grows there and here, or an allocator
    # that marks its free memory here and hands it out there, is not an error.
    config.environment["ASAN_OPTIONS"] = ":".join(
        [
            "detect_leaks=0",
            "allocator_may_return_null=1",
            "detect_container_overflow=0",
            "allow_user_poisoning=0",
        ]
    )
    config.environment["UBSAN_OPTIONS"] = "halt_on_error=1:print_stacktrace=1"


# Programs that are loaded once. By night, each run loads its own, but for interpreters with PyTorch;
# with sanitizers, each run of fad's programs does.
nightly = bool(lit_config.params.get("nightly"))
clients = os.path.join(config.test_exec_root, "ToolServer")
tool_library = os.path.join(config.fad_obj_root, "lib", "libfad_tool_server.so")
config.tools = config.fad_tools_dir
servers = tool_server.ToolServers()
if not (nightly or config.enable_sanitizers) and os.path.exists(tool_library):
    config.tools = os.path.join(clients, "bin")
    servers.start_tools(config.fad_tools_dir, tool_library)
config.environment["FAD_TOOL_SERVERS"] = servers.prefix
config.environment["FAD_TEST_PYTHON"] = config.python_executable


def serve_python(name, imports):
    """An interpreter that has imported modules."""
    client = os.path.join(clients, "interpreters", name)
    if not os.path.exists(client):
        return config.python_executable
    servers.start_python(name, config.python_executable, config.environment, imports, nightly)
    return client


def serve_torch(feature, name, imports):
    """The same, where there is the package of that feature."""
    if feature not in config.available_features:
        return config.python_executable
    if config.enable_python:
        imports = [*imports, "fad.torch.compile"]
    return serve_python(name, imports)


config.python = config.fad_python = config.python_executable
if not nightly:
    config.python = serve_python("python", tool_server.NUMPY)
    if config.enable_python:
        config.fad_python = serve_python("fad-python", tool_server.FAD)
config.substitutions += [
    ("%lit", config.lit_executable),
    ("%cmake", config.cmake_executable),
    ("%cpack", os.path.join(os.path.dirname(config.cmake_executable), "cpack")),
    ("%cxx", config.cxx_executable),
    ("%cc", config.c_executable),
    ("%python", config.python),
    ("%fad_python", config.fad_python),
    # For tests with another Python than the build's.
    ("%other_python", os.environ.get("FAD_OTHER_PYTHON", "")),
    ("%torch_python", serve_torch("torch", "torch-python", tool_server.TORCH)),
    (
        "%transformers_python",
        serve_torch("transformers", "transformers-python", tool_server.TRANSFORMERS),
    ),
    ("%fad_tools_dir", config.tools),
    ("%llvm_tools_dir", config.llvm_tools_dir),
    ("%mlir_lib_dir", config.mlir_lib_dir),
    ("%fad_obj_root", config.fad_obj_root),
    ("%fad_buffer_stderr", os.path.join(config.fad_obj_root, "lib", "libfad_buffer_stderr.so")),
    ("%fad_cuda_runtime", os.path.join(config.fad_obj_root, "lib", "libfad_cuda_runtime.so")),
    ("%fad_fake_cuda", os.path.join(config.fad_obj_root, "lib", "libfad_fake_cuda.so")),
    ("%fad_fake_kernels", os.path.join(config.fad_obj_root, "lib", "libfad_fake_kernels.so")),
    ("%fad_tool_server", tool_library),
    ("%fad_plugin", os.path.join(config.fad_obj_root, "lib", "fad-plugin.so")),
    ("%fad_src_root", config.fad_src_root),
]

fad_tools = [
    "fad-capi-test",
    "fad-cuda-test",
    "fad-lsp-server",
    "fad-memory-report",
    "fad-opt",
    "fad-reduce",
    "fad-runner",
    "fad-translate",
]
upstream_tools = [
    "FileCheck",
    "mlir-opt",
    "mlir-runner",
    "mlir-translate",
    "not",
    "split-file",
    "count",
]
llvm_config.add_tool_substitutions(
    [ToolSubst(tool, unresolved="ignore") for tool in fad_tools],
    [config.tools, config.fad_tools_dir],
)
llvm_config.add_tool_substitutions(upstream_tools, [config.llvm_tools_dir])
