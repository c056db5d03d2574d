#!/usr/bin/env python3
"""Small BERT and ResNet, whole: every parameter's gradient, under each policy,
against PyTorch's. compare.py says how errors are measured."""

import argparse
import sys
import time
import warnings

import fad
import networks
import torch
from compare import BOUND, POLICIES, compare


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("network", nargs="*", help=f"of {', '.join(networks.SMALL)}")
    parser.add_argument("--activation", nargs="+", choices=networks.ACTIVATIONS)
    parser.add_argument("--mode", nargs="+", choices=("eval", "train"), default=("eval", "train"))
    parser.add_argument("--policy", nargs="+", choices=POLICIES, default=POLICIES)
    options = parser.parse_args()
    for name in options.network:
        if name not in networks.SMALL:
            parser.error(f"no network {name}; there are {', '.join(networks.SMALL)}")
    return options


def main():
    options = parse_arguments()
    warnings.filterwarnings("ignore")
    failed = count = 0
    for name in options.network or networks.SMALL:
        for activation in options.activation or networks.ACTIVATIONS:
            for mode in options.mode:
                torch.manual_seed(0)
                network = networks.build(name, activation, training=mode == "train", batch=4)
                start = time.monotonic()
                errors = compare(network.module, network.inputs, options.policy)
                columns = "".join(f"  {k} {e:.1e}" for k, (e, _) in errors.items())
                print(
                    f"{name} {activation} {mode}:{columns}  ({time.monotonic() - start:.0f} s)",
                    flush=True,
                )
                for policy in options.policy:
                    count += 1
                    if not errors[policy][0] <= BOUND:
                        failed += 1
                        print(f"  {policy}: {errors[policy][1]} is off")
    print(f"{count} runs, {failed} with an error above {BOUND:.0e}")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (fad.Error, ValueError) as error:
        sys.exit(f"error: {error}")
