"""Between numpy arrays and memory of IREE's devices."""

import numpy as np

from .._arrays import to_argument
from .._types import ValueType

# The alignment that IREE's loops expect of buffers.
_ALIGNMENT = 64


class Arrays:
    """Moves arrays to and from one device."""

    def __init__(self, runtime, device):
        self._runtime = runtime
        self._device = device

    def is_on_device(self, value) -> bool:
        kinds = (self._runtime.DeviceArray, self._runtime.HalBufferView)
        return isinstance(value, kinds)

    def to_argument(self, value, kind: ValueType, place: str, copy: bool):
        """`value` as an argument of type `kind`."""
        if self.is_on_device(value):
            return value
        array = to_argument(value, kind, place)
        if kind.is_scalar:
            # IREE passes an i1 as an integer.
            return int(array) if kind.dtype == "bool" else array.item()
        if kind.dtype == "bfloat16":
            array = array.view(np.dtype("bfloat16"))
        return self.to_device(array, copy)

    def to_device(self, value, copy: bool):
        """`value`, where it is a numpy array, in memory of the device."""
        if not isinstance(value, np.ndarray):
            return value
        if not copy and self._is_importable(value):
            return self._import(value)
        return self._runtime.asdevicearray(self._device, value, implicit_host_transfer=True)

    def _is_importable(self, array: np.ndarray) -> bool:
        return (
            array.dtype.kind == "f"
            and array.size > 0
            and array.flags["C_CONTIGUOUS"]
            and array.ctypes.data % _ALIGNMENT == 0
        )

    def _import(self, array: np.ndarray):
        """`array` as memory of the device, where it is."""
        types, usage = self._runtime.MemoryType, self._runtime.BufferUsage
        buffer = self._device.allocator.import_host_allocation(
            array,
            int(types.DEVICE_LOCAL) | int(types.HOST_VISIBLE),
            int(usage.DEFAULT) | int(usage.MAPPING),
        )
        element = self._runtime.dtypes.map_dtype_to_hal_element_type(array.dtype)
        return self._runtime.HalBufferView(buffer, array.shape, element)

    def to_host(self, value) -> np.ndarray:
        """Returns a result of a call as a numpy array of its own: one that is a map of the device's
        memory must not outlive the device."""
        if not isinstance(value, self._runtime.DeviceArray):
            return np.asarray(value)
        return value.to_host().copy()
