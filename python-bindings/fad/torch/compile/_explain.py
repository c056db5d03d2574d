"""Tensors that cross from forward to backward of a model, by fad and by PyTorch."""

import contextlib
import dataclasses
import pathlib
import statistics
import time
import warnings
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any, Callable, Collection, Iterable, Iterator, Mapping, Sequence

import torch
from torch import fx

from ..._choices import suggest
from ..._dict import AsJson
from .._saved_memory.allocator import watch_allocator
from .._saved_memory.arguments import check_own, take_keywords
from .._saved_memory.modules import ModuleWatch
from .._saved_memory.referred import find_modules, find_tensors, restored
from ._backend import compile_eager, compile_inductor, read_options
from ._graph import copy_graph, find_device
from ._log import warn_of_budgets, without_budgets
from ._partitioner import FALLBACK, Partitioner
from ._peak import count_storage_bytes
from ._pytorch import (
    box,
    functorch_config,
    get_original,
    identify_storage,
    partition_by_pytorch,
    tree_leaves,
)
from ._rates import find_rates
from ._report import (
    EAGER,
    FAD,
    TORCH_COMPILE,
    ByColumn,
    Comparison,
    Graph,
    Measurement,
    draw,
    make_table,
)
from ._step_memory import Partition, describe_partition, draw_memory

_NAME = "fad.torch.explain"
# Its arguments beside those of the model.
_OWN = ("kwargs", "options", "dynamic", "time", "compare")

_CHOICES = "'aggressive', or 'budget=SHARE' with a number from 0 to 1, as in 'budget=0.5'"
# How often each step runs for its time, after once for its compilation and its peak.
_REPETITIONS = 9

_Parts = tuple[fx.GraphModule, fx.GraphModule]


@dataclass(frozen=True)
class Explanation(Comparison, AsJson):
    """Tensors that cross from forward to backward of a model, with their text and pictures.

    `str(explanation)` is `explanation.table()`."""

    def table(self) -> str:
        """Returns all of it as text."""
        return make_table(self)

    def __str__(self) -> str:
        return self.table()

    def to_dict(self) -> dict[str, Any]:
        """Returns all of it as a dictionary."""
        data: dict[str, Any] = asdict(self)
        for graph in data["graphs"]:
            for part in graph["partitions"].values():
                for tensor in part["tensors"]:
                    del tensor["storage"]
        data["bytes"] = self.bytes
        data["by_module"] = self.by_module
        return data

    def draw(self, path: str | pathlib.Path) -> None:
        """Draws the bytes of each module to the file `path`.

        A file `.dot` is in the language of Graphviz: what fad saves goes from the modules
        of forward to those of backward. Any other is a picture of bars by matplotlib, in
        the format that its name ends with."""
        draw(self, pathlib.Path(path))

    def draw_memory(self, path: str | pathlib.Path, graph: int = 0) -> None:
        """Draws the bytes that are alive at each operation of `graphs[graph]` to the file
        `path`, by matplotlib: by module for fad, and the sum for `torch.compile`."""
        chosen = self.graphs[graph]
        memories = {FAD: chosen.fad.memory}
        if chosen.pytorch:
            memories[TORCH_COMPILE] = chosen.pytorch.memory
        draw_memory(memories, pathlib.Path(path))


class _Recorder(Partitioner):
    """Keeps the partitions of each graph, fad's and PyTorch's by each of its `settings`."""

    settings: Mapping[str, Mapping[str, Any]] = {}

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.graphs: list[tuple[_Parts, dict[str, _Parts | str], str]] = []
        # How often each of them runs: equal layers share one where the model has breaks.
        self.runs: Counter[int] = Counter()

    def count_runs(self, compile_: Callable[..., Callable]) -> Callable[..., Callable]:
        """Returns a backend as `compile_`, whose calls count for the graphs that it has
        recorded."""

        def compile_counted(*arguments: Any) -> Callable:
            before = len(self.graphs)
            compiled = compile_(*arguments)
            own = range(before, len(self.graphs))

            def run(*inputs: Any) -> Any:
                self.runs.update(own)
                return compiled(*inputs)

            return run

        return compile_counted

    def __call__(
        self, gm: fx.GraphModule, joint_inputs: Sequence[object], **options: Any
    ) -> _Parts:
        # Graphs inside of others have no inputs of their own.
        if not joint_inputs:
            return super().__call__(gm, joint_inputs, **options)
        stock: dict[str, _Parts | str] = {}
        for name, setting in self.settings.items():
            try:
                with functorch_config.patch(setting):
                    stock[name] = partition_by_pytorch(
                        fx.GraphModule(gm, copy_graph(gm.graph)), joint_inputs, **options
                    )
            except Exception as error:
                stock[name] = f"{type(error).__name__}: {error}"
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            parts = super().__call__(gm, joint_inputs, **options)
        reasons = []
        for warning in caught:
            if str(warning.message).startswith(FALLBACK):
                reasons.append(str(warning.message))
            else:
                warnings.warn_explicit(
                    warning.message, warning.category, warning.filename, warning.lineno
                )
        self.graphs.append((parts, stock, reasons[0] if reasons else ""))
        return parts


def explain(
    model: Callable,
    /,
    *inputs: Any,
    kwargs: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    dynamic: bool | None = None,
    time: bool = False,
    compare: Iterable[str] = (),
    **keywords: Any,
) -> Explanation:
    """Returns the tensors that `model(*inputs, **kwargs, **keywords)` saves for backward where it
    is compiled with the backend `fad` and `options`, compared with PyTorch's partitioner and with
    the model without `torch.compile`.

    `model` is a module, or a function that calls one; an argument of it that has the name of one
    of `explain` stands in `kwargs`. `options` and `dynamic` are those of `torch.compile`.
    `compare` has settings of PyTorch's partitioner: "aggressive" is its option
    `aggressive_recomputation`, and "budget=0.5" an `activation_memory_budget`. The model runs forward twice, and its buffers and PyTorch's random
    numbers are as before afterwards. Nothing is compiled by Inductor, unless `time`
    demands it: then each column does some steps, with the engine of `options`, and
    their time and peak are measured.

    All that `torch.compile` has compiled before is compiled again at its next call.
    Raises ValueError where nothing needs a gradient."""
    call = get_original(model)
    check_own(_NAME, "options", options, (Mapping,), "a mapping such as {'fad.budget': 0.5}")
    check_own(_NAME, "dynamic", dynamic, (bool,), "True, False or None")
    check_own(_NAME, "compare", compare, (list, tuple, str), "names such as ['aggressive']")
    check_own(_NAME, "time", time, (bool,), "True or False")
    kwargs = take_keywords(_NAME, call, inputs, kwargs, keywords, _OWN)
    settings = {TORCH_COMPILE: {}, **_read_settings(compare)}
    recorder, engine, others = read_options(dict(options or {}), None, _Recorder)
    recorder.settings = settings
    state = find_tensors((call, inputs, kwargs))
    watch = ModuleWatch(find_modules((call, inputs, kwargs)))
    with restored(state), watch:
        eager = _run_eager(lambda: call(*inputs, **kwargs), state, watch)
    if not eager.needs_gradient:
        raise ValueError("no result of the model needs a gradient, so nothing crosses")
    recorder.warns_at_once = False
    with restored(state), _own_compilations():
        capture = _make_capture(recorder, engine, others)
        compiled = torch.compile(call, backend=recorder.count_runs(capture), dynamic=dynamic)
        compiled(*inputs, **kwargs)
    warn_of_budgets()
    if not recorder.graphs:
        raise ValueError("torch.compile captures no graph of the model that needs a gradient")
    graphs = tuple(
        _explain_graph(number, recorder.runs[number], *recorded, watch.names)
        for number, recorded in enumerate(recorder.graphs)
    )
    measurements: ByColumn[Measurement] = ByColumn()
    if time:
        trained = [tensor for tensor in state if tensor.requires_grad and tensor.is_leaf]
        with restored(state), _own_compilations(), without_budgets():
            measurements = _measure(call, inputs, kwargs, trained, options, dynamic, settings)
    return Explanation(
        engine,
        (FAD, *settings, EAGER),
        graphs,
        eager.bytes,
        eager.by_module,
        measurements,
        watch.names,
        watch.count_parameters(),
    )


def _make_capture(recorder: _Recorder, engine: str, others: dict[str, Any]) -> Callable:
    """Returns a backend that partitions as `engine` does, and runs the operations one by one."""
    if engine == "eager":
        return lambda graph, inputs: compile_eager(graph, inputs, recorder)

    def run(graph: fx.GraphModule, inputs: Any, **options: Any) -> Callable:
        return box(graph)

    patches = {**others, "force_disable_caches": True}
    return lambda graph, inputs: compile_inductor(
        graph, inputs, recorder, patches, inner_compile=run
    )


@contextlib.contextmanager
def _own_compilations() -> Iterator[None]:
    """Compilations that neither find those of others nor count for them."""
    torch.compiler.reset()
    try:
        yield
    finally:
        torch.compiler.reset()


# Settings of PyTorch's partitioner to compare with, by name


def _read_settings(names: Iterable[str] | None) -> dict[str, Mapping[str, Any]]:
    """Returns the options of `torch._functorch.config` of each of `names`."""
    if isinstance(names, str):
        raise TypeError(f"compare is {names!r}; list it: [{names!r}]")
    return {name: _read_setting(name) for name in names or ()}


def _read_setting(name: Any) -> Mapping[str, Any]:
    if name == "aggressive":
        return {"aggressive_recomputation": True}
    kind, equals, text = name.partition("=") if isinstance(name, str) else ("", "", "")
    if kind != "budget" or not equals:
        known = ("aggressive", "budget=")
        raise ValueError(f"compare has {name!r}; choose {_CHOICES}{suggest(name, known)}")
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise ValueError(f"compare has {name!r}; choose {_CHOICES}")
    return {"activation_memory_budget": share}


# The model without torch.compile


class _Eager:
    """The bytes that autograd saves, by module."""

    def __init__(self) -> None:
        self.by_module: dict[str, int] = {}
        self.needs_gradient = False

    @property
    def bytes(self) -> int:
        return sum(self.by_module.values())


def _run_eager(
    call: Callable[[], Any], static: Sequence[torch.Tensor], watch: ModuleWatch
) -> _Eager:
    eager = _Eager()
    known = {identify_storage(tensor) for tensor in static}
    # Saved tensors are alive, so that no other storage has its address.
    alive = []

    def pack(value: torch.Tensor) -> torch.Tensor:
        alive.append(value)
        key = identify_storage(value)
        if key not in known:
            known.add(key)
            module = eager.by_module.get(watch.current, 0)
            eager.by_module[watch.current] = module + count_storage_bytes(value)
        return value

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda value: value):
        result = call()
    leaves = [leaf for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor)]
    eager.needs_gradient = any(leaf.requires_grad for leaf in leaves)
    return eager


# Graphs


def _explain_graph(
    number: int,
    runs: int,
    parts: _Parts,
    stock: dict[str, _Parts | str],
    fallback: str,
    modules: Collection[str],
) -> Graph:
    fad = describe_partition(parts, modules)
    errors = {name: each for name, each in stock.items() if isinstance(each, str)}
    partitions = {
        name: describe_partition(each, modules)
        for name, each in stock.items()
        if not isinstance(each, str)
    }
    # All have the fake tensors of the same graph.
    pytorch = partitions.get(TORCH_COMPILE)
    if pytorch is not None:
        fad = _compare(fad, pytorch)
    partitions = {name: _compare(each, fad) for name, each in partitions.items()}
    count = sum(
        node.op not in ("placeholder", "output", "get_attr")
        for part in parts
        for node in part.graph.nodes
    )
    device = find_device(parts[0].graph)
    rates = "" if device.type == "cpu" else find_rates(device).describe()
    return Graph(number, runs, count, {FAD: fad, **partitions}, fallback, errors, rates)


def _compare(one: Partition, other: Partition) -> Partition:
    """`one`, of which the tensors that `other` saves as well are marked."""
    storages = {tensor.storage for tensor in other.tensors}
    tensors = (
        dataclasses.replace(tensor, is_common=tensor.storage in storages) for tensor in one.tensors
    )
    return dataclasses.replace(one, tensors=tuple(tensors))


# Time and memory of training steps


def make_step(call: Callable[[], Any], trained: Sequence[torch.Tensor]) -> Callable[[], Any]:
    """Returns a step forward and backward, with ones for the gradients of all results of `call`.
    The step leaves `.grad` of the `trained` tensors as they are."""

    def step() -> Any:
        results = [leaf for leaf in tree_leaves(call()) if _is_differentiable(leaf)]
        ones = [torch.ones_like(result) for result in results]
        return torch.autograd.grad(results, trained, ones, allow_unused=True)

    return step


def _is_differentiable(leaf: Any) -> bool:
    return isinstance(leaf, torch.Tensor) and leaf.requires_grad


def measure_peak(step: Callable[[], Any]) -> int:
    """Returns the most bytes that PyTorch's allocator gives during `step`, beyond those of
    before."""
    if torch.cuda.is_available():
        most = watch_allocator(step, on_gpu=True)[1].peak
        if most:
            return most
    return watch_allocator(step, on_gpu=False)[1].peak


def measure_times(steps: Sequence[Callable[[], Any]]) -> list[float]:
    """Returns the medians of the seconds that each step takes, in turn with the others: those of
    all threads of the processor, or with a GPU, those until it is done."""
    clock = _read_gpu_clock if torch.cuda.is_available() else time.process_time
    times: list[list[float]] = [[] for _ in steps]
    for _ in range(_REPETITIONS):
        for step, taken in zip(steps, times):
            start = clock()
            step()
            taken.append(clock() - start)
    return [statistics.median(taken) for taken in times]


def _read_gpu_clock() -> float:
    torch.cuda.synchronize()
    return time.perf_counter()


def _measure(
    call: Callable,
    inputs: Sequence[Any],
    kwargs: dict[str, Any],
    trained: Sequence[torch.Tensor],
    options: Mapping[str, Any] | None,
    dynamic: bool | None,
    settings: Mapping[str, Mapping[str, Any]],
) -> ByColumn[Measurement]:
    """Returns the steps of the model, by fad, by PyTorch with the same engine and each of its
    `settings`, and without `torch.compile`."""

    def make_stock() -> Callable:
        # A backend of its own for each setting, as graphs of equal backends are shared.
        def compile_stock(graph: fx.GraphModule, given: Any) -> Callable:
            _, engine, others = read_options(dict(options or {}), None, Partitioner)
            if engine == "eager":
                return compile_eager(graph, given, partition_by_pytorch)
            from ._pytorch import compile_fx

            return compile_fx(graph, given, config_patches=others)

        return torch.compile(call, backend=compile_stock, dynamic=dynamic)

    calls = {
        FAD: torch.compile(call, backend="fad", options=options, dynamic=dynamic),
        **{name: make_stock() for name in settings},
        EAGER: call,
    }
    steps = [
        make_step(lambda each=each: each(*inputs, **kwargs), trained) for each in calls.values()
    ]
    # The first step of each compiles.
    for name, step in zip(calls, steps):
        with functorch_config.patch(settings.get(name, {})):
            step()
    peaks = [measure_peak(step) for step in steps]
    times = measure_times(steps)
    measured = map(Measurement, times, peaks)
    return ByColumn(zip(calls, measured))
