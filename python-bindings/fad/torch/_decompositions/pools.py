"""Pooling that torch-mlir has no right form of."""

from .idioms import with_dimension
from .._requirements import torch


def _bounds(size: int, count: int, device):
    """Returns where each of `count` windows over `size` elements starts and ends, as columns, and
    the greatest of their widths."""
    window = torch.arange(count, device=device).unsqueeze(1)
    starts = torch.div(window * size, count, rounding_mode="floor")
    ends = torch.div((window + 1) * size + count - 1, count, rounding_mode="floor")
    width = max(-(-(i + 1) * size // count) - i * size // count for i in range(count))
    return starts, ends, width


def _adaptive_max_pool(rank):
    def pool(x, output_size):
        """Returns the greatest of each window and its index in all dimensions: the first of equal
        ones has the gradient."""
        sizes = x.shape[-rank:]
        if not all(isinstance(size, int) for size in sizes):
            return NotImplemented
        places = torch.zeros((), dtype=torch.int64, device=x.device)
        values = x
        # Each dimension becomes two: the windows, and what is in them.
        for number, (size, count) in enumerate(zip(sizes, output_size)):
            starts, ends, width = _bounds(size, count, x.device)
            index = starts + torch.arange(width, device=x.device)
            # A narrow window has its last element again.
            index = torch.where(index < ends, index, ends - 1)
            dim = number - rank
            values = values.index_select(dim, index.reshape(-1))
            values = values.unflatten(dim, (count, width))
            shape = [1] * (2 * rank)
            shape[2 * number], shape[2 * number + 1] = count, width
            places = places * size + index.reshape(shape)
        lead = x.dim() - rank
        windows = [lead + 2 * each for each in range(rank)]
        inner = [each + 1 for each in windows]
        values = values.permute([*range(lead), *windows, *inner]).flatten(-rank)
        order = [2 * each for each in range(rank)] + [2 * each + 1 for each in range(rank)]
        places = places.permute(order).flatten(-rank)
        index = values.max(-1, keepdim=True).indices
        chosen = torch.gather(places.expand(values.shape), -1, index)
        return values.gather(-1, index).squeeze(-1), chosen.squeeze(-1)

    return pool


def _adaptive_avg_pool3d(x, output_size):
    """Returns a product with the weights of the windows, in each dimension."""
    for number, count in enumerate(output_size):
        dim = number - 3
        size = x.shape[dim]
        if not isinstance(size, int):
            return NotImplemented
        starts, ends, _ = _bounds(size, count, x.device)
        place = torch.arange(size, device=x.device)
        inside = (place >= starts) & (place < ends)
        weights = torch.where(inside, 1 / (ends - starts).to(x.dtype), 0).t()
        x = (x.transpose(dim, -1) @ weights).transpose(dim, -1)
    return x


def get_pools() -> dict:
    aten = torch.ops.aten
    # torch-mlir crashes on what lacks the batch, or makes operations that are not valid.
    ranks = {
        aten.avg_pool2d.default: 3,
        aten.avg_pool3d.default: 4,
        aten.max_pool2d_with_indices.default: 3,
        aten.max_pool3d_with_indices.default: 4,
    }
    return {
        aten.adaptive_max_pool2d.default: _adaptive_max_pool(2),
        aten._adaptive_avg_pool3d.default: _adaptive_avg_pool3d,
        **{each: with_dimension(each, rank) for each, rank in ranks.items()},
    }
