"""Compiled programs on numpy arrays."""

from . import _fad
from ._arrays import Array, check_result, to_argument, to_result
from ._choices import Contractions
from ._module import Module, get_handle
from ._nest import Nested
from ._types import find_signature


class Executable:
    """The public functions of a module, compiled for this machine.

    `fad.compile` makes them. What a program keeps from call to call, such as
    the seed of its dropout, is the executable's own."""

    def __init__(self, module: Module, check: bool = True, contractions: Contractions = "auto"):
        get_handle(module)
        # Another thread may change the module meanwhile.
        snapshot = module.clone()
        self._handle = _fad.compile(snapshot._handle, check, contractions)
        self._signatures = {name: snapshot.signature(name) for name in self._handle.functions()}

    @property
    def functions(self) -> tuple[str, ...]:
        """The names of the functions that can be called."""
        return tuple(self._signatures)

    def call(self, function: str, *arguments: object) -> tuple[Array, ...]:
        """The results of `function` for `arguments`.

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


def _get_module(module: Module | Nested) -> Module:
    return module.module if isinstance(module, Nested) else module


def _get_compiled(module: Module) -> Executable:
    """What is left of the last call, or else `module` compiled."""
    get_handle(module)
    with module._lock:
        if module._compiled is None:
            module._compiled = Executable(module)
        executable: Executable = module._compiled
    return executable


def compile(
    module: Module | Nested, *, check: bool = True, contractions: Contractions = "auto"
) -> Executable:
    """Compiles the public functions of a module for this machine.

    Their arguments and results have to be scalars and ranked tensors of
    booleans, integers or floats of up to 64 bits. `check=False` leaves out the
    checks, at each call, that sizes go together and assertions hold; what
    happens where they do not is undefined then.

    `contractions` says what multiplies matrices: `"library"`, which is oneDNN or
    OpenBLAS; `"loops"` of fad's own; or `"auto"`, the library for large matrices
    if the machine has one. Raises fad.Error where the module cannot be compiled."""
    return Executable(_get_module(module), check, contractions)


def run(module: Module | Nested, function: str, *arguments: object) -> tuple[Array, ...]:
    """The results of `function` of a module for `arguments`, numpy arrays.

    See `Executable.call`. The module is compiled at the first call, and again
    when it has changed; what the program keeps from call to call then starts
    anew."""
    return _get_compiled(_get_module(module)).call(function, *arguments)


def release_memory() -> int:
    """Gives memory of freed arrays back to the system; returns how many bytes.

    Arrays that calls return, and what they need meanwhile, are allocated where
    freed ones were: fad keeps these, as long as all together take no more memory
    than arrays in use did at their peak."""
    return _fad.release_memory()
