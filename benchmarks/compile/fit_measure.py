"""Measurements by fit.py: what `fad.torch.fit` says of a step, and what the allocator gives."""

import gc
import time
import warnings
from typing import Any, Callable, Iterator, Sequence

import torch
from torch._inductor import config as inductor_config
from torch._inductor.async_compile import AsyncCompile

import fad.torch
from fad.torch._saved_memory.allocator import watch_allocator

import figures
from compile_measure import forget
from steps import Model, clear


def describe() -> dict[str, Any]:
    """Returns the setting, in which time has no part."""
    setting = figures.describe("cpu")
    return {**setting, "clock": "kernels of Inductor are empty"}


def measure(model: Model, plans: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields what is said and measured of each of `plans`."""
    AsyncCompile.cpp_pybinding = lambda *arguments, **options: lambda *operands: None
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        said = fad.torch.fit(model.module, model.inputs, plans=plans)
    # For all plans together.
    seconds = round(time.process_time() - start, 1)
    for name in plans:
        plan = said[name]
        measured = _measure(model, _make_call(model, plan))
        yield name, {"said": plan.peak, "measured": measured, "seconds": seconds}


def _make_call(model: Model, plan: Any) -> Callable[[], torch.Tensor]:
    if plan.name == "eager":
        return lambda: model.module(*model.inputs)
    forget()
    keywords = {} if plan.options is None else {"backend": "fad", "options": plan.options or None}
    compiled = torch.compile(model.module, fullgraph=True, dynamic=False, **keywords)
    return lambda: compiled(*model.inputs)


def _measure(model: Model, call: Callable[[], torch.Tensor]) -> int:
    """Returns the most bytes that are there during the second step."""
    clear(model)
    optimizer = torch.optim.AdamW(model.module.parameters())

    def step() -> None:
        call().backward()
        optimizer.step()

    with inductor_config.patch(fx_graph_cache=False):
        step()
    optimizer.zero_grad()
    gc.collect()
    state = [each for entry in optimizer.state.values() for each in entry.values()]
    static = (*model.module.parameters(), *model.module.buffers(), *model.inputs, *state)
    storages = {each.untyped_storage()._cdata: each.untyped_storage().nbytes() for each in static}
    _, allocated = watch_allocator(step, on_gpu=False)
    clear(model)
    return sum(storages.values()) + allocated.peak
