"""The operators of regions: `fad::region`, as which a plan sees one, `fad::accumulate`, by which
chunks add a product to a sum, and `fad::multiply`, by which few rows of a chunk meet all weights."""

import torch

from .._pytorch import find_linear

_library = torch.library.Library("fad", "FRAGMENT")
_library.define("region(Tensor[] inputs, SymInt[] sizes, str name) -> Tensor[]")
_library.define("accumulate(Tensor(a!) sum, Tensor left, Tensor right, bool is_first) -> ()")
_library.define("multiply(Tensor rows, Tensor weights) -> Tensor")

# A product of another type than the sum that it is added to is in memory by parts of the sum: so
# many, of which each has at least so many elements. On a CPU, it is there in both types.
_PARTS, _LEAST = 16, 2**20


@torch.library.impl(_library, "accumulate", "CompositeExplicitAutograd")
def _accumulate(sum: torch.Tensor, left: torch.Tensor, right: torch.Tensor, is_first: bool) -> None:
    """Adds the product of `left` and `right`, matrices of one type, to `sum`, which has that type or
    a wider one. The first product is written to `sum`, which has no values before it."""
    if sum.dtype == left.dtype:
        # A factor of zero reads no values.
        sum.addmm_(left, right, beta=0 if is_first else 1)
        return
    options = {"out_dtype": sum.dtype} if sum.is_cuda else {}
    rows = max(-(-sum.shape[0] // _PARTS), _LEAST // max(sum.shape[1], 1), 1)
    for part, operand in zip(sum.split(rows), left.split(rows)):
        product = torch.mm(operand, right, **options)
        if is_first:
            part.copy_(product)
        else:
            part += product


@torch.library.impl(_library, "accumulate", "Meta")
def _(sum: torch.Tensor, left: torch.Tensor, right: torch.Tensor, is_first: bool) -> None:
    pass


# With so many rows or fewer, and so many weights or more, oneDNN multiplies by transposed weights in
# less time than MKL, which packs them in each call. Neither takes memory of the size of the weights.
FEW_ROWS, MANY_WEIGHTS = 512, 2**20


@torch.library.impl(_library, "multiply", "CompositeExplicitAutograd")
def _multiply(rows: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    linear = find_linear()
    is_fast = (
        linear is not None
        and rows.is_cpu
        and rows.dtype == torch.float32
        and rows.shape[0] <= FEW_ROWS
        and weights.numel() >= MANY_WEIGHTS
        and weights.t().is_contiguous()
    )
    return linear(rows, weights.t()) if is_fast else torch.mm(rows, weights)


@torch.library.impl(_library, "multiply", "Meta")
def _(rows: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    return rows.new_empty((rows.shape[0], weights.shape[1]))


REGION = torch.ops.fad.region.default
ACCUMULATE = torch.ops.fad.accumulate.default
MULTIPLY = torch.ops.fad.multiply.default
