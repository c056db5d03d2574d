"""Kernels of elementwise functions, on tensors without copies."""

import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ... import compile as compile_for_cpu
from ... import nest
from .._requirements import torch
from .scalar_function import NotElementwise, ScalarFunction

# The values that a kernel is compared with the function for.
_SAMPLES = 61
# How far a kernel may be from the function in f64, relative to the size of the numbers.
_TOLERANCES = {
    torch.float64: 1e-7,
    torch.float32: 1e-3,
    torch.float16: 2e-2,
    torch.bfloat16: 1e-1,
}


class Residual(NamedTuple):
    """A value that backward takes from forward: the argument `number`, the result, or a value of
    its own."""

    kind: str
    number: int = 0


class Kernel:
    """Forward and backward of a function of elements, compiled.

    Tensors are of one dimension, in the order in which their elements lie in memory.
    `keep` is "derivative", "hidden" for anything but the arguments, or "auto" for
    arguments, or the result where the derivative is a function of that."""

    def __init__(
        self, function: ScalarFunction, wrt: tuple[int, ...], keep: str, bits: int | None
    ) -> None:
        hides = bits is not None or keep == "hidden"
        options: dict[str, Any] = {"policy": "fad" if keep == "derivative" else "recompute"}
        if hides:
            options = {"policy": "auto", "derivative_bits": bits}
        nested = nest(function.make_module(hides), wrt=wrt, **options)
        executable = compile_for_cpu(nested, check=False)
        self._executable = executable
        self._names = nested.forward, nested.backward
        self._shape = (-1, 1) if hides else (-1,)
        self.result = function.result
        self.gradients = tuple(function.dtypes[index] for index in wrt)
        self.residuals = self._find_residuals(function.dtypes)

    def _find_residuals(self, dtypes: Sequence[torch.dtype]) -> tuple[Residual, ...]:
        """Returns where each residual comes from, by the memory that forward returns."""
        arrays = [self._to_array(torch.full((3,), 0.5, dtype=dtype)) for dtype in dtypes]
        result, *residuals = self._call(self._names[0], arrays)
        places = {array.ctypes.data: i for i, array in enumerate(arrays)}
        found = []
        for residual in residuals:
            place = residual.ctypes.data
            if place in places:
                found.append(Residual("argument", places[place]))
            else:
                is_result = place == result.ctypes.data
                found.append(Residual("result" if is_result else "value"))
        return tuple(found)

    def _call(self, name: str, arrays: list[Any]) -> list[Any]:
        # Tensors are of the right types and sizes, so nothing of `Executable.call` is left. The
        # kernel's threads are others than PyTorch's, which have work right behind it.
        return self._executable._handle.call(name, arrays, torch.get_num_threads())

    def _to_array(self, tensor: torch.Tensor) -> Any:
        if tensor.dtype is torch.bfloat16:
            tensor = tensor.view(torch.int16)
        return tensor.numpy().reshape(self._shape)

    def forward(
        self, tensors: Sequence[torch.Tensor]
    ) -> tuple[torch.Tensor, dict[int, torch.Tensor]]:
        """Returns the result, and the residuals that are values of their own, by number."""
        arrays = [self._to_array(tensor) for tensor in tensors]
        result, *residuals = self._call(self._names[0], arrays)
        own = {
            number: torch.from_numpy(residual)
            for number, (residual, known) in enumerate(zip(residuals, self.residuals))
            if known.kind == "value"
        }
        # One that is an argument handed through may not be written.
        is_argument = not result.flags.writeable and result.ctypes.data in {
            array.ctypes.data for array in arrays
        }
        return _to_tensor(result.copy() if is_argument else result, self.result), own

    def backward(
        self, residuals: Sequence[torch.Tensor], cotangent: torch.Tensor
    ) -> list[torch.Tensor]:
        """Returns the gradients of the arguments that have one, for the residuals in order."""
        arrays = []
        for residual, known in zip(residuals, self.residuals):
            if known.kind == "argument":
                arrays.append(self._to_array(residual))
            else:
                arrays.append(_to_flat_array(residual))
        arrays.append(_to_flat_array(cotangent))
        results = self._call(self._names[1], arrays)
        return [
            _to_tensor(result if result.flags.writeable else result.copy(), dtype).reshape(-1)
            for result, dtype in zip(results, self.gradients)
        ]

    def gather(
        self,
        tensors: Sequence[torch.Tensor],
        result: torch.Tensor | None,
        own: dict[int, torch.Tensor],
    ) -> list[Any]:
        """Returns the residuals in order."""
        found = []
        for number, residual in enumerate(self.residuals):
            if residual.kind == "argument":
                found.append(tensors[residual.number])
            else:
                found.append(result if residual.kind == "result" else own[number])
        return found


def _to_flat_array(tensor: torch.Tensor) -> Any:
    if tensor.dtype is torch.bfloat16:
        tensor = tensor.view(torch.int16)
    return tensor.numpy()


def _to_tensor(array: Any, dtype: torch.dtype) -> torch.Tensor:
    """Returns a tensor with the elements of `array`, of which it may write those that are the
    array's alone."""
    if not array.flags.writeable:
        array = _as_writeable(array)
    tensor = torch.from_numpy(array)
    return tensor.view(dtype) if dtype is torch.bfloat16 else tensor


def _as_writeable(array: Any) -> Any:
    pointer = array.__array_interface__
    interface = {**pointer, "data": (pointer["data"][0], False)}
    return np.asarray(_Memory(array, interface))


class _Memory:
    """Memory of an array that is read-only because a residual has it, too. PyTorch says
    by versions where the residual has been changed."""

    def __init__(self, array: Any, interface: dict[str, Any]) -> None:
        self.array = array
        self.__array_interface__ = interface


_kernels: dict[Any, Kernel] = {}
_lock = threading.Lock()


def get_kernel(
    function: ScalarFunction, wrt: tuple[int, ...], keep: str, bits: int | None
) -> Kernel:
    """Returns a kernel of `function`. Functions of the same operations share it, whatever they are
    called and whatever sizes their tensors have."""
    key = function, wrt, keep if keep in ("derivative", "hidden") else "auto", bits
    with _lock:
        kernel = _kernels.get(key)
    if kernel is None:
        kernel = Kernel(function, wrt, keep, bits)
        with _lock:
            kernel = _kernels.setdefault(key, kernel)
    return kernel


def count_kernels() -> int:
    """Returns how many kernels there are."""
    return len(_kernels)


def check_kernel(
    kernel: Kernel,
    call: Callable[..., torch.Tensor],
    dtypes: Sequence[torch.dtype],
    wrt: Sequence[int],
    name: str,
) -> None:
    """Raises NotElementwise where the values or gradients of `kernel` are not those of
    `call`: where its gradient is not that of its operations, as under `torch.no_grad()`
    or in an autograd function of its own."""
    generator = torch.Generator().manual_seed(0)
    tensors = [
        (2 * torch.randn(_SAMPLES, generator=generator, dtype=torch.float64)).to(dtype)
        for dtype in dtypes
    ]
    result, own = kernel.forward(tensors)
    residuals = kernel.gather(tensors, result, own)
    found = [result, *kernel.backward(residuals, torch.ones(_SAMPLES, dtype=kernel.result))]
    tolerance = max(_TOLERANCES[dtype] for dtype in (*dtypes, kernel.result))

    def find_difference(examples: list[torch.Tensor]) -> str | None:
        expected = _differentiate(call, examples, wrt)
        # A function has no derivative where its value is NaN, and PyTorch has one of acosh.
        is_outside = found[0].isnan() & expected[0].isnan()
        for number, (each, known) in enumerate(zip(found, expected)):
            one, other = each.double(), known.double()
            if number:
                one, other = one[~is_outside], other[~is_outside]
            if not torch.allclose(one, other, tolerance, tolerance, equal_nan=True):
                return "gradient" if number else "value"
        return None

    kind = find_difference([tensor.double() for tensor in tensors])
    if kind is not None:
        # The function may depend on the type, as by torch.finfo.
        kind = find_difference(tensors)
        if kind is not None:
            raise NotElementwise(
                f"the {kind} of {name} by fad's kernel is not that of the function; where "
                "its gradient is not the derivative of its operations, or where it depends "
                "on more than its arguments, call the function as it is"
            )


def _differentiate(
    call: Callable[..., torch.Tensor], tensors: Sequence[torch.Tensor], wrt: Sequence[int]
) -> list[torch.Tensor]:
    """Returns the value of `call`, and the gradients of its sum."""
    with torch.inference_mode(False), torch.enable_grad():
        examples = [tensor.detach().clone() for tensor in tensors]
        inputs = [examples[index].requires_grad_() for index in wrt]
        # A tensor that is written in place may not be a leaf.
        result = call(*(each.view_as(each) for each in examples))
        gradients: Sequence[torch.Tensor | None] = [None] * len(wrt)
        if result.requires_grad:
            gradients = torch.autograd.grad(result.sum(), inputs, allow_unused=True)
    zero = torch.zeros(len(result))
    return [result.detach(), *(zero if each is None else each for each in gradients)]
