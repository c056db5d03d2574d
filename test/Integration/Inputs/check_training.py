"""Checks training.json of the training example: that runs of a task have the
losses of the first, that recomputation keeps less, and that losses fall. A last
argument is a folder with losses to compare with."""

import json
import pathlib
import sys

BOUND = 1e-4

folder, tasks, policies, steps = sys.argv[1:5]
results = json.loads((pathlib.Path(folder) / "training.json").read_text())
assert (pathlib.Path(folder) / "training.png").stat().st_size > 10000
assert list(results) == tasks.split(), results.keys()
for task, runs in results.items():
    assert list(runs) == policies.split(), runs.keys()
    reference = next(iter(runs.values()))["losses"]
    if len(sys.argv) > 5:
        other = json.loads((pathlib.Path(sys.argv[5]) / "training.json").read_text())
        reference = next(iter(other[task].values()))["losses"]
    for policy, run in runs.items():
        assert len(run["losses"]) == int(steps), policy
        assert run["milliseconds"] > 0 and run["residual_bytes"] > 0, policy
        for loss, expected in zip(run["losses"], reference):
            assert abs(loss - expected) <= BOUND * abs(expected), (task, policy)
if "bert" in results and "bp" in policies.split():
    kept = {policy: run["residual_bytes"] for policy, run in results["bert"].items()}
    assert kept["recompute"] < kept["bp"], kept
    losses = results["bert"]["fad"]["losses"]
    assert losses[-1] < losses[0], losses
