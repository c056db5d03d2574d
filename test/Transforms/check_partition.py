"""Partitions every .mlir file of a folder and counts what is inside and outside
of fad.elementwise. Usage: check_partition.py FAD_OPT FOLDER"""

import pathlib
import re
import subprocess
import sys

fad_opt, folder = sys.argv[1:]
files = sorted(pathlib.Path(folder).glob("*.mlir"))
assert len(files) == 15, f"{len(files)} files in {folder}"
for file in files:
    text = subprocess.run(
        [fad_opt, str(file), "--fad-partition"], check=True, capture_output=True, text=True
    ).stdout
    regions = re.findall(r"fad\.elementwise.*?fad\.yield", text, re.S)
    assert len(regions) == 1, f"{file.name}: {len(regions)} regions"
    outside = text.replace(regions[0], "")
    assert outside.count("linalg.matmul") == 2, file.name
    # The two bias additions are left outside.
    generics = re.findall(r"linalg\.generic.*?linalg\.yield", outside, re.S)
    assert len(generics) == 2, f"{file.name}: {len(generics)} generics"
    for generic in generics:
        scalars = re.findall(r"(?:arith|math)\.\w+", generic)
        assert scalars == ["arith.addf"], f"{file.name}: {scalars}"
    # Every scalar operation of the activation is inside.
    source = file.read_text()
    operation = r"= ((?:arith|math)\.\w+) %"
    total = len(re.findall(operation, source)) - len(generics)
    inside = len(re.findall(operation, regions[0]))
    assert inside == total, f"{file.name}: {inside} of {total} operations"
    print(f"{file.name}: {inside} operations in one region")
