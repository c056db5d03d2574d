"""Checks training.json of the training example with rounded derivatives: losses
are close to those without, the closer the more bits, and less is kept."""

import json
import pathlib
import sys

NAMES = ("auto, exact", "auto, 2 bits", "auto, 8 bits")
runs = json.loads((pathlib.Path(sys.argv[1]) / "training.json").read_text())["bert"]
exact, two, eight = (runs[name] for name in NAMES)
fad = runs["fad"]
# The policy on its own is another run, which may compute activations again.
assert runs["auto"]["residual_bytes"] < exact["residual_bytes"], runs["auto"]


def get_difference(run):
    return max(abs(a - b) for a, b in zip(run["losses"], fad["losses"]))


assert get_difference(exact) <= 1e-4 * fad["losses"][0], exact["losses"]
assert get_difference(exact) < get_difference(eight) < 0.01, eight["losses"]
assert get_difference(eight) < get_difference(two) < 0.2, two["losses"]
kept = [run["residual_bytes"] for run in (two, eight, exact, fad)]
assert kept == sorted(set(kept)), kept
