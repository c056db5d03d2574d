#!/usr/bin/env python3
"""BERT-base, BERT-large and ResNet-50 at full size through fad, with each
activation: the number of operations, the time, and the bytes kept between forward
and backward, by policy and by PyTorch itself.

No weights are made: the networks are exported from tensors that have a shape and
no data."""

import argparse
import json
import pathlib
import re
import sys
import time
import warnings

import fad
import fad.torch
import networks
import saved
import torch
from command_line import positive
from torch._subclasses.fake_tensor import FakeTensorMode

POLICIES = ("bp", "recompute", "fad", "auto")
MODES = ("eval", "train")
MIB = 1 << 20
HEADER = (
    "network     activation          mode   operations  export s  fad s"
    "       bp  recompute      fad     auto    eager"
)
# Each operation stands on a line of its own.
OPERATION = re.compile(r"^ *(%[^=]*= )?[a-z_]+(\.[a-z_0-9]+)* ", re.MULTILINE)


def measure(name, activation, mode, options):
    """One line of the table."""
    training = mode == "train"
    with FakeTensorMode(allow_non_fake_inputs=True):
        network = networks.build(name, activation, training=training, batch=options.batch)
        eager = saved.eager_bytes(network.module, network.inputs)
    start = time.monotonic()
    exported = fad.torch.export(network.module, network.inputs)
    exported_at = time.monotonic()
    wanted = dict(wrt=exported.wrt, results=exported.differentiated)
    fad.nest(exported.module, policy="fad", **wanted)
    nested_at = time.monotonic()
    text = str(exported.module)
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / f"{name}_{activation}_{mode}.mlir").write_text(text)
    report = fad.memory_report(exported.module, policies=POLICIES, **wanted)
    return {
        "network": name,
        "activation": activation,
        "mode": mode,
        "batch": options.batch,
        "parameters": network.parameters,
        "counted": network.counted,
        "operations": len(OPERATION.findall(text)),
        "export_seconds": exported_at - start,
        "fad_seconds": nested_at - exported_at,
        "bytes": {policy: report[policy].bytes for policy in POLICIES},
        "eager_bytes": eager,
    }


def print_row(row):
    sizes = [*(row["bytes"][policy] for policy in POLICIES), row["eager_bytes"]]
    columns = [f"{size / row['batch'] / MIB:8.2f}" for size in sizes]
    print(
        f"{row['network']:<11} {row['activation']:<19} {row['mode']:<6}"
        f"{row['operations']:>11} {row['export_seconds']:>9.1f}"
        f" {row['fad_seconds']:>6.2f} {columns[0]}   {columns[1]} {columns[2]}"
        f" {columns[3]} {columns[4]}",
        flush=True,
    )


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    every = [*networks.FULL, *networks.SMALL]
    parser.add_argument(
        "network",
        nargs="*",
        choices=[*every, []],
        metavar="network",
        help=f"any of {', '.join(every)}; default: those of full size",
    )
    parser.add_argument("--activation", nargs="+", choices=networks.ACTIVATIONS, default=None)
    parser.add_argument("--mode", nargs="+", choices=MODES, default=MODES)
    parser.add_argument("--batch", type=positive, default=1)
    parser.add_argument("--out", type=pathlib.Path, help="folder for exported files")
    parser.add_argument("--json", type=pathlib.Path, help="file for the table")
    return parser.parse_args()


def main():
    options = parse_arguments()
    warnings.filterwarnings("ignore")
    torch.manual_seed(0)
    rows = []
    print(HEADER)
    for name in options.network or networks.FULL:
        for activation in options.activation or networks.ACTIVATIONS:
            for mode in options.mode:
                rows.append(measure(name, activation, mode, options))
                print_row(rows[-1])
    print(f"\nMiB a sample kept between forward and backward; batch {options.batch}")
    for name in dict.fromkeys(row["network"] for row in rows):
        row = next(row for row in rows if row["network"] == name)
        print(f"{name}: {row['parameters']:,} parameters ({row['counted']})")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    try:
        main()
    except (fad.Error, OSError, ValueError) as error:
        sys.exit(f"error: {error}")
