"""Operations of PyTorch in terms of others, before torch-mlir sees them."""

import functools
import math

from .idioms import find_operations, share, widen, with_dimension
from .kinks import get_kinks, root
from .operations import detach
from .places import get_places
from .pools import get_pools
from .._pytorch import is_decomposed_first
from .._requirements import torch
from .special import get_special
from .surrogates import get_surrogates


def _var_mean(x, dim=None, *, correction=None, keepdim=False):
    """Returns the variance as the mean of squares around the mean. torch-mlir's own form is in f64,
    which would double what is kept for backward."""
    dims = list(range(x.dim())) if not dim else [each % x.dim() for each in dim]
    wide = widen(x)
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
    wide = widen(x)
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


def _is_empty(x) -> bool:
    return any(isinstance(size, int) and size == 0 for size in x.shape)


def _make_empty(shape, like):
    """Returns a tensor of `shape`, which has no elements, that depends on `like`."""
    return like.sum().to(like.dtype).expand(shape)


def _view(x, shape):
    """Without elements, torch-mlir divides by 0."""
    if not _is_empty(x):
        return NotImplemented
    return _make_empty([0 if size == -1 else size for size in shape], x)


def _cat(tensors, dim=0):
    """torch-mlir leaves out operands without elements, be it all of them."""
    if not all(map(_is_empty, tensors)):
        return NotImplemented
    # PyTorch takes those of shape (0) for none.
    shapes = [each.shape for each in tensors if each.dim() != 1] or [(0,)]
    shape = list(shapes[0])
    shape[dim] = sum(each[dim] for each in shapes)
    dtypes = [each.dtype for each in tensors]
    return _make_empty(shape, tensors[0].to(functools.reduce(torch.promote_types, dtypes)))


def _roll(x, shifts, dims=()):
    """Less than once around: torch-mlir's slices leave the tensor otherwise."""
    if not dims:
        return torch.roll(x.reshape(-1), shifts, (0,)).reshape(x.shape)
    sizes = [x.shape[dim] for dim in dims]
    if not all(isinstance(size, int) for size in sizes):
        return NotImplemented
    if _is_empty(x):
        return x.clone()
    turns = [(shift % size, dim) for shift, size, dim in zip(shifts, sizes, dims)]
    turns = [each for each in turns if each[0]]
    if list(zip(shifts, dims)) == turns:
        return NotImplemented
    return torch.roll(x, *zip(*turns)) if turns else x.clone()


def _embedding_backward(gradient, indices, size, padding_idx, scale_by_frequency):
    """Returns the rows of a table get the sum of their gradients. torch-mlir's own form has no
    linalg."""
    width = gradient.shape[-1]
    places = indices.reshape(-1)
    if scale_by_frequency:
        gradient = gradient * share(indices, size, gradient.dtype).unsqueeze(-1)
    rows = gradient.reshape(-1, width)
    rows = torch.where((places != padding_idx).unsqueeze(1), rows, 0)
    return rows.new_zeros((size, width)).index_add(0, places, rows)


def _nll_loss_backward(gradient, x, target, weight, reduction, ignore_index, total_weight):
    """Returns the gradient of the negative log likelihood, without a scatter."""
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


def _max_pool_backward(gradient, x, kernel, stride, padding, dilation, ceil_mode, indices):
    """Returns each element of the input gets what those windows send back that found it the
    greatest: it is in few windows. torch-mlir's own form scatters."""
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


def _get_own(is_joint: bool) -> dict:
    """Returns the functions of this package. What a joint graph has of gradients, PyTorch has put
    there."""
    table = {
        "var_mean.correction": _var_mean,
        "var.correction": _var,
        "rms_norm": _rms_norm,
        "gelu": _gelu,
        "cat": _cat,
        "view": _view,
        "constant_pad_nd": _pad,
        "roll": _roll,
        "native_dropout": _drop_all,
    }
    if is_joint:
        table["embedding_dense_backward"] = _embedding_backward
        table["nll_loss_backward"] = _nll_loss_backward
        table["max_pool2d_with_indices_backward"] = _max_pool_backward
    else:
        table["std.correction"] = _std
        table["std_mean.correction"] = _std_mean
        table["detach"] = detach
    own = {**find_operations(table), **get_places(), **get_special()}
    # Of a number, torch-mlir has no right form of these, or never comes back.
    aten = torch.ops.aten
    for each in (
        aten._softmax.default,
        aten.amax.default,
        aten.amin.default,
        aten.prod.dim_int,
    ):
        own[each] = with_dimension(each, 0)
    if not is_joint:
        own.update({**get_kinks(), **get_pools(), **get_surrogates()})
    return own


def get_decompositions(is_joint: bool = False) -> dict:
    """Returns the functions by the operations that they stand for."""
    from torch_mlir.extras.fx_decomp_util import get_decomposition_table

    return {**get_decomposition_table(), **_get_own(is_joint)}


def put_first(graph) -> None:
    """Makes `graph` call the functions of this package for the operations that PyTorch
    decomposes itself before it looks in a table."""
    table = _get_own(False)

    def replace(operation):
        def call(*arguments, **options):
            result = table[operation](*arguments, **options)
            if result is NotImplemented:
                return operation(*arguments, **options)
            return result

        return call

    for node in graph.nodes:
        if is_decomposed_first(node.target) and node.target in table:
            node.target = replace(node.target)
