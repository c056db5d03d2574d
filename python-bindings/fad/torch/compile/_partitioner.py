"""fad as the partitioner of AOTAutograd's joint graphs."""

import json
import pathlib
from typing import Any, Callable, Mapping, Sequence, get_args

import torch
from torch import fx

from ... import _fad
from ..._choices import Policy, Recompute, check_choice
from ..._module import Module, get_handle
from ..._policy import check_budget, check_options
from .._releases import keeps_tangents, warn_of_release
from ._apply import COPIES, apply_plan, copy_for_forward, hoist, match_layouts, remove_copies
from ._build import find_masks, read_packed
from ._alternatives import ANY_PEAK, Search, Split, Splits
from ._chunks import Alternatives, Chunks, check_chunks, expand_regions
from ._coefficients import write_coefficients
from ._expand import expand_last
from ._graph import check_versions, copy_graph, find_device, find_mutated, find_target
from ._graph import round_operands
from ._budget import Trial, check_fraction, check_slowdown
from ._budget import find_budget, find_estimate, find_within
from ._import import find_reassociation, import_joint, is_tangent
from ._judge import choose_by_time, estimate_step_time
from ._layouts import choose_layout
from ._log import WARNED, log_rates, log_unscheduled, record, warn
from ._log import warn_of_budgets, without_budgets
from ._notes import note_bytes, note_fraction, note_other_budgets, note_sizes
from ._parts import Planned, partition_joint, without_collection
from ._peak import Schedule, count_bytes, peak_bytes
from ._pytorch import (
    CustomPartitionerFn,
    Parts,
    bound_alive,
    get_hash_for_files,
    mark_fused,
    partition_by_pytorch,
)
from ._rates import find_rates, read_mode
from ._sizes import assume_sizes
from ._split_sums import split_sums

# How the warning begins that names a graph which fad cannot plan.
FALLBACK = "fad leaves this graph to PyTorch's partitioner"


class Partitioner(CustomPartitionerFn):
    """Splits a joint graph into forward and backward so that backward reads fad's
    residuals.

    The arguments are some of those of `fad.nest`: `policy` selects the residuals,
    `recompute` lists the operations that backward may repeat, and with
    `residual_budget`, a number of bytes or text such as "2GB", the selection takes the
    least time within them. With `derivative_bits`, bounded derivatives are approximate.

    `budget` bounds the peak of a step: what forward and backward of one graph take at
    once besides parameters and inputs, by an estimate. It is an integer, a number of
    bytes; text such as "2GB"; or a float, a fraction of the peak of the fastest
    selection, so that 1.0 is the fastest and 1 is a byte. Backward may then
    repeat contractions, unless `recompute` says otherwise. Where no selection stays
    within a budget, the lowest that there is is taken, with a warning.

    `slowdown`, a number of at least 1, takes in place of a budget the lowest peak of the
    selections whose step takes at most so many times as long as the fastest one, by an estimate;
    on a GPU, as that of PyTorch's partitioner, by Inductor's schedules of both, if that is longer.

    `chunks` is how a step computes what is much larger inside than at its ends, such as a loss of
    logits: in that many chunks of rows; "off", at once; or "auto", in chunks where it is large
    and its gradients take no more operations so.

    A graph that fad cannot plan is split by PyTorch's partitioner, with a warning."""

    # Whether graphs are those of the backend's own decompositions.
    has_decompositions = False
    # The names of Inductor's options that the user has set. PyTorch's caches see their values, and
    # not whose they are.
    given: tuple[str, ...] = ()
    # Whether there is a warning of the graph that is split.
    has_warned = False
    # Whether warnings of budgets come for each graph, and not for all of a model.
    warns_at_once = True
    # Sizes in the place of PyTorch's hints, by the names of symbols.
    sizes: Mapping[str, int] = {}
    # Bytes of tangents of the last graph that are alive to the end of backward, of which the plan
    # does not know.
    kept_bytes = 0
    # The budget of the last plan, and what the plan takes of it.
    bounded: tuple[int, int] | None = None
    # The plan of the graph that is split.
    planned: dict[str, Any] | None = None
    # Whether the plan alone is asked for.
    ends_planned = False
    # PyTorch's choices for the graph that is split, by the names of its nodes.
    proposals: dict[str, list[list[str]]] = {}
    # The bytes that kernels may have alive, where the time of these is the bytes that they move.
    bound: int | None = None
    # The options of selection in the place of the budget, where schedules tell whether that is kept.
    trial: Mapping[str, Any] | None = None

    def __init__(
        self,
        policy: Policy = "auto",
        *,
        recompute: Recompute | None = None,
        budget: int | float | str | None = None,
        slowdown: float | None = None,
        residual_budget: int | str | None = None,
        derivative_bits: int | None = None,
        chunks: Chunks = "auto",
    ) -> None:
        warn_of_release()
        # For any device, as a mistake in the environment.
        read_mode()
        self.chunks = check_chunks(chunks)
        # Planning would say so only to PyTorch's partitioner, which would then run instead.
        self.policy = check_choice("policy is", policy, get_args(Policy))
        if recompute is not None:
            check_choice("recompute is", recompute, get_args(Recompute))
        self.fraction = check_fraction(budget)
        # Whether kernels give way to memory; those of the fastest selection do not.
        self.has_budget = budget is not None and self.fraction != 1.0
        # Whether the graphs are for Inductor, which fuses operations.
        self.is_fused = True
        # Copies of filters take bytes, which a budget has for others.
        self.copies = COPIES if budget is None and residual_budget is None else 0.0
        bounds = {"budget": budget, "slowdown": slowdown, "residual_budget": residual_budget}
        given = [name for name, value in bounds.items() if value is not None]
        if given and given[0] != "residual_budget":
            if policy != "auto":
                raise ValueError(
                    f"{given[0]} is an option of the policy 'auto', which is not chosen"
                )
            self.free_options = {"recompute": recompute} if recompute else {}
            recompute = recompute or "contractions"
        if len(given) > 1:
            raise ValueError(f"{given[0]} and {given[1]} are alternatives; give one of them")
        self.slowdown = check_slowdown(slowdown)
        is_free = self.fraction or self.slowdown
        peak = ANY_PEAK if is_free else check_budget("budget", budget)
        if peak == 0:
            raise ValueError(
                f"budget is {budget!r}, and no step takes nothing; give a fraction between 0 and 1 "
                "as a number, such as 0.5, or a number of bytes"
            )
        self.options = check_options(
            [policy],
            recompute=recompute,
            # 0 bits: no derivative is rounded.
            derivative_bits=derivative_bits or None,
            residual_budget=residual_budget,
            peak_budget=peak,
        )

    def uuid(self) -> Any:
        """Identifies fad's build and the options in PyTorch's caches."""
        folder = pathlib.Path(__file__).parents[1]
        sources = *folder.rglob("*.py"), *folder.parent.glob("*.py")
        files = (_fad.__file__, *sorted(map(str, sources)))
        options = (
            self.policy,
            sorted(self.options.items()),
            self.fraction,
            self.slowdown,
            self.is_fused,
            self.has_decompositions,
            self.chunks,
            self.given,
            sorted(self.sizes.items()),
            # Choices for a GPU depend on these.
            find_rates(torch.device("cuda")).describe() if torch.cuda.is_initialized() else "",
        )
        return get_hash_for_files(files, repr(options))

    def __getstate__(self) -> dict[str, Any]:
        # Keys of caches have the partitioner, whatever it has planned before.
        planned = ("has_warned", "bounded", "kept_bytes", "planned", "trial", "bound", "proposals")
        return {name: value for name, value in vars(self).items() if name not in planned}

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
        self.has_warned, self.bounded = note_other_budgets(gm.graph), None
        self.planned, self.proposals = None, {}
        # A graph that fad leaves half rewritten is of no use.
        static = static_lifetime_input_indices or []
        original = copy_graph(gm.graph)
        fallback = ""
        try:
            with assume_sizes(self.sizes):
                graphs = Alternatives(original, self.chunks, self.is_fused)
                parts = self._split(gm, graphs, joint_inputs, num_fwd_outputs, static)
        except Exception as error:
            # A plan that could not be applied says nothing of the parts.
            self.has_warned, self.planned = True, None
            fallback = f"{type(error).__name__}: {error}"
            warn(f"{FALLBACK}: {fallback}")
            parts = partition_by_pytorch(
                fx.GraphModule(gm, original),
                joint_inputs,
                num_fwd_outputs=num_fwd_outputs,
                static_lifetime_input_indices=static_lifetime_input_indices,
                **options,
            )
        else:
            if self.sizes and self.bounded and not self.has_warned:
                kind = "saved" if "residual_budget" in self.options else "peak"
                self.has_warned = note_sizes(kind, parts, self.sizes, *self.bounded)
        # Another batch may exceed the budget that this one keeps.
        is_checked = bool(self.sizes and self.bounded)
        if self.warns_at_once:
            warn_of_budgets()
        for part in parts:
            part.meta[WARNED] = self.has_warned or is_checked
        plan, self.planned, self.proposals = self.planned, None, {}
        record(parts, self._describe_options(), plan or {}, fallback)
        return parts

    def _split(
        self,
        gm: fx.GraphModule,
        alternatives: Alternatives,
        joint_inputs: Sequence[object],
        num_fwd_outputs: int,
        static: list[int],
    ) -> Parts:
        """Returns the parts of `gm`, which computes any of `alternatives`, within the budget."""

        def split_anew(graph: fx.Graph, bound: int | None) -> Split:
            self.trial = self.free_options if bound is None else {"peak_budget": bound}
            parts = self._split_once(gm, graph, joint_inputs, num_fwd_outputs, static)
            return parts, self.planned

        def plan_anew(graph: fx.Graph, bound: int | None) -> dict[str, Any] | None:
            self.ends_planned = True
            try:
                return split_anew(graph, bound)[1]
            except Planned:
                return self.planned
            finally:
                self.ends_planned = False

        splits = Splits(split_anew, plan_anew, lambda: self.bound)

        def split_once() -> Parts:
            graph = alternatives.make(alternatives.first)
            return self._split_once(gm, graph, joint_inputs, num_fwd_outputs, static)

        def split_as(options: Mapping[str, Any] | None) -> Trial:
            self.trial = options
            try:
                return Trial(split_once(), self.planned or {}, 0)
            finally:
                self.trial = None

        def schedule_once(parts: Parts) -> tuple[Schedule, Schedule]:
            return self._schedule(parts, num_fwd_outputs)

        def schedule_stock() -> tuple[Parts, tuple[Schedule, Schedule]]:
            stock = partition_by_pytorch(
                fx.GraphModule(gm, copy_graph(gm.graph)),
                joint_inputs,
                num_fwd_outputs=num_fwd_outputs,
                static_lifetime_input_indices=static,
            )
            return stock, self._schedule(stock, num_fwd_outputs, is_stock=True)

        is_timed = find_target(gm.graph) == "gpu"

        def schedule(parts: Parts, fuses: bool) -> tuple[int, float | None]:
            # The selection that needs no budget may take less where Inductor fuses as it does then.
            mark_fused(parts, fuses)
            options = self.given if self.has_decompositions else None
            peak, schedules = choose_layout(parts, options, schedule_once)
            return peak, estimate_step_time(parts, schedules) if is_timed else None

        # Inductor compiles for the sizes of the batch, and graphs inside of others with these.
        is_checked = self.is_fused and joint_inputs and not self.sizes
        if is_checked and (self.slowdown or self.fraction == 1.0):
            chosen = choose_by_time(split_as, schedule_once, schedule_stock, self.slowdown)
            self.planned = chosen.plan
            return chosen.parts
        if is_checked and self.has_budget:
            search = Search(alternatives, splits, schedule, lambda parts: peak_bytes(*parts).saved)
            self.bound = ANY_PEAK if is_timed else None
            try:
                chosen = self.choose(search)
                mark_fused(chosen.parts, chosen.fuses)
                self.planned = {**chosen.plan, "scheduled_peak": chosen.peak}
                return chosen.parts
            except Exception as error:
                log_unscheduled(error)
                self.planned = None
            finally:
                self.trial = self.bound = None
        if (
            self.has_budget
            and not self.is_fused
            and any(alternatives.list_finer(alternatives.first))
        ):
            return self._split_by_estimates(split_once, Search(alternatives, splits))
        return split_once()

    def _split_by_estimates(self, split: Callable[[], Parts], search: Search) -> Parts:
        """Returns the parts that `split` makes, or better ones for the budget that `search` finds."""
        has_warned = self.has_warned
        with without_budgets():
            parts = split()
        plan = self.planned
        if plan is None:
            return parts
        self.has_warned, share = has_warned, self.fraction
        budget = self.options["peak_budget"] - self.kept_bytes
        budget = int(share * plan["fastest_peak"]) if share else budget
        chosen = Trial(parts, plan, plan["peak"])
        try:
            chosen = search.refine(chosen, budget)
        except Exception as error:
            log_unscheduled(error)
        finally:
            self.trial = None
        self.planned = chosen.plan
        if share:
            self.has_warned |= note_fraction(share, chosen.peak, plan["fastest_peak"])
        else:
            self._note("peak", self.options["peak_budget"], chosen.peak + self.kept_bytes)
        return chosen.parts

    def _split_once(
        self,
        gm: fx.GraphModule,
        graph: fx.Graph,
        joint_inputs: Sequence[object],
        num_fwd_outputs: int,
        static: list[int],
    ) -> Parts:
        """Returns the parts of `gm`, which computes `graph`."""
        copy = fx.GraphModule(gm, copy_graph(graph))
        parts = partition_joint(
            copy, joint_inputs, num_fwd_outputs, static, self._choose, self.copies
        )
        for part in parts:
            expand_regions(part, self.is_fused)
        if self.has_budget and self.is_fused:
            match_layouts(*parts, static)
        if self.is_fused:
            split_sums(parts[1])
            expand_last(parts[1])
            write_coefficients(parts[1])
        bound_alive(parts, self.bound)
        return parts

    def choose(self, search: Search) -> Trial:
        """Returns the trial of `search` that the budget chooses."""
        return self.choose_within(search.make_trial, search.refine)

    def choose_within(
        self,
        make_trial: Callable[[int | None], Trial],
        refine: Callable[[Trial, int], Trial] = lambda trial, _: trial,
    ) -> Trial:
        """Returns the trial that the budget chooses, of those that `make_trial` makes for
        `find_within`, and those that `refine` finds better than the best of them."""
        share = self.fraction
        if not share:
            self.narrow(self.options["peak_budget"])
        fastest = make_trial(ANY_PEAK)
        budget = int(share * fastest.peak) if share else self.options["peak_budget"]
        within = make_trial(ANY_PEAK) if self.narrow(budget) else fastest
        trial = refine(find_within(make_trial, within, budget), budget)
        if share:
            self.has_warned |= note_fraction(share, trial.peak, fastest.peak)
        else:
            self._note("peak", budget, trial.peak)
        return trial

    def narrow(self, budget: int) -> bool:
        """Lets kernels of the next trials have at most `budget` bytes alive, where their time is the
        bytes that they move. Tells whether that is another bound than before."""
        if self.bound in (None, budget):
            return False
        self.bound = budget
        return True

    def _schedule(
        self, parts: Parts, num_fwd_outputs: int, is_stock: bool = False
    ) -> tuple[Schedule, Schedule]:
        """Returns Inductor's schedules of `parts`, where `is_stock`, as PyTorch alone has them."""
        from ._schedule import schedule_parts

        options = self.given if self.has_decompositions and not is_stock else None
        return schedule_parts(parts, num_fwd_outputs, options, self.has_budget)

    def _describe_options(self) -> dict[str, Any]:
        """Returns the options that have an effect, for records of the plan."""
        options = {"policy": self.policy, **self.options, "sizes": dict(self.sizes)}
        if self.fraction or self.slowdown:
            options |= {"peak_fraction": self.fraction, "slowdown": self.slowdown}
            del options["peak_budget"]
        return {name: value for name, value in options.items() if value not in (None, {})}

    def _choose(
        self, graph: fx.Graph, num_fwd_outputs: int, propose: Callable[[bool], list[list[str]]]
    ) -> list[fx.Node]:
        with without_collection():
            target = find_target(graph)
            # The time of kernels decides on a GPU, and nothing else has the values that
            # PyTorch's choices save for it.
            is_timed = self.is_fused and self.policy == "auto" and target == "gpu"
            proposals = self._get_proposals(graph, propose) if is_timed else []
            rates = find_rates(find_device(graph))
            if is_timed:
                log_rates(rates)
            mutated = find_mutated(graph, num_fwd_outputs)
            check_versions(graph, mutated)
            originals = copy_for_forward(graph, num_fwd_outputs, mutated)
            if keeps_tangents():
                self.kept_bytes = sum(map(count_bytes, filter(is_tangent, graph.nodes)))
            imported = import_joint(graph, num_fwd_outputs, mutated, self.is_fused, proposals)
            options = {
                "target": target,
                "launch_time": rates.launch_units if is_timed else 0,
                "reassociate": find_reassociation(self.policy, self.options, self.is_fused),
                **self.options,
            }
            plan = self.find_plan(imported.module, options, imported.gradient_bytes)
            # A GPU's kernels depend on the bytes that they may have alive.
            self.planned = {**plan, "alive": self.bound} if self.bound else plan
            if self.ends_planned:
                raise Planned
            saved, replaced = apply_plan(graph, plan, imported, mutated, self.is_fused)
            masks = find_masks(replaced)
            hoist(graph, [*saved, *masks.values()], mutated)
            read_packed(graph, masks)
            remove_copies(graph, originals, saved)
            if self.is_fused:
                round_operands(graph)
            return saved

    def _get_proposals(
        self, graph: fx.Graph, propose: Callable[[bool], list[list[str]]]
    ) -> list[list[str]]:
        """Returns PyTorch's choices for `graph`, which are the same for each trial."""
        key = " ".join(node.name for node in graph.nodes)
        if key not in self.proposals:
            self.proposals[key] = propose("peak_budget" in self.options)
        return self.proposals[key]

    def find_plan(
        self, module: Module, options: dict[str, Any], gradient_bytes: int
    ) -> dict[str, Any]:
        """Returns the plan for `module`; with a budget, that of the least time within it."""

        def plan(**more: Any) -> dict[str, Any]:
            text = _fad.plan(get_handle(module), self.policy, **{**options, **more})
            return json.loads(text)

        if self.trial is not None:
            for name in ("peak_budget", "recompute") if "peak_budget" not in self.trial else ():
                options.pop(name, None)
            return plan(**self.trial)
        if "residual_budget" in options:
            chosen = plan()
            self._note("saved", options["residual_budget"], chosen["bytes"])
            return chosen
        if "peak_budget" not in options:
            return plan()
        if self.slowdown:
            return plan(slowdown=self.slowdown)
        if self.fraction:
            # Both peaks are estimates, so that nothing has to be held in reserve.
            chosen = plan(peak_fraction=self.fraction)
            self.has_warned |= note_fraction(self.fraction, chosen["peak"], chosen["fastest_peak"])
            return chosen
        budget = options["peak_budget"]
        within = find_estimate(budget - self.kept_bytes, gradient_bytes, self.is_fused)
        chosen = plan(peak_budget=max(0, within))
        lowest = find_budget(chosen["peak"], gradient_bytes, self.is_fused) + self.kept_bytes
        self._note("peak", budget, lowest)
        return chosen

    def _note(self, kind: str, budget: int, lowest: int) -> None:
        """Keeps for a warning whether no selection has its budget, which is a number of bytes."""
        self.bounded = budget, lowest
        self.has_warned |= note_bytes(kind, budget, lowest)
