"""The figures of benchmarks/residuals/torch_saved.py for partitions are those of compiled
steps, on tensors with data. An argument is a network and
an activation, as in bert-small:relu."""

import sys
import warnings

import networks
import saved
import torch
import torch_saved
from functorch.compile import nop
from torch._dynamo.backends.common import aot_autograd
from torch._inductor.decomposition import select_decomp_table

warnings.filterwarnings("ignore")
TABLES = {"plain": None, "inductor": select_decomp_table()}


def measure_run(network, table, partition, settings):
    """The bytes that autograd saves in a compiled step."""
    torch._dynamo.reset()
    backend = aot_autograd(
        fw_compiler=nop,
        bw_compiler=nop,
        partition_fn=partition,
        decompositions=TABLES[table],
    )
    names = list(network.inputs)
    step = torch.compile(torch_saved.Loss(network.module, names), backend=backend)
    with torch._functorch.config.patch(**settings):
        with saved.count_saved(network.module, network.inputs) as sizes:
            step(*network.inputs.values())
    return sum(sizes.values())


def check(name, activation):
    def build(batch):
        torch.manual_seed(0)
        return networks.build(name, activation, training=True, batch=batch)

    told = torch_saved.measure(
        build,
        3,
        lambda module: isinstance(module, networks.Activation),
        torch_saved.QUICK,
    )
    runs = {
        partition: measure_run(build(3), table, *how)
        for table, partitions in torch_saved.PARTITIONS.items()
        for partition, how in partitions.items()
        if partition in torch_saved.QUICK
    }
    runs["eager"] = saved.eager_bytes(build(3).module, build(3).inputs)
    assert told["bytes"] == runs, f"{told} is not {runs}"
    assert 0 < told["activation_bytes"] < runs["eager"], told
    assert told["peak_bytes_a_sample"]["eager"] * 3 > 0.9 * runs["eager"], told
    print(f"{name}, {activation}: {len(runs)} agree")


for argument in sys.argv[1:]:
    check(*argument.split(":"))
