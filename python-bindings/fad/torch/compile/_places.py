"""Where in a model the nodes of its graph come from."""

import os
import re
from typing import Collection

import torch
from torch import fx

_FRAME = re.compile(r'File "(.+)", line (\d+), in .*\n\s*(.*)')
_OF_TORCH = os.path.dirname(torch.__file__) + os.sep


def find_line(node: fx.Node) -> str:
    """The line of the model that `node` is of, as in "model.py:12: y = f(x)": the
    innermost one outside PyTorch. Empty where nothing is known."""
    frames = _FRAME.findall(node.meta.get("stack_trace") or "")
    own = [frame for frame in frames if not frame[0].startswith(_OF_TORCH)]
    if not frames:
        return ""
    file, line, code = (own or frames)[-1]
    return f"{os.path.basename(file)}:{line}: {code.strip()}"


def find_module(node: fx.Node, names: Collection[str]) -> str:
    """The innermost of the modules `names` that `node` is of; empty for the model."""
    stack = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack")
    if not stack:
        return ""
    path = list(stack.values())[-1][0]
    # The path begins with how the function reaches the model.
    parts = re.sub(r"\._modules\['([^']*)'\]", r".\1", path).split(".")
    for start in range(len(parts)):
        name = ".".join(parts[start:])
        if name in names:
            return name
    return ""
