"""The casts of autocast on CUDA, for any device: its lists differ from those of the CPU."""

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map

# Operators in the narrow type, and in float32, by the names of their functions and methods.
NARROW = """addmm baddbmm bmm conv1d conv2d conv3d einsum linear matmul mm
scaled_dot_product_attention __matmul__ __rmatmul__""".split()
WIDE = """cross_entropy cumsum exp expm1 group_norm layer_norm log log1p log2 log10 log_softmax
mse_loss nll_loss norm pow prod reciprocal rms_norm rsqrt softmax softplus sum tan
__pow__ __rpow__""".split()


class CudaAutocast(TorchFunctionMode):
    """Casts as `torch.autocast("cuda", dtype)` does. Leaves that need a gradient are cast once."""

    def __init__(self, dtype=torch.bfloat16, enabled=True):
        super().__init__()
        self.dtype, self.enabled, self.copies = dtype, enabled, {}

    def __torch_function__(self, function, types, arguments=(), keywords=None):
        name = getattr(function, "__name__", "")
        keywords = keywords or {}
        if self.enabled and name in NARROW + WIDE:
            to = self.dtype if name in NARROW else torch.float32
            arguments, keywords = tree_map(lambda x: self.cast(x, to), (arguments, keywords))
        return function(*arguments, **keywords)

    def cast(self, value, to):
        if not isinstance(value, torch.Tensor) or value.dtype in (to, torch.float64):
            return value
        if not value.is_floating_point():
            return value
        if not (value.is_leaf and value.requires_grad):
            return value.to(to)
        key = id(value), to
        if key not in self.copies:
            self.copies[key] = value.to(to), value
        return self.copies[key][0]
