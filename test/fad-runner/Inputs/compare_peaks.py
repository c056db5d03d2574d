"""Compares runs of which one let backward overwrite residuals."""

import json
import pathlib
import sys

import numpy as np

folder = pathlib.Path(sys.argv[1])
stay, reuse = (json.loads((folder / f"{n}.json").read_text()) for n in ("stay", "reuse"))
for run in (stay, reuse):
    assert run["measured"] == run["estimated"], run
    assert run["forward_seconds"] > 0 and run["backward_seconds"] > 0, run
assert stay["measured"]["residuals"] == reuse["measured"]["residuals"] > 0
assert reuse["measured"]["backward_peak"] < stay["measured"]["backward_peak"]
assert reuse["measured"]["forward_peak"] == stay["measured"]["forward_peak"]

names = sorted(path.name for path in (folder / "stay").iterdir())
assert names == ["grad0.npy", "grad1.npy", "grad2.npy", "grad3.npy", "out0.npy"], names
for name in names:
    np.testing.assert_array_equal(
        np.load(folder / "stay" / name), np.load(folder / "reuse" / name), err_msg=name
    )
