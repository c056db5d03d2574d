"""Shared parts of decompositions."""

from typing import Callable, Dict

from .._requirements import torch


def find_operations(table: Dict[str, Callable]) -> dict:
    """`table` by the operations of PyTorch that it names, with an overload unless that
    is the default."""
    found = {}
    for name, function in table.items():
        base, _, overload = name.partition(".")
        packet = getattr(torch.ops.aten, base)
        found[getattr(packet, overload or "default")] = function
    return found


def widen(x):
    """`x`, in f32 where it is of f16 or bf16."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def along(values, rank: int, dim: int):
    """`values`, of one dimension, as the dimension `dim` of `rank`."""
    shape = [1] * rank
    shape[dim] = -1
    return values.reshape(shape)


def count(x, dim: int):
    """Returns the index of each element of `x` in `dim`, in that dimension of as many."""
    return along(torch.arange(x.shape[dim], device=x.device), x.dim(), dim)


def share(indices, size: int, dtype):
    """1 / how often each of `indices`, which are less than `size`, is among them."""
    places = indices.reshape(-1)
    ones = torch.ones_like(places, dtype=torch.int64)
    counts = ones.new_zeros(size).index_add(0, places, ones)
    wide = torch.promote_types(dtype, torch.float32)
    often = counts.index_select(0, places).reshape(indices.shape)
    return (1 / often.to(wide)).to(dtype)


def reduce(loss, reduction: int):
    """`loss`, its mean or its sum, as PyTorch numbers them."""
    return {0: lambda: loss, 1: loss.mean, 2: loss.sum}[reduction]()


def with_dimension(operation, rank: int, otherwise=None):
    """`operation` of a tensor of `rank` dimensions, which gets one more for it, and
    `otherwise`, or what it is, of others."""

    def call(x, *arguments, **options):
        if x.dim() != rank:
            return otherwise(x, *arguments, **options) if otherwise else NotImplemented
        result = operation(x.unsqueeze(0), *arguments, **options)
        if isinstance(result, tuple):
            return tuple(each.squeeze(0) for each in result)
        return result.squeeze(0)

    return call


def of_rows(function):
    """`function` of the rows of a tensor, for a number too."""
    return with_dimension(function, 0, function)
