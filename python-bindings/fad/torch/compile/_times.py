"""The time of contractions, which decides which of them backward repeats first."""

import torch
from torch import fx
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.flop_counter import flop_registry, sdpa_flop_count

from ._sizes import estimate_size

aten = torch.ops.aten

# Units of a floating-point operation, where a unit is the time that an eighth of a byte
# takes to memory: `TargetTimes` in C++. On a CPU core of 36 GB/s and about 70 GFLOPS.
_CPU_UNITS = 4.0
# On an A100 of 1,555 GB/s, 19.5 TFLOPS in f32 and f64, and 312 in 16 bits (NVIDIA A100
# Tensor Core GPU, data sheet).
_GPU_UNITS = {1: 0.04, 2: 0.04, 4: 0.64, 8: 0.64}


def estimate_time(node: fx.Node) -> int:
    """The time of the arithmetic of `node` in units of `fad.opaque`; 0 for an operation
    whose operations PyTorch does not count."""
    packet = getattr(node.target, "overloadpacket", None)
    count = flop_registry.get(packet)
    if packet is aten._scaled_dot_product_flash_attention_for_cpu:
        count = _count_attention
    if count is None:
        return 0
    args, kwargs, value = tree_map(
        lambda leaf: leaf.meta["val"] if isinstance(leaf, fx.Node) else leaf,
        (node.args, node.kwargs, node),
    )
    operations = estimate_size(count(*args, **kwargs, out_val=value))
    return round(operations * _get_units(tree_leaves(value)[0]))


def _count_attention(query, key, value, *args, **kwargs) -> int:
    return sdpa_flop_count(query.shape, key.shape, value.shape)


def _get_units(value: torch.Tensor) -> float:
    if value.device.type == "cpu":
        return _CPU_UNITS
    return _GPU_UNITS.get(value.dtype.itemsize, _GPU_UNITS[4])
