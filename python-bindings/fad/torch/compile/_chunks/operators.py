"""The operators of regions: `fad::region`, as which a plan sees one, and `fad::accumulate`, by which
chunks add a product to a sum."""

import torch

_library = torch.library.Library("fad", "FRAGMENT")
_library.define("region(Tensor[] inputs, SymInt[] sizes, str name) -> Tensor[]")
_library.define("accumulate(Tensor(a!) sum, Tensor left, Tensor right) -> ()")

# A product of another type than the sum that it is added to is in memory by parts of the sum: so
# many, of which each has at least so many elements. On a CPU, it is there in both types.
_PARTS, _LEAST = 16, 2**20


@torch.library.impl(_library, "accumulate", "CompositeExplicitAutograd")
def _accumulate(sum: torch.Tensor, left: torch.Tensor, right: torch.Tensor) -> None:
    """Adds the product of `left` and `right`, matrices of one type, to `sum`, which has that type or
    a wider one."""
    if sum.dtype == left.dtype:
        sum.addmm_(left, right)
        return
    options = {"out_dtype": sum.dtype} if sum.is_cuda else {}
    rows = max(-(-sum.shape[0] // _PARTS), _LEAST // max(sum.shape[1], 1), 1)
    for part, operand in zip(sum.split(rows), left.split(rows)):
        part += torch.mm(operand, right, **options)


@torch.library.impl(_library, "accumulate", "Meta")
def _(sum: torch.Tensor, left: torch.Tensor, right: torch.Tensor) -> None:
    pass


REGION = torch.ops.fad.region.default
ACCUMULATE = torch.ops.fad.accumulate.default
