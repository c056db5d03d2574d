"""The kit: compiled kernels, a manifest that says what they are, and the library that
loads and launches them."""

import ctypes
import json
import pathlib

import cubin

MANIFEST, FORMAT = "manifest.json", 1
LARGEST_COUNT = 2**31 - 1
# The last parameter of a kernel, the number of elements, by its type.
COUNTS = {"i32": ctypes.c_int32, "i64": ctypes.c_int64}


class KitError(Exception):
    pass


class Runtime:
    """libfad_cuda_runtime.so."""

    def __init__(self, path):
        try:
            self.library = ctypes.CDLL(str(path))
            self.library.fadCudaGetErrorMessage.restype = ctypes.c_char_p
            self.call_launch = self.library.fadCudaLaunch
        except (OSError, AttributeError) as error:
            raise KitError(f"{path}: {error}") from None
        pointer = ctypes.c_void_p
        self.call_launch.argtypes = [pointer, *[ctypes.c_uint] * 7, pointer, pointer]

    def check(self, status):
        if status:
            raise KitError(self.library.fadCudaGetErrorMessage().decode(errors="replace"))

    def initialize(self):
        """Fails where there is no driver or no device."""
        self.check(self.library.fadCudaInit())

    def load(self, image):
        module = ctypes.c_void_p()
        size = ctypes.c_size_t(len(image))
        self.check(self.library.fadCudaModuleLoad(image, size, ctypes.byref(module)))
        return module

    def find_function(self, module, name):
        function = ctypes.c_void_p()
        self.check(
            self.library.fadCudaModuleGetFunction(module, name.encode(), ctypes.byref(function))
        )
        return function

    def prepare(self, function, grid, block, stream, values):
        """Returns a call without arguments that launches. `values` are of ctypes."""
        addresses = (ctypes.c_void_p * len(values))(*(ctypes.addressof(each) for each in values))
        arguments = [function, grid, 1, 1, block, 1, 1, 0, stream, addresses]

        def launch(kept=values):
            status = self.call_launch(*arguments)
            if status:
                self.check(status)

        return launch


class Kernel:
    """A kernel on the device, in its variants."""

    def __init__(self, runtime, module, entry, get_stream):
        self.runtime, self.entry, self.get_stream = runtime, entry, get_stream
        self.functions = {
            variant: runtime.find_function(module, name)
            for variant, name in entry["variants"].items()
        }

    def prepare(self, buffers, variant="aligned"):
        """Returns a call that launches it. `buffers` has tensors by role, all of one size."""
        entry, values = self.entry, []
        for parameter in entry["parameters"]:
            if parameter["role"] != "count":
                tensor = buffers[parameter["role"]]
                values.append(ctypes.c_void_p(tensor.data_ptr()))
        count = tensor.nbytes // entry["unit_bytes"]
        if count > LARGEST_COUNT - entry["tile_size"]:
            raise KitError(f"{count} elements are more than one launch takes")
        values.append(COUNTS[parameter["type"]](count))
        grid = -(-count // entry["tile_size"])
        return self.runtime.prepare(
            self.functions[variant], grid, entry["block_size"], self.get_stream(), values
        )


class Kit:
    """Contents of a folder. Reading it takes no device."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        try:
            self.manifest = json.loads((self.folder / MANIFEST).read_text())
        except (OSError, ValueError) as error:
            raise KitError(
                f"{self.folder / MANIFEST}: {error}; utils/pack-gpu-kit.py packs a kit"
            ) from None
        if not isinstance(self.manifest, dict) or self.manifest.get("format") != FORMAT:
            raise KitError(
                f"{self.folder / MANIFEST}: not a manifest of this version; pack the kit anew"
            )

    def load_runtime(self):
        return Runtime(self.folder / self.manifest["runtime"])

    def read(self, file):
        try:
            return (self.folder / file).read_bytes()
        except OSError as error:
            raise KitError(str(error)) from None

    def check_files(self):
        """Fails unless each kernel of the manifest is in each file that is to have it.
        Returns how many there are."""
        total = 0
        for module in self.manifest["modules"]:
            for file in module["files"].values():
                there = find_kernels(file, self.read(file))
                for entry in module["kernels"]:
                    for name in entry["variants"].values():
                        total += 1
                        if name not in there:
                            raise KitError(f"{self.folder / file}: has no kernel {name}")
        return total

    def choose_file(self, module, capability):
        """Returns the file of `module` for a device: machine code, if there is for it. None if
        neither that nor its PTX is."""
        chip = parse_chip(module["chip"])
        if chip > capability:
            return None
        fits = chip[0] == capability[0] and "cubin" in module["files"]
        return module["files"].get("cubin" if fits else "ptx")

    def choose_module(self, capability, purpose, tile=None):
        """Kernels compiled for the newest chip that the device can do for."""
        modules = [
            module
            for module in self.manifest["modules"]
            if (module["purpose"], module.get("tile")) == (purpose, tile)
            and self.choose_file(module, capability)
        ]
        if not modules:
            raise KitError(f"the kit has no {purpose} for sm_{''.join(map(str, capability))}")
        return max(modules, key=lambda module: parse_chip(module["chip"]))

    def find_tiles(self):
        """Returns the tiles that kernels were compiled for beside the default one."""
        tiles = [module.get("tile") for module in self.manifest["modules"]]
        return [tile for index, tile in enumerate(tiles) if tile and tile not in tiles[:index]]

    def list(self, key):
        """Returns the available values, in order, of "activation", "type" or "policy"."""
        modules = (m for m in self.manifest["modules"] if m["purpose"] == "kernels")
        return list(dict.fromkeys(kernel[key] for m in modules for kernel in m["kernels"]))

    def choose(self, key, wanted):
        """Returns the wanted ones of those, or all; fails where the kit does not have it."""
        there = self.list(key)
        for each in wanted or []:
            if each not in there:
                raise KitError(f"the kit has no {each}; it has {', '.join(there)}; pack it anew")
        return wanted or there


class LoadedKit:
    """The kernels of a kit on a device."""

    def __init__(self, kit, runtime, capability, get_stream):
        self.kit, self.runtime = kit, runtime
        self.capability, self.get_stream = capability, get_stream
        self.modules = {}

    def load(self, purpose, tile=None):
        """Kernels by their names."""
        module = self.kit.choose_module(self.capability, purpose, tile)
        file = self.kit.choose_file(module, self.capability)
        if file not in self.modules:
            loaded = self.runtime.load(self.kit.read(file))
            self.modules[file] = {
                entry["name"]: Kernel(self.runtime, loaded, entry, self.get_stream)
                for entry in module["kernels"]
            }
        return self.modules[file]

    def find_pair(self, activation, kind, policy, tile=None):
        """Returns the kernels of the two passes."""
        pair = {
            kernel.entry["pass"]: kernel
            for kernel in self.load("kernels", tile).values()
            if (activation, kind, policy)
            == (kernel.entry["activation"], kernel.entry["type"], kernel.entry["policy"])
        }
        if not pair:
            raise KitError(f"the kit has no {activation} in {kind} for the policy {policy}")
        return pair


def parse_chip(chip):
    """(9, 0) for sm_90."""
    digits = "".join(c for c in chip if c.isdigit())
    return int(digits[:-1]), int(digits[-1])


def find_kernels(file, content):
    """Returns the names of the kernels in a file."""
    if file.endswith(".ptx"):
        return cubin.find_entries(content.decode(errors="replace"))
    try:
        return cubin.find_code(content)
    except ValueError as error:
        raise KitError(f"{file}: {error}") from None
