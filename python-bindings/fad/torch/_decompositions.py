"""Operations of PyTorch in terms of others, before torch-mlir sees them."""

import math

from ._detach import detach, embed
from ._requirements import torch


def _var_mean(x, dim=None, *, correction=None, keepdim=False):
    """The variance as the mean of squares around the mean. torch-mlir's own form
    is in f64, which would double what is kept for backward."""
    dims = list(range(x.dim())) if not dim else [each % x.dim() for each in dim]
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    count = math.prod(x.shape[each] for each in dims)
    mean = wide.mean(dims, keepdim=True)
    centered = wide - mean
    squares = (centered * centered).sum(dims, keepdim=True)
    variance = squares / (count - (1 if correction is None else correction))
    if not keepdim:
        variance, mean = variance.squeeze(dims), mean.squeeze(dims)
    return variance.to(x.dtype), mean.to(x.dtype)


def _var(x, dim=None, *, correction=None, keepdim=False):
    return _var_mean(x, dim, correction=correction, keepdim=keepdim)[0]


def get_decompositions(is_joint: bool = False) -> dict:
    """Functions by the operations that they stand for. What a joint graph has
    of gradients, PyTorch has put there."""
    from torch_mlir.extras.fx_decomp_util import get_decomposition_table

    table = dict(get_decomposition_table())
    table[torch.ops.aten.var_mean.correction] = _var_mean
    table[torch.ops.aten.var.correction] = _var
    if not is_joint:
        table[torch.ops.aten.detach.default] = detach
        table[torch.ops.aten.embedding.default] = embed
    return table
