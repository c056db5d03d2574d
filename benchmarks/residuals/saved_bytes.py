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

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "examples" / "models"), str(ROOT / "benchmarks" / "common")]

import saved_tables
from command_line import positive
from records import format_records

# Requests to fad, by the name of the figure.
REQUESTS = {
    **{policy: {"policies": [policy]} for policy in ("bp", "recompute", "fad")},
    **{
        f"auto-{level}": {"policies": ["auto"], "recompute": level}
        for level in ("nothing", "elementwise", "reductions", "all")
    },
    "auto-bits": {"policies": ["auto"], "recompute": "nothing", "derivative_bits": 3},
}

# So many samples that the peak is made by what is kept, and not by gradients.
PEAK_BATCH = 128


def describe_machine():
    """Versions of the programs that made the figures."""
    import fad

    packages = ("torch", "torch-mlir", "transformers")
    return {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "fad": fad.__version__,
        **{name: metadata.version(name) for name in packages},
    }


def export(name, activation, batch, options):
    """Returns a network as a module, and what of it to differentiate; from the folder of exported
    programs where it is there."""
    import fad
    import fad.torch
    import networks
    from torch._subclasses.fake_tensor import FakeTensorMode

    path = None
    if options.exports:
        path = options.exports / f"{name}_{activation}_{batch}.mlirbc"
        request = path.with_suffix(".json")
        if request.exists():
            return fad.parse_file(str(path)), json.loads(request.read_text())
    with FakeTensorMode(allow_non_fake_inputs=True):
        network = networks.build(name, activation, training=True, batch=batch)
    exported = fad.torch.export(network.module, network.inputs)
    wanted = {"wrt": list(exported.wrt), "results": list(exported.differentiated)}
    if path:
        options.exports.mkdir(parents=True, exist_ok=True)
        exported.module.write(str(path), bytecode=True)
        request.write_text(json.dumps(wanted))
    return exported.module, wanted


def measure_fad(name, activation, options):
    """Values that fad keeps of a network: by request, bytes, the time of all that backward
    computes again, and the bytes that a sample adds to the peak of a step."""
    import fad

    module, wanted = export(name, activation, options.batch, options)
    figures = {"bytes": {}, "recompute_time": {}, "peak_bytes_a_sample": {}}
    for request_name, request in REQUESTS.items():
        (part,) = fad.memory_report(module, **wanted, **request).policies.values()
        figures["bytes"][request_name] = part.bytes
        figures["recompute_time"][request_name] = part.recompute_time
    if options.quick:
        return figures
    module, wanted = export(name, activation, PEAK_BATCH, options)
    for request_name, request in REQUESTS.items():
        (part,) = fad.memory_report(module, **wanted, **request).policies.values()
        figures["peak_bytes_a_sample"][request_name] = part.peak / PEAK_BATCH
    return figures


def measure_within(name, activation, options, theirs):
    """Returns the bytes that auto keeps, and how long it computes again, where it may keep as much
    as each point of PyTorch's curve does: by the name of the point. A point that fad cannot keep as
    little as is left out."""
    import fad

    module, wanted = export(name, activation, options.batch, options)
    within = {}
    for point, time in theirs["recompute_time"].items():
        if point not in saved_tables.TORCH_CURVE or time is None:
            continue
        try:
            (part,) = fad.memory_report(
                module,
                **wanted,
                policies=["auto"],
                recompute="all",
                residual_budget=theirs["bytes"][point],
            ).policies.values()
        except fad.Error:
            continue
        within[point] = {"bytes": part.bytes, "recompute_time": part.recompute_time}
    return within


def measure(name, activation, options, torch_row):
    """Returns all figures of one network with one activation. `torch_row` is what an earlier run
    said of it, or None."""
    import networks
    import torch
    import torch_saved
    from torch._subclasses.fake_tensor import FakeTensorMode

    def build(batch):
        return networks.build(name, activation, training=True, batch=batch)

    torch.manual_seed(0)
    figures = measure_fad(name, activation, options)
    theirs = torch_row or torch_saved.measure(
        build,
        options.batch,
        lambda module: isinstance(module, networks.Activation),
        torch_saved.QUICK if options.quick else None,
    )
    with FakeTensorMode(allow_non_fake_inputs=True):
        network = build(options.batch)
    return {
        "network": name,
        "activation": activation,
        "batch": options.batch,
        "parameters": networks.count_parameters(network.module),
        "buffer_bytes": sum(buffer.nbytes for buffer in network.module.buffers()),
        "input_bytes": sum(value.nbytes for value in network.inputs.values()),
        "activation_bytes": theirs["activation_bytes"],
        **{key: {**theirs[key], **figures[key]} for key in figures},
        "within": measure_within(name, activation, options, theirs),
    }


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
        "--quick",
        action="store_true",
        help="leave out most partitions of PyTorch, and the peaks of fad",
    )
    parser.add_argument("--json", type=pathlib.Path, help="file for the figures")
    parser.add_argument("--tables", type=pathlib.Path, metavar="JSON", help="print these figures")
    parser.add_argument(
        "--torch",
        type=pathlib.Path,
        metavar="JSON",
        help="take PyTorch's figures from here, where they are there",
    )
    parser.add_argument(
        "--exports",
        type=pathlib.Path,
        metavar="FOLDER",
        help="keep exported programs here, and take them from here",
    )
    options = parser.parse_args()
    if options.tables and (options.json or options.torch):
        parser.error("--tables prints what was measured; it measures nothing")
    return parser, options


def read_torch_rows(options, made_with):
    """Returns the rows of an earlier run by network and activation."""
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
    made_with = describe_machine()
    torch_rows = read_torch_rows(options, made_with)
    import networks

    every = {**networks.TWO_LAYERS, **networks.FULL, **networks.SMALL}
    names = options.network or [*networks.TWO_LAYERS, *networks.FULL]
    activations = options.activation or list(networks.ACTIVATIONS)
    for given, known in ((names, every), (activations, networks.ACTIVATIONS)):
        for name in given:
            if name not in known:
                parser.error(f"there is no {name}; choose of {', '.join(known)}")
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
                options.json.write_text(format_records(figures) + "\n")
    return figures


def main():
    parser, options = parse_arguments()
    if options.tables:
        figures = json.loads(options.tables.read_text())
        figures["rows"] = [
            row
            for row in figures["rows"]
            if row["network"] in (options.network or [row["network"]])
            and row["activation"] in (options.activation or [row["activation"]])
        ]
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
