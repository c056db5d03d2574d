"""Tensors that cross from forward to backward of a model, by fad and by PyTorch."""

import contextlib
import dataclasses
import warnings
from typing import Any, Callable, Collection, Iterator, Mapping, Sequence

import torch
from torch import fx

from .._saved_memory.modules import ModuleWatch
from .._saved_memory.referred import find_modules, find_tensors, restored
from ._backend import compile_eager, compile_inductor, read_options
from ._comparison import Graph, Measurement, Partition
from ._explanation import Explanation
from ._measure import make_step, measure_peak, measure_times
from ._partitioner import FALLBACK, Partitioner, copy_graph
from ._peak import count_storage_bytes
from ._pytorch import box, get_original, identify_storage, partition_by_pytorch, tree_leaves
from ._saved_tensors import describe_partition
from ._warnings import warn_of_budgets, without_budgets

_Parts = tuple[fx.GraphModule, fx.GraphModule]


class _Recorder(Partitioner):
    """Keeps the partitions of each graph, fad's and PyTorch's."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.graphs: list[tuple[_Parts, _Parts | str, str]] = []

    def __call__(
        self, gm: fx.GraphModule, joint_inputs: Sequence[object], **options: Any
    ) -> _Parts:
        # Graphs inside of others have no inputs of their own.
        if not joint_inputs:
            return super().__call__(gm, joint_inputs, **options)
        stock: _Parts | str
        try:
            stock = partition_by_pytorch(
                fx.GraphModule(gm, copy_graph(gm.graph)), joint_inputs, **options
            )
        except Exception as error:
            stock = f"{type(error).__name__}: {error}"
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
    *inputs: Any,
    kwargs: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    dynamic: bool | None = None,
    time: bool = False,
) -> Explanation:
    """Tensors that `model(*inputs, **kwargs)` saves for backward where it is compiled with the
    backend `fad` and `options`, compared with PyTorch's partitioner and with the model
    without `torch.compile`.

    `model` is a module, or a function that calls one. `options` and `dynamic` are those
    of `torch.compile`. The model runs forward twice, and its buffers and PyTorch's random
    numbers are as before afterwards. Nothing is compiled by Inductor, unless `time`
    demands it: then each of the three does some steps, with the engine of `options`, and
    their time and peak are measured.

    All that `torch.compile` has compiled before is compiled again at its next call.
    Raises ValueError where nothing needs a gradient."""
    call = get_original(model)
    kwargs = dict(kwargs or {})
    recorder, engine, others = read_options(dict(options or {}), None, _Recorder)
    state = find_tensors((call, inputs, kwargs))
    watch = ModuleWatch(find_modules((call, inputs, kwargs)))
    with restored(state), watch:
        eager = _run_eager(lambda: call(*inputs, **kwargs), state, watch)
    if not eager.needs_gradient:
        raise ValueError("no result of the model needs a gradient, so nothing crosses")
    recorder.warns_at_once = False
    with restored(state), _own_compilations():
        capture = _make_capture(recorder, engine, others)
        torch.compile(call, backend=capture, dynamic=dynamic)(*inputs, **kwargs)
    warn_of_budgets()
    if not recorder.graphs:
        raise ValueError("torch.compile captures no graph of the model that needs a gradient")
    graphs = tuple(
        _explain_graph(number, *recorded, watch.names)
        for number, recorded in enumerate(recorder.graphs)
    )
    measurements = {}
    if time:
        trained = [tensor for tensor in state if tensor.requires_grad and tensor.is_leaf]
        with restored(state), _own_compilations(), without_budgets():
            measurements = _measure(call, inputs, kwargs, trained, options, dynamic)
    return Explanation(
        engine,
        graphs,
        eager.bytes,
        eager.by_module,
        measurements,
        watch.names,
        watch.count_parameters(),
    )


def _make_capture(recorder: _Recorder, engine: str, others: dict[str, Any]) -> Callable:
    """A backend that partitions as `engine` does, and runs the operations one by one."""
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
    number: int, parts: _Parts, stock: _Parts | str, fallback: str, modules: Collection[str]
) -> Graph:
    fad = describe_partition(parts, modules)
    pytorch = None if isinstance(stock, str) else describe_partition(stock, modules)
    # Both have the fake tensors of the same graph.
    if pytorch is not None:
        fad, pytorch = _compare(fad, pytorch), _compare(pytorch, fad)
    count = sum(
        node.op not in ("placeholder", "output", "get_attr")
        for part in parts
        for node in part.graph.nodes
    )
    error = stock if isinstance(stock, str) else ""
    return Graph(number, count, fad, pytorch, fallback, error)


def _compare(one: Partition, other: Partition) -> Partition:
    """`one`, of which the tensors that `other` saves as well are marked."""
    storages = {tensor.storage for tensor in other.tensors}
    tensors = (
        dataclasses.replace(tensor, is_common=tensor.storage in storages) for tensor in one.tensors
    )
    return dataclasses.replace(one, tensors=tuple(tensors))


# Time


def _measure(
    call: Callable,
    inputs: Sequence[Any],
    kwargs: dict[str, Any],
    trained: Sequence[torch.Tensor],
    options: Mapping[str, Any] | None,
    dynamic: bool | None,
) -> dict[str, Measurement]:
    """The steps of the model, by fad, by PyTorch with the same engine, and without
    `torch.compile`."""

    def compile_stock(graph: fx.GraphModule, given: Any) -> Callable:
        _, engine, others = read_options(dict(options or {}), None, Partitioner)
        if engine == "eager":
            return compile_eager(graph, given, partition_by_pytorch)
        from ._pytorch import compile_fx

        return compile_fx(graph, given, config_patches=others)

    calls = {
        "fad": torch.compile(call, backend="fad", options=options, dynamic=dynamic),
        "PyTorch": torch.compile(call, backend=compile_stock, dynamic=dynamic),
        "eager": call,
    }
    steps = [
        make_step(lambda each=each: each(*inputs, **kwargs), trained) for each in calls.values()
    ]
    for step in steps:
        step()
    peaks = [measure_peak(step) for step in steps]
    times = measure_times(steps)
    return {name: Measurement(seconds, peak) for name, seconds, peak in zip(calls, times, peaks)}
