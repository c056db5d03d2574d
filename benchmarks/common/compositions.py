"""Activations that are compositions of other operations, and BERT and ResNet of
transformers with them."""

from typing import Callable

import torch
import torch.nn.functional as F
from torch import nn

from models import make_bert, make_resnet
from steps import Model


class Gelu(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inner = 0.7978845608028654 * (x + 0.044715 * (x * x * x))
        return 0.5 * x * (1.0 + torch.tanh(inner))


class Silu(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.sigmoid(x)


class Mish(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.tanh(F.softplus(x))


ACTIVATIONS = {"gelu": Gelu, "silu": Silu, "mish": Mish}
# Those of BERT and Llama in transformers; ResNet has PyTorch's ReLU.
REPLACED = ("GELUActivation", "SiLUActivation")
MAKERS = {"bert-base": make_bert, "bert-large": make_bert, "resnet-50": make_resnet}


def replace(module: nn.Module, make: Callable[[], nn.Module]) -> int:
    """Puts what `make` returns where the module has its activations, and returns how many
    those are."""
    count = 0
    for name, child in module.named_children():
        if isinstance(child, nn.ReLU) or type(child).__name__ in REPLACED:
            setattr(module, name, make())
            count += 1
        else:
            count += replace(child, make)
    return count


def make_model(name: str, activation: str, sizes: dict, device: str) -> Model:
    """Returns the model `name` in training mode, the same at each call."""
    torch.manual_seed(0)
    model = MAKERS[name](sizes)
    if not replace(model.module, ACTIVATIONS[activation]):
        raise ValueError(f"{name} has no activation to replace")
    return Model(
        model.module.to(device).train(), tuple(tensor.to(device) for tensor in model.inputs)
    )
