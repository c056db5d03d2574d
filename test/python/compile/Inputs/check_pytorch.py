"""Compares what fad has written down of PyTorch's internals with their source."""

import ast
import inspect
import textwrap

from torch._inductor import ir

from fad.torch.compile import _pytorch


def check_heavy():
    """The operations that Inductor executes once are those that it calls heavy."""
    source = textwrap.dedent(inspect.getsource(ir.StorageBox.should_realize_on_reuse))
    (heavy,) = (
        ast.literal_eval(node.value)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "heavy_ops"
    )
    assert set(heavy) == set(_pytorch.HEAVY) and len(heavy) > 1, heavy
    for name, operation in _pytorch.HEAVY.items():
        assert operation.partition(".")[2] == name, operation


check_heavy()
print("as PyTorch")
