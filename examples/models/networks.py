"""BERT and ResNet-50 with their losses and any activation, built by `transformers`
from a configuration with random weights: nothing is downloaded."""

import dataclasses

import torch
import torch.nn.functional as F
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    ResNetConfig,
    ResNetForImageClassification,
)


def composed_gelu(x):
    """GELU as BERT was first written."""
    return x * 0.5 * (1.0 + torch.erf(x / 1.4142135623730951))


def composed_gelu_tanh(x):
    """GELU as GPT-2 was first written."""
    cubic = x + 0.044715 * torch.pow(x, 3.0)
    return 0.5 * x * (1.0 + torch.tanh(0.7978845608028654 * cubic))


# As a framework has them, and composed from its primitives.
ACTIVATIONS = {
    "relu": F.relu,
    "relu-composed": lambda x: torch.where(x > 0, x, torch.zeros_like(x)),
    "gelu": F.gelu,
    "gelu-composed": composed_gelu,
    "gelu-tanh": lambda x: F.gelu(x, approximate="tanh"),
    "gelu-tanh-composed": composed_gelu_tanh,
    "mish": F.mish,
    "mish-composed": lambda x: x * torch.tanh(F.softplus(x)),
    "swish": F.silu,
    "swish-composed": lambda x: x * torch.sigmoid(x),
}

# Parameters that make a network small enough to be run in seconds.
SMALL_BERT = dict(
    num_hidden_layers=2,
    hidden_size=32,
    num_attention_heads=4,
    intermediate_size=64,
    vocab_size=50,
    max_position_embeddings=32,
)
SMALL_RESNET = dict(embedding_size=32, hidden_sizes=[32, 64], depths=[1, 1])
LARGE_BERT = dict(
    num_hidden_layers=24,
    hidden_size=1024,
    num_attention_heads=16,
    intermediate_size=4096,
)


class Activation(torch.nn.Module):
    """A function in the place of a network's own activation."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


@dataclasses.dataclass
class Network:
    """A network that returns its loss, and inputs of a batch by name."""

    name: str
    module: torch.nn.Module
    inputs: dict
    # The parameters that the official number counts, and that number.
    counted: str
    parameters: int
    official: int | None


def count_parameters(module):
    return sum(parameter.numel() for parameter in module.parameters())


def make_bert(name, activation, batch, sequence, official, **configuration):
    """BERT for the classification of a sequence. Attention is the composed one,
    whose operations a graph shows. The last fifth of every sequence is masked; token
    0, which stands for padding and has no gradient, does not occur."""
    config = BertConfig(attn_implementation="eager", **configuration)
    network = BertForSequenceClassification(config)
    for layer in network.bert.encoder.layer:
        layer.intermediate.intermediate_act_fn = Activation(activation)
    mask = torch.ones(batch, sequence, dtype=torch.long)
    mask[:, sequence - sequence // 5 :] = 0
    inputs = dict(
        input_ids=torch.randint(1, config.vocab_size, (batch, sequence)),
        attention_mask=mask,
        labels=torch.randint(0, config.num_labels, (batch,)),
    )
    return Network(
        name,
        network,
        inputs,
        "embeddings, encoder and pooler; without the classifier",
        count_parameters(network.bert),
        official,
    )


def replace_activations(module, activation):
    for name, child in module.named_children():
        if isinstance(child, torch.nn.ReLU):
            setattr(module, name, Activation(activation))
        else:
            replace_activations(child, activation)


def make_resnet(name, activation, batch, size, official, **configuration):
    """ResNet for the classification of images."""
    config = ResNetConfig(**configuration)
    network = ResNetForImageClassification(config)
    replace_activations(network, activation)
    inputs = dict(
        pixel_values=torch.randn(batch, 3, size, size),
        labels=torch.randint(0, config.num_labels, (batch,)),
    )
    return Network(
        name,
        network,
        inputs,
        "all, with the classifier of 1000 classes",
        count_parameters(network),
        official,
    )


# Each makes a network of (activation, batch).
FULL = {
    "bert-base": lambda activation, batch: make_bert(
        "bert-base", activation, batch, 128, 109_482_240
    ),
    "bert-large": lambda activation, batch: make_bert(
        "bert-large", activation, batch, 128, 335_141_888, **LARGE_BERT
    ),
    "resnet-50": lambda activation, batch: make_resnet(
        "resnet-50", activation, batch, 224, 25_557_032, num_labels=1000
    ),
}
# BERT of base width whose figures are those of layers, and small to look at.
TWO_LAYERS = {
    "bert-two-layers": lambda activation, batch: make_bert(
        "bert-two-layers", activation, batch, 128, None, num_hidden_layers=2
    )
}
SMALL = {
    "bert-small": lambda activation, batch: make_bert(
        "bert-small", activation, batch, 16, None, **SMALL_BERT
    ),
    "resnet-small": lambda activation, batch: make_resnet(
        "resnet-small", activation, batch, 32, None, **SMALL_RESNET, num_labels=10
    ),
}


def build(name, activation, *, training, batch):
    """Returns the network called `name` with the activation called so. Raises ValueError where it
    does not have the official number of parameters."""
    network = {**FULL, **TWO_LAYERS, **SMALL}[name](ACTIVATIONS[activation], batch)
    if network.official not in (None, network.parameters):
        raise ValueError(
            f"{name} has {network.parameters:,} parameters ({network.counted}); "
            f"officially {network.official:,}"
        )
    network.module.train(training)
    return network
