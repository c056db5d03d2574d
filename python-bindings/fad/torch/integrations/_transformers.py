"""A callback of transformers' Trainer, and of those that are built on it, such as TRL's."""

from typing import Any

import torch

from ._step import StepCallback

try:
    from transformers import TrainerCallback
except ImportError as error:
    raise ImportError(
        "fad.torch.FadCallback needs transformers; install it with: pip install "
        '"transformers[torch]"'
    ) from error


class FadCallback(StepCallback, TrainerCallback):
    """Compiles the model of a Trainer by the backend `fad`, in place, while it trains.

    `budget` bounds the peak of a step, as the option `fad.budget` does: bytes, text such as
    "20GB", or a fraction. `options` are those of `torch.compile`. After the second step,
    `log` gets a line with the bytes that are kept for backward and the measured peak,
    which `report` has as numbers. The model is compiled from the first step to the end of
    the training, and as before afterwards."""

    def on_train_begin(
        self, args: Any, state: Any, control: Any, *, model: torch.nn.Module, **kwargs: Any
    ) -> None:
        if args.torch_compile:
            raise ValueError(
                f"torch_compile compiles the model by the backend {args.torch_compile_backend!r}, "
                "and FadCallback by the backend 'fad'; leave torch_compile out"
            )
        if _is_checkpointing(model) and state.is_world_process_zero:
            self._log(
                "gradient checkpointing is on, so that backward repeats each layer, and fad chooses "
                "the rest alone; with gradient_checkpointing=False and a budget, backward repeats "
                "no more than the budget demands"
            )
        self._compiler.start()
        self._compiler.compile_in_place(_find_called(model))

    def on_step_begin(
        self, args: Any, state: Any, control: Any, *, model: torch.nn.Module, **kwargs: Any
    ) -> None:
        self._compiler.begin_step(model.parameters())

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._end_step(state.is_world_process_zero)

    def on_train_end(
        self, args: Any, state: Any, control: Any, *, model: torch.nn.Module, **kwargs: Any
    ) -> None:
        self._compiler.end_step()
        _find_called(model).compile(disable=True)


def _is_checkpointing(model: torch.nn.Module) -> bool:
    """Tells whether a model of transformers, or one around it, repeats its layers in backward."""
    # The names of transformers 5 and 4; the older one warns in the newer release.
    for name in ("is_activation_checkpointing", "is_gradient_checkpointing"):
        if hasattr(model, name):
            return bool(getattr(model, name))
    return False


def _find_called(model: torch.nn.Module) -> torch.nn.Module:
    """Returns the module to compile: that of transformers inside of peft's, whose hooks Dynamo
    cannot trace."""
    find = getattr(model, "get_base_model", None)
    return find() if find is not None else model
