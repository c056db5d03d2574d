"""Programs."""

import os
import threading
from typing import TYPE_CHECKING, Any

from . import _fad
from ._choices import unknown_attribute
from ._types import Signature, make_type


class Module:
    """An MLIR module. `fad.parse`, `fad.nest` and the like make them.

    `str(module)` is its text, which `fad.parse` reads. Modules can be used
    from several threads: a call on a module waits for those on it and on the
    modules made from it by `clone` and `fad.nest`. `copy.copy` and
    `copy.deepcopy` are clones, and a module can be pickled."""

    def __init__(self, handle: _fad.Module):
        self._handle = handle
        # The executable that `fad.run` compiles, until the module changes.
        self._compiled: Any = None
        self._lock = threading.Lock()

    def __str__(self) -> str:
        return self.text()

    def __copy__(self) -> "Module":
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> "Module":
        return self.clone()

    def __reduce__(self) -> tuple[Any, ...]:
        return parse, (self.text(locations=True),)

    def __repr__(self) -> str:
        return f"<fad.Module: {', '.join(self.functions) or 'no functions'}>"

    # A type checker knows which attributes there are.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # Of an object that is not initialized, no functions are known.
            functions = self.functions if "_handle" in vars(self) else ()
            raise unknown_attribute(self, name, functions, "fad.run(module, {!r}, ...)")

    def text(self, *, max_elements: int | None = None, locations: bool = False) -> str:
        """Returns the text of the module.

        Constants of more than `max_elements` elements are left out, and the
        text is then for people only. `locations` adds where each operation
        comes from."""
        return self._handle.print(max_elements, locations)

    def write(self, path: str | os.PathLike[str], *, bytecode: bool = False) -> None:
        """Writes the module to the file at `path`, as text or as bytecode.

        Raises OSError where that is not possible. Large constants take no
        memory on the way, as they do with `str(module)`."""
        self._handle.write(_encode(path), bytecode)

    @property
    def functions(self) -> tuple[str, ...]:
        """The names of the functions, in order."""
        return tuple(self._handle.functions())

    def signature(self, function: str) -> Signature:
        """Returns the types that `function` takes and returns. Raises fad.Error where the module
        has no such function."""
        arguments, results = self._handle.signature(function)
        return Signature(tuple(map(make_type, arguments)), tuple(map(make_type, results)))

    def verify(self) -> None:
        """Raises fad.Error where the module is not valid."""
        self._handle.verify()

    def run(self, pipeline: str) -> None:
        """Runs passes on the module, in place.

        `pipeline` names passes and pipelines of fad and of upstream MLIR, as
        for `fad-opt --pass-pipeline`, such as "fad-nest{policy=bp},cse"; the
        "builtin.module(...)" around them can be left out. Raises fad.Error
        where there is no such pass or one fails; the module then stays as it
        was."""
        if not isinstance(pipeline, str):
            raise TypeError(
                f"a pipeline is a {type(pipeline).__name__}; give text, such as 'fad-nest,cse'"
            )
        try:
            self._handle.run(pipeline)
        finally:
            # A warning that is made an error comes when the module has changed.
            with self._lock:
                self._compiled = None

    def clone(self) -> "Module":
        """Returns a copy of the module."""
        return Module(self._handle.clone())


def get_handle(module: Module) -> _fad.Module:
    """Returns the C++ object for `module`."""
    if not isinstance(module, Module):
        hint = "; fad.parse makes one of text" if isinstance(module, str) else ""
        raise TypeError(f"a fad.Module is expected, not a {type(module).__name__}{hint}")
    return module._handle


def _encode(path: str | os.PathLike[str]) -> bytes:
    """`path` for C++, where names end with a null byte."""
    encoded = os.fsencode(path)
    if b"\0" in encoded:
        raise ValueError(f"the path {path!r} has a null byte")
    return encoded


def parse(text: str | bytes, filename: str = "<string>") -> Module:
    """Returns the module that `text` spells, or that bytecode holds.

    Diagnostics and locations name `filename`. Raises fad.Error where that is
    not a valid module."""
    if not isinstance(text, str | bytes):
        raise TypeError(f"a str or bytes is expected, not a {type(text).__name__}")
    return Module(_fad.parse(text, filename))


def parse_file(path: str | os.PathLike[str]) -> Module:
    """Returns the module in the file at `path`, which holds text or bytecode.

    Raises fad.Error where that is not a valid module, and OSError where the
    file cannot be read."""
    return Module(_fad.parse_file(_encode(path)))
