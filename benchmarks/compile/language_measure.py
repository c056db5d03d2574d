"""Measurements by language_models.py of a step of training."""

import os
import statistics
import time
from typing import Any, Callable

import torch
from torch import nn
from torch._functorch import config as functorch_config
from torch._inductor import config as inductor_config
from torch._inductor.utils import fresh_cache

import fad.torch.compile
from fad.torch.eager import _kernels
from steps import Model, compare, get_gradients, measure_memory, time_step

# All configurations have the same code.
torch._dynamo.config.recompile_limit = 100
# Those of fad.torch.nest, by configurations.
ENGINES = {"nest": "interactive", "defer": "deferred"}


class Loss(nn.Module):
    """The loss of a language model, under autocast on a GPU."""

    def __init__(self, module: nn.Module, device: str) -> None:
        super().__init__()
        self.module, self.device = module, torch.device(device).type

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        with torch.autocast(self.device, torch.bfloat16, enabled=self.device == "cuda"):
            return self.module(input_ids=tokens, labels=tokens).loss


def make_module(name: str, sizes: dict[str, int], dropout: float) -> nn.Module:
    """Returns a language model of transformers with random weights."""
    from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

    width, heads = sizes["width"], max(1, sizes["width"] // 64)
    if name == "gpt2":
        config = GPT2Config(
            vocab_size=sizes["tokens"], n_positions=sizes["length"], n_layer=sizes["layers"],
            n_embd=width, n_head=heads, resid_pdrop=dropout, embd_pdrop=dropout,
            attn_pdrop=dropout, use_cache=False, bos_token_id=0, eos_token_id=0,
        )  # fmt: skip
        module = GPT2LMHeadModel(config)
    else:
        config = LlamaConfig(
            vocab_size=sizes["tokens"], hidden_size=width, num_hidden_layers=sizes["layers"],
            num_attention_heads=heads, num_key_value_heads=heads,
            intermediate_size=11 * width // 4, max_position_embeddings=sizes["length"],
            use_cache=False,
        )  # fmt: skip
        module = LlamaForCausalLM(config)
    # Without it, each call warns, which is no part of a graph.
    module.loss_type = "ForCausalLM"
    return module


def read_clock(on_gpu: bool) -> float:
    """Seconds: of this process and its compilers on a CPU, and with a GPU those on the wall."""
    return time.perf_counter() if on_gpu else sum(os.times()[:4])


def make_backend(name: str, options: dict[str, Any]) -> Callable:
    """Returns a backend of its own: graphs of equal backends are compiled once for all
    configurations."""

    def backend(graph: torch.fx.GraphModule, inputs: Any) -> Callable:
        keywords = {"options": options} if options else {}
        return torch._dynamo.lookup_backend(name)(graph, inputs, **keywords)

    return backend


class Case:
    """A model as a configuration has it, compiled."""

    def __init__(self, name: str, sizes: dict[str, int], device: str, configuration: str) -> None:
        self.name, self.sizes, self.device = name, sizes, device
        torch.manual_seed(0)
        self.dropout = 0.1 if name == "gpt2" else 0.0
        module = make_module(name, sizes, self.dropout).to(device).train()
        tokens = torch.randint(sizes["tokens"], (sizes["batch"], sizes["length"]), device=device)
        self.model = Model(Loss(module, device), (tokens,))
        if configuration.startswith("checkpoint"):
            module.gradient_checkpointing_enable({"use_reentrant": False})
        kind, _, share = configuration.partition("-")
        setting: dict[str, Any] = {}
        if kind == "aggressive":
            setting["aggressive_recomputation"] = True
        elif kind == "budget":
            setting["activation_memory_budget"] = float(share)
        if configuration in ("eager", "checkpoint"):
            self.step = self.model.module
        elif configuration in ENGINES:
            self.step = fad.torch.nest(self.model.module, engine=ENGINES[configuration])
        elif kind == "fad":
            options = {"fad.budget": float(share)} if share else {}
            self.step = torch.compile(self.model.module, backend=make_backend("fad", options))
        else:
            self.step = torch.compile(self.model.module, backend=make_backend("inductor", {}))
        self.is_eager = configuration in ("eager", "checkpoint", *ENGINES)
        on_gpu = device.startswith("cuda")
        if not on_gpu:
            # Compilers are processes of this one, whose CPU time counts.
            inductor_config.compile_threads = 1
        # The first step compiles.
        with functorch_config.patch(setting), fresh_cache():
            begin = read_clock(on_gpu)
            self.gradients = get_gradients(self.model, self.step)
            self.first = read_clock(on_gpu) - begin
        if configuration in ENGINES:
            # Kernels of a sequence are compiled where it recurs.
            get_gradients(self.model, self.step)
            _kernels.wait()


def measure(reference: Case, configuration: str, repetitions: int) -> dict[str, Any]:
    """Returns the figures of a configuration; its time is measured in turns with that of
    `reference`."""
    case = Case(reference.name, reference.sizes, reference.device, configuration)
    kept, peak = measure_memory(case.model, case.step)
    own, ratios = [], []
    for number in range(repetitions + 2):
        other_time = time_step(reference.model, reference.step)
        own_time = time_step(case.model, case.step)
        # The first ones prepare caches.
        if number >= 2:
            own.append(own_time)
            ratios.append(own_time / other_time)
    measured: dict[str, Any] = {
        "kept": kept,
        "peak": peak,
        "first": case.first,
        "seconds": statistics.median(own),
        "ratio": statistics.median(ratios),
        "quartiles": statistics.quantiles(ratios, n=4)[::2],
        "repetitions": repetitions,
    }
    # Eager PyTorch draws other random numbers than Inductor, which on a GPU draws others in
    # other graphs.
    if not case.dropout or not (case.is_eager or case.device.startswith("cuda")):
        measured["error"] = compare(case.gradients, reference.gradients)
    return measured
