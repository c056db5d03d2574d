"""Checks training.json of the training example with rounded derivatives: losses
are close to those without, and less is kept."""

import json
import pathlib
import sys

runs = json.loads((pathlib.Path(sys.argv[1]) / "training.json").read_text())["bert"]
plain, exact, two = (runs[name] for name in ("PyTorch", "auto, exact", "auto, 2 bits"))
# The policy on its own is another run, which may compute activations again.
assert runs["auto"]["residual_bytes"] < exact["residual_bytes"], runs["auto"]


def get_difference(run):
    return max(abs(a - b) for a, b in zip(run["losses"], plain["losses"]))


assert get_difference(exact) <= 1e-4 * plain["losses"][0], exact["losses"]
assert get_difference(exact) < get_difference(two) < 0.2, two["losses"]
assert two["residual_bytes"] < exact["residual_bytes"], two["residual_bytes"]
