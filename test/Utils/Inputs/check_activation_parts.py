"""Lists what activations lack besides their definition, in whose formulas TableGen and
the compiler find what is missing.

usage: check_activation_parts.py ROOT"""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(root / "utils"))
from activations import ACTIVATIONS


def read(*patterns):
    return "\n".join(path.read_text() for each in patterns for path in sorted(root.glob(each)))


PARTS = {
    "a name and formulas for utils/accuracy.py": " ".join(
        each.operation + " " for each in ACTIVATIONS.values()
    ),
    "a derivative in test/Rules": read("test/Rules/fad-*.mlir"),
    "a value in test/Codegen/expand-primitives-run.mlir": read(
        "test/Codegen/expand-primitives-run.mlir"
    ),
    "a spelling in test/Transforms/raise-*.mlir": "\n".join(
        re.findall("// CHECK.*", read("test/Transforms/raise-*.mlir"))
    ),
    "a row in docs/Raising.md": "\n".join(re.findall(r"^\| `.*", read("docs/Raising.md"), re.M)),
    "a bound in test/python/Inputs/check_accuracy.py": re.sub(
        r'"(\w+)": \(', r"fad.\1 ", read("test/python/Inputs/check_accuracy.py")
    ),
}

missing = []
definitions = sorted((root / "include/fad/IR/Activations").glob("*.td"))
for path in definitions:
    (name,) = re.findall(r': Fad_Activation<"(\w+)"', path.read_text())
    for part, text in PARTS.items():
        if not re.search(rf"fad\.{name}\b", text):
            missing.append(f"fad.{name} has no {part.removeprefix('a ')}")
print(*missing, sep="\n", end="\n" * bool(missing))
print(f"{len(definitions)} activations, {len(missing) or 'no'} parts are missing")
sys.exit(bool(missing))
