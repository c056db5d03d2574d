"""Measurements by traffic.py: kernels of a training step, and the bytes that they move."""

import collections
import functools
import pathlib
import re
import sys
import warnings
from typing import Any, Callable

import torch
import torch.nn.functional as F
from torch import nn
from torch._functorch import config as functorch_config
from torch._inductor.compile_fx import compile_fx_inner

from fad.torch.compile._backend import make_inner
from fad.torch.compile._peak import peak_bytes

import figures
import models
from steps import Model

TESTS = pathlib.Path(__file__).resolve().parents[2] / "test" / "python" / "compile" / "Inputs"
sys.path.insert(0, str(TESTS))

import fake_cuda


def describe() -> dict[str, Any]:
    """Returns the setting, in which a machine has no part."""
    return {
        "device": "H100 by declaration, bfloat16 by autocast",
        "versions": figures.describe("cpu")["versions"],
    }


class RMSNorm(nn.Module):
    """The normalization of Llama, whose statistics are of 32 bits."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = x.float()
        squares = wide.pow(2).mean(-1, keepdim=True)
        return self.weight * (wide * torch.rsqrt(squares + 1e-6)).to(x.dtype)


class Block(nn.Module):
    """A normalization and a layer with tanh in the place of attention, and the gated layers of
    Llama."""

    def __init__(self, width: int) -> None:
        super().__init__()
        inner = 11 * width // 4
        self.norms = nn.ModuleList(RMSNorm(width) for _ in range(2))
        self.first, self.second = (nn.Linear(width, width, bias=False) for _ in range(2))
        self.gate, self.up = (nn.Linear(width, inner, bias=False) for _ in range(2))
        self.down = nn.Linear(inner, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.second(torch.tanh(self.first(self.norms[0](x))))
        y = self.norms[1](x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Layers(nn.Module):
    """The layers of a model of transformers, without its head, which reads one token."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module
        module.pooler = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.module(x).last_hidden_state


class Mixed(nn.Module):
    """The loss of a module under autocast: what it returns, or the mean of its squares."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            result = self.module(*inputs)
        return result.float().square().mean() if result.dim() else result.float()


def make_blocks(sizes: dict) -> Model:
    blocks = nn.Sequential(*(Block(sizes["width"]) for _ in range(sizes["layers"])))
    return Model(blocks, (torch.randn(sizes["batch"], sizes["length"], sizes["width"]),))


def make_layers(sizes: dict, make: Callable[[dict], Model]) -> Model:
    whole = make(sizes)
    return Model(Layers(whole.module.module.base_model), whole.inputs[:1])


def make_unet(sizes: dict) -> Model:
    width, after = sizes["width"], sizes["after"]
    block = models.UNetBlock(width, after, 4 * width, sizes["dropout"])
    image = torch.randn(sizes["batch"], width, sizes["pixels"], sizes["pixels"])
    return Model(block, (image, torch.randn(sizes["batch"], 4 * width)))


def make_dit(sizes: dict) -> Model:
    batch, width = sizes["batch"], sizes["width"]
    module = models.DiT(width, sizes["heads"], sizes["layers"])
    return Model(module, (torch.randn(batch, sizes["length"], width), torch.randn(batch, width)))


MAKERS: dict[str, Callable[[dict], Model]] = {
    "blocks": make_blocks,
    "bert": functools.partial(make_layers, make=models.make_bert),
    "gpt2": models.make_gpt2,
    "llama": models.make_llama,
    "qwen3": models.make_qwen3,
    "vit": functools.partial(make_layers, make=models.make_vit),
    "unet": make_unet,
    "dit": make_dit,
}


def make_model(name: str, sizes: dict) -> Model:
    torch.manual_seed(0)
    model = MAKERS[name](sizes)
    for module in model.module.modules():
        # On a CPU, attention with a dropout is not one operation, as it is on a GPU.
        if type(module).__name__.endswith("SelfAttention"):
            module.dropout.p = 0.0
        if hasattr(module, "attn_dropout"):
            module.attn_dropout.p = 0.0
    return Model(Mixed(model.module).train(), model.inputs)


# Of these models, the loss has logits, which fad computes in chunks. The others have a stand-in for
# a loss, which runs at once.
LANGUAGE_MODELS = ("gpt2", "llama", "qwen3")


def make_partitioner(name: str, configuration: str) -> fake_cuda.Moved:
    kind, _, share = configuration.partition("-")
    if kind in ("stock", "aggressive", "budget"):
        base, options = fake_cuda.MovedStock, {}
    else:
        base = fake_cuda.Moved
        option = "slowdown" if kind == "slowdown" else "budget"
        options = {option: float(share)} if share else {"policy": kind}
        options["chunks"] = "auto" if name in LANGUAGE_MODELS else "off"

    class Measured(base):
        """Keeps how many bytes cross."""

        def __call__(self, *inputs, **arguments):
            # Rates are those of the device, and schedules are those of its kernels.
            with fake_cuda.pretend():
                parts = super().__call__(*inputs, **arguments)
            self.saved = peak_bytes(*parts).saved
            return parts

    return Measured(**options)


def measure(name: str, sizes: dict, configuration: str) -> tuple[dict[str, int], list[tuple]]:
    """Returns the figures of the model `name` as `configuration` has it, and for each kernel the
    part of the step, its launches, their bytes, and its name."""
    kind, _, share = configuration.partition("-")
    patch = {"aggressive": {"aggressive_recomputation": True}}.get(kind, {})
    if kind == "budget":
        patch = {"activation_memory_budget": float(share)}
    model = make_model(name, sizes)
    partitioner = make_partitioner(name, configuration)
    is_stock = isinstance(partitioner, fake_cuda.MovedStock)
    inner = compile_fx_inner if is_stock else make_inner(partitioner, {})
    with (
        warnings.catch_warnings(),
        functorch_config.patch(patch),
        # The text of each kernel says how many bytes it moves.
        torch._inductor.config.patch(benchmark_kernel=True),
    ):
        warnings.simplefilter("ignore")
        parts = fake_cuda.write(model.module, model.inputs, partitioner, inner)
    result, kernels = count(parts)
    return {**result, "saved": partitioner.saved}, kernels


# A call of a library in code of Inductor's.
_CALL = re.compile(r"^ +(?:\w+ = )?(?:torch\.ops|extern_kernels)\.\w+", re.M)


def count(parts: list) -> tuple[dict[str, int], list[tuple]]:
    """Returns the bytes that each of the `parts` of a step moves, and how many kernels and calls of
    libraries it has; and the kernels as `measure` returns them."""
    result = {"forward": 0, "backward": 0, "kernels": 0, "calls": 0}
    kernels = []
    for part, code in zip(("forward", "backward"), parts, strict=True):
        sizes = {kernel: code.count_bytes(kernel) for kernel in code.sources}
        for kernel, number in collections.Counter(code.launches).items():
            kernels.append((part, number, sizes[kernel], kernel))
            result[part] += number * sizes[kernel]
            result["kernels"] += number
        result["calls"] += len(_CALL.findall(code.executed))
    return result, kernels
