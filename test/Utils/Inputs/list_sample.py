"""Lists which of some tests are of the sample.

Usage: list_sample.py TESTS LIT FOLDER, where TESTS has sample.py, and FOLDER gets the tests."""

import pathlib
import subprocess
import sys

CONFIG = """
import sys
sys.path.insert(0, lit_config.params["tests"])
from sample import Sample
config.name = "sample"
config.test_format = Sample()
config.suffixes = [".mlir", ".test"]
"""
RUN = "// RUN: fad-opt %s\n"
NEEDS = "// REQUIRES: "
FILES = {
    "lit.cfg.py": CONFIG,
    "plain.mlir": RUN,
    "debug.mlir": f"{NEEDS}debug\n{RUN}",
    "more.mlir": f"{NEEDS}debug, torch\n{RUN}",
    "both.mlir": f"{NEEDS}debug\n{NEEDS}torch\n{RUN}",
    "other.mlir": f"{NEEDS}debugger\n{RUN}",
    "python.mlir": f"{NEEDS}debug\n// RUN: %python %s\n",
    "text.test": RUN,
}

tests, lit, folder = sys.argv[1:]
for name, text in FILES.items():
    pathlib.Path(folder, name).write_text(text)
command = [sys.executable, lit, "--param", f"tests={tests}", "--show-tests", folder]
sys.exit(subprocess.run(command).returncode)
