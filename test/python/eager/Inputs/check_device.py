"""Deferred sequences on a GPU, without one: the driver for tests executes the kernels as
loops of the host, and logs what they are launched with. PyTorch's device has the host's
memory.

usage: check_device.py FOLDER TOOLS LLVM_TOOLS [--every], or --without-kernel

The environment names the driver, FAD_CUDA_DRIVER, and its log, FAD_FAKE_CUDA_LOG."""

import contextlib
import gc
import os
import pathlib
import re
import sys
import tempfile
import unittest.mock

import torch
import torch.nn.functional as F
from activations import gelu, mish, silu
from checks import Checks, raises
from host_device import HostDevice

import fad
import fad.torch
from fad import _fad
from fad.torch.eager import _device, _kernels, trace
from fad.torch.eager._state import live_values

sys.path.insert(0, str(pathlib.Path(__file__).parents[4] / "utils"))
from gpu_on_host import build_for_driver

# Of many operators, so that compiling it again does not take the same time to the millisecond.
SCALED = """func.func @scaled(%x: tensor<?xf32>) -> tensor<?xf32> {
  %r = fad.elementwise ins(%x : tensor<?xf32>) -> tensor<?xf32> {
  ^bb0(%a: f32):
    %b = math.exp %a : f32
    %c = fad.mish %b : f32
    %d = math.sin %c : f32
    fad.yield %d : f32
  }
  return %r : tensor<?xf32>
}"""
SIZE = 5000  # More than one tile, and the last one is not full.
TENSORS = "x", "up"


def widen(x):
    return x if x.dtype is torch.float64 else x.float()


FUNCTIONS = {
    "gelu": lambda x, up: gelu(x),
    "silu": lambda x, up: silu(x),
    "mish": lambda x, up: mish(x),
    "swiglu": lambda x, up: F.silu(x) * up,
    "constant": lambda x, up: torch.tanh(x * 0.3) * up.detach() + 2 * x,
    "mixed": lambda x, up: torch.tanh(widen(x)) * up * 0.5,
    "single": lambda x, up: torch.exp(x * -1) + up.detach(),
}
TYPES = {torch.float32: 2e-6, torch.bfloat16: 2e-2, torch.float16: 3e-3}


class Log:
    """The arguments of the driver."""

    LAUNCH = re.compile(
        r"cuLaunchKernel (\w+) grid=(\d+),1,1 block=(\d+),1,1 shared=0 stream=(\d+) "
        r"parameters=(\S*)"
    )

    ORDER = re.compile(r"cu(?:Event|Stream)?(Launch|Record|Wait)(?:Kernel|Event)?\b.*?stream=(\d+)")

    def __init__(self, path):
        self.path, self.read = pathlib.Path(path), 0

    def take(self):
        lines = self.path.read_text().splitlines()
        new, self.read = lines[self.read :], len(lines)
        return new

    def take_order(self):
        """The launches, and the events that streams record and wait for."""
        found = [self.ORDER.match(line) for line in self.take()]
        return [f"{match[1]} {match[2]}" for match in found if match]

    def take_launches(self):
        found = [self.LAUNCH.fullmatch(line) for line in self.take()]
        return [Launch(*match.groups()) for match in found if match]


class Launch:
    def __init__(self, name, grid, block, stream, parameters):
        self.name, self.grid, self.block = name, int(grid), int(block)
        self.stream = int(stream)
        numbers = [bytes.fromhex(each) for each in parameters.split(",")]
        self.pointers = [int.from_bytes(each, "little") for each in numbers[:-1]]
        self.count = int.from_bytes(numbers[-1], "little")


def inputs(dtype=torch.float32, device="pretend", size=SIZE, offset=0):
    generator = torch.Generator().manual_seed(0)
    made = [torch.randn(size + offset, generator=generator).to(dtype) for _ in TENSORS]
    return [each.to(device)[offset:].requires_grad_() for each in made]


def run(function, tensors, policy="auto"):
    """The value, as it was read, and the gradients."""
    with fad.torch.nest(policy=policy, min_numel=1, engine="deferred"):
        # A view ends the sequence and saves nothing.
        value = function(*tensors).view(-1)
    weights = torch.linspace(-1, 1, value.numel()).to(value)
    gradients = torch.autograd.grad(value, tensors, weights, allow_unused=True)
    return value, gradients


def close(found, expected, tolerance):
    return all(
        b is None
        if a is None
        else torch.allclose(a.cpu().double(), b.double(), rtol=tolerance, atol=tolerance)
        for a, b in zip(found, expected, strict=True)
    )


class Programs:
    """Sources that were compiled, for a library of them."""

    def __init__(self):
        self.texts, compile = {}, _device.compile

        def wrapper(program, device):
            find = compile(program, device)
            module = program.module if hasattr(program, "forward") else program
            for function in module.functions:
                self.texts[function] = str(module)
            return find

        _device.compile = wrapper

    def build(self, folder, tools, llvm_tools):
        bodies = {re.sub(r"\Amodule \{\n|\n\}\s*\Z", "", text) for text in self.texts.values()}
        module = fad.parse("\n".join(sorted(bodies)))
        module.run("fad-to-gpu{chip=sm_90}")
        library = pathlib.Path(folder) / "kernels.so"
        build_for_driver(str(module), library, tools, llvm_tools)
        os.environ["FAD_FAKE_CUDA_KERNELS"] = str(library)


@contextlib.contextmanager
def environment(name, value):
    with unittest.mock.patch.dict(os.environ, {name: value}):
        yield


def run_without_kernel():
    """Sequences on a device for which there are no kernels, twice; what is said of it is
    said once."""
    HostDevice()
    for dtype in torch.float32, torch.bfloat16:
        for _ in range(3):
            value, _ = run(FUNCTIONS["gelu"], inputs(dtype))
            _kernels.wait()
    exact = gelu(inputs(dtype, "cpu")[0].detach().double())
    print("right" if close([value], [exact], TYPES[dtype]) else "wrong")


def main():
    if sys.argv[1:] == ["--without-kernel"]:
        return run_without_kernel()
    folder, tools, llvm_tools, *every = sys.argv[1:]
    check, programs, device = Checks(), Programs(), HostDevice()
    log = Log(os.environ["FAD_FAKE_CUDA_LOG"])
    # Under `fad`, the others keep an operator's own node, or are two sequences.
    cases = [(name, "auto", dtype) for name in FUNCTIONS for dtype in TYPES]
    cases += [(name, "fad", dtype) for name in ("gelu", "silu", "mish") for dtype in TYPES]
    if not every:
        wide = torch.float32
        cases = [
            each for each in cases if each[2] is wide or each[0] in ("gelu", "mixed", "swiglu")
        ]
    for _ in range(3):
        for name, policy, dtype in cases:
            run(FUNCTIONS[name], inputs(dtype), policy)
    count = _kernels.wait()
    # Gradients behind a cast to a wider type are another program.
    widened = [name == "mixed" and dtype is not torch.float32 for name, _, dtype in cases]
    assert count == len(cases) + sum(widened), count
    programs.build(folder, tools, llvm_tools)
    log.take()
    assert device.synchronizations == 0

    for name, policy, dtype in cases:

        def agrees(name=name, policy=policy, dtype=dtype):
            log.take()
            tensors, before = inputs(dtype), device.allocations
            with fad.torch.nest(policy=policy, min_numel=1, engine="deferred"):
                value = FUNCTIONS[name](*tensors)
                assert not log.take_launches() and device.allocations == before
                value = value.view(-1)
            forward = log.take_launches()
            # One kernel, on the default stream, into memory of PyTorch's allocator.
            assert len(forward) == 1, forward
            (launch,) = forward
            assert launch.stream == 0 and launch.count == SIZE and launch.block == 256
            assert launch.grid in [-(-SIZE // tile) for tile in (1024, 2048, 4096)]
            assert value.data_ptr() in launch.pointers and tensors[0].data_ptr() in launch.pointers
            weights = torch.linspace(-1, 1, SIZE).to(value)
            gradients = torch.autograd.grad(value, tensors, weights, allow_unused=True)
            backward = log.take_launches()
            # Under `fad`, backward multiplies by the derivative, or runs nodes.
            assert len(backward) == (policy == "auto"), backward
            for launch in backward:
                assert weights.data_ptr() in launch.pointers and launch.count == SIZE
                # The gradient of a cast is cast.
                assert gradients[name == "mixed"].data_ptr() in launch.pointers
            copies = inputs(dtype, "cpu")
            wide = [each.detach().double().requires_grad_() for each in copies]
            exact = FUNCTIONS[name](*wide)
            expected = torch.autograd.grad(exact, wide, weights.cpu().double(), allow_unused=True)
            return close([value, *gradients], [exact, *expected], TYPES[dtype])

        check(f"{name}, {policy}, {dtype}", agrees)

    def check_offsets():
        """Pointers that are no multiples of 16 bytes, and small tensors."""
        for size, offset in (SIZE, 1), (1, 0), (1025, 3):
            tensors = inputs(size=size, offset=offset)
            value, gradients = run(FUNCTIONS["gelu"], tensors)
            names = [each.name for each in log.take_launches()]
            assert len(names) == 2 and all(
                name.endswith("_unaligned") == (offset != 0) for name in names
            ), names
            copies = inputs(size=size, offset=offset, device="cpu")
            value_of_cpu = gelu(copies[0])
            weights = torch.linspace(-1, 1, size)
            (expected,) = torch.autograd.grad(value_of_cpu, copies[:1], weights)
            assert close([value, gradients[0]], [value_of_cpu, expected], 2e-6)

    check("offsets", check_offsets)

    def check_streams():
        """Kernels go to the stream on which operators were called; streams that read the
        value elsewhere wait."""
        (x, up), before = inputs(), device.synchronizations
        with device.stream(1):
            run(gelu_of, [x, up])
        assert set(log.take_order()) == {"Launch 1", "Record 1"}
        with fad.torch.nest(min_numel=1, engine="deferred"):
            with device.stream(1):
                value = silu(x)
            with device.stream(2):
                read = value.view(-1)
            assert log.take_order() == ["Launch 1", "Record 1", "Wait 2"]
            # The first reader may be on the same stream. Another stream waits once.
            with device.stream(1):
                value = silu(x)
                total = value.sum()
            assert log.take_order() == ["Launch 1", "Record 1"]
            for stream, waits in (2, ["Wait 2"]), (2, []), (0, ["Wait 0"]), (1, []):
                with device.stream(stream):
                    again = value.view(-1)
                order = log.take_order()
                assert order == waits, order
        assert close([read, again, total], [*[silu(x.detach().cpu())] * 2, again.cpu().sum()], 1e-5)
        # A sequence does not go on there.
        with fad.torch.nest(min_numel=1, engine="deferred"):
            with device.stream(1):
                value = silu(x)
            with device.stream(2):
                read = (silu(value) * 1).view(-1)
        order = log.take_order()
        assert order[:3] == ["Launch 1", "Record 1", "Wait 2"], order
        assert close([read], [silu(silu(x.detach().cpu()))], 2e-6)
        assert device.synchronizations == before

    def check_writes():
        """Streams that write to what a sequence reads wait for its kernel, and for the copies
        that backward needs."""
        for is_read in True, False:
            (x, up), weights = inputs(), torch.linspace(-1, 1, SIZE).to("pretend")
            y = up.detach().clone()
            copies = inputs(device="cpu")
            exact = FUNCTIONS["constant"](*copies)
            expected = torch.autograd.grad(exact, copies[0], weights.cpu())
            with fad.torch.nest(min_numel=1, engine="deferred"):
                log.take()
                with device.stream(1):
                    value = FUNCTIONS["constant"](x, y)
                    if is_read:
                        value = value.view(-1)
                order = log.take_order()
                assert order == (["Launch 1", "Record 1"] if is_read else []), order
                with device.stream(2):
                    y.mul_(2)
                order = log.take_order()
                # The copy has its own event.
                assert order[-1] == "Wait 2", order
                work = [each for each in order if each != "Wait 2"]
                assert work == ["Launch 1", "Record 1"] * (not is_read) + ["Record 1"], order
                assert device.is_used(y, 1) and not device.is_used(y, 2)
                # Nothing has happened since.
                with device.stream(2):
                    y.mul_(2)
                assert not log.take_order()
            found = torch.autograd.grad(value, x, weights.view_as(value))
            assert close(found, expected, 2e-6)
        log.take()

    def check_writes_at_once():
        """The interactive engine's copies are made where the sequence was recorded."""
        (x, _), copy = inputs(), inputs(device="cpu")[0]
        expected = torch.autograd.grad(torch.tanh(torch.exp(copy.cumsum(0))).sum(), copy)
        with fad.torch.nest(min_numel=1):
            with device.stream(1):
                source = x.cumsum(0)
                value = torch.tanh(torch.exp(source)).view(-1)
            log.take()
            with device.stream(2):
                source.mul_(2)
            assert log.take_order() == ["Record 1", "Wait 2"]
        assert close(torch.autograd.grad(value.sum(), x), expected, 2e-6)

    def gelu_of(x, up):
        return gelu(x)

    check("streams", check_streams)
    check("writes", check_writes)
    check("writes at once", check_writes_at_once)

    def check_capture():
        """Operations that a CUDA graph captures are computed at once, within the graph."""
        x, up = inputs()
        with device.stream(1), environment("FAD_FAKE_CUDA_CAPTURED", "1"):
            with fad.torch.nest(min_numel=1, engine="deferred"):
                value = gelu(x)
                assert live_values() == 0
                value = value.view(-1)
        assert not log.take_launches()
        assert close([value], [gelu(x.detach().cpu())], 2e-6)
        text = "read the value before, or leave nest()"
        # The captured stream is that of the sequence, of its reader, or of both.
        for recorded, reading in (0, 1), (1, 0), (1, 1):
            with fad.torch.nest(min_numel=1, engine="deferred"):
                with device.stream(recorded):
                    value = gelu(x)
                with environment("FAD_FAKE_CUDA_CAPTURED", "1"), device.stream(reading):
                    assert raises(text, value.data_ptr)
        # A computed value is read, and nothing else is put on either stream.
        for recorded, reading in (0, 1), (1, 0), (1, 1):
            for policy in "auto", "fad":
                with fad.torch.nest(policy=policy, min_numel=1, engine="deferred"):
                    with device.stream(recorded):
                        value = gelu(x)
                        value.data_ptr()
                    log.take()
                    with environment("FAD_FAKE_CUDA_CAPTURED", "1"), device.stream(reading):
                        read = value.view(-1)
                    waits = ["Wait 0"] if (recorded, reading) == (1, 0) else []
                    assert log.take_order() == waits
                weights = torch.linspace(-1, 1, SIZE)
                (found,) = torch.autograd.grad(read, x, weights.to("pretend"))
                copy = inputs(device="cpu")[0]
                exact = torch.autograd.grad(gelu(copy), copy, weights)
                assert close([read, found], [gelu(copy), *exact], 2e-6)
        log.take()

    check("capture", check_capture)

    def check_second_device():
        tensors = inputs(device="pretend:1")
        for _ in range(3):
            run(FUNCTIONS["swiglu"], tensors)
            _kernels.wait()
        lines = log.take()
        assert any(line.startswith("cuModuleLoadDataEx") for line in lines)
        with device.stream(2, device=1):
            value, _ = run(FUNCTIONS["swiglu"], tensors)
        # The fourth of all streams.
        assert [each.stream for each in log.take_launches()] == [4, 4]
        copies = [each.detach().cpu() for each in tensors]
        assert value.device.index == 1 and close([value], [FUNCTIONS["swiglu"](*copies)], 2e-6)

    check("second device", check_second_device)

    def check_numbers():
        """A number on the device is not read: that would wait."""
        tensors = inputs()
        number = torch.tensor(0.5).to("pretend")
        lines = []
        for _ in range(3):
            lines = trace(
                lambda: run(lambda x, up: torch.tanh(x * number) * x, tensors),
                engine="deferred",
                min_numel=1,
            )
            _kernels.wait()
        assert any("as no kernel is called" in line for line in lines), lines
        assert not log.take_launches()

    check("numbers", check_numbers)

    def check_failure():
        tensors = inputs()
        with environment("FAD_FAKE_CUDA_FAIL", "cuLaunchKernel=700"):
            text = "fad.torch.nest: cannot launch the kernel"
            assert raises(text, lambda: run(FUNCTIONS["gelu"], tensors))
        value, _ = run(FUNCTIONS["gelu"], tensors)
        return close([value], [gelu(tensors[0].detach().cpu())], 2e-6)

    check("failure", check_failure)

    def check_list():
        """Sequences are remembered for all GPUs."""
        texts = [path.read_text() for path in _kernels._folder().iterdir()]
        heads = {text.split("\n")[0] for text in texts}
        return "auto Float 2 0 0 cuda" in heads and not any("cuda:" in each for each in heads)

    check("list", check_list)

    def check_descriptions():
        """A kernel that is not there, or is asked for too early, is named with the reason."""
        text = """
          func.func @one(%x: tensor<?xf32>) -> tensor<?xf32> {
            %r = fad.elementwise ins(%x : tensor<?xf32>) -> tensor<?xf32> {
            ^bb0(%a: f32):
              %e = math.exp %a : f32
              fad.yield %e : f32
            }
            return %r : tensor<?xf32>
          }
          func.func @none(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> }"""
        module = fad.parse(text)
        handle = module._handle
        calls = {
            "@one is not one elementwise kernel: run fad-to-nvvm first": lambda: _fad.kernel(
                handle, "one"
            ),
            "@none is not one elementwise kernel": lambda: _fad.kernel(handle, "none"),
            "there is no function @two": lambda: _fad.kernel(handle, "two"),
            "no gpu.binary of one object: run fad-to-nvvm first": lambda: _fad.kernel_image(handle),
            "compute capability 6.1; kernels take 7.0": lambda: _fad.choose_chip(6, 1),
        }
        for message, call in calls.items():
            assert raises(message, call), message
        module.run("fad-to-nvvm{chip=sm_90 format=isa}")
        assert _fad.kernel(handle, "one") == ("one_0", 256, 2048, [0, -1])
        assert b".entry one_0_unaligned(" in _fad.kernel_image(handle)
        return [_fad.choose_chip(*each) for each in ((7, 0), (8, 9), (13, 0))] == [
            "sm_70", "sm_89", "sm_120"
        ]  # fmt: skip

    check("descriptions", check_descriptions)

    def check_cache():
        """PTX is kept beside machine code of the CPU, for each chip."""
        module = fad.parse(SCALED)._handle
        with tempfile.TemporaryDirectory() as cache, environment("FAD_CACHE_DIR", cache):
            # The time that it took to compile is a part of the text.
            texts = [str(fad.Module(_fad.compile_kernels(module, "sm_90"))) for _ in range(2)]
            _fad.compile_kernels(module, "sm_80")
            entries = list(pathlib.Path(cache, "code").glob("llvmcache-*"))
        return texts[0] == texts[1] and "TimeInMs" in texts[0] and len(entries) == 2

    check("cache", check_cache)

    def check_memory():
        gc.collect()
        return live_values() == 0

    check("memory", check_memory)
    assert not any("cuStreamSynchronize" in line for line in log.path.read_text().splitlines())
    check.finish()


main()
