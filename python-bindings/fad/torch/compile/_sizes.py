"""Numbers for sizes that are known only when a step runs."""

import torch
from torch.fx.experimental.symbolic_shapes import optimization_hint

# The size of a dimension of which nothing is known, such as the number of nonzero elements.
_ASSUMED_SIZE = 128


def estimate_size(size: int | torch.SymInt) -> int:
    """A number for `size`, a product of sizes, or bytes. It decides what is chosen, and no
    code depends on it: of a dynamic size, the one that PyTorch has seen."""
    return optimization_hint(size, fallback=_ASSUMED_SIZE)
