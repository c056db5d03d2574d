"""The two models that are trained: what they are, and on what."""

from dataclasses import dataclass
from typing import Any, Callable

import torch

from data import Precision, MaskedText


@dataclass(frozen=True)
class Task:
    """A model in training mode, its data, and its optimizer."""

    model: torch.nn.Module
    data: Any
    make_optimizer: Callable


def make_bert(options):
    """Returns a BERT of two small layers that guesses masked letters."""
    from transformers import BertConfig, BertForMaskedLM

    data = MaskedText(options.batch, length=32, seed=options.seed)
    config = BertConfig(
        vocab_size=data.vocabulary,
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=256,
        max_position_embeddings=32,
        hidden_dropout_prob=options.dropout,
        attention_probs_dropout_prob=options.dropout,
        attn_implementation="eager",
    )
    model = BertForMaskedLM(config).train()
    return Task(model, data, lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9))


def make_resnet(options):
    """Returns a ResNet of two small stages that reads digits."""
    from transformers import ResNetConfig, ResNetForImageClassification

    data = Precision(options.batch, seed=options.seed)
    config = ResNetConfig(
        num_channels=1,
        embedding_size=16,
        hidden_sizes=[16, 32],
        depths=[1, 1],
        layer_type="basic",
        num_labels=data.classes,
    )
    model = ResNetForImageClassification(config).train()
    return Task(model, data, lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9))


TASKS = {"bert": make_bert, "resnet": make_resnet}


def make_task(name, options):
    """Returns the same task, with the same first parameters, for the same options."""
    torch.manual_seed(options.seed)
    return TASKS[name](options)
