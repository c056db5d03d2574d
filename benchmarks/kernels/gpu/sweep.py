"""Which tile is best: every kernel with every tile that the kit has."""

import math
import statistics

from gpu import checks
from kernel_figures import BYTES

TRIALS = 10


def describe_tile(tile):
    return f"{tile['block_size']}x{tile['accesses']}"


def measure(comparison, generator, activation, kind, policy, size, figures):
    """Adds a row for each pass and tile; kernels that are wrong, to the failures."""
    device, kit, torch = comparison.device, comparison.kit, comparison.torch
    tensors = comparison.make_tensors(kind, size)
    for tile in kit.kit.find_tiles():
        pair = kit.find_pair(activation, kind, policy, tile)
        try:
            # The kernels with the default tile were run on many elements.
            sizes = checks.list_sizes(pair["forward"].entry["tile_size"])[:-1]
            checks.check_pair(torch, device, pair, generator, sizes)
        except checks.CheckFailed as error:
            figures["failures"].append(f"{describe_tile(tile)}: {error}")
            continue
        for direction, kernel in pair.items():
            entry = kernel.entry
            moved = (entry["reads"] + entry["writes"]) * size * BYTES[kind]
            taken = device.time(kernel.prepare(tensors), TRIALS, moved)
            figures["sweep"].append(
                {
                    "activation": activation,
                    "type": kind,
                    "policy": policy,
                    "size": size,
                    "pass": direction,
                    "reads": entry["reads"],
                    "writes": entry["writes"],
                    "tile": describe_tile(tile),
                    "seconds": statistics.median(taken),
                    "least": min(taken),
                }
            )


def compare(rows):
    """By tile: how fast it is for kernels that read and write so many tensors of a
    type, the mean over activations, where 1 is the best tile of each."""
    best, shares = {}, {}
    for row in rows:
        kernel = tuple(row[key] for key in ("activation", "type", "policy", "size", "pass"))
        best[kernel] = min(best.get(kernel, math.inf), row["seconds"])
    for row in rows:
        kernel = tuple(row[key] for key in ("activation", "type", "policy", "size", "pass"))
        column = f"{row['type']} {row['reads']}r{row['writes']}w"
        share = best[kernel] / row["seconds"]
        shares.setdefault(row["tile"], {}).setdefault(column, []).append(share)
    return {
        tile: {column: statistics.geometric_mean(each) for column, each in columns.items()}
        for tile, columns in shares.items()
    }


def print_sweep(rows):
    shares = compare(rows)
    columns = sorted({column for each in shares.values() for column in each})
    print("\nspeed of tiles, threads x accesses: 1 is the best one for each activation")
    print(f"{'tile':<10}" + "".join(f"{column:>11}" for column in columns))
    for tile, each in shares.items():
        cells = (f"{each[c]:>11.3f}" if c in each else " " * 11 for c in columns)
        print(f"{tile:<10}" + "".join(cells).rstrip())
