#!/usr/bin/env python3
"""Bytes that BERT and ResNet-50 keep between forward and backward, by activation:
under each policy of fad, in eager PyTorch, and as the partitioners of
`torch.compile` choose on the same network and batch.

Networks are those of examples/models, in training, from tensors that have a shape
and no data. Every storage counts once; parameters, buffers, inputs and results,
which are alive anyway, count nothing. Prints tables and, with --json, writes what
they are made of; --tables prints those of such a file and measures nothing, and --torch
measures fad and takes what PyTorch keeps from such a file."""

import argparse
import json
import os
import pathlib
import platform
import sys
import warnings
from importlib import metadata

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "examples" / "models"))

import saved_tables

POLICIES = ("bp", "recompute", "fad")
LEVELS = ("nothing", "elementwise", "reductions", "all")


def describe_machine():
    """What the figures were made with."""
    import fad

    packages = ("torch", "torch-mlir", "transformers")
    return {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "system": platform.platform(),
        "python": platform.python_version(),
        "fad": fad.__version__,
        **{name: metadata.version(name) for name in packages},
    }


def measure_fad(network):
    """The bytes that fad keeps of a network, by policy, and for the policy auto by
    what may be recomputed."""
    import fad
    import fad.torch

    exported = fad.torch.export(network.module, network.inputs)
    request = dict(wrt=exported.wrt, results=exported.differentiated)
    report = fad.memory_report(exported.module, policies=POLICIES, **request)
    kept = {policy: report[policy].bytes for policy in POLICIES}
    for level in LEVELS:
        report = fad.memory_report(
            exported.module, policies=["auto"], recompute=level, **request
        )
        kept[f"auto-{level}"] = report["auto"].bytes
    return kept


def measure(name, activation, options, torch_row):
    """What there is to say of one network with one activation. `torch_row` is what
    an earlier run said of it, or None."""
    import networks
    import torch
    import torch_saved
    from torch._subclasses.fake_tensor import FakeTensorMode

    def build(batch):
        return networks.build(name, activation, training=True, batch=batch)

    torch.manual_seed(0)
    with FakeTensorMode(allow_non_fake_inputs=True):
        network = build(options.batch)
    kept = measure_fad(network)
    theirs = torch_row or torch_saved.measure(
        build,
        options.batch,
        lambda module: isinstance(module, networks.Activation),
        torch_saved.QUICK if options.quick else None,
    )
    module = network.module
    return {
        "network": name,
        "activation": activation,
        "batch": options.batch,
        "parameters": networks.count_parameters(module),
        "buffer_bytes": sum(buffer.nbytes for buffer in module.buffers()),
        "input_bytes": sum(value.nbytes for value in network.inputs.values()),
        "peak_bytes_a_sample": theirs["peak_bytes_a_sample"],
        "activation_bytes": theirs["activation_bytes"],
        "bytes": {**theirs["bytes"], **kept},
    }


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("has to be 1 or more")
    return number


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "network", nargs="*", help="of examples/models; default: those of full size"
    )
    parser.add_argument("--activation", nargs="+", help="default: all")
    parser.add_argument("--batch", type=positive, default=2)
    parser.add_argument(
        "--quick", action="store_true", help="leave most partitions of PyTorch out"
    )
    parser.add_argument("--json", type=pathlib.Path, help="file for the figures")
    parser.add_argument(
        "--tables", type=pathlib.Path, metavar="JSON", help="print these figures"
    )
    parser.add_argument(
        "--torch",
        type=pathlib.Path,
        metavar="JSON",
        help="take PyTorch's figures from here, where they are there",
    )
    options = parser.parse_args()
    if options.tables and (options.network or options.activation or options.json):
        parser.error("--tables prints what was measured; it takes no other option")
    return parser, options


def read_torch_rows(options, made_with):
    """The rows of an earlier run by network and activation."""
    if not options.torch:
        return {}
    figures = json.loads(options.torch.read_text())
    for name in ("torch", "transformers"):
        if figures["made_with"][name] != made_with[name]:
            raise ValueError(f"{options.torch} is of another version of {name}")
    if figures["batch"] != options.batch:
        raise ValueError(f"{options.torch} is for a batch of {figures['batch']}")
    return {(row["network"], row["activation"]): row for row in figures["rows"]}


def measure_all(parser, options):
    warnings.filterwarnings("ignore")
    import networks

    every = {**networks.TWO_LAYERS, **networks.FULL, **networks.SMALL}
    names = options.network or [*networks.TWO_LAYERS, *networks.FULL]
    activations = options.activation or list(networks.ACTIVATIONS)
    for given, known in ((names, every), (activations, networks.ACTIVATIONS)):
        for name in given:
            if name not in known:
                parser.error(f"there is no {name}; choose of {', '.join(known)}")
    made_with = describe_machine()
    torch_rows = read_torch_rows(options, made_with)
    figures = {
        "made_with": made_with,
        "batch": options.batch,
        "repetitions": "1: sizes are exact, and the same each time",
        "rows": [],
    }
    for name in names:
        for activation in activations:
            row = torch_rows.get((name, activation))
            figures["rows"].append(measure(name, activation, options, row))
            print(f"measured {name}, {activation}", file=sys.stderr, flush=True)
            if options.json:
                options.json.write_text(json.dumps(figures, indent=1) + "\n")
    return figures


def main():
    parser, options = parse_arguments()
    if options.tables:
        figures = json.loads(options.tables.read_text())
    else:
        figures = measure_all(parser, options)
    for name, value in figures["made_with"].items():
        print(f"{name}: {value}")
    print(f"batch: {figures['batch']}; repetitions: {figures['repetitions']}")
    saved_tables.print_tables(figures["rows"])


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
