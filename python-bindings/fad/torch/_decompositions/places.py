"""Sorting, and reading and writing at computed indices."""

import math

from .idioms import count, find_operations, of_rows, widen
from .operations import detach, order, scatter
from .._requirements import torch

#
# Orders
#


def _sort(x, dim=-1, descending=False, *, stable=False):
    places = order(x, dim % x.dim(), descending, -1)
    return x.gather(dim, places), places


def _topk(x, k, dim=-1, largest=True, sorted=True):
    places = order(x, dim % x.dim(), largest, k)
    return x.gather(dim, places), places


def _pick(x, dim, keepdim, rank):
    """Returns the element of each row that `rank`, of the sorted row, finds."""
    dim = dim % x.dim()
    place = rank(order(x, dim, False, -1), dim)
    value = x.gather(dim, place)
    return (value, place) if keepdim else (value.squeeze(dim), place.squeeze(dim))


def _kthvalue(x, k, dim=-1, keepdim=False):
    return _pick(x, dim, keepdim, lambda places, dim: places.narrow(dim, k - 1, 1))


def _median(ignores_nan):
    def median(x, dim=-1, keepdim=False):
        def rank(places, dim):
            size = x.shape[dim]
            if not x.is_floating_point():
                return places.narrow(dim, (size - 1) // 2, 1)
            nans = (x != x).sum(dim, keepdim=True)
            if ignores_nan:
                middle = (size - nans - 1).clamp_min(0) // 2
            else:
                # The first NaN comes after all numbers.
                middle = torch.where(nans > 0, size - nans, (size - 1) // 2)
            return places.gather(dim, middle)

        return _pick(x, dim, keepdim, rank)

    return median


def _median_of_all(median):
    """Returns the median of all elements: those that equal it share the gradient."""

    def find(x):
        flat = x.reshape(-1)
        value = detach(median(flat, 0)[0])
        chosen = flat == value
        if not x.is_floating_point():
            return value
        change = torch.where(chosen, flat - detach(flat), 0).sum()
        return value + change / chosen.sum().clamp_min(1)

    return find


#
# Scans
#


def scan(combine, x, dim, dtype):
    """Returns the results of combining each element with all before it, by doubling how many are
    combined. torch-mlir's own form has no linalg."""
    if not isinstance(x.shape[dim], int):
        return NotImplemented
    if dtype is None:
        dtype = x.dtype if x.is_floating_point() else torch.int64
    values = widen(x.to(dtype))
    (values,) = _double(lambda head, tail: (combine(*tail, *head),), (values,), dim)
    return values.to(dtype)


def _double(combine, values, dim):
    """`values`, tensors of one shape, combined with all before them: `combine`
    takes those before, and those after."""
    size, step = values[0].shape[dim], 1
    while step < size:
        heads = [each.narrow(dim, 0, size - step) for each in values]
        tails = [each.narrow(dim, step, size - step) for each in values]
        combined = combine(heads, tails)
        values = [
            torch.cat((each.narrow(dim, 0, step), new), dim) for each, new in zip(values, combined)
        ]
        step *= 2
    return values


def _cumsum(x, dim, *, dtype=None):
    return scan(torch.add, x, dim, dtype)


def _cumprod(x, dim, *, dtype=None):
    return scan(torch.mul, x, dim, dtype)


def _cumulative(compare):
    """Returns the greatest or least so far, by its index; of equal ones, the last."""

    def find(x, dim):
        if not isinstance(x.shape[dim], int):
            return NotImplemented
        places = count(x, dim).expand(x.shape).contiguous()

        def combine(head, tail):
            later = compare(tail[0], head[0])
            if x.is_floating_point():
                later = later | (tail[0] != tail[0])
            return [torch.where(later, t, h) for h, t in zip(head, tail)]

        _, places = _double(combine, (x, places), dim)
        return x.gather(dim, places), places

    return find


def _add_logarithms(x, y):
    """log(exp(x) + exp(y))."""
    greater = detach(torch.where(x < y, y, x))
    # Infinities are their own sum.
    middle = torch.where(greater.abs() == math.inf, 0, greater)
    total = torch.exp(x - middle) + torch.exp(y - middle)
    nothing = total == 0
    logarithm = middle + torch.log(torch.where(nothing, 1, total))
    return torch.where(nothing, -math.inf, logarithm)


def _logcumsumexp(x, dim):
    return scan(_add_logarithms, x, dim, None)


#
# Computed indices
#


def _count_from_start(index, size):
    return torch.where(index < 0, index + size, index)


def _scatter(x, places, updates, dims, accumulate):
    """`scatter` of any type."""
    if x.numel() == 0 or updates.numel() == 0:
        return x.clone()
    if accumulate and not x.is_floating_point():
        # fad adds floats; these are exact up to 2^53.
        sums = scatter(x.double(), places, updates.double(), dims, True)
        return sums.to(x.dtype)
    return scatter(x, places, updates, dims, accumulate)


def _index_put(x, indices, values, accumulate=False, unsafe=False):
    if any(each is not None and each.dtype is torch.bool for each in indices):
        return _put_mask(x, indices, values, accumulate)
    dims = [dim for dim, each in enumerate(indices) if each is not None]
    given = torch.broadcast_tensors(*(indices[dim] for dim in dims))
    batch = given[0].shape
    rest = [dim for dim in range(x.dim()) if dim not in dims]
    # Where PyTorch has the dimensions of the indices.
    start = dims[0] if dims == list(range(dims[0], dims[-1] + 1)) else 0
    shape = [x.shape[dim] for dim in rest]
    values = values.to(x.dtype).expand([*shape[:start], *batch, *shape[start:]])
    last = start + len(batch)
    front = list(range(start, last))
    values = values.permute([*front, *range(start), *range(last, values.dim())])
    columns = [_count_from_start(each, x.shape[dim]).reshape(-1) for dim, each in zip(dims, given)]
    places = torch.stack(columns, 1).to(torch.int64)
    count = places.shape[0]
    return _scatter(x, places, values.reshape([count, *shape]), dims, accumulate)


def _put_mask(x, indices, values, accumulate):
    """Returns an assignment of one number where a mask says."""
    (mask,) = [each for each in indices if each is not None]
    if len(indices) != 1 or values.numel() != 1 or accumulate:
        return NotImplemented
    mask = mask.reshape([*mask.shape, *[1] * (x.dim() - mask.dim())])
    return torch.where(mask, values.reshape(()).to(x.dtype), x)


def _scatter_along(x, dim, index, source, accumulate):
    if x.dim() == 0:
        return x + source if accumulate else source.clone()
    dim = dim % x.dim()
    source = source[tuple(slice(0, size) for size in index.shape)]
    others = [each for each in range(x.dim()) if each != dim]
    rows = [1 if each == dim else index.shape[each] for each in range(x.dim())]
    if (
        index.shape[dim] == 1
        and rows == list(index.shape)
        and all(index.shape[each] == x.shape[each] for each in others)
    ):
        return _set_one(x, dim, index, source, accumulate)
    columns = [
        index if each == dim else count(index, each).expand(index.shape) for each in range(x.dim())
    ]
    places = torch.stack([each.reshape(-1) for each in columns], 1)
    dims = list(range(x.dim()))
    return _scatter(x, places, source.reshape(-1), dims, accumulate)


def _set_one(x, dim, index, source, accumulate):
    """Returns a value that goes to one element of each row, as the gradient of a maximum does,
    without a scatter."""
    chosen = index == count(x, dim)
    return torch.where(chosen, x + source if accumulate else source, x)


def _scatter_source(x, dim, index, source):
    return _scatter_along(x, dim, index, source, False)


def _scatter_value(x, dim, index, value):
    return _scatter_along(x, dim, index, torch.full_like(index, value, dtype=x.dtype), False)


def _scatter_add(x, dim, index, source):
    return _scatter_along(x, dim, index, source, True)


def _scatter_reduce(x, dim, index, source, reduce, *, include_self=True):
    if reduce in ("sum", "mean"):
        counts = _scatter_add(
            torch.full_like(x, 1 if include_self else 0),
            dim,
            index,
            torch.ones_like(index, dtype=x.dtype),
        )
        start = x if include_self else torch.where(counts > 0, 0, x)
        total = _scatter_add(start, dim, index, source)
        if reduce == "sum":
            return total
        if not x.is_floating_point():
            return torch.div(total, counts.clamp_min(1), rounding_mode="floor")
        return total / counts.clamp_min(1)
    if x.dim() == 0:
        return NotImplemented
    dim = dim % x.dim()
    if any(index.shape[each] != x.shape[each] for each in range(x.dim()) if each != dim):
        return NotImplemented
    source = source[tuple(slice(0, size) for size in index.shape)]
    reductions = {
        "amax": (torch.amax, -math.inf, torch.iinfo(torch.int64).min),
        "amin": (torch.amin, math.inf, torch.iinfo(torch.int64).max),
        "prod": (torch.prod, 1, 1),
    }
    combine, neutral, integer = reductions[reduce]
    if not x.is_floating_point():
        neutral = max(min(integer, torch.iinfo(x.dtype).max), torch.iinfo(x.dtype).min)
    # Each place against each term.
    chosen = index.unsqueeze(dim) == count(x.unsqueeze(dim + 1), dim)
    terms = torch.where(chosen, source.unsqueeze(dim), neutral)
    own = x if include_self else torch.where(chosen.any(dim + 1), neutral, x)
    return combine(torch.cat((own.unsqueeze(dim + 1), terms), dim + 1), dim + 1)


def _index_add(x, dim, index, source, *, alpha=1):
    if x.dim() == 0:
        return x + alpha * source.reshape(())
    source = source if alpha == 1 else alpha * source
    indices = [None] * (dim % x.dim()) + [index.reshape(-1)]
    return _index_put(x, indices, source, True)


def _put(x, index, source, accumulate=False):
    flat = _index_put(x.reshape(-1), [index.reshape(-1)], source.reshape(-1), accumulate)
    return flat.reshape(x.shape)


def _masked_scatter(x, mask, source):
    """Returns the elements of `source` go, in order, where the mask says."""
    mask = mask.expand(x.shape)
    before = mask.reshape(-1).to(torch.int64).cumsum(0) - 1
    taken = source.reshape(-1)[before.clamp_min(0)].reshape(x.shape)
    return torch.where(mask, taken, x)


def _repeat_interleave(repeats, *, output_size=None):
    """Returns which element each place of the result repeats: after as many as end before."""
    if output_size is None:
        return NotImplemented
    ends = repeats.cumsum(0)
    places = torch.arange(output_size, device=repeats.device)
    return (places.unsqueeze(1) >= ends).sum(1).to(repeats.dtype)


def get_places() -> dict:
    rowwise = {
        "sort": _sort,
        "sort.stable": _sort,
        "topk": _topk,
        "kthvalue": _kthvalue,
        "median.dim": _median(False),
        "nanmedian.dim": _median(True),
        "cumsum": _cumsum,
        "cumprod": _cumprod,
        "cummax": _cumulative(torch.ge),
        "cummin": _cumulative(torch.le),
        "logcumsumexp": _logcumsumexp,
    }
    table = {
        **{name: of_rows(each) for name, each in rowwise.items()},
        "median": _median_of_all(_median(False)),
        "nanmedian": _median_of_all(_median(True)),
        "index_put": _index_put,
        "_unsafe_index_put": _index_put,
        "index_add": _index_add,
        "put": _put,
        "scatter.src": _scatter_source,
        "scatter.value": _scatter_value,
        "scatter_add": _scatter_add,
        "scatter_reduce.two": _scatter_reduce,
        "masked_scatter": _masked_scatter,
        "repeat_interleave.Tensor": _repeat_interleave,
    }
    return find_operations(table)
