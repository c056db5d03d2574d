"""Prints what kernels the manifest of a kit says there are, once for all tiles, and
checks that each tile's are the same but for the tile.

usage: check_manifest.py KIT TYPE"""

import json
import pathlib
import sys

folder, kind = pathlib.Path(sys.argv[1]), sys.argv[2]
manifest = json.loads((folder / "manifest.json").read_text())
kernels = [module for module in manifest["modules"] if module["purpose"] == "kernels"]
streams = [module for module in manifest["modules"] if module["purpose"] == "streams"]


def describe(kernel):
    assert kernel["parameters"][-1] == {"role": "count", "type": "i32"}
    assert kernel["type"] == kind and kernel["unit_bytes"] == {"f32": 4, "bf16": 2}[kind]
    name = "_".join(kernel[key] for key in ("activation", "type", "policy", "pass"))
    roles = ", ".join(parameter["role"] for parameter in kernel["parameters"])
    mix = f"{kernel['reads']}r{kernel['writes']}w"
    return f"{name}: {mix} ({roles}), {len(set(kernel['variants'].values()))} variants"


described = [[describe(kernel) for kernel in module["kernels"]] for module in kernels]
assert all(each == described[0] for each in described)
for module in kernels:
    tile = module.get("tile")
    for kernel in module["kernels"]:
        lanes = 16 // kernel["unit_bytes"]
        accesses = kernel["tile_size"] // (kernel["block_size"] * lanes)
        assert kernel["tile_size"] == kernel["block_size"] * lanes * accesses
        assert not tile or tile == {"block_size": kernel["block_size"], "accesses": accesses}
print("\n".join(described[0]))
tiles = sum("tile" in module for module in kernels)
print(f"{sum(len(module['kernels']) for module in streams)} streams, {tiles} tiles")
