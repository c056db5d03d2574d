"""Inductor's code for a GPU, on a machine without one.

Models are traced on the CPU; their joint graph is then declared to be on a GPU, since
PyTorch without CUDA has no derivatives there. Inductor makes the code of both parts, and
nothing of it is executed: results are zeros."""

import contextlib
import math
import re
import types
from unittest import mock

import torch
from fad.torch.compile import _backend
from fad.torch.compile._partitioner import Partitioner
from fad.torch.compile._schedule import _find_strides
from torch._decomp import decomposition_table
from torch._dynamo.device_interface import CudaInterface
from torch._functorch import partitioners
from torch._guards import TracingContext, detect_fake_mode
from torch._inductor.codecache import PyCodeCache
from torch._inductor.graph import GraphLowering
from torch._inductor.runtime import triton_helpers
from torch._inductor.runtime.hints import DeviceProperties
from torch._prims import TensorMeta
from torch.utils._pytree import tree_map
from torch.utils._triton import has_triton

# Properties that CUDA states of an A100 and of an H100.
COMMON = dict(
    total_memory=80 << 30,
    warp_size=32,
    max_threads_per_multi_processor=2048,
    max_threads_per_block=1024,
    regs_per_multiprocessor=65536,
    shared_memory_per_block=48 << 10,
)
DEVICES = {
    80: types.SimpleNamespace(
        name="A100", major=8, minor=0, multi_processor_count=108, L2_cache_size=40 << 20,
        shared_memory_per_block_optin=163 << 10, shared_memory_per_multiprocessor=164 << 10, **COMMON,
    ),
    90: types.SimpleNamespace(
        name="H100", major=9, minor=0, multi_processor_count=132, L2_cache_size=50 << 20,
        shared_memory_per_block_optin=227 << 10, shared_memory_per_multiprocessor=228 << 10, **COMMON,
    ),
}  # fmt: skip


class Driver:
    """Triton's driver of a GPU that is not there."""

    def __init__(self, capability):
        self.capability = capability

    def get_current_target(self):
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cuda", self.capability, 32)

    def get_current_device(self):
        return 0


def find_layout(input_, weight, _):
    """The memory format of a convolution's result by cuDNN: channels are last where they are so in an
    operand."""
    formats = [torch._prims_common.suggest_memory_format(each) for each in (input_, weight)]
    last = [each for each in formats if each != torch.contiguous_format]
    return last[0] if last else torch.contiguous_format


@contextlib.contextmanager
def pretend(capability=90):
    """Lets Inductor believe that there is a GPU."""
    import triton

    device = DEVICES[capability]
    state = torch.zeros(16, dtype=torch.uint8)
    answers = {
        "is_available": True,
        "device_count": 1,
        "current_device": 0,
        "get_device_properties": device,
        "get_device_capability": (device.major, device.minor),
        "get_rng_state": state,
        "set_rng_state": None,
        "_exchange_device": 0,
        "_maybe_exchange_device": 0,
    }
    with contextlib.ExitStack() as stack:
        for name, answer in answers.items():
            for owner in torch.cuda, CudaInterface:
                if hasattr(owner, name):
                    function = staticmethod(lambda *_, _a=answer: _a)
                    stack.enter_context(mock.patch.object(owner, name, function))
        stack.enter_context(mock.patch("torch.version.cuda", "13.0"))
        # Their answers of before are kept.
        for function in has_triton, DeviceProperties.create:
            function.cache_clear()
            stack.callback(function.cache_clear)
        stack.enter_context(mock.patch.object(triton.runtime.driver, "_active", Driver(capability)))
        # PyTorch without CUDA has no indexing there, but selection.
        seed = torch.ops.prims.inductor_lookup_seed.default
        stack.enter_context(
            mock.patch.object(
                seed, "prim_meta_impl", lambda seeds, i: TensorMeta(seeds.select(0, i))
            )
        )
        put = torch.ops.aten._unsafe_masked_index_put_accumulate.default
        stack.enter_context(
            mock.patch.dict(decomposition_table, {put: lambda to, *_: torch.empty_like(to)})
        )
        # Nor has it cuDNN's convolutions, whose results have the layout of one of their operands.
        stack.enter_context(
            mock.patch.object(torch._C, "_conv_determine_backend_memory_format", find_layout)
        )
        # Nor has it copies there, which have no effect on tensors without data.
        copy = torch.Tensor.copy_
        stack.enter_context(
            mock.patch.object(
                torch.Tensor, "copy_",
                lambda to, *from_: to if to.device.type == "cuda" else copy(to, *from_),
            )
        )  # fmt: skip
        yield


def move(graph, to=torch.device("cuda", 0)):
    """Declares all tensors and operations of `graph` to be on the device `to`."""

    def change(value):
        if isinstance(value, torch.Tensor):
            return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=to)
        return to if isinstance(value, torch.device) else value

    values = [node.meta["val"] for node in graph.nodes if "val" in node.meta]
    with detect_fake_mode(values), torch.no_grad():
        for node in graph.nodes:
            if "val" in node.meta:
                node.meta["val"] = tree_map(change, node.meta["val"])
            if node.op == "call_function":
                node.args, node.kwargs = (
                    torch.fx.node.map_aggregate(each, change) for each in (node.args, node.kwargs)
                )


class Moved(Partitioner):
    """fad's partitioner of a graph that is declared to be on a GPU."""

    def __call__(self, graph, inputs, **options):
        move(graph.graph)
        return super().__call__(graph, inputs, **options)


class Kept(Moved):
    """fad's partitioner, which keeps the parts."""

    def __call__(self, graph, inputs, **options):
        with pretend():
            self.parts = super().__call__(graph, inputs, **options)
        return self.parts


class MovedStock(Moved):
    """PyTorch's partitioner of such a graph."""

    def __call__(self, graph, inputs, **options):
        move(graph.graph)
        return partitioners.min_cut_rematerialization_partition(graph, inputs, **options)


class Written(Exception):
    """The code of a graph is written; a module of it would need a GPU."""


class Part:
    """The code of forward or of backward: `sources`, by name the source text of a kernel,
    `executed`, all other text, with that of each function of a chunk where it is called, and
    `launches`, names of kernels in the order of their launches."""

    def __init__(self, graph, text):
        self.graph, self.text = graph, text
        kernel = re.compile(
            r"^(\w+) = async_compile\.triton\('\w+', '''(.*?)''', device", re.M | re.S
        )
        self.sources = dict(kernel.findall(text))
        function = re.compile(r"^def (fad_region\w*)\(args\):\n(.*?)\n(?=\S)", re.M | re.S)
        others = kernel.sub("", text)
        bodies = dict(function.findall(others))
        self.executed = re.sub(
            r"^.*= (fad_region\w*)\(.*$",
            lambda call: bodies[call[1]],
            function.sub("", others),
            flags=re.M,
        )
        self.launches = re.findall(r"^ +(\w+)\.run\(", self.executed, re.M)

    def count_bytes(self, kernel):
        """The bytes that a `kernel` reads and writes, by Inductor's count, where its text has that. Inductor
        counts results that are written over an operand as read and written, though one of both may be an
        intermediate value of the kernel."""
        source = self.sources[kernel]
        count = round(1e9 * float(re.search(r"'kernel_num_gb': ([0-9.e+-]+)", source)[1]))
        operands = re.search(r"^def triton_\w+\((.*?)\)", source, re.M)[1].split(", ")
        for number, operand in enumerate(operands):
            accesses = (f"tl.{access}({operand} " in source for access in ("load", "store"))
            if operand.startswith("in_out_ptr") and not all(accesses):
                tensor = re.search(
                    rf"^ +arg_{number} = rand_strided\(\((.*?)\), .*dtype=(torch\.\w+)\)",
                    source,
                    re.M,
                )
                sizes = map(int, filter(None, tensor[1].replace(" ", "").split(",")))
                count -= math.prod(sizes) * getattr(torch, tensor[2][6:]).itemsize
        return count


def compile_kernel(name, source, capability, count=None):
    """The PTX that Triton compiles of a kernel of Inductor's, for `count` of the
    configurations of which Inductor chooses, or for all."""
    with (
        pretend(capability),
        mock.patch.object(triton_helpers, "set_driver_to_gpu", lambda: None),
        torch._inductor.config.patch(use_static_triton_launcher=False),
    ):
        # A kernel that has been compiled cannot be so again for another device.
        PyCodeCache.cache_clear()
        kernel = getattr(PyCodeCache.load(source), name)
        kernel.device_props = kernel.device_props._replace(cc=capability, major=capability // 10)
        kernel.triton_meta["device"] = kernel.device_props
        kernel.configs = kernel.configs[:count]
        # Compiles, and loads nothing on a device.
        kernel.precompile(warm_cache_only=True)
        return [(result.config, result.kernel.asm["ptx"]) for result in kernel.compile_results]


def write(model, inputs, partitioner, inner, capability=90):
    """Forward and backward of one training step of `model`, as `partitioner` splits them
    and Inductor's function `inner` compiles them."""
    parts = []

    def stop(graph, code):
        # Backward is compiled for the tensors that forward makes.
        strides = TracingContext.get().output_strides
        if strides == []:
            strides += map(_find_strides, graph.graph_outputs)
        raise Written(code.value)

    def compile_part(graph, inputs, **options):
        nodes = graph.graph.find_nodes(op="placeholder")
        values = [node.meta["val"] for node in nodes]
        # Inputs of forward are on the CPU.
        values = [
            value.as_strided(value.shape, given.stride())
            if isinstance(value, torch.Tensor) and value.stride() != given.stride() else value
            for value, given in zip(values, inputs, strict=True)
        ]  # fmt: skip
        text = None
        with (
            pretend(capability),
            mock.patch.object(GraphLowering, "_compile_to_module_lines", stop),
        ):
            try:
                inner(graph, values, **options)
            except torch._inductor.exc.InductorError as error:
                if not isinstance(error.inner_exception, Written):
                    raise
                text = str(error.inner_exception)
        parts.append(Part(graph, text))
        metas = [getattr(each, "meta", {}).get("val") for each in graph.graph.output_node().args[0]]

        def call(arguments):
            arguments.clear()
            return [
                torch.empty_strided(value.shape, value.stride(), dtype=value.dtype).zero_()
                if isinstance(value, torch.Tensor) else value
                for value in metas
            ]  # fmt: skip

        call._boxed_call = True
        return call

    def backend(graph, inputs):
        return _backend.compile_inductor(graph, inputs, partitioner, {}, inner_compile=compile_part)

    torch._dynamo.reset()
    with (
        torch._inductor.config.patch(fx_graph_cache=False),
        torch._functorch.config.patch(enable_autograd_cache=False),
    ):
        results = torch.compile(model, backend=backend)(*inputs)
        results.sum().backward()
    return parts
