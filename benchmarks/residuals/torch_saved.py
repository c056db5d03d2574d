"""Bytes that PyTorch keeps between forward and backward of a network, as eager
autograd and as the partitioners of `torch.compile` choose.

A partitioner splits the joint graph that AOTAutograd traces. That graph is traced
once for each table of decompositions, and each partition of it is run on tensors
without data, which tells what it keeps: every storage once; parameters, buffers
and inputs, which are alive anyway, left out."""

import copy

import torch
import torch._functorch.config as config
from functorch.compile import (
    default_partition,
    min_cut_rematerialization_partition,
    nop,
)
from torch._dynamo.backends.common import aot_autograd
from torch._inductor.decomposition import select_decomp_table
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed._tools.mem_tracker import MemTracker

import saved
import torch_time

# Operators that the min-cut partitioner does not recompute unless it is told to.
BANS = {
    "ban_recompute_materialized_backward": False,
    "ban_recompute_long_fusible_chains": False,
    "ban_recompute_used_far_apart": False,
    "ban_recompute_reductions": False,
}
DEFAULT = (default_partition, {})


def min_cut(**options):
    return min_cut_rematerialization_partition, options


# A partitioner and its options by name, for each table of decompositions.
PARTITIONS = {
    "plain": {"aot-default": DEFAULT, "min-cut": min_cut()},
    "inductor": {
        "inductor-default": DEFAULT,
        "inductor-min-cut": min_cut(),
        "inductor-materialized": min_cut(ban_recompute_materialized_backward=False),
        "inductor-all": min_cut(**BANS),
        "inductor-aggressive": min_cut(aggressive_recomputation=True),
        "inductor-aggressive-all": min_cut(aggressive_recomputation=True, **BANS),
        "inductor-budget-0.75": min_cut(activation_memory_budget=0.75),
        "inductor-budget-0.5": min_cut(activation_memory_budget=0.5),
        "inductor-budget-0.25": min_cut(activation_memory_budget=0.25),
    },
}
# The part of them that shows the most in the least time.
QUICK = ("aot-default", "min-cut", "inductor-min-cut", "inductor-all")


class Loss(torch.nn.Module):
    """A network as a function of its inputs in order."""

    def __init__(self, module, names):
        super().__init__()
        self.module = module
        self.names = names

    def forward(self, *values):
        return saved.call(self.module, dict(zip(self.names, values)))


def get_placeholders(graph):
    """Returns the tensors that the arguments of a traced graph stand for."""
    return [node.meta["val"] for node in graph.graph.find_nodes(op="placeholder")]


def count_saved(forward, num_results):
    """Returns the bytes that `forward`, a forward graph, returns after its results."""
    arguments = get_placeholders(forward)
    modes = [value.fake_mode for value in arguments if hasattr(value, "fake_mode")]
    with modes[0], torch.no_grad():
        outputs = forward(*arguments)
    alive = {saved.storage(value) for value in arguments if isinstance(value, torch.Tensor)}
    sizes = {
        saved.storage(value): value.untyped_storage().nbytes()
        for value in outputs[num_results:]
        if isinstance(value, torch.Tensor)
    }
    return sum(size for storage, size in sizes.items() if storage not in alive)


class Partitioner:
    """Partitions a joint graph in several ways, and as the first of them for
    whoever asks."""

    def __init__(self, partitions):
        self.partitions = partitions
        self.bytes = {}
        # Estimated, for the partitions whose graphs consist of simple operations.
        self.times = {}

    def __call__(self, joint, inputs, *, num_fwd_outputs, **options):
        for name, (partition, settings) in self.partitions.items():
            with config.patch(**settings):
                forward, backward = partition(
                    copy.deepcopy(joint),
                    inputs,
                    num_fwd_outputs=num_fwd_outputs,
                    **options,
                )
            self.bytes[name] = count_saved(forward, num_fwd_outputs)
            self.times[name] = torch_time.estimate_recomputation(backward)
        return default_partition(joint, inputs, num_fwd_outputs=num_fwd_outputs, **options)


def measure_partitions(network, table, partitions):
    """Partitions `network` in each of the ways of `partitions`."""
    torch._dynamo.reset()
    partitioner = Partitioner(partitions)
    decompositions = select_decomp_table() if table == "inductor" else None
    backend = aot_autograd(
        fw_compiler=nop,
        bw_compiler=nop,
        partition_fn=partitioner,
        decompositions=decompositions,
    )
    step = torch.compile(
        Loss(network.module, list(network.inputs)), backend=backend, fullgraph=True
    )
    step(*network.inputs.values())
    return partitioner


def measure_eager(network, is_activation):
    """Returns the bytes that eager autograd keeps: all, and what activations, which `is_activation`
    tells among modules, are the first to keep."""
    before, own = set(), set()

    def enter(module, arguments):
        before.update(sizes)

    def leave(module, arguments, result):
        own.update(sizes.keys() - before)

    hooks = [
        hook
        for module in network.module.modules()
        if is_activation(module)
        for hook in (
            module.register_forward_pre_hook(enter),
            module.register_forward_hook(leave),
        )
    ]
    with saved.count_saved(network.module, network.inputs) as sizes:
        saved.call(network.module, network.inputs)
    for hook in hooks:
        hook.remove()
    return sum(sizes.values()), sum(sizes[storage] for storage in own)


def measure_peak(network):
    """Returns the most bytes that are alive at once in a step of eager PyTorch, but for parameters,
    buffers and gradients."""
    tracker = MemTracker()
    tracker.track_external(network.module)
    with tracker:
        saved.call(network.module, network.inputs).backward()
    (peak,) = tracker.get_tracker_snapshot("peak").values()
    kinds = {str(kind).rpartition(".")[2]: size for kind, size in peak.items()}
    return sum(kinds[kind] for kind in ("ACT", "TEMP", "OTH"))


def measure(build, batch, is_activation, names=None):
    """Returns the bytes that PyTorch keeps of the network that `build` makes for a batch: bytes by
    the name of the method that decides, and those of activations in eager PyTorch; and the bytes
    that a sample adds to the peak of a step. Of the partitions, those of `names` or else all."""
    kept, times = {}, {}
    with FakeTensorMode(allow_non_fake_inputs=True):
        network = build(batch)
        eager, of_activations = measure_eager(network, is_activation)
        for table, partitions in PARTITIONS.items():
            wanted = {
                name: how for name, how in partitions.items() if names is None or name in names
            }
            if wanted:
                partitioner = measure_partitions(network, table, wanted)
                kept |= partitioner.bytes
                # Other graphs have operations that stand for several.
                if table == "inductor":
                    times |= partitioner.times
        # So many that what is kept, and not the gradients, makes the peak.
        few, many = (measure_peak(build(size)) for size in (64, 128))
    return {
        "bytes": {"eager": eager, **kept},
        "recompute_time": times,
        "activation_bytes": of_activations,
        "peak_bytes_a_sample": {"eager": (many - few) / 64},
    }
