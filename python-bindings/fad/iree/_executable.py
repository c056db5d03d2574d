"""Running what IREE compiled."""

import statistics
import time
from dataclasses import dataclass
from typing import Any, Dict, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from .. import Nested
from .._types import Signature, find_signature
from ._arrays import Arrays
from ._requirements import import_runtime


class Forward(NamedTuple):
    """The result of a forward function: `results` as numpy arrays, and
    `residuals`, which stay on the device until backward reads them."""

    results: Tuple[np.ndarray, ...]
    residuals: Tuple[Any, ...]


@dataclass(frozen=True)
class Timing:
    """Seconds that calls of a function took: the median, the least, and how
    many calls were timed."""

    median: float
    minimum: float
    repetitions: int

    def __str__(self) -> str:
        return (
            f"{self.median * 1e3:.3f} ms (median of {self.repetitions}, "
            f"at least {self.minimum * 1e3:.3f} ms)"
        )


class Executable:
    """Functions compiled by IREE, on one device.

    `binary` is the compiled module, which `iree-run-module` and
    `iree-benchmark-module` take; `compiler_statistics` is what IREE's compiler
    counted: dispatches, copies, bytes of constants and of all that a call
    allocates, all functions together."""

    def __init__(self, binary: bytes, device: str, module, compiler_statistics: dict):
        runtime = import_runtime()
        self.binary = binary
        self.compiler_statistics = compiler_statistics
        self._nested: Optional[Nested] = module if isinstance(module, Nested) else None
        source = getattr(module, "module", module)
        self._signatures: Dict[str, Signature] = {
            name: source.signature(name) for name in source.functions
        }
        # A device of its own counts its own memory.
        self._device = runtime.get_driver(device).create_default_device()
        config = runtime.Config(device=self._device)
        vm_module = runtime.VmModule.copy_buffer(config.vm_instance, binary)
        self._module = runtime.load_vm_module(vm_module, config)
        self._arrays = Arrays(runtime, self._device)

    def call(self, function: str, *arguments) -> Tuple[np.ndarray, ...]:
        """Returns the results of `function` as numpy arrays. Arguments are numpy arrays, numbers,
        or what stayed on the device from another call."""
        results = self._invoke(function, arguments, copy=True)
        return tuple(map(self._arrays.to_host, results))

    def forward(self, *arguments, copy: bool = True) -> Forward:
        """Calls the forward function.

        With `copy=False`, arrays that lie suitably in memory (in row-major
        order, aligned to 64 bytes) are read where they are: they must not
        change until backward has run."""
        nested = self._get_nested()
        values = self._invoke(nested.forward, arguments, copy)
        count = len(nested.results)
        results = tuple(map(self._arrays.to_host, values[:count]))
        residuals = tuple(values[count:])
        for residual in residuals:
            if self._arrays.is_on_device(residual):
                # One that is an argument lies in memory that is not the device's,
                # and the device must not be gone before what is on it.
                residual.arguments, residual.executable = arguments, self
        return Forward(results, residuals)

    def backward(self, residuals: Sequence, *cotangents) -> Tuple[np.ndarray, ...]:
        """Returns the gradients, for the residuals of a call of `forward` and one cotangent for
        each differentiated result; the cotangent of a result of shape () is 1 unless it is
        given."""
        nested = self._get_nested()
        if not cotangents and all(each.shape == () for each in nested.cotangents):
            cotangents = tuple(np.ones((), each.dtype) for each in nested.cotangents)
        arguments = (*residuals, *cotangents)
        gradients = self._invoke(nested.backward, arguments, copy=True)
        return tuple(map(self._arrays.to_host, gradients))

    def benchmark(
        self, function: str, *arguments, repetitions: int = 20, warmup: int = 2
    ) -> Timing:
        """Times calls of `function`; results stay on the device."""
        if repetitions < 1:
            raise ValueError("repetitions is to be 1 or more")
        values = [self._arrays.to_device(each, copy=True) for each in arguments]
        for _ in range(warmup):
            self._invoke(function, values, copy=True)
        seconds = []
        for _ in range(repetitions):
            start = time.perf_counter()
            self._invoke(function, values, copy=True)
            seconds.append(time.perf_counter() - start)
        return Timing(statistics.median(seconds), min(seconds), repetitions)

    def memory_statistics(self) -> Dict[str, int]:
        """Returns the counts of the device's allocator: bytes at the peak, and bytes allocated and
        freed in all, on the host and the device. Memory that comes from the pools of a queue (on
        the CPU, what calls allocate for results and in between) is not part of it; see
        `compiler_statistics`."""
        return dict(self._device.allocator.statistics)

    def _get_nested(self) -> Nested:
        if self._nested is None:
            raise TypeError(
                "this was compiled from a Module; forward and backward need what fad.nest returns"
            )
        return self._nested

    def _invoke(self, function: str, arguments: Sequence, copy: bool) -> list:
        signature = find_signature(self._signatures, function, len(arguments))
        values = [
            self._arrays.to_argument(value, kind, f"argument {index} of {function}", copy)
            for index, (value, kind) in enumerate(zip(arguments, signature.arguments))
        ]
        results = self._module[function](*values)
        if len(signature.results) == 1:
            return [results]
        return list(results) if signature.results else []
