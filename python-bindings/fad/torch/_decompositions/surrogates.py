"""Operations whose derivative, in PyTorch, is not that of their values.

`docs/PyTorch.md` lists them. A surrogate has the value of the operation and the
derivative that PyTorch gives it; what has none is an error."""

import contextvars
import math
import struct

import numpy as np

from .idioms import along, find_operations, reduce, share, widen
from .operations import detach
from .._requirements import torch


def _with_gradient(value, through):
    """`value`, with the gradient of `through`, which is finite."""
    return detach(value) + (through - detach(through))


#
# Quantization
#


def _invert(scale: float) -> float:
    """1 / scale, as PyTorch has it: both are f32."""
    (narrow,) = struct.unpack("f", struct.pack("f", scale))
    return struct.unpack("f", struct.pack("f", 1 / narrow))[0]


def _quantize(x, scale, inverse, zero_point, low, high):
    """`x` on the grid of `scale`, and which elements have a gradient: those that
    fall between the bounds."""
    wide = widen(detach(x))
    place = torch.round(wide * inverse) + zero_point
    inside = (place >= low) & (place <= high)
    value = ((place.clamp(low, high) - zero_point) * scale).to(x.dtype)
    return _with_gradient(value, torch.where(inside, x, 0)), inside


def _fake_quantize(x, scale, zero_point, low, high):
    return _quantize(x, scale, _invert(scale), zero_point, low, high)


def _fake_quantize_by_tensors(x, scale, zero_point, enabled, low, high):
    scale, zero_point = detach(scale), detach(zero_point)
    y, inside = _quantize(x, scale, 1 / scale, zero_point, low, high)
    on = enabled != 0
    return torch.where(on, y, x), inside | ~on


def _fake_quantize_by_channels(x, scale, zero_point, axis, low, high):
    scale, zero_point = (detach(along(each, x.dim(), axis)) for each in (scale, zero_point))
    return _quantize(x, scale, 1 / scale, zero_point, low, high)


def _learn(x, scale, zero_point, low, high, factor):
    """Quantization whose scale and zero point are learned: S. K. Esser et al.,
    Learned Step Size Quantization, ICLR 2020."""

    def scaled(parameter):
        return detach(parameter) + factor * (parameter - detach(parameter))

    base = detach(zero_point).round().clamp(low, high)
    place = torch.round(detach(x) / detach(scale)) + base
    inside = (place >= low) & (place <= high)
    bound = place.clamp(low, high)
    value = ((bound - base) * detach(scale)).to(x.dtype)
    inner = (value - detach(x)) / detach(scale)
    of_scale = detach(torch.where(inside, inner, bound - base))
    of_zero_point = torch.where(inside, 0, -detach(scale))
    through = torch.where(inside, x, 0)
    return (
        _with_gradient(value, through)
        + of_scale * (scaled(scale) - detach(scale))
        + of_zero_point * (scaled(zero_point) - detach(zero_point))
    )


def _learn_by_tensor(x, scale, zero_point, low, high, factor=1.0):
    return _learn(x, scale, zero_point, low, high, factor)


def _learn_by_channels(x, scale, zero_point, axis, low, high, factor=1.0):
    scale, zero_point = (along(each, x.dim(), axis) for each in (scale, zero_point))
    return _learn(x, scale, zero_point, low, high, factor)


#
# Losses
#


def _binary_cross_entropy(x, target, weight=None, reduction=1):
    """PyTorch bounds the logarithms in the value, and the denominator in the
    gradient: a saturated `x` has one."""
    known = detach(x)
    logs = [torch.log(known), torch.log1p(-known)]
    positive, negative = (torch.where(each > -100, each, -100) for each in logs)
    loss = (target - 1) * negative - target * positive
    variance = known * (1 - known)
    slope = (known - target) / torch.where(variance > 1e-12, variance, 1e-12)
    loss = loss + detach(slope) * (x - known)
    return reduce(loss if weight is None else loss * weight, reduction)


def _multilabel_margin_loss(x, target, reduction):
    """PyTorch's own decomposition takes what follows the first -1 for labels."""
    rows, labels = torch.atleast_2d(x), torch.atleast_2d(target)
    size = rows.shape[1]
    places = torch.arange(size, device=x.device)
    first = torch.where(labels < 0, places, size).amin(1, keepdim=True)
    is_label = places < first
    labels = torch.where(is_label, labels, 0)
    chosen = (labels.unsqueeze(2) == places) & is_label.unsqueeze(2)
    is_target = chosen.any(1)
    excess = 1 - rows.gather(1, labels).unsqueeze(2) + rows.unsqueeze(1)
    counted = is_label.unsqueeze(2) & ~is_target.unsqueeze(1)
    terms = torch.where(counted & (excess > 0), excess, 0)
    loss = terms.sum((1, 2)) / size
    loss = loss.reshape(()) if x.dim() < 2 else loss
    return reduce(loss, reduction), is_target.to(x.dtype).reshape(target.shape)


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """In place of PyTorch's function, which looks at the values of `var` for negative
    ones, and that is not traced. Its bound is no part of the gradient."""
    if not isinstance(var, torch.Tensor):
        var = var * torch.ones_like(input)
    if var.shape != input.shape and var.shape == input.shape[:-1]:
        var = var.unsqueeze(-1)
    bounded = _with_gradient(var.clamp(min=eps), var)
    loss = 0.5 * (torch.log(bounded) + (input - target) ** 2 / bounded)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return {"mean": loss.mean, "sum": loss.sum, "none": lambda: loss}[reduction]()


#
# Random numbers
#


def _normal(mean, std, generator=None):
    """PyTorch gives neither the mean nor the deviation a gradient."""
    mean, std = (detach(each) if isinstance(each, torch.Tensor) else each for each in (mean, std))
    example = mean if isinstance(mean, torch.Tensor) else std
    if isinstance(mean, torch.Tensor) and isinstance(std, torch.Tensor):
        example = mean + std
    return torch.randn_like(example) * std + mean


def _rrelu(x, noise, lower=0.125, upper=1 / 3, training=False, generator=None):
    """Returns a random slope for each number that is not positive."""
    if not training:
        return torch.where(x > 0, x, x * ((lower + upper) / 2)), torch.zeros_like(x)
    slope = lower + (upper - lower) * torch.rand_like(x)
    slope = torch.where(x <= 0, slope, 1)
    return x * slope, slope


#
# Tables
#


def _embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    """Row `padding_idx` has no gradient; with `scale_grad_by_freq` the gradient of
    a row is divided by how often it is read."""
    if padding_idx < 0 and not scale_grad_by_freq:
        return NotImplemented
    rows = torch.nn.functional.embedding(indices, weight)
    known = detach(rows)
    if scale_grad_by_freq:
        factors = share(indices, weight.shape[0], rows.dtype).unsqueeze(-1)
        rows = known + (rows - known) * factors
    if padding_idx >= 0:
        rows = torch.where((indices == padding_idx).unsqueeze(-1), known, rows)
    return rows


def _embedding_bag(
    weight,
    indices,
    offsets,
    scale_grad_by_freq=False,
    mode=0,
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=-1,
):
    """Returns the sum, mean or maximum of the rows of each bag; torch-mlir's own form has wrong
    numbers."""
    rows = torch.nn.functional.embedding(indices, weight, scale_grad_by_freq=scale_grad_by_freq)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    # Indices after the last offset, where that is an end, are in no bag.
    places, bags = offsets.shape[0], offsets.shape[0] - include_last_offset
    bag = _find_bags(indices.shape[0], offsets)
    counted = indices != padding_idx if padding_idx >= 0 else indices == indices
    ones = counted.to(torch.int64)
    size = ones.new_zeros(places).index_add(0, bag, ones)[:bags]
    if mode == 2:
        values, found = _find_greatest(rows, bag, counted, bags)
        return values, bag, size, found
    wide = torch.where(counted.unsqueeze(1), widen(rows), 0)
    total = wide.new_zeros((places, wide.shape[1])).index_add(0, bag, wide)[:bags]
    if mode == 1:
        total = total / size.clamp_min(1).unsqueeze(1).to(total.dtype)
    return total.to(rows.dtype), bag, size, size


def _find_bags(length, offsets):
    """For each of `length` places, the last bag that starts there or before it."""
    places = torch.arange(length, device=offsets.device)
    if not isinstance(length, int):
        return (places.unsqueeze(1) >= offsets).sum(1) - 1
    ones = torch.ones_like(offsets, dtype=torch.int64)
    starts = ones.new_zeros(length + 1).index_add(0, offsets, ones)
    return starts.cumsum(0)[:length] - 1


def _find_greatest(rows, bag, counted, bags):
    """Returns the greatest element of each column of each bag, and its row; 0 in a bag of
    nothing."""
    if rows.shape[0] == 0:
        values = rows.sum().expand(bags, rows.shape[1])
        return values, torch.zeros_like(values, dtype=torch.int64)
    inside = counted & (bag == torch.arange(bags, device=bag.device).unsqueeze(1))
    terms = torch.where(inside.unsqueeze(2), rows, -math.inf)
    values, found = terms.max(1)
    return torch.where(inside.any(1, True), values, 0), found


def _embedding_bag_padded(weight, *arguments):
    """Returns a negative `padding_idx`, which comes last, counts from the end."""
    *arguments, padding_idx = arguments
    padding_idx = -1 if padding_idx is None else padding_idx % weight.shape[0]
    return _embedding_bag(weight, *arguments, padding_idx)


def _safe_softmax(x, dim, dtype=None):
    """Returns a row that is masked as a whole is 0, and has the gradient 0."""
    if dtype is not None:
        x = x.to(dtype)
    masked = (x == -math.inf).all(dim, keepdim=True)
    return torch.where(masked, 0, torch.softmax(torch.where(masked, 0, x), dim))


#
# Storage
#

# Whether `as_strided` is left to torch-mlir.
_AS_IT_IS = contextvars.ContextVar("as_it_is", default=False)


def _find_places(library, sizes, strides, start):
    """Returns the place of each element in the storage, as an array of `library`."""
    places = start
    for dim, (size, stride) in enumerate(zip(sizes, strides)):
        steps = library.arange(size) * stride
        places = places + steps.reshape(-1, *[1] * (len(sizes) - dim - 1))
    return places


def _is_held(places, sizes, strides, start):
    """Returns which `places` are those of elements of a tensor, where the steps along each of its
    dimensions are longer than all of those along dimensions of smaller strides."""
    rest, held = places - start, places == places
    for stride, size in sorted(zip(strides, sizes), reverse=True):
        if stride > 0 and size > 1:
            index = rest // stride
            held = held & (index >= 0) & (index < size)
            rest = rest - index * stride
    return held & (rest == 0)


def _as_strided(x, size, stride, storage_offset=None):
    """Elements that it reads beside those of `x`, of the same storage, have no gradient."""
    start = x.storage_offset() if storage_offset is None else storage_offset
    held = list(x.shape), x.stride(), x.storage_offset()
    numbers = [*size, *stride, start, *held[0], *held[1], held[2]]
    is_known = all(isinstance(each, int) for each in numbers)
    if _AS_IT_IS.get() or not is_known or 0 in size:
        return NotImplemented
    places = np.asarray(_find_places(np, size, stride, start))
    inside = np.isin(places, _find_places(np, *held))
    if inside.all():
        return NotImplemented
    if inside.any() and not np.array_equal(inside, _is_held(places, *held)):
        raise NotImplementedError(
            "as_strided reads elements beside those of its operand, whose own elements overlap;"
            " give it the tensor that has all elements"
        )
    token = _AS_IT_IS.set(True)
    try:
        value = torch.as_strided(x, size, stride, start)
    finally:
        _AS_IT_IS.reset(token)
    if not inside.any():
        return detach(value)
    places = _find_places(torch, size, stride, torch.zeros_like(value, dtype=torch.int64) + start)
    return torch.where(_is_held(places, *held), value, detach(value))


def get_surrogates() -> dict:
    table = {
        "fake_quantize_per_tensor_affine_cachemask": _fake_quantize,
        "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams": (_fake_quantize_by_tensors),
        "fake_quantize_per_channel_affine_cachemask": (_fake_quantize_by_channels),
        "_fake_quantize_learnable_per_tensor_affine": _learn_by_tensor,
        "_fake_quantize_learnable_per_channel_affine": _learn_by_channels,
        "binary_cross_entropy": _binary_cross_entropy,
        "multilabel_margin_loss_forward": _multilabel_margin_loss,
        "normal.Tensor_Tensor": _normal,
        "normal.Tensor_float": lambda mean, std=1.0, **rest: _normal(mean, std),
        "normal.float_Tensor": _normal,
        "rrelu_with_noise_functional": _rrelu,
        "rrelu_with_noise": lambda *arguments: _rrelu(*arguments)[0],
        "embedding": _embedding,
        "_embedding_bag": _embedding_bag,
        "embedding_bag.padding_idx": _embedding_bag_padded,
        "_safe_softmax": _safe_softmax,
        "as_strided": _as_strided,
    }
    return find_operations(table)
