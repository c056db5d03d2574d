"""Programs, and running them."""

import os
from typing import Dict, Optional, Tuple, Union

import numpy as np

from . import _fad
from ._arrays import to_argument, to_result
from ._types import Signature, make_type


class Module:
    """An MLIR module; made by `fad.parse`, `fad.nest` and the like.

    `str(module)` is its text, which `fad.parse` reads. Modules can be used
    from several threads; calls on a module and on those made from it wait for
    each other."""

    def __init__(self, handle: _fad.Module):
        self._handle = handle
        self._executable: Optional["Executable"] = None

    def __str__(self) -> str:
        return self._handle.print(max_elements=None, locations=False)

    def __repr__(self) -> str:
        return f"<fad.Module of {', '.join(self.functions) or 'no functions'}>"

    def text(
        self, *, max_elements: Optional[int] = None, locations: bool = False
    ) -> str:
        """The text of the module. Constants of more than `max_elements`
        elements are left out, and the text is then for people only;
        `locations` adds where each operation comes from."""
        return self._handle.print(max_elements=max_elements, locations=locations)

    @property
    def functions(self) -> Tuple[str, ...]:
        """The names of the functions, in order."""
        return tuple(self._handle.functions())

    def signature(self, function: str) -> Signature:
        """The types that `function` takes and returns."""
        arguments, results = self._handle.signature(function)
        return Signature(
            tuple(map(make_type, arguments)), tuple(map(make_type, results))
        )

    def verify(self) -> None:
        """Raises fad.Error where the module is not valid."""
        self._handle.verify()

    def run(self, pipeline: str) -> None:
        """Runs passes on the module, in place.

        `pipeline` names passes and pipelines of fad and of upstream MLIR as
        `fad-opt --pass-pipeline` does, such as "fad-nest{policy=bp},cse".
        Raises fad.Error, and leaves the module as it was, where one fails."""
        self._handle.run(pipeline)
        self._executable = None

    def clone(self) -> "Module":
        """A copy."""
        return Module(self._handle.clone())

    def _compiled(self) -> "Executable":
        if self._executable is None:
            self._executable = Executable(self)
        return self._executable


class Executable:
    """The public functions of a module, compiled for this machine."""

    def __init__(self, module: Module):
        self._handle = _fad.compile(module._handle)
        self._signatures: Dict[str, Signature] = {
            name: module.signature(name) for name in module.functions
        }

    def call(self, function: str, *arguments) -> Tuple[np.ndarray, ...]:
        """The results of `function` for `arguments`, numpy arrays or numbers."""
        signature = self._signatures.get(function)
        if signature is None:
            names = ", ".join(self._signatures)
            raise ValueError(f"there is no function {function!r}; there are {names}")
        if len(arguments) != len(signature.arguments):
            raise TypeError(
                f"{function} takes {len(signature.arguments)} arguments, "
                f"but {len(arguments)} are given"
            )
        arrays = [
            to_argument(value, kind, f"argument {index} of {function}")
            for index, (value, kind) in enumerate(zip(arguments, signature.arguments))
        ]
        results = self._handle.call(function, arrays)
        return tuple(map(to_result, results, signature.results))


def parse(text: Union[str, bytes], filename: str = "<string>") -> Module:
    """The module that `text` spells, or that bytecode holds; locations name
    `filename`. Raises fad.Error where that is not a valid module."""
    return Module(_fad.parse(text, filename))


def parse_file(path: Union[str, os.PathLike]) -> Module:
    """The module in the file at `path`, text or bytecode. Raises fad.Error
    where that is not a valid module, and OSError where it cannot be read."""
    return Module(_fad.parse_file(os.fspath(path)))


def compile(module) -> Executable:
    """Compiles the public functions of `module`, a Module or Nested."""
    return Executable(getattr(module, "module", module))


def run(module, function: str, *arguments) -> Tuple[np.ndarray, ...]:
    """The results of `function` of `module`, a Module or Nested."""
    return getattr(module, "module", module)._compiled().call(function, *arguments)
