"""The names that options are given by, for type checkers and editors."""

from typing import Literal

#: What backward gets from forward.
Policy = Literal["bp", "recompute", "fad", "auto"]
#: What backward may compute again under the policy "auto"; each includes those before it.
Recompute = Literal["nothing", "elementwise", "reductions", "all", "contractions"]
#: What multiplies matrices in compiled code.
Contractions = Literal["auto", "library", "loops"]
#: The machine whose times decide between choices of equal bytes.
Target = Literal["cpu", "gpu"]
#: The optimizer whose state counts in a memory report.
Optimizer = Literal["none", "sgd", "momentum", "adam"]
