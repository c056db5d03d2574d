"""Compiled programs, called with numpy arrays."""

from typing import TYPE_CHECKING, Any, get_args

from . import _fad
from ._arrays import Array, check_result, to_argument, to_result
from ._choices import Contractions, check_choice, unknown_attribute
from ._module import Module, get_handle
from ._types import find_signature


class Executable:
    """The public functions of a module, compiled for this machine.

    `fad.compile` makes them. What a program keeps from call to call, such as
    the seed of its dropout, is the executable's own."""

    def __init__(self, module: Module, check: bool = True, contractions: Contractions = "auto"):
        get_handle(module)
        if not isinstance(contractions, str):
            kind = type(contractions).__name__
            raise TypeError(f"contractions is a {kind}; it can be 'auto', 'library' or 'loops'")
        check_choice("contractions is", contractions, get_args(Contractions))
        # Another thread may change the module meanwhile.
        snapshot = module.clone()
        self._handle = _fad.compile(snapshot._handle, check, contractions)
        self._signatures = {name: snapshot.signature(name) for name in self._handle.functions()}

    def __repr__(self) -> str:
        return f"<fad.Executable: {', '.join(self.functions) or 'no functions'}>"

    # A type checker knows which attributes there are.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # Of an object that is not initialized, no functions are known.
            functions = self.functions if "_signatures" in vars(self) else ()
            raise unknown_attribute(self, name, functions, "executable.call({!r}, ...)")

    @property
    def functions(self) -> tuple[str, ...]:
        """The names of the functions that can be called."""
        return tuple(self._signatures)

    def call(self, function: str, *arguments: object) -> tuple[Array, ...]:
        """Returns the results of `function` for `arguments`.

        An argument is a numpy array, or what numpy makes one of without being
        told a type, such as a PyTorch tensor; or a Python number, for an
        argument of rank 0. Its shape and its type have to be those of
        the function, where integers may have a sign or not. The elements are
        copied only where they do not lie in order or are not aligned.

        The results are new arrays, of rank 0 for scalars. Those that are
        arguments handed through, or handed out twice, share their elements
        with those arrays and are read-only.

        Raises TypeError for a wrong number or type of arguments, ValueError
        for a wrong shape or function, and fad.Error where sizes do not go
        together or an assertion of the program fails."""
        signature = find_signature(self._signatures, function, len(arguments))
        arrays = [
            to_argument(value, type_, f"argument {index} of {function}")
            for index, (value, type_) in enumerate(zip(arguments, signature.arguments))
        ]
        for index, type_ in enumerate(signature.results):
            check_result(type_, f"result {index} of {function}")
        results = self._handle.call(function, arrays)
        return tuple(map(to_result, results, signature.results))


def get_compiled(module: Module) -> Executable:
    """Returns the compiled module of the last call, or else `module` compiled."""
    get_handle(module)
    with module._lock:
        if module._compiled is None:
            module._compiled = Executable(module)
        executable: Executable = module._compiled
    return executable
