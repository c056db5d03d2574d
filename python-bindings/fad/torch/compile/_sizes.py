"""Numbers for sizes that are known only when a step runs."""

import torch
from torch.fx.experimental.symbolic_shapes import optimization_hint

# The size of a dimension of which nothing is known, such as the number of nonzero elements.
_ASSUMED_SIZE = 128


def estimate_size(size: int | torch.SymInt) -> int:
    """A number for `size`, which may be a product of sizes, or bytes: that with which PyTorch
    traced the model, where there is one. Only choices depend on it; generated code does not."""
    return optimization_hint(size, fallback=_ASSUMED_SIZE)
