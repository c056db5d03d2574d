"""The tensors that cross from forward to backward in one partition of a graph."""

from typing import Collection

import torch
from torch import fx

from ._comparison import Partition, SavedTensor
from ._peak import count_storage_bytes, get_tensors, peak_bytes
from ._pytorch import identify_storage
from ._step_memory import find_line, find_memory, find_module, name_operation


def describe_partition(
    parts: tuple[fx.GraphModule, fx.GraphModule], modules: Collection[str] | None
) -> Partition:
    """Forward and backward of a graph, as one partitioner has split it, with the names of the
    model's `modules`, or where these are not known, the paths by which Dynamo reaches them."""
    forward, backward = parts
    of_forward = {node.name: node for node in forward.graph.nodes}
    inputs = {
        identify_storage(value)
        for node in forward.graph.nodes
        if node.op in ("placeholder", "get_attr")
        for value in get_tensors(node)
    }
    seen = set(inputs)
    tensors = []
    readers = {node.target: node for node in backward.graph.find_nodes(op="placeholder")}
    for name, node in of_forward.items():
        read, value = readers.get(name), node.meta.get("val")
        if read is None or not isinstance(value, torch.Tensor):
            continue
        key = identify_storage(value)
        tensors.append(
            SavedTensor(
                name=node.name,
                operation=name_operation(node),
                shape=tuple(map(str, value.shape)),
                dtype=str(value.dtype).removeprefix("torch."),
                bytes=0 if key in seen else count_storage_bytes(value),
                module=find_module(node, modules),
                line=find_line(node),
                reason=node.meta.get("fad_reason", ""),
                is_input=key in inputs,
                readers=tuple(dict.fromkeys(map(name_operation, read.users))),
                read_by_modules=tuple(
                    dict.fromkeys(find_module(user, modules) for user in read.users)
                ),
                storage=key,
            )
        )
        seen.add(key)
    peak = peak_bytes(forward, backward)
    return Partition(
        tensors=tuple(tensors),
        bytes=peak.saved,
        peak=peak.bytes,
        peak_operation=name_operation(peak.node) if peak.node else "",
        peak_module=find_module(peak.node, modules) if peak.node else "",
        peak_in_backward=peak.is_backward,
        memory=find_memory(peak, modules),
    )
