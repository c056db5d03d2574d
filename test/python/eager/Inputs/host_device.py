"""The device `pretend` of PyTorch: the host's memory, with the streams and events of the CUDA
driver for tests. It is built at its first use, and kept beside the extension."""

import contextlib
import ctypes
import hashlib
import os
import pathlib
import subprocess
import tempfile
import types

import torch
from fad.torch.eager import _extension, _kernels
from fad.torch.eager._device import _check, _runtime, use

SOURCE = pathlib.Path(__file__).with_suffix(".cpp")
#: Of each device, beside the default one.
STREAMS = 1, 2


def build():
    key = hashlib.sha256(SOURCE.read_bytes() + torch.__version__.encode()).hexdigest()[:20]
    path = _extension.cache_folder() / f"test-device-{key}.so"
    if not path.exists():
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            built = pathlib.Path(folder, "device.so")
            pytorch, compiler = _extension._PyTorch.installed(), _extension._find_compiler()
            command = _extension._command(pytorch, compiler, SOURCE, built)
            subprocess.run([*command, "-O0"], check=True)
            os.replace(built, path)
    return path


class HostDevice:
    """Counts and settings of the library."""

    def __init__(self):
        self.library = ctypes.CDLL(str(build()))
        self.library.host_device_set_stream.argtypes = [*[ctypes.c_int64] * 2, ctypes.c_void_p]
        self.library.host_device_use_stream.argtypes = [ctypes.c_int64] * 2
        names = "Create", "Destroy", "Record"
        functions = [getattr(_runtime(), f"fadCudaEvent{name}") for name in names]
        functions.append(_runtime().fadCudaStreamWaitEvent)
        self.library.host_device_set_events(
            *(ctypes.cast(each, ctypes.c_void_p) for each in functions)
        )
        self.library.host_device_is_used.argtypes = [ctypes.c_void_p, *[ctypes.c_int64] * 2]
        self.library.host_device_is_used.restype = ctypes.c_bool
        module = types.ModuleType("torch.pretend")
        module.is_available = module.is_initialized = lambda: True
        module.current_device, module.device_count = lambda: 0, lambda: 2
        module._lazy_init, module._is_in_bad_fork = lambda: None, lambda: False
        torch.utils.rename_privateuse1_backend("pretend")
        torch._register_device_module("pretend", module)
        for device in range(2):
            _check(_runtime().fadCudaSetDevice(device))
            for stream in STREAMS:
                handle = ctypes.c_void_p()
                _check(_runtime().fadCudaStreamCreate(ctypes.byref(handle)))
                self.library.host_device_set_stream(device, stream, handle)
        use(_kernels._load(), "pretend")

    @contextlib.contextmanager
    def stream(self, number, device=0):
        """As of torch.cuda. The numbers that the driver logs are those of the first device,
        and then those of the second."""
        self.library.host_device_use_stream(device, number)
        yield
        self.library.host_device_use_stream(device, 0)

    def is_used(self, tensor, number):
        """Whether the allocator was told that a stream uses a tensor's memory."""
        data = tensor.untyped_storage().data_ptr()
        return self.library.host_device_is_used(data, tensor.device.index, number)

    @property
    def allocations(self):
        return self.library.host_device_allocations()

    @property
    def synchronizations(self):
        return self.library.host_device_synchronizations()
