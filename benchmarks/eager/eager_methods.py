"""Models for eager_models.py, the methods that it compares, and what it measures of a
step of training in eager PyTorch."""

import copy
import ctypes
import gc
import statistics
from typing import Any, Callable, Sequence

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

import compositions
import fad.torch
from batches import guess_batch
from fad.torch.eager import _kernels
from models import make_bert, make_llama, make_resnet
from steps import Model, compare, get_gradients, measure_peak, time_step


# Of malloc.h.
_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4


def keep_memory() -> bool:
    """Has the C library keep what is freed, as PyTorch's allocator of a GPU does, and
    returns whether the C library can. Tensors of more than 32 MiB, which are those of the
    larger batches, would otherwise be mapped anew each time."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(mallopt(_M_MMAP_MAX, 0) and mallopt(_M_TRIM_THRESHOLD, -1))


class NewGelu(nn.Module):
    """GELU as GPT-2 spells it out: the `gelu_new` of transformers."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inner = 0.7978845608028654 * (x + 0.044715 * torch.pow(x, 3.0))
        return 0.5 * x * (1.0 + torch.tanh(inner))


class Perceptron(nn.Module):
    """Layers of one width, each a matrix product and an activation, and the loss of a
    class for each element of the last."""

    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        parts = [(nn.Linear(width, width), NewGelu()) for _ in range(layers)]
        self.layers = nn.Sequential(*(part for pair in parts for part in pair))

    def forward(self, x: torch.Tensor, classes: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(self.layers(x), classes)


class MeanSquare(nn.Module):
    """The mean square of the result of a transformers model for tokens."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.module(tokens).last_hidden_state.square().mean()


def _make_perceptron(sizes: dict, activation: str) -> Model:
    width, batch = sizes["width"], sizes["batch"]
    inputs = torch.randn(batch, width), torch.randint(width, (batch,))
    return Model(Perceptron(width, sizes["layers"]), inputs)


def _make_gpt2(sizes: dict, activation: str) -> Model:
    from transformers import GPT2Config, GPT2Model

    config = GPT2Config(
        vocab_size=sizes["tokens"], n_positions=sizes["length"], n_layer=sizes["layers"],
        n_embd=sizes["width"], n_head=sizes["heads"], use_cache=False, resid_pdrop=0.0,
        embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=0, eos_token_id=0,
        activation_function=activation,
    )  # fmt: skip
    tokens = torch.randint(sizes["tokens"], (sizes["batch"], sizes["length"]))
    return Model(MeanSquare(GPT2Model(config)), (tokens,))


def _make_composed(maker: Callable[[dict], Model]) -> Callable[[dict, str], Model]:
    """Returns a maker whose models have compositions for activations."""

    def make(sizes: dict, activation: str) -> Model:
        model = maker(sizes)
        if not compositions.replace(model.module, compositions.ACTIVATIONS[activation]):
            raise ValueError("the model has no activation to replace")
        return model

    return make


MAKERS: dict[str, Callable[[dict, str], Model]] = {
    "mlp": _make_perceptron,
    "gpt2": _make_gpt2,
    "llama": _make_composed(make_llama),
    "resnet-50": _make_composed(make_resnet),
    "bert-base": _make_composed(make_bert),
}
# PyTorch's own activation for each composition.
BUILT_IN: dict[str, Callable[[], nn.Module]] = {
    "NewGelu": lambda: nn.GELU("tanh"),
    "NewGELUActivation": lambda: nn.GELU("tanh"),
    "Gelu": lambda: nn.GELU("tanh"),
    "Silu": nn.SiLU,
    "Mish": nn.Mish,
}


class Checkpointed(nn.Module):
    """A module that `torch.utils.checkpoint` runs again in backward. Its input is held by
    a closure, and by no node."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return checkpoint(self.module, x, use_reentrant=False)


def _replace(module: nn.Module, make: Callable[[nn.Module], nn.Module]) -> nn.Module:
    """Returns a copy of `module` with its parameters, and with `make(child)` for each
    composition."""
    shared = {id(each): each for each in (*module.parameters(), *module.buffers())}
    module = copy.deepcopy(module, shared)
    for parent in list(module.modules()):
        for name, child in parent.named_children():
            if type(child).__name__ in BUILT_IN:
                setattr(parent, name, make(child))
    return module


# The model that each method makes of a model with compositions.
METHODS: dict[str, Callable[[nn.Module], nn.Module]] = {
    "composed": lambda module: module,
    "built-in": lambda module: _replace(module, lambda child: BUILT_IN[type(child).__name__]()),
    "checkpoint": lambda module: _replace(module, Checkpointed),
    "nest-auto": lambda module: fad.torch.nest(module),
    "nest-fad": lambda module: fad.torch.nest(module, policy="fad"),
    "defer-auto": lambda module: fad.torch.nest(module, engine="deferred"),
    "defer-fad": lambda module: fad.torch.nest(module, engine="deferred", policy="fad"),
}


def make_model(name: str, activation: str, sizes: dict, device: str = "cpu") -> Model:
    """Returns the model `name` in training mode, the same at each call."""
    torch.manual_seed(0)
    model = MAKERS[name](sizes, activation)
    return Model(
        model.module.to(device).train(), tuple(tensor.to(device) for tensor in model.inputs)
    )


def resize(model: Model, batch: int) -> Model:
    """Returns the model with as many samples, which repeat."""
    inputs = tuple(
        tensor.repeat(-(-batch // len(tensor)), *(1,) * (tensor.dim() - 1))[:batch].clone()
        for tensor in model.inputs
    )
    return Model(model.module, inputs)


def measure_times(models: dict[str, Model], repetitions: int) -> dict[str, dict[str, Any]]:
    """Seconds of a step of each, and their ratio to those of "composed", in turns:
    medians."""
    taken: dict[str, list[float]] = {name: [] for name in models}
    names = list(models)
    for model in models.values():
        time_step(model, model.module)
        time_step(model, model.module)
    # Those of deferred sequences, which are compiled where a sequence recurs.
    _kernels.wait()
    for _ in range(repetitions):
        for name in names:
            taken[name].append(time_step(models[name], models[name].module))
        # The program that runs first may find other caches.
        names = names[1:] + names[:1]
    figures = {}
    for name, own in taken.items():
        ratios = [one / other for one, other in zip(own, taken["composed"])]
        low, middle, high = statistics.quantiles(ratios, n=4)
        figures[name] = {
            "seconds": statistics.median(own), "ratio": middle, "quartiles": [low, high]
        }  # fmt: skip
    return figures


def _count(model: Model, is_seen: bool) -> dict[str, Any]:
    """Returns the bytes that autograd keeps between forward and backward: by the allocator, and
    those of the saved tensors of its nodes, where all are seen; and the peak of a step."""
    saved = fad.torch.saved_memory(model.module, *model.inputs)
    return {
        "kept": saved.resident,
        "saved": saved.bytes if is_seen and not saved.unseen else None,
        "peak": measure_peak(model, model.module),
    }


def make_forms(model: Model, methods: Sequence[str]) -> dict[str, Model]:
    return {name: Model(METHODS[name](model.module), model.inputs) for name in methods}


def measure(model: Model, methods: Sequence[str], repetitions: int) -> dict[str, Any]:
    """Returns the figures of the methods, and of "composed", which they are measured against."""
    forms = make_forms(model, dict.fromkeys(("composed", *methods)))
    expected = get_gradients(model, model.module)
    figures = {}
    for name, form in forms.items():
        gradients = get_gradients(model, form.module)
        error = compare(gradients, expected)
        figures[name] = {**_count(form, name != "checkpoint"), "error": error}
    del gradients, expected
    gc.collect()
    for name, times in measure_times(forms, repetitions).items():
        figures[name].update(times, repetitions=repetitions)
    return figures


def compile(form: Model) -> None:
    """Waits for the kernels of deferred sequences, which are compiled where a sequence
    recurs, and are those of any batch: the operators of a sequence take more memory."""
    sized = resize(form, 2)
    for _ in range(2):
        get_gradients(sized, sized.module)
    _kernels.wait()


def find_largest(form: Model, batch: int, memory: int | None) -> tuple[int, int]:
    """Returns the largest batch whose peak is at most `memory`, and the peak; `batch` and its own
    without `memory`."""
    peaks: dict[int, int] = {}
    while batch not in peaks:
        sized = resize(form, batch)
        peaks[batch] = measure_peak(sized, sized.module)
        if memory is None:
            return batch, peaks[batch]
        batch = guess_batch(peaks, memory)
    if peaks[batch] > memory:
        raise ValueError("one sample takes more than the memory")
    return batch, peaks[batch]


def measure_batches(model: Model, methods: Sequence[str], repetitions: int) -> dict[str, Any]:
    """For each method the largest batch within the peak of "composed" at the batch of
    the model, and the throughput there as a ratio to that of "composed", unless there are
    no repetitions."""
    forms = make_forms(model, dict.fromkeys(("composed", *methods)))
    batch, memory = len(model.inputs[0]), None
    figures, sized = {}, {}
    for name, form in forms.items():
        compile(form)
        largest, peak = find_largest(form, batch, memory)
        memory = memory or peak
        figures[name] = {"batch": largest, "peak": peak}
        sized[name] = resize(form, largest)
    if not repetitions:
        return figures
    for name, times in measure_times(sized, repetitions).items():
        throughput = figures[name]["batch"] / batch / times["ratio"]
        figures[name].update(times, throughput=throughput, repetitions=repetitions)
    return figures
