"""Checks training.json of the training example with rounded derivatives: losses
are close to those without, the closer the more bits, and less is kept. The runs are
those of 2 bits, of 8 bits and of the policy fad, where these are there."""

import json
import pathlib
import sys

runs = json.loads((pathlib.Path(sys.argv[1]) / "training.json").read_text())["bert"]
names = ["auto, 2 bits", "auto, 8 bits", "auto, exact", "fad"]
kept = [runs[name]["residual_bytes"] for name in names if name in runs]
assert len(kept) > 1 and kept == sorted(set(kept)), kept
# The policy on its own is another run, which may compute activations again.
exact = runs["auto, exact"]
assert runs["auto"]["residual_bytes"] < exact["residual_bytes"], runs["auto"]
plain = runs.get("fad", runs["PyTorch"])["losses"]


def get_difference(name):
    return max(abs(a - b) for a, b in zip(runs[name]["losses"], plain))


difference = get_difference("auto, exact")
assert difference <= 1e-4 * plain[0], exact["losses"]
for name, bound in (("auto, 8 bits", 0.01), ("auto, 2 bits", 0.2)):
    if name in runs:
        assert difference < get_difference(name) < bound, (name, runs[name]["losses"])
        difference = get_difference(name)
assert "auto, 2 bits" in runs
