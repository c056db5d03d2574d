"""fad as the partitioner of AOTAutograd's joint graphs."""

import contextlib
import gc
import json
import pathlib
import warnings
from typing import Any, Iterator, Sequence

import torch
from torch import fx
from torch._functorch import config as functorch_config
from torch._functorch import partitioners
from torch._functorch.compile_utils import fx_graph_cse, raise_getitems
from torch._inductor.custom_graph_pass import CustomPartitionerFn, get_hash_for_files
from torch.utils._pytree import tree_leaves

from ... import _fad
from ..._module import get_handle, parse
from ..._policy import check_options, check_policy
from ._apply import apply_plan
from ._hoist import hoist
from ._import import NotPlanned, import_joint
from ._layouts import keep_layouts

# A budget that every selection keeps.
_ANY_PEAK = 2**62


# How the warning begins that names a graph which fad cannot plan.
FALLBACK = "fad leaves this graph to PyTorch's partitioner"


class Partitioner(CustomPartitionerFn):
    """Splits a joint graph into forward and backward so that backward reads fad's
    residuals.

    The arguments are some of those of `fad.nest`: `policy` selects the residuals,
    `recompute` lists the operations that backward may repeat, and with
    `residual_budget`, a number of bytes, the selection takes the least time within
    them. With `derivative_bits`, bounded derivatives are approximate.

    `budget` bounds the peak of a step: what forward and backward of one graph take at
    once besides parameters and inputs, by an estimate. It is a number of bytes, text
    such as "2GB", or a fraction of the peak of the fastest selection. Backward may then
    repeat contractions, unless `recompute` says otherwise. Where no selection stays
    within the budget, the one of the lowest peak is taken, with a warning.

    A graph that fad cannot plan is split by PyTorch's partitioner, with a warning."""

    # Whether graphs are those of the backend's own decompositions.
    has_decompositions = False

    def __init__(
        self,
        policy: str = "auto",
        *,
        recompute: str | None = None,
        budget: int | float | str | None = None,
        residual_budget: int | str | None = None,
        derivative_bits: int | None = None,
    ) -> None:
        self.policy = check_policy(policy)
        self.fraction = _check_fraction(budget)
        if budget is not None and recompute is None and policy == "auto":
            recompute = "contractions"
        self.options = check_options(
            [policy],
            recompute=recompute,
            derivative_bits=derivative_bits,
            residual_budget=residual_budget,
            peak_budget=_ANY_PEAK if self.fraction else budget,
        )

    def uuid(self) -> Any:
        """Identifies fad's build and the options in PyTorch's caches."""
        folder = pathlib.Path(__file__).parent
        files = (_fad.__file__, *sorted(map(str, folder.glob("*.py"))))
        options = self.policy, sorted(self.options.items()), self.has_decompositions
        return get_hash_for_files(files, repr(options))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Partitioner) and self.uuid() == other.uuid()

    def __hash__(self) -> int:
        return hash(self.uuid())

    def __call__(
        self,
        gm: fx.GraphModule,
        joint_inputs: Sequence[object],
        *,
        num_fwd_outputs: int,
        static_lifetime_input_indices: list[int] | None = None,
        **options: Any,
    ) -> tuple[fx.GraphModule, fx.GraphModule]:
        # A graph that fad leaves half rewritten is of no use.
        static = static_lifetime_input_indices or []
        original = copy_graph(gm.graph)
        try:
            return _partition(gm, joint_inputs, num_fwd_outputs, static, self._choose)
        except Exception as error:
            warnings.warn(
                f"{FALLBACK}: {type(error).__name__}: {error}",
                RuntimeWarning,
                stacklevel=2,
            )
            return partitioners.min_cut_rematerialization_partition(
                fx.GraphModule(gm, original),
                joint_inputs,
                num_fwd_outputs=num_fwd_outputs,
                static_lifetime_input_indices=static_lifetime_input_indices,
                **options,
            )

    def _choose(self, graph: fx.Graph, num_fwd_outputs: int) -> list[fx.Node]:
        with _without_collection():
            mutated = _find_mutated(graph, num_fwd_outputs)
            imported = import_joint(graph, num_fwd_outputs, mutated)
            module = parse(imported.text, filename="joint graph")
            plan = self._plan(get_handle(module), _find_target(graph))
            saved = apply_plan(graph, plan, imported, mutated)
            hoist(graph, saved, mutated)
            return saved

    def _plan(self, module: Any, target: str) -> dict[str, Any]:
        options = {"target": target, **self.options}

        def plan() -> dict[str, Any]:
            return json.loads(_fad.plan(module, self.policy, **options))

        chosen = plan()
        if self.fraction:
            options["peak_budget"] = int(self.fraction * chosen["peak"])
            chosen = plan()
        if chosen.get("peak", 0) > options.get("peak_budget", _ANY_PEAK):
            warnings.warn(
                f"no selection of residuals keeps this graph within a peak of "
                f"{options['peak_budget']:,} bytes; the lowest is {chosen['peak']:,}",
                RuntimeWarning,
                stacklevel=2,
            )
        return chosen


def _check_fraction(budget: Any) -> float | None:
    """`budget` if it is a fraction."""
    if not isinstance(budget, float):
        return None
    if not 0 < budget <= 1:
        raise ValueError(
            f"budget is {budget}; give a fraction between 0 and 1, or a number of bytes"
        )
    return budget
