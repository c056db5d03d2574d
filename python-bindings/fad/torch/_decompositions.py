"""Operations of PyTorch in terms of others, before torch-mlir sees them."""

import math

from ._kinks import get_kinks, root
from ._operations import detach
from ._places import get_places
from ._pools import get_pools
from ._requirements import torch
from ._special import get_special
from ._surrogates import get_surrogates


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


def _std_mean(x, dim=None, *, correction=None, keepdim=False):
    variance, mean = _var_mean(x, dim, correction=correction, keepdim=keepdim)
    return root(variance), mean


def _std(x, dim=None, *, correction=None, keepdim=False):
    return _std_mean(x, dim, correction=correction, keepdim=keepdim)[0]


def _rms_norm(x, shape, weight=None, eps=None):
    """torch-mlir has 0 for an epsilon that is not given."""
    if eps is not None:
        return NotImplemented
    wide = torch.float64 if x.dtype is torch.float64 else torch.float32
    return torch.rms_norm(x, shape, weight, torch.finfo(wide).eps)


def _gelu(x, approximate="none"):
    """GELU by tanh. torch-mlir's own form has 22/7 for pi."""
    if approximate != "tanh":
        return NotImplemented
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    inner = math.sqrt(2 / math.pi) * (wide + 0.044715 * wide * wide * wide)
    return (0.5 * wide * (1 + torch.tanh(inner))).to(x.dtype)


def _drop_all(x, p, train):
    """Dropout that keeps nothing; 0 / 0 is what is left of the general form."""
    if not train or p < 1:
        return NotImplemented
    return torch.zeros_like(x), torch.zeros_like(x, dtype=torch.bool)


def _pad(x, sizes, value=0):
    """Crops, then pads. torch-mlir leaves out a pad whose result has the shape of its
    operand, though it crop at one end what it adds at the other."""
    if min(sizes) >= 0:
        return NotImplemented
    ends = list(zip(sizes[::2], sizes[1::2]))
    for dim, (before, after) in enumerate(ends, 1):
        start = max(-before, 0)
        x = x.narrow(-dim, start, x.shape[-dim] - start - max(-after, 0))
    return torch.constant_pad_nd(x, [max(each, 0) for each in sizes], value)


def _embedding_backward(gradient, indices, size, padding_idx, scale_by_frequency):
    """The rows of a table get the sum of what belongs to them, as a product with
    ones and zeros. torch-mlir's own form has no linalg."""
    if scale_by_frequency:
        return NotImplemented
    rows = torch.arange(size, device=indices.device)
    chosen = (indices.reshape(-1) == rows.unsqueeze(1)) & (rows != padding_idx).unsqueeze(1)
    width = gradient.shape[-1]
    return chosen.to(gradient.dtype) @ gradient.reshape(-1, width)


def _nll_loss_backward(
    gradient, x, target, weight, reduction, ignore_index, total_weight
):
    """The gradient of the negative log likelihood, without a scatter."""
    classes = torch.arange(x.shape[-1], device=x.device)
    target = target.unsqueeze(-1)
    chosen = (target == classes) & (target != ignore_index)
    if reduction == 1:
        gradient = gradient / total_weight
    gradient = gradient.reshape((*gradient.shape, *[1] * (x.dim() - gradient.dim())))
    if weight is not None:
        gradient = gradient * weight
    return torch.where(chosen, -gradient, 0)


def _pair(sizes):
    return sizes if len(sizes) == 2 else (sizes[0], sizes[0])


def _max_pool_backward(
    gradient, x, kernel, stride, padding, dilation, ceil_mode, indices
):
    """Each element of the input gets what those windows send back that found it
    the greatest: it is in few windows. torch-mlir's own form scatters."""
    kernel, padding = _pair(kernel), _pair(padding)
    stride = _pair(stride) if stride else kernel
    if set(dilation) != {1}:
        return NotImplemented
    height, width = x.shape[-2:]
    axes = []
    for axis, size in ((-2, height), (-1, width)):
        place = torch.arange(size, device=x.device)
        last = torch.div(place + padding[axis], stride[axis], rounding_mode="floor")
        windows = []
        for back in range(-(-kernel[axis] // stride[axis])):
            window = last - back
            start = window * stride[axis] - padding[axis]
            valid = (window >= 0) & (window < gradient.shape[axis])
            valid = valid & (place < start + kernel[axis])
            windows.append((window.clamp(0, gradient.shape[axis] - 1), valid))
        axes.append((place, windows))
    (rows, row_windows), (columns, column_windows) = axes
    place = rows.unsqueeze(1) * width + columns
    total = None
    for row, row_valid in row_windows:
        for column, column_valid in column_windows:
            sent = gradient.index_select(-2, row).index_select(-1, column)
            found = indices.index_select(-2, row).index_select(-1, column)
            chosen = (found == place) & row_valid.unsqueeze(1) & column_valid
            term = torch.where(chosen, sent, 0)
            total = term if total is None else total + term
    return total


def get_decompositions(is_joint: bool = False) -> dict:
    """Functions by the operations that they stand for. What a joint graph has
    of gradients, PyTorch has put there."""
    from torch_mlir.extras.fx_decomp_util import get_decomposition_table

    table = dict(get_decomposition_table())
    table[torch.ops.aten.var_mean.correction] = _var_mean
    table[torch.ops.aten.var.correction] = _var
    table[torch.ops.aten.rms_norm.default] = _rms_norm
    table[torch.ops.aten.gelu.default] = _gelu
    table[torch.ops.aten.constant_pad_nd.default] = _pad
    table[torch.ops.aten.native_dropout.default] = _drop_all
    table.update(get_places())
    table.update(get_special())
    if is_joint:
        table[torch.ops.aten.embedding_dense_backward.default] = _embedding_backward
        table[torch.ops.aten.nll_loss_backward.default] = _nll_loss_backward
        pool = torch.ops.aten.max_pool2d_with_indices_backward
        table[pool.default] = _max_pool_backward
    else:
        table.update(get_kinks())
        table[torch.ops.aten.std.correction] = _std
        table[torch.ops.aten.std_mean.correction] = _std_mean
        table.update(get_pools())
        table.update(get_surrogates())
        table[torch.ops.aten.detach.default] = detach
    return table
