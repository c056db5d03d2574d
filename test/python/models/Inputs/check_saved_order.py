"""fad against PyTorch in what benchmarks/residuals/saved_bytes.py has measured: the policies
that may recompute keep no more than PyTorch where that may do the same. The
arguments are files."""

import json
import sys

# Figures that are to be at or below others.
ORDER = (
    ("auto-elementwise", "eager"),
    ("auto-elementwise", "aot-default"),
    ("auto-elementwise", "inductor-min-cut"),
    ("auto-reductions", "inductor-all"),
    ("auto-all", "auto-reductions"),
    ("auto-reductions", "auto-elementwise"),
    ("auto-elementwise", "auto-nothing"),
    ("auto-bits", "auto-nothing"),
    ("auto-nothing", "fad"),
    ("auto-nothing", "eager"),
    ("auto-nothing", "aot-default"),
    ("auto-nothing", "inductor-min-cut"),
    ("auto-elementwise", "bp"),
    ("auto-elementwise", "recompute"),
    ("auto-elementwise", "fad"),
)

for path in sys.argv[1:]:
    with open(path) as file:
        rows = json.load(file)["rows"]
    assert rows, path
    for row in rows:
        kept = row["bytes"]
        for least, most in ORDER:
            assert kept[least] <= kept[most], (path, row["network"], least, most, kept)
