"""Plans joint graphs of fake CUDA tensors, which need no GPU.

A joint graph is traced on the CPU with Inductor's decompositions and its random numbers,
and its tensors are then declared to be on a GPU: PyTorch without CUDA has no derivatives
there. fad splits the graph, and nothing is executed."""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import nn
from torch._dynamo.backends.common import aot_autograd
from torch._guards import detect_fake_mode
from torch._inductor.decomposition import select_decomp_table
from torch._inductor.fx_passes.joint_graph import joint_graph_passes
from torch._inductor.virtualized import V
from torch.utils._pytree import tree_map

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


def move(graph):
    """Declares all tensors and operations of `graph` to be on a GPU."""

    def change(value):
        if isinstance(value, torch.Tensor):
            return torch.empty_strided(
                value.shape, value.stride(), dtype=value.dtype, device="cuda"
            )
        return torch.device("cuda") if value == torch.device("cpu") else value

    values = [node.meta["val"] for node in graph.nodes if "val" in node.meta]
    with detect_fake_mode(values), torch.no_grad():
        for node in graph.nodes:
            if "val" in node.meta:
                node.meta["val"] = tree_map(change, node.meta["val"])
            if node.op == "call_function":
                node.args, node.kwargs = (
                    torch.fx.node.map_aggregate(each, change) for each in (node.args, node.kwargs)
                )


def trace(dtype):
    """The parts of the model's joint graph, and the options of the plan."""
    parts, options = [], []
    plan = partitioner._fad.plan

    def watch(handle, policy, **keywords):
        options.append(keywords)
        return plan(handle, policy, **keywords)

    def split(graph, inputs, **keywords):
        values = [node.meta.get("val") for node in graph.graph.nodes]
        with V.set_fake_mode(detect_fake_mode(values)):
            joint_graph_passes(graph)
        move(graph.graph)
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
    return *parts, options


def check(dtype):
    """What is wrong with the plan, if anything."""
    forward, backward, options = trace(dtype)
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
