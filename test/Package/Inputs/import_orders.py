"""Imports fad, from the folder that is given, and those of the other packages that carry
LLVM and are installed into one process, in any order, and uses fad and MLIR of each.

Usage: import_orders.py FOLDER NAME...: packages of these names have to be found."""

import importlib.util
import itertools
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

USES = {
    "fad": """
import fad
import numpy as np
assert os.path.realpath(fad.__file__).startswith(os.path.realpath(sys.argv[1])), fad.__file__
nested = fad.nest(fad.parse(
    "func.func @f(%x: tensor<?xf64>) -> tensor<?xf64> {"
    "  %y = math.tanh %x : tensor<?xf64> return %y : tensor<?xf64> }"))
x = np.linspace(-2, 2, 5)
y, *residuals = fad.run(nested, nested.forward, x)
(gradient,) = fad.run(nested, nested.backward, *residuals, np.ones(5))
np.testing.assert_allclose(gradient, 1 - np.tanh(x) ** 2, rtol=1e-14)
""",
    "torch": """
import torch
x = torch.ones(3, requires_grad=True)
x.tanh().sum().backward()
""",
    "torch_mlir": """
from torch_mlir import ir
with ir.Context():
    assert "module" in str(ir.Module.parse("module {}"))
""",
    "iree.compiler": """
from iree.compiler import ir as iree_ir
with iree_ir.Context():
    assert "module" in str(iree_ir.Module.parse("module {}"))
""",
    "jaxlib": """
import jax
assert float(jax.grad(jax.numpy.tanh)(0.0)) == 1
""",
}


def is_installed(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def check(order):
    """The error where packages are imported in this order, or None."""
    # Used in the order of their imports, and once more with all of them there.
    text = "import os, sys\n" + "".join(USES[name] for name in (*order, *order))
    done = subprocess.run([sys.executable, "-c", text, sys.argv[1]], capture_output=True)
    if not done.returncode:
        return None
    return f"{', '.join(order)} ended with {done.returncode} {done.stderr.decode()[-1000:]}"


def main():
    names = [name for name in USES if is_installed(name)]
    lost = sorted({"fad", *sys.argv[2:]} - set(names))
    if lost:
        sys.exit(f"import_orders.py: {', '.join(lost)} was not found")
    orders = list(itertools.permutations(names))
    with ThreadPoolExecutor(os.cpu_count()) as executor:
        faults = [fault for fault in executor.map(check, orders) if fault]
    print(*faults, f"{', '.join(names)}: {len(orders)} orders, {len(faults)} failed", sep="\n")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
