"""Compilation by the backend `fad` inside of a trainer, and the memory of one step."""

import functools
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Mapping

import torch

from .._saved_memory.allocator import AllocatorWatch, is_on_gpu
from .._saved_memory.held import find_storages, walk_graph
from ..compile._backend import backend, read_options
from ..compile._partitioner import Partitioner
from .._pytorch import get_storage_id, tree_leaves

# The step that is measured, of those since the start: the first one compiles.
_MEASURED = 2


@dataclass(frozen=True)
class StepReport:
    """The memory of a step of a trainer.

    `kept` are the bytes that compiled forward passes of one batch kept for backward,
    beyond parameters and inputs, in `graphs` graphs. `peak` is the most that PyTorch's
    allocator gave from the start of the step to the optimizer, beyond the bytes before;
    None where another profiler ran. `budget` is that of the callback."""

    kept: int
    graphs: int
    peak: int | None
    budget: int | float | str | None

    def __str__(self) -> str:
        count = f"{self.graphs} graph{'s' if self.graphs != 1 else ''}"
        text = f"fad keeps {_show(self.kept)} for backward, in {count}"
        if self.peak is not None:
            text += f"; the measured peak of the step is {_show(self.peak)}"
        if self.budget is not None:
            of = "of the fastest step" if isinstance(self.budget, float) else ""
            each = " for each graph" if self.graphs > 1 else ""
            text += f"; the budget is {' '.join(filter(None, [str(self.budget), of]))}{each}"
        return text


def _show(count: int) -> str:
    return f"{count / 2**20:,.1f} MiB"


class StepCompiler:
    """Compiles by the backend `fad`, and measures the second step.

    `budget` is the option `fad.budget`, and `options` are all those of `torch.compile`."""

    def __init__(self, budget: int | float | str | None, options: Mapping[str, Any] | None) -> None:
        self.options = dict(options or {})
        if budget is not None:
            if "fad.budget" in self.options:
                raise ValueError("budget and the option fad.budget are the same; give one of them")
            self.options["fad.budget"] = budget
        # An error in them is one of this line, and not of the first step.
        read_options(self.options, None, Partitioner)
        self._steps = 0
        self._watch: AllocatorWatch | None = None
        self._is_counting = False
        self._kept = 0
        self._graphs: set[Callable] = set()

    def compile(self, function: Callable) -> Callable:
        """`function`, compiled."""
        return torch.compile(function, backend=self._compile_graph, options=self.options)

    def compile_in_place(self, module: torch.nn.Module) -> None:
        """Compiles the calls of `module`, whose parameters keep their names."""
        module.compile(backend=self._compile_graph, options=self.options)

    def start(self) -> None:
        """Begins the steps that are counted."""
        self._steps = 0

    def begin_step(self, parameters: Iterable[torch.Tensor]) -> None:
        self._steps += 1
        if self._steps != _MEASURED:
            return
        self._is_counting = True
        self._kept, self._graphs = 0, set()
        try:
            self._watch = AllocatorWatch(is_on_gpu(parameters)).__enter__()
        except RuntimeError:
            # On a CPU, a profiler of the trainer keeps out another one.
            self._watch = None

    def end_step(self) -> StepReport | None:
        """Returns the report of the step, where it is the one that is measured."""
        watch, self._watch, self._is_counting = self._watch, None, False
        if watch is not None:
            watch.__exit__(None, None, None)
        if self._steps != _MEASURED:
            return None
        # A trainer may end a step more than once.
        self._steps += 1
        peak = None if watch is None else watch.allocated.peak
        return StepReport(self._kept, len(self._graphs), peak, self.options.get("fad.budget"))

    def _compile_graph(
        self, graph: torch.fx.GraphModule, inputs: Any, **arguments: Any
    ) -> Callable:
        compiled = backend(graph, inputs, **arguments)

        @functools.wraps(compiled)
        def call(*arguments: Any) -> Any:
            results = compiled(*arguments)
            if self._is_counting and torch.is_grad_enabled():
                self._count(call, arguments, results)
            return results

        return call

    def _count(self, call: Callable, inputs: tuple[Any, ...], results: Any) -> None:
        """Adds the bytes that the compiled function `call` keeps for backward. Backward ends
        the count: the next forward is that of another batch, or of a checkpoint."""
        given = [each for each in inputs if isinstance(each, torch.Tensor)]
        made = [each for each in tree_leaves(results) if isinstance(each, torch.Tensor)]
        known = {get_storage_id(storage) for each in given for storage in find_storages(each)}
        for held in walk_graph(made, given).held:
            for storage in find_storages(held.tensor):
                key = get_storage_id(storage)
                if key not in known:
                    known.add(key)
                    self._kept += storage.nbytes()
        nodes = {each.grad_fn for each in made if each.grad_fn is not None}
        if nodes:
            self._graphs.add(call)
        for node in nodes:
            node.register_prehook(self._end_count)

    def _end_count(self, _: Any) -> None:
        self._is_counting = False


class StepCallback:
    """The parts that callbacks of trainers share: their arguments and their report."""

    def __init__(
        self,
        budget: int | float | str | None = None,
        *,
        options: Mapping[str, Any] | None = None,
        log: Callable[[str], Any] = print,
    ) -> None:
        super().__init__()
        self.report: StepReport | None = None
        self._compiler = StepCompiler(budget, options)
        self._log = log

    def _end_step(self, is_main: bool) -> None:
        """Ends a step, whose report the main process logs where there is one."""
        report = self._compiler.end_step()
        if report is not None:
            self.report = report
            if is_main:
                self._log(str(report))
