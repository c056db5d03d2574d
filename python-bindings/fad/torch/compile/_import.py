"""AOTAutograd's joint graph as a function for fad's selection of residuals.

Tensors have the sizes that PyTorch expects (its hints), so all types are static.
Elementwise operations have scalar bodies, and all others are `fad.opaque`. The
graph stays the program: this function only serves to choose."""

from dataclasses import dataclass, field
from typing import Any, Iterable

import torch
from torch import fx
from torch.fx.experimental.symbolic_shapes import optimization_hint
from torch.utils._pytree import tree_leaves

from ._kinds import find_kind, is_bound, is_part
from ._times import estimate_time
