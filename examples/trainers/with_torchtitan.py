"""Configurations of torchtitan 0.3 with fad: the backend by its name, and a memory policy.

torchrun -m torchtitan.train --module with_torchtitan --config llama3_compiled"""

from torchtitan.config import CompileConfig
from torchtitan.experiments.graph_trainer.llama3.config_registry import (
    graph_trainer_llama3_debugmodel,
)
from torchtitan.models.llama3.config_registry import llama3_debugmodel_varlen_attn

import fad.torch.compile  # noqa: F401
from fad.torch.integrations import register_memory_policy


def llama3_compiled():
    """torchtitan compiles each block; it takes no other backend than Inductor with FlexAttention."""
    config = llama3_debugmodel_varlen_attn()
    config.compile = CompileConfig(enable=True, backend="fad")
    return config


def llama3_policy(budget="20GB"):
    """Returns the step is one graph, for which fad chooses the operations that backward repeats."""
    register_memory_policy("fad", budget)
    config = graph_trainer_llama3_debugmodel()
    config.compile.memory_policy = "fad"
    return config
