"""A step of a module as PyTorch partitions it and as fad does: its peak and gradients,
and the estimates of both graphs."""

import warnings
from typing import Any, Callable, NamedTuple, Sequence

import torch
from torch._functorch import config as functorch_config
from torch._functorch import partitioners
from torch._inductor.custom_graph_pass import CustomPartitionerFn

from fad.torch.compile import Partitioner
from fad.torch.compile._backend import compile_eager, compile_inductor
from fad.torch.compile._explain import measure_peak
from fad.torch.compile._peak import peak_bytes
from compile_budgets import InRange
from reported_modules import Case

ENGINES = ("eager", "inductor")


class Stock(CustomPartitionerFn):
    """PyTorch's partitioner under the `settings` of `torch._functorch.config`."""

    def __init__(self, **settings: Any) -> None:
        self.settings = settings

    def __call__(self, *arguments: Any, **options: Any) -> tuple:
        with functorch_config.patch(self.settings):
            self.parts = partitioners.min_cut_rematerialization_partition(*arguments, **options)
        return self.parts

    def uuid(self) -> str:
        return repr(self.settings)


class Fad(Partitioner):
    """fad's partitioner, which keeps both graphs, and with a budget the estimate."""

    def find_plan(self, *arguments: Any) -> dict[str, Any]:
        plan = super().find_plan(*arguments)
        self.estimate = plan.get("peak")
        return plan

    def __call__(self, *arguments: Any, **options: Any) -> tuple:
        self.parts = super().__call__(*arguments, **options)
        return self.parts


class FadInRange(Fad, InRange):
    """The same with a budget between the lowest that fad keeps and the highest that makes a
    difference."""


class Run(NamedTuple):
    """The measures of a partition. The `estimate` is the peak of both graphs, which a
    budget bounds; `repeated` is how many operations of forward backward repeats."""

    step: Callable[[], Any]
    figures: dict[str, Any]
    gradients: list[torch.Tensor]
    parts: tuple


def make_step(case: Case, call: Callable) -> Callable[[], Any]:
    """Returns a step, which leaves gradients and returns the results of the module."""
    trained = get_trained(case)

    def step() -> Any:
        for tensor in trained:
            tensor.grad = None
        torch.manual_seed(1)
        results = call(*case.inputs)
        (results[0] if isinstance(results, tuple) else results).backward()
        return results

    return step


def get_trained(case: Case) -> list[torch.Tensor]:
    inputs = [tensor for tensor in case.inputs if tensor.requires_grad]
    return [*case.module.parameters(), *inputs]


def _compile(case: Case, engine: str, partitioner: Any, inductor: dict[str, Any]) -> Callable:
    def backend(graph: torch.fx.GraphModule, inputs: list) -> Callable:
        if engine == "eager":
            return compile_eager(graph, inputs, partitioner)
        options = {"force_disable_caches": True, **inductor}
        if isinstance(partitioner, Partitioner):
            return compile_inductor(graph, inputs, partitioner, options)
        from torch._inductor.compile_fx import compile_fx

        options["custom_partitioner_fn"] = partitioner
        return compile_fx(graph, inputs, config_patches=options)

    torch._dynamo.reset()
    return torch.compile(case.module, backend=backend, fullgraph=True, dynamic=False)


def run(case: Case, engine: str, partitioner: Any, **inductor: Any) -> Run:
    """Compiles `case` and measures its step; other options are Inductor's."""
    if engine == "eager" and isinstance(partitioner, Partitioner):
        partitioner.is_fused = False
    step = make_step(case, _compile(case, engine, partitioner, inductor))
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="fad leaves this graph")
        warnings.filterwarnings("ignore", message="no selection that fad tries")
        step()
    return _measure(case, step, partitioner.parts)


def run_eager(case: Case) -> Run:
    """Measures `case` without `torch.compile`."""
    step = make_step(case, case.module)
    step()
    return _measure(case, step, ())


def _measure(case: Case, step: Callable, parts: tuple) -> Run:
    trained = get_trained(case)
    for tensor in trained:
        tensor.grad = None
    figures: dict[str, Any] = {"peak": measure_peak(step)}
    gradients = [tensor.grad for tensor in trained]
    if parts:
        modeled = peak_bytes(*parts)
        figures |= {
            "saved": modeled.saved,
            "estimate": modeled.bytes,
            "repeated": count_repeated(*parts),
        }
    return Run(step, figures, gradients, parts)


def count_repeated(forward: torch.fx.GraphModule, backward: torch.fx.GraphModule) -> int:
    """Returns how many operations are in both graphs; nodes keep their names."""
    names = [
        {node.name for node in part.graph.nodes if node.op == "call_function"}
        for part in (forward, backward)
    ]
    return len(names[0] & names[1])


def find_error(gradients: Sequence[torch.Tensor], expected: Sequence[torch.Tensor]) -> float:
    """Returns the largest error of a gradient, relative to the largest element of each, where that
    is more than rounding."""
    largest = max(value.abs().max().item() for value in expected)
    return max(
        (one - other).abs().max().item() / max(other.abs().max().item(), 1e-3 * largest)
        for one, other in zip(gradients, expected, strict=True)
    )
