"""Models for mixed.py, the methods that it compares, and what it measures of them."""

import copy
import functools
import pathlib
import statistics
import sys
from typing import Any, Callable

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

import fad.torch
from fad.torch.eager import _kernels
from steps import Model, compare, get_gradients, measure_memory, time_step

# In a kit, all files are in one folder.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "../../test/python/eager/Inputs"))

import mixed_models
from cuda_autocast import CudaAutocast


class Layers(nn.Module):
    """The mean square of layers, each of which `call` runs."""

    def __init__(
        self, layers: nn.Module, call: Callable[[nn.Module, torch.Tensor], torch.Tensor]
    ) -> None:
        super().__init__()
        self.layers, self.call = layers, call

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = self.call(layer, x)
        return x.float().square().mean()


def _run(layer: nn.Module, x: torch.Tensor) -> torch.Tensor:
    with torch.autocast("cuda", torch.bfloat16) if x.is_cuda else CudaAutocast():
        return layer(x)


def _checkpoint(layer: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return checkpoint(_run, layer, x, use_reentrant=False)


def _nest(engine: str, policy: str, layer: nn.Module, x: torch.Tensor) -> torch.Tensor:
    with fad.torch.nest(policy=policy, engine=engine, min_numel=0):
        return _run(layer, x)


# How a layer runs, by the methods.
CALLS: dict[str, Callable[[nn.Module, torch.Tensor], torch.Tensor]] = {
    "eager": _run,
    "checkpoint": _checkpoint,
    "nest-auto": functools.partial(_nest, "interactive", "auto"),
    "nest-fad": functools.partial(_nest, "interactive", "fad"),
    "defer-auto": functools.partial(_nest, "deferred", "auto"),
    "defer-fad": functools.partial(_nest, "deferred", "fad"),
}


def _get_exact_gradients(layers: nn.Module, x: torch.Tensor) -> dict[str, torch.Tensor]:
    """Returns the gradients of a step in float64, without autocast."""
    exact = copy.deepcopy(layers).double()
    model = Model(Layers(exact, lambda layer, x: layer(x)), (x.detach().double(),))
    return get_gradients(model, model.module)


def _make_layers(name: str, sizes: dict[str, int], device: str) -> tuple[nn.Module, torch.Tensor]:
    mixed_models.WIDTH, mixed_models.LENGTH = sizes["width"], sizes["length"]
    mixed_models.BATCH = sizes["batch"]
    torch.manual_seed(0)
    layers = nn.Sequential(*(mixed_models.MODELS[name][0]() for _ in range(sizes["layers"])))
    return layers.to(device), mixed_models.sample().to(device).requires_grad_()


def measure(
    name: str, sizes: dict[str, int], device: str, repetitions: int
) -> dict[str, dict[str, Any]]:
    """Returns the figures of each method."""
    layers, x = _make_layers(name, sizes, device)
    expected = _get_exact_gradients(layers, x)
    forms = {method: Model(Layers(layers, call), (x,)) for method, call in CALLS.items()}
    found: dict[str, dict[str, Any]] = {}
    for method, form in forms.items():
        # The first steps compile kernels, and prepare caches.
        for _ in range(3):
            error = compare(get_gradients(form, form.module), expected)
            _kernels.wait()
        kept, peak = measure_memory(form, form.module)
        found[method] = {"kept": kept, "peak": peak, "error": error, "repetitions": repetitions}
    ratios: dict[str, list[float]] = {method: [] for method in forms}
    for _ in range(repetitions):
        seconds = {method: time_step(form, form.module) for method, form in forms.items()}
        for method, each in seconds.items():
            ratios[method].append(each / seconds["eager"])
    for method, each in ratios.items():
        found[method]["time"] = statistics.quantiles(each)
    return found
