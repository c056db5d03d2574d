"""Errors of a model that cannot be exported, with their places in its files."""

import os
import re
import sys
import sysconfig
from types import TracebackType
from typing import Iterator, NamedTuple, Optional, Union

from ..._diagnostics import Diagnostic, Error, Location
from .._requirements import torch

_FAD = os.path.dirname(os.path.dirname(__file__))
_PYTORCH = os.path.dirname(torch.__file__)
_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
_MLIR_LOCATION = re.compile(r'"([^"]+)":(\d+):(\d+)')


class ExportError(Error):
    """PyTorch or torch-mlir cannot export a model; most messages are theirs."""

    def __init__(self, *errors: Union[str, Diagnostic]):
        super().__init__(
            tuple(
                each if isinstance(each, Diagnostic) else Diagnostic("error", each)
                for each in errors
            )
        )


class _Frame(NamedTuple):
    file: str
    line: int

    def is_in(self, folder: str) -> bool:
        return self.file.startswith(folder + os.sep)

    def is_file(self) -> bool:
        """Tells whether this is no line of code that PyTorch has made."""
        return not self.file.startswith("<")


def locate_in_model(graph, loss) -> None:
    """Leaves, of where each operation of `graph` comes from, what a user knows:
    neither lines of fad nor, where there are others, of PyTorch. What has no
    line of its own comes from the function `loss`."""
    code = getattr(loss, "__code__", None)
    fallback = [_Frame(code.co_filename, code.co_firstlineno)] if code else []
    for node in graph.nodes:
        trace = node.stack_trace
        if not trace and node.target is torch.ops.higher_order.wrap_with_set_grad_enabled:
            # When it is decomposed, all of its graph gets the line of the node.
            inner = getattr(graph.owning_module, node.args[1].target).graph
            trace = next(filter(None, (n.stack_trace for n in inner.nodes)), "")
        if not trace:
            continue
        frames = [_Frame(file, int(line)) for file, line in _FRAME.findall(trace)]
        frames = [each for each in frames if each.is_file() and not each.is_in(_FAD)]
        frames = frames or fallback
        frames = [each for each in frames if not each.is_in(_PYTORCH)] or frames
        node.stack_trace = "\n".join(f'File "{each.file}", line {each.line},' for each in frames)


def find_node_location(node) -> Optional[Location]:
    """Returns the innermost line that the operation `node` comes from."""
    frames = _FRAME.findall(node.stack_trace or "")
    return Location(frames[-1][0], int(frames[-1][1]), 0) if frames else None


def find_mlir_location(location) -> Optional[Location]:
    """Returns the innermost line that a location of torch-mlir names."""
    match = _MLIR_LOCATION.search(str(location))
    return Location(match[1], int(match[2]), int(match[3])) if match else None


def make_error(error: BaseException, prefix: str = "") -> ExportError:
    """Returns the ExportError for `error`, which was raised while the model ran."""
    message = f"{prefix}{error}"
    return ExportError(Diagnostic("error", message, _find_raise_location(error)))


def _find_raise_location(error: BaseException) -> Optional[Location]:
    """Returns the innermost line of the model, or of the loss, that `error` went through."""
    packages = [sysconfig.get_path("stdlib"), _FAD, _PYTORCH]
    # PyTorch computes sizes with it.
    if "sympy" in sys.modules:
        packages.append(os.path.dirname(sys.modules["sympy"].__file__))
    found = None
    for frame in _walk(error.__traceback__):
        if frame.is_file() and not any(frame.is_in(each) for each in packages):
            found = Location(frame.file, frame.line, 0)
    return found


def _walk(traceback: Optional[TracebackType]) -> Iterator[_Frame]:
    while traceback:
        yield _Frame(traceback.tb_frame.f_code.co_filename, traceback.tb_lineno)
        traceback = traceback.tb_next
