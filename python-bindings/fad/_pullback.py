"""The backward function of a call."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ._arrays import Array
from ._executable import get_compiled

if TYPE_CHECKING:
    from ._nest import Nested


@dataclass(frozen=True, eq=False, repr=False)
class Pullback:
    """The second result of `nested(...)`: the backward function, with the
    residuals of that call. It can be called several times. Residuals may be arguments of
    that call, which must not be written to before."""

    nested: "Nested"
    residuals: tuple[Array, ...]

    def __call__(self, *cotangents: object) -> tuple[Array, ...]:
        """The gradients, in the order of `nested.gradients`, for a cotangent of each
        differentiated result. Without any, the cotangent of results of shape () is 1.

        Raises TypeError for a wrong number or type of cotangents, and ValueError for a
        wrong shape."""
        expected = self.nested.cotangents
        if not cotangents and all(each.shape == () for each in expected):
            cotangents = tuple(np.ones((), each.dtype) for each in expected)
        if len(cotangents) != len(expected):
            raise TypeError(
                "a pullback takes a cotangent for each differentiated result: "
                f"{len(expected)}, not {len(cotangents)}"
            )
        executable = get_compiled(self.nested.module)
        return executable.call(self.nested.backward, *self.residuals, *cotangents)
