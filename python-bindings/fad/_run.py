"""Modules and nested functions on numpy arrays."""

from . import _fad
from ._arrays import Array
from ._choices import Contractions
from ._executable import Executable, get_compiled
from ._module import Module
from ._nest import Nested


def _get_module(module: Module | Nested) -> Module:
    return module.module if isinstance(module, Nested) else module


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
    """Returns the results of `function` of a module for `arguments`, numpy arrays.

    See `Executable.call`. The module is compiled at the first call, and again
    when it has changed; what the program keeps from call to call then starts
    anew."""
    return get_compiled(_get_module(module)).call(function, *arguments)


def release_memory() -> int:
    """Gives memory of freed arrays back to the system; returns how many bytes.

    Arrays that calls return, and what they need meanwhile, are allocated where
    freed ones were: fad keeps these, as long as all together take no more memory
    than arrays in use did at their peak."""
    return _fad.release_memory()
