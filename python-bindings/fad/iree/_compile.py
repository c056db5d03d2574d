"""From a fad.Module to what IREE runs."""

import json
import pathlib
import tempfile
from typing import Sequence, Tuple, Union

from .. import Module, Nested
from .._diagnostics import Diagnostic, Error
from ._executable import Executable
from ._requirements import import_compiler

# Without this IREE computes f64 in f32.
_COMMON_FLAGS = ("--iree-input-demote-f64-to-f32=false",)
_TARGET_FLAGS = {
    "llvm-cpu": (
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=host",
    ),
    "vmvx": (
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=vmvx",
    ),
}
_DEVICES = {"llvm-cpu": "local-task", "vmvx": "local-task"}


class CompileError(Error):
    """IREE's compiler does not take a program; the message is its own."""

    def __init__(self, message: str):
        super().__init__((Diagnostic("error", message),))


def translate(module: Union[Module, Nested]) -> str:
    """Returns the text that IREE's compiler takes for `module`, which stays as it is. It is what
    `fad-opt --fad-to-iree` prints."""
    copy = getattr(module, "module", module).clone()
    copy.run("fad-to-iree")
    return str(copy)


def get_flags(target: str) -> Tuple[str, ...]:
    """Returns the flags of `iree-compile` for `target`."""
    device = (f"--iree-hal-target-device={target}",)
    return _TARGET_FLAGS.get(target, device) + _COMMON_FLAGS


def compile(
    module: Union[Module, Nested],
    *,
    target: str = "llvm-cpu",
    flags: Sequence[str] = (),
) -> Executable:
    """Compiles `module`, what `fad.nest` returns or any Module, with IREE.

    `target` is "llvm-cpu" (this machine's processor), "vmvx" (an interpreter),
    or a device that IREE has a driver for, such as "cuda" or "vulkan"; `flags`
    are further flags of `iree-compile`, such as "--iree-opt-level=O3".

    Raises CompileError where IREE does not take the program."""
    tools = import_compiler()
    text = translate(module)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "statistics.json"
        arguments = [
            *get_flags(target),
            "--iree-scheduling-dump-statistics-format=json",
            f"--iree-scheduling-dump-statistics-file={path}",
            *flags,
        ]
        try:
            binary = tools.compile_str(text, extra_args=arguments)
        except tools.CompilerToolError as error:
            raise CompileError(f"IREE cannot compile the program: {error}") from error
        statistics = json.loads(path.read_text())["stream-aggregate"]
    device = _DEVICES.get(target, target)
    return Executable(binary, device, module, statistics)
