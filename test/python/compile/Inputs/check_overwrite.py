"""Results in the memory of operands: Inductor's code for a GPU within a budget, whose kernels Triton's
interpreter executes on a CPU, which it does where the environment has TRITON_INTERPRET=1 before Triton
is imported. Results and gradients are eager PyTorch's."""

import contextlib
import importlib.util
import itertools
import pathlib
import re
import tempfile
import types
from unittest import mock

import fake_cuda
import sympy
import torch
import torch.nn.functional as F
from fad.torch.compile import _inductor, _overwrite
from fad.torch.compile._backend import make_inner
from torch import nn
from torch._inductor.graph import GraphLowering
from torch._inductor.ir import FixedLayout, InputBuffer
from torch._inductor.virtualized import V

WIDTH, INNER, BATCH = 32, 64, 48
KIND = {f"is_{kind}.return_value": False for kind in ("extern", "template", "reduction")}


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.up = (nn.Linear(WIDTH, INNER, bias=False) for _ in range(2))
        self.down = nn.Linear(INNER, WIDTH, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Concatenated(nn.Module):
    """A kernel reads a product by itself, and, in another order, as a part of a concatenation, which is in
    the same memory."""

    def forward(self, x, weight, other, scale):
        part = x @ weight
        parts = torch.cat([part, x @ other])
        return (parts.flip(0)[BATCH:] * scale) @ (part * scale).T


class Kernel:
    """A kernel without reductions, of whose arguments the last ones are a number of elements and a
    stream."""

    BLOCK = 256

    def __init__(self, name, text, folder):
        body = re.sub(r"@triton_heuristics\.pointwise\(.*?\n\)\n", "", text, flags=re.S)
        path = pathlib.Path(folder, f"{name}.py")
        # The interpreter has no functions of libraries.
        body = body.replace("triton_helpers.set_driver_to_gpu()", "").replace("libdevice.", "tl.")
        path.write_text(body)
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self.function = getattr(module, name)

    def run(self, *arguments, stream):
        self.function[(-(-arguments[-1] // self.BLOCK),)](*arguments, XBLOCK=self.BLOCK)


def load(part, folder):
    """The function that executes `part` on a CPU."""
    kernel = re.compile(
        r"^\w+ = async_compile\.triton\(.*?^\'\'\', device_str='cuda'\)$", re.M | re.S
    )
    text = kernel.sub("", part.text)
    for old, new in (
        (r"^from torch\._C import _cuda_getCurrentRawStream.*$", ""),
        (r"torch\.cuda\._DeviceGuard\(0\)", "nothing()"),
        (r"torch\.cuda\.set_device\(0\)", "pass"),
        (r"empty_strided_cuda\(", "empty_strided_cpu("),
    ):
        text = re.sub(old, new, text, flags=re.M)
    names = {name: Kernel(name, source, folder) for name, source in part.sources.items()}
    names |= {"nothing": contextlib.nullcontext, "get_raw_stream": int, "__name__": ""}
    exec(compile(text, "part", "exec"), names)
    return names["call"]


def execute():
    """Yields how many results of backward are written over operands, and what is wrong."""
    torch.manual_seed(0)
    model, x = Gate(), torch.randn(BATCH, WIDTH, requires_grad=True)
    partitioner = fake_cuda.Kept(budget=2**40)
    parts = fake_cuda.write(model, (x,), partitioner, make_inner(partitioner, {}))
    # As the graph has them.
    inputs = [model.gate.weight, x, model.up.weight, model.down.weight]
    gradient = torch.randn(BATCH, WIDTH)
    expected = torch.autograd.grad(model(x), inputs, gradient)
    with tempfile.TemporaryDirectory() as folder:
        forward, backward = (load(part, folder) for part in parts)
        _, *saved = forward([each.detach().clone() for each in inputs])
        gradients = backward([*saved, gradient])
    names = re.findall(r"^def triton_\w+\((.*)\):", "".join(parts[1].sources.values()), re.M)
    yield f"{names[0].count('in_out_ptr')} results of {len(names)} kernel over operands"
    for gradient, right in zip(gradients, expected, strict=True):
        if not torch.allclose(gradient, right, rtol=1e-5, atol=1e-6):
            yield f"a gradient is off by {(gradient - right).abs().max()}"


def check_alias():
    """Yields what is wrong with a kernel that has an operand by two names."""
    inputs = [torch.randn(size, WIDTH) for size in (BATCH, WIDTH, WIDTH, BATCH)]
    inputs[1].requires_grad_()
    model, partitioner = Concatenated(), fake_cuda.Kept(budget=2**40)
    forward, _ = fake_cuda.write(model, inputs, partitioner, make_inner(partitioner, {}))
    right = model(*inputs)
    with tempfile.TemporaryDirectory() as folder:
        result, *_ = load(forward, folder)([each.detach().clone() for each in inputs])
    if not torch.allclose(result, right, rtol=1e-5, atol=1e-4):
        yield f"a result is off by {(result - right).abs().max()}"


def check_order():
    """The product, the gradient of the gate, and that of the other factor: in any order, two of them are
    written over operands, and one that reads another stays behind it."""
    operands = {"product": "gate up", "first": "slope gate up", "second": "slope gate"}
    for names in itertools.permutations(operands):
        for needed in (), names[:1]:
            nodes = {name: mock.Mock(ancestors=set()) for name in names}
            for name, node in nodes.items():
                node.get_name.return_value = name
            nodes[names[-1]].ancestors = set(needed)
            reads = {nodes[name]: dict.fromkeys(operands[name].split(), True) for name in names}
            with mock.patch.object(_overwrite, "_find_reads", lambda *_: reads):
                order = _overwrite._order([*nodes.values()], operands)
                kernel = mock.Mock(**KIND, **{"get_nodes.return_value": [*nodes.values()]})
                alone = _overwrite.find_overwritten(kernel, operands, 1)
            found = [node.get_name() for node in order]
            written = _overwrite._list_overwritten(order, reads)
            if len(set(written)) != len(written) or (not needed and len(written) < 2):
                yield f"{found}, of {names}, write over {written}"
            if len(alone) != 1:
                yield f"the one result in memory is over {alone}"
            if sorted(found) != sorted(names) or any(
                found.index(each) > found.index(names[-1]) for each in needed
            ):
                yield f"{found} is no order of {names}, of which the last reads {needed}"


def check_kept():
    """Yields what is wrong with the operands that each of three kernels may write over, the last a result:
    those of the graph that no later kernel reads."""
    graph = mock.Mock(**{"get_output_names.return_value": ["c"]})
    names = dict.fromkeys("abc", mock.Mock(node="of the graph"))
    scheduler = types.SimpleNamespace(name_to_buf=names, name_to_donated_buffer={})
    orders = []

    def order(nodes, operands):
        orders.append("".join(sorted(operands)))
        return nodes

    def make_kernel(reads):
        kernel = mock.MagicMock(**KIND, scheduler=scheduler)
        kernel.get_device.return_value = torch.device("cuda")
        kernel.read_writes.reads = [types.SimpleNamespace(name=name) for name in reads]
        return kernel

    kernels = [make_kernel(reads) for reads in ("ab", "bc", "xbc")]
    with (
        V.set_graph_handler(graph),
        mock.patch.object(_overwrite, "_order", order),
        mock.patch.object(_overwrite, "type", lambda _: _overwrite.FusedSchedulerNode, create=True),
        mock.patch.object(_inductor.FinishFusion, "__call__", lambda _, nodes: nodes),
        mock.patch.object(_inductor, "_unpack_early", lambda nodes: nodes),
    ):
        _inductor._SaveMemory()(kernels)
    if orders != ["b", "", "a"]:
        yield f"from the last, kernels may write over {orders}"


def check_match():
    """Yields what is wrong with the operands whose memory fits a result of 100 numbers on a GPU."""
    fits = {
        (100, torch.float32, "cuda"): True,
        (100, torch.int32, "cuda"): False,
        (100, torch.float32, "cpu"): False,
        (105, torch.float32, "cuda"): True,
        (106, torch.float32, "cuda"): False,
        (99, torch.float32, "cuda"): False,
    }
    index = sympy.Symbol("index")
    read, write = (_overwrite.MemoryDep(name, index, (index,), (90,)) for name in "xy")

    def make_buffer(size, dtype, device):
        layout = FixedLayout(torch.device(device), dtype, [size], [1])
        return types.SimpleNamespace(node=InputBuffer(name="x", layout=layout))

    with V.set_graph_handler(GraphLowering(torch.fx.symbolic_trace(nn.Identity()))):
        result = make_buffer(*next(iter(fits)))
        for operand, right in fits.items():
            names = {"x": make_buffer(*operand), "y": result}
            scheduler = types.SimpleNamespace(name_to_buf=names, name_to_donated_buffer={})
            node = types.SimpleNamespace(scheduler=scheduler)
            if _overwrite._matches(node, read, write) != right:
                yield f"a result may be over {operand}: {not right}"


def main():
    print(*execute(), *check_alias(), *check_order(), *check_kept(), *check_match(), sep="\n")
