"""Plans joint graphs of fake CUDA tensors, which need no GPU.

A joint graph is traced on the CPU with Inductor's decompositions and its random numbers,
and its tensors are then declared to be on a GPU: PyTorch without CUDA has no derivatives
there. fad splits the graph. Both parts are executed on the CPU, and compared with those of
PyTorch's partitioner."""

import sys
import warnings

import fake_cuda
import torch
import torch.nn.functional as F
from torch import fx, nn
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch._guards import detect_fake_mode
from torch._inductor.decomposition import select_decomp_table
from torch._inductor.fx_passes.joint_graph import joint_graph_passes
from torch._inductor.virtualized import V

import fad.torch.compile._partitioner as partitioner

RANDOM = torch.ops.prims.inductor_random.default
SIZE = 32 * 256


class Model(nn.Module):
    """Dropout of a wide layer and of a narrow one, and an activation with kinks."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(64, 256), nn.Linear(256, 64)
        self.norm = nn.LayerNorm(64)

    def forward(self, x):
        y = F.dropout(F.relu6(self.first(x)), 0.1)
        return F.dropout(self.norm(self.second(y)), 0.5) + x


class Split(Exception):
    """The graph is split; there is nothing to execute."""


def trace(dtype):
    """The parts of the model's joint graph, the options of the plan, and the number of
    results with the parts that PyTorch's partitioner makes."""
    parts, options, stock = [], [], []
    plan = partitioner._fad.plan

    def watch(handle, policy, **keywords):
        options.append(keywords)
        return plan(handle, policy, **keywords)

    def split(graph, inputs, **keywords):
        values = [node.meta.get("val") for node in graph.graph.nodes]
        with V.set_fake_mode(detect_fake_mode(values)):
            joint_graph_passes(graph)
        count = keywords["num_fwd_outputs"]
        original = fx.GraphModule(graph, partitioner.copy_graph(graph.graph))
        stock.append(count)
        stock.extend(min_cut_rematerialization_partition(original, inputs, **keywords))
        fake_cuda.move(graph.graph)
        keywords.pop("compiler", None)
        parts.extend(partitioner.Partitioner()(graph, inputs, **keywords))
        raise Split

    backend = aot_autograd(
        fw_compiler=None, bw_compiler=None, partition_fn=split,
        decompositions=select_decomp_table(),
    )  # fmt: skip
    torch._dynamo.reset()
    partitioner._fad.plan = watch
    try:
        x = torch.randn(32, 64, dtype=dtype, requires_grad=True)
        torch.compile(Model().to(dtype), backend=backend)(x)
    except (Split, torch._dynamo.exc.BackendCompilerFailed) as error:
        if "Split" not in f"{type(error)} {error}":
            raise
    finally:
        partitioner._fad.plan = plan
    return *parts, options, stock


def run(count, forward, backward):
    """The `count` results and the gradients of a training step on the CPU."""
    torch.manual_seed(1)
    results = forward(*make_tensors(forward.graph.find_nodes(op="placeholder")))
    saved = results[count:]
    cotangents = backward.graph.find_nodes(op="placeholder")[len(saved) :]
    return [*results[:count], *backward(*saved, *make_tensors(cotangents))]


def make_tensors(nodes):
    values = [node.meta["val"] for node in nodes]
    return [torch.randn(value.shape, dtype=value.dtype) for value in values]


def compare(count, *parts):
    """The largest difference between the values of two pairs of parts."""
    values = [run(count, *pair) for pair in (parts[:2], parts[2:])]
    pairs = [pair for pair in zip(*values, strict=True) if pair[0] is not None]
    return max((a - b).abs().max().item() for a, b in pairs)


def check(dtype):
    """The error of the plan, if there is one."""
    forward, backward, options, stock = trace(dtype)
    if [each["target"] for each in options] != ["gpu"]:
        yield f"the plan has the options {options}"
    counts = [
        len(part.graph.find_nodes(op="call_function", target=RANDOM))
        for part in (forward, backward)
    ]
    if counts != [2, 0]:
        yield f"forward and backward have {counts} random operations"
    for part in forward, backward:
        for node in part.graph.nodes:
            value = node.meta.get("val")
            if isinstance(value, torch.Tensor) and value.device.type != "cuda":
                yield f"{node} is on {value.device}"
            if node.kwargs.get("device", torch.device("cuda")).type != "cuda":
                yield f"{node} is made on {node.kwargs['device']}"
    inputs = [node.name for node in forward.graph.find_nodes(op="placeholder")]
    values = [
        node.meta["val"]
        for node in backward.graph.find_nodes(op="placeholder")
        if node.name not in inputs and "tangents" not in node.name
    ]
    kinds = sorted(f"{'x'.join(map(str, v.shape))} {str(v.dtype)[6:]}" for v in values)
    print(f"{str(dtype)[6:]}:", *kinds, sep="\n  ")
    if any(value.dtype is torch.bool for value in values):
        yield "a mask takes a byte for each element"
    # Both masks of dropout are bits; so are the kinks.
    bits = 8 * sum(value.numel() for value in values if value.dtype is torch.uint8)
    if bits < SIZE + 32 * 64:
        yield f"{bits} bits for masks"
    for part in forward, backward:
        fake_cuda.move(part.graph, torch.device("cpu"))
        part.recompile()
    difference = compare(*stock, forward, backward)
    if not difference <= (1e-5 if dtype is torch.float32 else 5e-2):
        yield f"results or gradients differ from those of PyTorch's partitioner by {difference}"


def main():
    warnings.simplefilter("error", RuntimeWarning)
    errors = [
        f"{dtype}: {error}" for dtype in (torch.float32, torch.bfloat16) for error in check(dtype)
    ]
    print(*errors, sep="\n")
    print("wrong" if errors else "right")
    return bool(errors)


if __name__ == "__main__":
    sys.exit(main())
